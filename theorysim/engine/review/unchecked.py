"""Stage 8: what was not checked, and what these means cannot see."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax.interpreters.partial_eval import dce_jaxpr
from jaxtyping import Array

from theorysim.claims.reading import ResolvedReading
from theorysim.claims.theorem import Theorem
from theorysim.claims.verdict import Verdict
from theorysim.engine.measure.errors import replace_tolerance_scale
from theorysim.engine.review.adversary import Adversary
from theorysim.engine.review.necessity import Necessity, Need
from theorysim.engine.review.readings import Readings
from theorysim.engine.review.record import Record
from theorysim.engine.review.words import count, number, sizes_in_words
from theorysim.precision import in_precision


@dataclass(frozen=True)
class Gap(Record):
    """Something that was left out: `about` is a word or two, `sentence` says what."""

    about: str
    sentence: str


@dataclass(frozen=True)
class Unchecked(Record):
    """Stage 8."""

    gaps: tuple[Gap, ...]


def left_out(
    theorem: Theorem, readings: Readings, adversary: Adversary, necessity: Necessity
) -> Unchecked:
    """Every gap, those of this statement first, those of the method last."""
    return Unchecked(
        (
            *_undecided(readings),
            *_unattacked(readings, adversary),
            *_hypotheses(necessity),
            *_space(theorem, readings, adversary),
            *_method(theorem, readings, adversary),
        )
    )


def _undecided(readings: Readings) -> Iterator[Gap]:
    for reading in readings.examined:
        for claim in reading.of(Verdict.INCONCLUSIVE, Verdict.VACUOUS):
            why = f": {claim.note}" if claim.note else ""
            yield Gap("undecided", f"{reading.name}, {claim.name} ({claim.verdict}){why}.")


def _unattacked(readings: Readings, adversary: Adversary) -> Iterator[Gap]:
    others = [reading.name for reading in readings.readings if reading not in readings.examined]
    if others:
        names = "; ".join(others)
        yield Gap("readings", f"Only verified, not attacked, as they are ours: {names}.")
    late = [
        reading.name
        for reading in readings.examined
        if reading.of(Verdict.HOLDS, Verdict.INCONCLUSIVE) and not adversary.of(reading.name)
    ]
    if late:
        yield Gap("time", f"Only verified, as time was over: {'; '.join(late)}.")


def _hypotheses(necessity: Necessity) -> Iterator[Gap]:
    unsearched = [
        one.hypothesis
        for one in necessity.hypotheses
        if one.need is not Need.NEEDED and not one.points
    ]
    if unsearched:
        yield Gap("time", f"Dropped on draws only, no search: {'; '.join(unsearched)}.")


def _space(theorem: Theorem, readings: Readings, adversary: Adversary) -> Iterator[Gap]:
    if readings.sizes:
        met = any(reading.satisfying for reading in readings.examined)
        reached = {tuple(readings.sizes.items())} if met else set()
        reached |= {tuple(s.items()) for outcome in adversary.outcomes for s in outcome.sizes}
        listed = sizes_in_words(map(dict, reached)) if reached else "no sizes"
        text = f"Draws and search met the hypotheses at {listed}. Other sizes were not looked at."
        yield Gap("sizes", text)
    fields = [f"{name}: {field.describe()}" for name, field in theorem.space.fields.items()]
    if fields:
        yield Gap("values", f"Nothing outside of these was tried: {'; '.join(fields)}.")


def _method(theorem: Theorem, readings: Readings, adversary: Adversary) -> Iterator[Gap]:
    if any(uses_key(theorem, theorem.reading(one.name)) for one in readings.examined):
        keys = count(theorem.keys, "random key")
        yield Gap("chance", f"Every instance was simulated under {keys}; others may differ.")
    shares = [o.excluded for o in adversary.outcomes if not math.isnan(o.excluded)]
    shares = shares or [
        claim.excluded for claim in readings.primary.claims if not math.isnan(claim.excluded)
    ]
    rare = f"less than {number(100 * max(shares), 2)} % of the draws" if shares else "few draws"
    yield Gap("rare cases", f"A search is no proof: what violates {rare} may have been missed.")
    yield Gap(
        "precision",
        "All runs are in float64 with measured errors: a violation below its error is not seen.",
    )


def uses_key(theorem: Theorem, reading: ResolvedReading) -> bool:
    """Whether what a reading simulates depends on its random key at all."""

    def drawn(key: Array) -> Any:
        x = theorem.space.sample(key, theorem.space.default_sizes())
        return replace_tolerance_scale(x, 1.0 if theorem.integrates else jnp.nan)

    def outcome(key_data: Array, x: Any) -> list[Array]:
        return [
            jnp.asarray(part)
            for part in jax.tree.leaves(reading.simulate(x, jax.random.wrap_key_data(key_data)))
        ]

    with in_precision(double=True):
        key = jax.random.key(0)
        x = jax.eval_shape(drawn, key)
        jaxpr = jax.make_jaxpr(outcome)(jax.random.key_data(key), x).jaxpr
    _, needed = dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars))
    return needed[0]
