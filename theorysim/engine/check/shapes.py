"""Whether a statement can be evaluated: shapes at several sizes, and numbers on real draws."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool

from theorysim.claims.hypotheses import least
from theorysim.claims.instance import Instance
from theorysim.claims.theorem import Theorem
from theorysim.claims.verdict import Verdict
from theorysim.engine.check.integrators import undeclared_integrator, unmeasured_integrator
from theorysim.engine.check.step import MISTAKE, Step, Subject
from theorysim.engine.measure.declared import sides_with_errors
from theorysim.engine.measure.errors import (
    replace_tolerance_scale,
    runs,
    simulation_keys,
)
from theorysim.engine.measure.sample import Sample, draw_sample
from theorysim.engine.registry.faults import fault_in_a_file
from theorysim.engine.registry.remedies import in_words
from theorysim.engine.verify.report import EXIT_CODES
from theorysim.precision import in_precision

NAME = "shapes"
# Draws on which both sides must be numbers.
DRAWS = 16

Table = Bool[np.ndarray, "rows points"]


def shapes(subject: Subject) -> Step:
    """Trace everything at the own sizes and at others, then evaluate it on a few draws."""
    with in_precision(double=True):
        theorem = subject.theorem
        sizes = theorem.space.default_sizes()
        sides = _sides(theorem, sizes)[subject.primary.name]
        if fault := undeclared_integrator(subject):
            return Step(NAME, mend=fault, code=MISTAKE)
        warnings = (*unmeasured_integrator(subject), *_at_other_sizes(theorem, sizes))
        sample = draw_sample(subject.setup(), DRAWS)
        if not len(sample.keys):
            return Step(NAME, mend=_unmet(subject, sample), code=EXIT_CODES[Verdict.VACUOUS])
        return _numbers(subject, sample, told=_told(sides), warnings=warnings)


def _sides(theorem: Theorem, sizes: Mapping[str, int]) -> dict[str, dict[str, Any]]:
    """The shapes of both sides of every claim of every reading; raises what an author did wrong."""
    readings = theorem.all_readings()

    def one(key: Any) -> dict[str, dict[str, Any]]:
        x = replace_tolerance_scale(theorem.space.sample(key, dict(sizes)), 1.0)
        for reading in readings:
            for margin in (*reading.hypotheses.values(), *reading.requirements.values()):
                least(margin, x)
        found = runs(readings, x, simulation_keys(key, theorem.keys))
        return {r.name: {c.name: _of(c, found[r.name]) for c in r.claims} for r in readings}

    return jax.eval_shape(one, jax.random.key(0))


def _of(claim: Any, run: Any) -> tuple[Any, Any]:
    lhs, rhs, _ = sides_with_errors(claim, run)
    claim.applies(run, lhs.shape)
    return lhs, rhs


def _told(sides: Mapping[str, Any]) -> str:
    shown = (f"“{name}” compares {_shape(lhs)}" for name, (lhs, _) in sides.items())
    return ", ".join(shown)


def _shape(side: Any) -> str:
    return f"{' x '.join(map(str, side.shape))} numbers" if side.shape else "two numbers"


def _at_other_sizes(theorem: Theorem, sizes: Mapping[str, int]) -> Iterator[str]:
    """Faults that appear where one size is another number: it was written out somewhere."""
    for name, size in theorem.space.sizes.items():
        other = size.default + 1 if size.default < size.high else size.default - 1
        if other < size.low:
            continue
        try:
            _sides(theorem, {**sizes, name: other})
        except Exception as error:
            fault = fault_in_a_file(error) or in_words(error)
            yield (
                f"fails at {name} = {other}, which the space allows and `falsify` leaves out: "
                f"{fault}; compute it from x.{name}, or narrow {name}=Size(..., low=, high=)"
            )


def _unmet(subject: Subject, sample: Sample) -> str:
    """Which hypothesis is met least often, where no draw meets all of them."""
    assert sample.drawn is not None
    drawn = sample.drawn
    margins = subject.primary.hypotheses
    counts = {name: int(np.sum(drawn.values[margin] >= 0)) for name, margin in margins.items()}
    rarest = min(counts, key=lambda name: counts[name])
    return (
        f"none of {len(drawn.keys)} draws meets the hypotheses, {rarest!r} is met by "
        f"{counts[rarest]}: give the space fields that meet it, or write its margin the other way"
    )


def _numbers(subject: Subject, sample: Sample, told: str, warnings: tuple[str, ...]) -> Step:
    """Whether both sides of every claim are finite on the draws."""
    theorem, primary = subject.theorem, subject.primary

    def one(x: Instance, data: Any) -> dict[str, Any]:
        x = replace_tolerance_scale(x, 1.0)
        keys = simulation_keys(jax.random.wrap_key_data(data), theorem.keys)
        run = runs((primary,), x, keys)[primary.name]
        return {claim.name: _sides_and_applies(claim, run) for claim in primary.claims}

    found = jax.jit(jax.vmap(one))(sample.instances, sample.keys)
    rows = len(sample.keys)
    for name, parts in found.items():
        lhs, rhs, applies = (np.asarray(part).reshape(rows, -1) for part in parts)
        finite = np.isfinite(lhs) & np.isfinite(rhs)
        if not np.any(finite):
            return Step(NAME, mend=_undefined(subject, sample, name), code=MISTAKE)
        compared = np.isfinite(lhs) & ~np.isnan(rhs) | np.isfinite(rhs) & ~np.isnan(lhs)
        warnings += tuple(_gaps(name, finite, applies & ~compared, applies))
    return Step(NAME, told, warnings)


def _sides_and_applies(claim: Any, run: Any) -> tuple[Any, Any, Any]:
    lhs, rhs = claim.sides(run)
    return lhs, rhs, claim.applies(run, lhs.shape)


def _gaps(name: str, finite: Table, lost: Table, applies: Table) -> Iterator[str]:
    """On how many draws a claim says nothing, has no number, or not everywhere.

    A side that is infinite alone can be compared; `lost` are points that cannot.
    """
    rows = len(finite)
    if not np.any(applies):
        yield f"`where` of “{name}” is met on none of {rows} draws: there it says nothing"
    if blank := int(np.sum(~np.any(finite, axis=1))):
        yield (
            f"“{name}” has no finite number on {blank} of {rows} draws: exclude them by a "
            "hypothesis or by `where`"
        )
    if patchy := int(np.sum(np.any(finite, axis=1) & np.any(lost, axis=1))):
        yield (
            f"“{name}” has infinite or undefined numbers among others on {patchy} of {rows} draws: "
            "a run that diverges? exclude it by a hypothesis, or where it does by `where`"
        )


def _undefined(subject: Subject, sample: Sample, claim: str) -> str:
    """Where the first infinite or undefined number of a draw comes from."""
    x, data = jax.tree.map(lambda leaf: leaf[0], (sample.instances, sample.keys))
    x = jax.tree.map(jnp.asarray, replace_tolerance_scale(x, 1.0))
    key = simulation_keys(jax.random.wrap_key_data(jnp.asarray(data)), 1)[0]
    primary = subject.primary
    fault = _first_undefined(lambda: primary.predict(x))
    fault = fault or _first_undefined(lambda: primary.simulate(x, key))
    place = f"{fault}: " if fault else ""
    return (
        f"{place}“{claim}” has no finite number on any of {len(sample.keys)} draws: a division by "
        "zero, a logarithm or power of what is not positive, or a run that diverges?"
    )


def _first_undefined(evaluate: Callable[[], Any]) -> str:
    """File and line of the author's that makes an infinite or undefined number; "" if none does."""
    try:
        # JAX says on the standard output that it runs a program once more, slowly.
        with jax.debug_nans(True), jax.debug_infs(True), redirect_stdout(io.StringIO()):
            jax.block_until_ready(evaluate())
    except FloatingPointError as error:
        return (fault_in_a_file(error) or "").partition(": FloatingPointError")[0]
    return ""
