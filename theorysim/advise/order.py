"""In which order a model uses its parameters, read from its traced program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
from jax.extend import core
from jaxtyping import Array

Place = tuple[int, ...]


def first_uses(
    model: Callable[[list[Array], Any], Array], leaves: Mapping[str, Array], x: Any
) -> dict[str, Place | None]:
    """Where in the program each parameter is first used; None where outputs do not need it.

    Places compare as they follow each other.
    """
    traced = jax.make_jaxpr(model)(list(leaves.values()), x)
    uses = _uses(traced.jaxpr)
    return {path: uses.get(variable) for path, variable in zip(leaves, traced.jaxpr.invars)}


def _uses(jaxpr: Any) -> dict[Any, Place]:
    """The first place at which every variable is used for what the program returns."""
    needed = {atom for atom in jaxpr.outvars if not isinstance(atom, core.Literal)}
    kept = []
    for number, equation in reversed(list(enumerate(jaxpr.eqns))):
        if needed & set(equation.outvars):
            kept.append((number, equation))
            needed |= {a for a in equation.invars if not isinstance(a, core.Literal)}
    uses: dict[Any, Place] = {}
    for number, equation in reversed(kept):
        inner = equation.params.get("jaxpr") if equation.primitive.name in ("jit", "pjit") else None
        within = _uses(inner.jaxpr) if inner is not None else {}
        for place, atom in enumerate(equation.invars):
            if isinstance(atom, core.Literal) or atom in uses:
                continue
            if inner is None:
                uses[atom] = (number,)
            elif inner.jaxpr.invars[place] in within:
                uses[atom] = (number, *within[inner.jaxpr.invars[place]])
    return uses
