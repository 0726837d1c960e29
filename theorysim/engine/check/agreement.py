"""Whether an instance gives the same numbers alone, among others, and in single precision."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from theorysim.claims.instance import Instance, size_items
from theorysim.claims.theorem import Theorem
from theorysim.engine.check.step import MISTAKE, Step, Subject
from theorysim.engine.measure.batch import measure_all
from theorysim.engine.measure.errors import Measurements, measure, with_errors_at_points
from theorysim.engine.measure.sample import draw_sample
from theorysim.engine.measure.setup import Settings, Setup
from theorysim.precision import in_precision

NAME = "precision"
# Beside its measured error, a side may differ by so many units of its last place.
ULPS = 4
# Single precision, of what an instance holds.
NARROW = {"f": np.float32, "i": np.int32}


def precision(subject: Subject) -> Step:
    """One instance under jit alone, under vmap, and in float32, within the measured errors."""
    theorem = subject.theorem
    with in_precision(double=True):
        sample = draw_sample(subject.setup(), 1)
        x, key = jax.tree.map(lambda leaf: leaf[:1], (sample.instances, sample.keys))
    among, single = together(theorem, x, key), alone(theorem, x, key)
    if apart := disagreements(single, among):
        return Step(NAME, mend=APART.format(claims=_quoted(apart)), code=MISTAKE)
    if disagreements(alone(theorem, x, key, other_key=1), among):
        return Step(NAME, "alone and among others it gives the same; float32 draws other numbers")
    if apart := disagreements(alone(theorem, x, key, double=False), among):
        return Step(
            NAME,
            "alone and among others it gives the same",
            (NARROWED.format(claims=_quoted(apart)),),
        )
    return Step(NAME, "alone, among others and in float32 it gives the same numbers")


APART = (
    "{claims} differ alone and among other instances by more than their errors: a number that "
    "depends on shapes, or a loop that stops by a tolerance; give it a fixed length"
)
NARROWED = (
    "{claims} differ in float32 by more than their measured errors: verdicts are of float64, but a "
    "difference of large numbers or an overflow may hide here"
)


def _quoted(apart: dict[str, int]) -> str:
    return ", ".join(f"“{name}”" for name in apart)


def together(theorem: Theorem, x: Instance, key: np.ndarray) -> Measurements:
    """The primary reading on stacked instances as `verify` measures it; the first one's."""
    with in_precision(double=True):
        setup = Setup(theorem, (theorem.primary(),), Settings(dict(size_items(x)), {}))
        return jax.tree.map(lambda leaf: leaf[0], measure_all(setup, x, key))


def alone(
    theorem: Theorem, x: Instance, key: np.ndarray, *, double: bool = True, other_key: int = 0
) -> Measurements:
    """The first of stacked instances without vmap, in double or single precision.

    `other_key` is added to the data of its key.
    """
    x = jax.tree.map(lambda leaf: np.asarray(leaf)[0], x)
    with in_precision(double), np.errstate(over="ignore"):  # what overflows differs, and is told
        if not double:
            x = jax.tree.map(lambda leaf: np.asarray(leaf, NARROW[leaf.dtype.kind]), x)
        data = jnp.asarray(np.asarray(key)[0] + np.uint32(other_key))
        return with_errors_at_points(_program(theorem, double)(x, jax.random.wrap_key_data(data)))


@lru_cache(maxsize=8)
def _program(theorem: Theorem, double: bool) -> Any:
    """The measurement of one instance; one program per precision."""
    del double
    fixed = (theorem.primary(),), theorem.keys, theorem.integrates, theorem.space.exact
    return jax.jit(partial(measure, *fixed))


def disagreements(one: Measurements, other: Measurements) -> dict[str, int]:
    """How many points of each claim differ by more than the numerical errors of both."""
    apart = {}
    for reading in one:
        for name, m in one[reading].items():
            o = other[reading][name]
            integrators = float(m.integrator) + float(o.integrator)
            error = np.asarray(m.rounding) + np.asarray(o.rounding) + integrators
            count = 0
            for a, b in ((m.lhs, o.lhs), (m.rhs, o.rhs)):
                eps = max(np.finfo(np.asarray(side).dtype).eps for side in (a, b))
                a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
                budget = error + ULPS * eps * (np.abs(a) + np.abs(b))
                with np.errstate(invalid="ignore"):  # infinities that agree differ by NaN
                    count += int(np.sum((np.abs(a - b) > budget) & np.asarray(m.applies)))
            if count:
                apart[name] = count
    return apart
