"""Sides that are equal by construction, such as a bound and what it bounds at the start of a path.

They say nothing of how sharp a bound is, and hide how near its sides come elsewhere.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool

from theorysim.claims.evidence import tabulate
from theorysim.claims.kinds import Claim, Pointwise
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.run import Run
from theorysim.claims.source import Finding
from theorysim.claims.theorem import Theorem
from theorysim.engine.measure.batch import measure_all
from theorysim.engine.measure.sample import draw_sample
from theorysim.engine.measure.setup import Setup, parse_settings
from theorysim.precision import in_precision

# Draws on which sides must all be equal.
DRAWS = 32

Ties = Mapping[str, Bool[np.ndarray, "*points"]]


def ties_by_construction(
    theorem: Theorem, reading: ResolvedReading, names: Iterable[str], seed: int
) -> Ties:
    """Which points of claims have equal sides, within their errors, at every draw.

    At the theorem's own sizes, by the claim's name; claims without such points are left out, and
    those that have no other ones.
    """
    wanted = reading.only(list(names))
    with in_precision(double=True):
        setup = Setup(theorem, (wanted,), parse_settings(theorem, {}), seed)
        sample = draw_sample(setup, DRAWS)
        if not len(sample.keys):
            return {}
        found = measure_all(setup, sample.instances, sample.keys)[wanted.name]
    ties = {}
    for claim in wanted.claims:
        if isinstance(claim, Pointwise):
            measurement = found[claim.name]
            tied = claim.ties(tabulate(measurement))
            ties[claim.name] = tied.reshape(np.shape(measurement.lhs)[1:])
    return {name: tied for name, tied in ties.items() if tied.any()}


def apart(theorem: Theorem, reading: ResolvedReading, ties: Ties) -> Theorem:
    """The statement of one reading whose claims do not speak of their ties."""
    return Theorem(
        space=theorem.space,
        simulate=reading.simulate,
        predict=reading.predict,
        claims=tuple(_apart(c, ties[c.name]) for c in reading.claims if c.name in ties),
        hypotheses=reading.hypotheses,
        source=Finding("how near the sides come where they are not equal by construction"),
        printed=reading.name,
        keys=theorem.keys,
        instances=theorem.instances,
        integrates=theorem.integrates,
        id=theorem.id,
        title=theorem.title,
    )


def _apart(claim: Claim, tied: np.ndarray) -> Claim:
    own = claim.where

    def where(run: Run) -> Array:
        margin = jnp.ones(()) if own is None else jnp.asarray(own(run))
        return jnp.where(tied, -1.0, margin)

    return dataclasses.replace(claim, where=where)
