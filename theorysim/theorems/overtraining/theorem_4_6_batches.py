"""Whether fine-tuning on finite batches harms the pre-training loss with the printed probability.

Theorem A.24 of Springer et al. (2025), the formal version of Theorem 4.6: under Assumption A.21,
with probability 1 - delta, Delta_pre(n) >= 0 does not decrease with n. Batches are drawn from their
law at the size that item 4 asks for, which as printed is none once 10 d K delta >= e^d. The
statement theorem-4.6 has infinite batches, and the other reading of item 3.
"""

from functools import cache, partial

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.overtraining import _drawn_batches as drawn
from theorysim.theorems.overtraining import _stage_space as stage
from theorysim.theorems.overtraining._assumption_a_21 import Sizes
from theorysim.theorems.overtraining._sensitivity import simulation_of


@cache
def _simulate(sizes: Sizes):
    return simulation_of(partial(drawn.run, sizes))


def _fall(r: claims.Run, sign: float):
    """-Delta_pre(n) and Delta_pre(n) - Delta_pre(n + 1), from n = 1; keys lead."""
    harm = sign * r.sim.change[:, 1:]
    return -jnp.concatenate([harm, jnp.diff(harm)], axis=1)


def _progressive(sign: float = 1.0) -> tuple[claims.Claim, ...]:
    return (
        claims.with_probability(
            "Delta_pre(n) >= 0, not decreasing",
            lambda r: _fall(r, sign),
            lambda r: 0.0,
            at_least=lambda r: 1 - r.x.failure,
        ),
    )


def _reading(name: str, sizes: Sizes, note: str, primary: bool = False) -> claims.Reading:
    return claims.Reading(
        name,
        sizes.source,
        simulate=_simulate(sizes),
        assumes=(drawn.assumption(sizes),),
        note=note,
        primary=primary,
    )


theorem = claims.Theorem(
    space=stage.stage_space(**drawn.FIELDS, slowness=claims.Choice(1.0)),
    assumes=(drawn.assumption(drawn.AS_PRINTED),),
    simulate=_simulate(drawn.AS_PRINTED),
    claims=_progressive(),
    source=claims.Printed(
        "Theorem A.24 under Assumption A.21 as printed",
        "with probability 1 - delta, Delta_pre(n) >= 0 and does not decrease with n",
    ),
    note=drawn.NO_BATCH,
    readings=(
        _reading(
            "corrected",
            drawn.CORRECTED,
            drawn.AS_INFINITE,
            primary=True,
        ),
    ),
    mutants=(claims.Mutant("fine-tuning helps the longer", claims=_progressive(sign=-1.0)),),
    keys=128,
    instances=16,
    mutant_instances=16,
)
