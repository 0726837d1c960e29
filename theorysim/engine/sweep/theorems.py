"""The claims of a theorem as a function that can be swept."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from theorysim.claims.instance import Instance
from theorysim.claims.kinds import Claim
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.run import Run
from theorysim.claims.theorem import Theorem
from theorysim.engine import registry
from theorysim.engine.measure.errors import replace_tolerance_scale, runs, simulation_keys
from theorysim.engine.measure.setup import (
    parse_settings,
    refuse_experiment,
    select_readings,
    unknown_name,
)
from theorysim.engine.registry.index import Files
from theorysim.errors import UsageError
from theorysim.sweeps import DIVERGED

if TYPE_CHECKING:
    import xarray

SLACK = ".slack"
SATISFIED = "satisfied"

# A sweep measures no error. Sides are taken to be wrong by this many units in their last place,
# what sums of some dozens of terms lose.
ULPS = 64


def claim_sides(
    theorem: Theorem | str,
    *,
    reading: str | None = None,
    claim: str | None = None,
    settings: Mapping[str, Any] | None = None,
    theorems: Files = (),
) -> Callable[..., dict[str, Array]]:
    """Both sides and the slack of the claims, as a function of `key`, fields and sizes.

    Fields that are not given are drawn from the key, as `verify` draws an instance; sizes that
    are not given take their defaults. The function returns `<claim>.lhs`, `<claim>.rhs`,
    `<claim>.slack` (negative where the claim is violated; NaN where the instance does not meet the
    hypotheses or the claim does not speak of the point), `satisfied` (whether the instance meets
    all hypotheses) and `diverged` (whether a side is not finite where its claim speaks).

    Args:
        theorem: a theorem or its id.
        reading: the primary reading by default.
        claim: only the claim of this name.
        settings: sizes and field values to fix.
        theorems: further files of theorems, among which an id is looked up.

    Raises:
        UsageError: for an unknown id or name, with the names there are.
    """
    files = tuple(str(Path(file).resolve()) for file in theorems)
    if isinstance(theorem, str):
        theorem = registry.theorem(theorem, files)
    refuse_experiment(theorem, "swept")
    name = theorem.primary().name if reading is None else reading
    (chosen,) = select_readings(theorem, name, claim)
    fixed = parse_settings(theorem, settings or {})

    def claim_values(key: Array, **given: Any) -> dict[str, Array]:
        sizes = {**fixed.sizes, **{name: given[name] for name in given if name in fixed.sizes}}
        values = {name: value for name, value in given.items() if name not in sizes}
        unknown = set(values) - set(theorem.space.fields)
        if unknown:
            raise unknown_name(theorem, min(unknown))
        twice = set(given) & set(settings or {})
        if twice:
            raise UsageError(f"{min(twice)!r} is fixed and swept: leave out one")
        sizes = theorem.space.default_sizes(**sizes)
        x = theorem.space.sample(jax.random.fold_in(key, 0), sizes)
        return _values(theorem, chosen, x.replace(**fixed.values, **values), key)

    claim_values.__qualname__ = f"{theorem.id}: {chosen.name}"
    claim_values.in_float64 = True  # pyright: ignore[reportFunctionMemberAccess]
    if _is_found(theorem, files):  # how another process makes it, which has the same files
        claim_values.recipe = Recipe(  # pyright: ignore[reportFunctionMemberAccess]
            theorem.id, chosen.name, claim, dict(settings or {}), files
        )
    return claim_values


@dataclass(frozen=True)
class Recipe:
    """How `claim_sides` makes a function, in plain data."""

    theorem: str
    reading: str
    claim: str | None
    settings: Mapping[str, Any]
    files: tuple[str, ...]

    def __call__(self) -> Callable[..., dict[str, Array]]:
        """The function."""
        return claim_sides(
            self.theorem,
            reading=self.reading,
            claim=self.claim,
            settings=self.settings,
            theorems=self.files,
        )


def _is_found(theorem: Theorem, files: tuple[str, ...]) -> bool:
    """Whether its id finds this very theorem."""
    try:
        return registry.theorem(theorem.id, files) is theorem
    except UsageError:
        return False


def _values(
    theorem: Theorem, reading: ResolvedReading, x: Instance, key: Array
) -> dict[str, Array]:
    # A theorem that integrates without declaring it gets NaN, as when it is verified.
    x = replace_tolerance_scale(x, 1.0 if theorem.integrates else jnp.nan)
    run = runs((reading,), x, simulation_keys(key, theorem.keys))[reading.name]
    found, diverged = {}, jnp.zeros((), bool)
    satisfied = reading.margin(x) >= 0
    for claim, name in zip(reading.claims, output_names(reading.claims)):
        values, failed = _claim_values(claim, name, run, satisfied)
        found, diverged = {**found, **values}, diverged | failed
    return {**found, SATISFIED: satisfied, DIVERGED: diverged}


def _claim_values(
    claim: Claim, name: str, run: Run, satisfied: Array
) -> tuple[dict[str, Array], Array]:
    """The outputs of a claim, and whether a side is not finite where the claim speaks."""
    lhs, rhs = claim.sides(run)
    applies = claim.applies(run, lhs.shape)
    found = {f"{name}.lhs": lhs, f"{name}.rhs": rhs}
    if claim.has_slack:
        found[name + SLACK] = jnp.where(applies & satisfied, claim.slack(lhs, rhs), jnp.nan)
    return found, jnp.any(applies & ~(jnp.isfinite(lhs) & jnp.isfinite(rhs)))


def output_names(claims: Sequence[Claim]) -> list[str]:
    """Claims' names as letters, digits, dots and underscores, which a store's paths can bear.

    Names that differ in other characters only are numbered.
    """
    names: list[str] = []
    for claim in claims:
        plain = re.sub(r"[^\w.]+", "_", claim.name).strip("_")
        numbered = (f"{plain}_{count}" for count in itertools.count(2))
        names.append(next(n for n in itertools.chain([plain], numbered) if n not in names))
    return names


def split_grid(
    theorem: Theorem, given: Mapping[str, Sequence[float]]
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The axes and the sizes among values of a theorem's fields and sizes, checked.

    Raises:
        UsageError: for an unknown name or a value out of range, with what would be accepted.
    """
    space = theorem.space
    axes, sizes = {}, {}
    for name, values in given.items():
        if name in space.sizes:
            chosen: list[dict[str, Any]] = [{name: value} for value in values]
            sizes[name] = np.array([space.default_sizes(**size)[name] for size in chosen])
        elif name in space.fields:
            default = space.default_sizes()
            axes[name] = np.stack([space.fields[name].check(name, v, default) for v in values])
        else:
            raise unknown_name(theorem, name)
    return axes, sizes


def check_axes(theorem: Theorem, axes: Mapping[str, Any]) -> None:
    """Refuse values along axes, zipped ones too, that do not belong to the theorem's fields.

    Raises:
        UsageError: for a size, an unknown name or a value out of range.
    """
    for name, values in axes.items():
        columns = values if isinstance(values, Mapping) else {name: values}
        sizes = split_grid(theorem, columns)[1]
        if sizes:
            raise UsageError(f"{min(sizes)!r} is a size of {theorem.id}: give it in sizes")


def slack_error(dataset: xarray.Dataset, name: str) -> xarray.DataArray:
    """What rounding may have done to a slack: ULPS units in the last place of both sides.

    Nowhere less than at the median place: sides that nearly vanish are often what is left of larger
    terms, and no colour shows so small a part of the others.
    """
    sides = [dataset[name.removesuffix(SLACK) + side].values for side in (".lhs", ".rhs")]
    sizes = np.abs(sides[0]) + np.abs(sides[1])
    known = sizes[np.isfinite(sizes)]
    typical = np.median(known) if len(known) else 0.0
    return dataset[name].copy(data=ULPS * np.finfo(sizes.dtype).eps * np.maximum(sizes, typical))
