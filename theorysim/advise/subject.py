"""A user's model in one form: a function of grouped parameters and one input that gives k numbers.

Flax nnx and linen modules, Equinox modules and plain functions `model(params, x)` come in. What
they do with a batch is tried, not assumed; what would make answers wrong, such as dropout in
training mode, is refused in one line.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, PyTree

from theorysim.advise.calls import first_of, of_one_input
from theorysim.advise.groups import Grouping, assign, shared, shown
from theorysim.advise.order import first_uses
from theorysim.errors import UsageError
from theorysim.numerics import models

Params = dict[str, dict[str, Array]]

EXPECTED = "a module of Flax or Equinox, or a function model(params, x) with params beside it"
WHOLE = "params"
"""the path of the only parameter, where these are one array"""


@dataclass(frozen=True)
class Subject:
    """A model in normal form."""

    apply: Callable[[Params, Any], Array]
    """parameters and one input to (k,) outputs"""
    params: Params
    """what may be tuned: by group, then by path; all other parameters are frozen in `apply`"""
    order: tuple[str, ...]
    """the groups, in the order in which the model first uses them"""
    outputs: int
    notes: tuple[str, ...]

    def size(self, group: str) -> int:
        """How many parameters a group has."""
        return sum(leaf.size for leaf in self.params[group].values())

    def batch(self, params: Params, inputs: PyTree[Array]) -> Array:
        """Outputs (n, k) of stacked inputs."""
        return jax.vmap(lambda x: self.apply(params, x))(inputs)

    def only(self, groups: tuple[str, ...]) -> Subject:
        """The same model, in which only these groups may be tuned."""
        rest = {name: part for name, part in self.params.items() if name not in groups}

        def apply(params: Params, x: Any) -> Array:
            return self.apply({**rest, **params}, x)

        kept = {name: self.params[name] for name in groups}
        return replace(self, apply=apply, params=kept, order=groups)


def subject(
    model: Any,
    inputs: PyTree[Array],
    params: Any = None,
    groups: Grouping = None,
    batched: bool | None = None,
) -> Subject:
    """The model in normal form, tried on the first two inputs.

    Args:
        model: a Flax nnx module in evaluation mode, a Flax linen module (with its variables as
            `params`), an Equinox module, or a function `model(params, x)`.
        inputs: inputs as `as_inputs` gives them, at least two.
        params: for linen modules and functions only.
        groups: how parameters are grouped (`theorysim.advise.groups.assign`).
        batched: whether the model takes a batch; tried unless given.

    Raises:
        UsageError: where the model cannot be called, mixes inputs of a batch, is in training mode,
            or returns anything but one array of floating-point numbers.
    """
    call, tree = _functional(model, params)
    leaves, structure = _leaves(tree)
    notes = []
    small = [p for p, leaf in leaves.items() if leaf.dtype.itemsize < 4]
    if small:
        notes.append(f"{len(small)} parameters of half precision were widened to float32")
    leaves = {p: leaf.astype(jnp.float32) if p in small else leaf for p, leaf in leaves.items()}
    paths = list(leaves)

    def flat(leaves: Mapping[str, Array], x: Any) -> Any:
        return call(jax.tree.unflatten(structure, [leaves[path] for path in paths]), x)

    one = of_one_input(flat, leaves, inputs, batched)
    found = assign(paths, groups)
    notes += shared(paths, groups)
    uses = first_uses(lambda values, x: one(dict(zip(leaves, values)), x), leaves, first_of(inputs))
    idle = [path for path, group in found.items() if group and uses[path] is None]
    if idle:
        notes.append(f"outputs do not depend on {shown(idle)}: left out")
    frozen = [p for p, group in found.items() if group is None]
    if frozen:
        notes.append(f"frozen: {shown(frozen)}")
    tuned = [path for path, group in found.items() if group and path not in idle]
    if not tuned:
        raise UsageError("outputs depend on no parameter that may be tuned")
    order = sorted({str(found[p]) for p in tuned}, key=lambda g: min(_at(uses, found, tuned, g)))
    grouped = {g: {p: leaves[p] for p in tuned if found[p] == g} for g in order}

    def apply(params: Params, x: Any) -> Array:
        moved = {path: leaf for group in params.values() for path, leaf in group.items()}
        return one({path: moved.get(path, leaf) for path, leaf in leaves.items()}, x)

    outputs = jax.eval_shape(apply, grouped, first_of(inputs)).size
    return Subject(apply, grouped, tuple(order), outputs, tuple(notes))


def _at(uses: Mapping, found: Mapping, tuned: list[str], group: str) -> list:
    return [uses[path] for path in tuned if found[path] == group]


def _functional(model: Any, params: Any) -> tuple[Callable[[Any, Any], Any], Any]:
    """A function of parameters and what the model takes, and the parameters."""
    kind = _kind(model)
    if isinstance(model, type) or not callable(model):
        kind = f"class {model.__name__}" if isinstance(model, type) else type(model).__name__
        raise UsageError(f"model of type {kind}: expected {EXPECTED}")
    if kind in ("nnx", "equinox") and params is not None:
        raise UsageError(f"params: an {kind} module holds its parameters, leave them out")
    if kind in ("linen", "function") and params is None:
        other = f"; if this {type(model).__name__} is no function, give {EXPECTED}"
        raise UsageError(
            f"params: a {kind} needs its parameters beside it"
            + ("" if kind == "linen" or inspect.isroutine(model) else other)
        )
    if kind == "nnx":
        _check_evaluation(model)
        return models.from_nnx(model)
    if kind == "equinox":
        return models.from_equinox(model)
    if kind == "linen":
        if not isinstance(params, Mapping) or "params" not in params:
            raise UsageError('params: a linen module needs its variables, {"params": ...}')
        return models.from_linen(model, params)
    return model, params


def _kind(model: Any) -> str:
    """By the names of its classes, so that Flax is imported for modules of Flax only."""
    families = {f"{base.__module__}.{base.__qualname__}" for base in type(model).__mro__}
    if isinstance(model, eqx.Module):
        return "equinox"
    if any(name.startswith("flax.nnx.") and name.endswith(".Module") for name in families):
        return "nnx"
    if any(name.startswith("flax.linen.") and name.endswith(".Module") for name in families):
        return "linen"
    return "function"


def _check_evaluation(model: Any) -> None:
    from flax import nnx

    for path, part in nnx.iter_modules(model):
        training = [
            getattr(part, "deterministic", None) is False and getattr(part, "rate", 1) > 0,
            getattr(part, "use_running_average", None) is False,
        ]
        if any(training):
            where = "/".join(map(str, path)) or "the model"
            raise UsageError(
                f"{where} ({type(part).__name__}) is in training mode: call model.eval() first"
            )


def _leaves(tree: Any) -> tuple[dict[str, Array], Any]:
    """Parameters by path."""
    pairs, structure = jax.tree_util.tree_flatten_with_path(tree)
    if not pairs:
        raise UsageError("the model has no parameters")
    leaves = {}
    for path, leaf in pairs:
        name = jax.tree_util.keystr(path, simple=True, separator="/") or WHOLE
        try:
            leaves[name] = jnp.asarray(leaf)
        except (TypeError, ValueError):
            raise UsageError(f"parameter {name} is a {type(leaf).__name__}, no array") from None
        if not jnp.issubdtype(leaves[name].dtype, jnp.floating):
            raise UsageError(
                f"parameter {name} has type {leaves[name].dtype}: pass floating-point arrays as "
                "parameters and close over the rest"
            )
        if not bool(jnp.isfinite(leaves[name]).all()):
            raise UsageError(f"parameter {name} is not finite: it holds NaN or infinity")
    return leaves, structure
