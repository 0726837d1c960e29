"""Whether Theorem 4.7 survives finite batches with the printed probability.

Theorem A.25 and Lemma A.26 of Springer et al. (2025), the formal version of Theorem 4.7, under
Assumption A.21 with probability 1 - delta. Part 1, lam = 0, on (4, r)-misaligned spectra: L_pre
rises at n <= r (A.25), or wherever ft_n > 4 pre_n (A.26, which prints no probability). Part 2, for
lam_1 > lam_2 > 0: the unregularised fine-tuning loss is larger at lam_1. Batches are drawn from
their law at the size that item 4 asks for, which as printed is none once 10 d K delta >= e^d. The
statement theorem-4.7 has infinite batches, and enough instances for inflection points, which are
integers and differ at few.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.overtraining import _drawn_batches as drawn
from theorysim.theorems.overtraining import _stage_space as stage
from theorysim.theorems.overtraining import _strengths as strengths
from theorysim.theorems.overtraining import lemma_a_26, theorem_4_7
from theorysim.theorems.overtraining._assumption_a_21 import NO_UNIT, Sizes
from theorysim.theorems.overtraining._stages import loss_against
from theorysim.theorems.overtraining.theorem_4_7 import Parts, after, at_part_2


class Alone(NamedTuple):
    """Part 1 only: L_pre(theta^n(K)) at lam = 0."""

    alone: Float[Array, "*keys stages"]


@cache
def _simulate_alone(sizes: Sizes) -> Callable:
    def simulate(x: claims.Instance, key) -> Alone:
        theta, _ = drawn.run(sizes, x, lemma_a_26.unregularised(x), key)
        return Alone(loss_against(theta, stage.pre_spectrum(x)))

    return simulate


@cache
def _simulate(sizes: Sizes) -> Callable:
    """Both parts, each at its own accuracy; the strengths of part 2 see the same batches."""
    first = _simulate_alone(sizes)
    second = strengths.simulation_of(partial(drawn.run, at_part_2(sizes)))
    return lambda x, key: Parts(first(x, key).alone, second(x, key))


def _assumed_alone(sizes: Sizes) -> tuple[claims.Assumption, ...]:
    return (drawn.assumption(sizes, lemma_a_26.unregularised),)


def _assumptions(sizes: Sizes) -> tuple[claims.Assumption, ...]:
    return *_assumed_alone(sizes), drawn.assumption(at_part_2(sizes))


def _surely(name: str, larger: Callable, smaller: Callable, where: Callable | None = None):
    """larger > smaller in the one run that there is where nothing is drawn."""
    return claims.at_least(name, larger, smaller, strict=True, where=where)


def _likely(name: str, larger: Callable, smaller: Callable, where: Callable | None = None):
    """larger >= smaller with probability 1 - delta; equal only by rounding where `>` is printed."""
    return claims.with_probability(
        name, smaller, larger, at_least=lambda r: 1 - r.x.failure, where=where
    )


def _rises(name: str, where: Callable, said: Callable = _likely):
    """L_pre(n) >= L_pre(n - 1) at lam = 0, at the n where `where` says so."""

    def everywhere(r: claims.Run):
        return jnp.broadcast_to(where(r), jnp.diff(r.sim.alone).shape)

    return said(name, lambda r: r.sim.alone[:, 1:], lambda r: r.sim.alone[:, :-1], everywhere)


def _ft_loss(strength: int) -> Callable:
    return lambda r: r.sim.pulled.ft[:, strength, 1:]


ABOVE = _rises("1: rises where ft_n > 4 pre_n", lemma_a_26.large(4))
COSTS = _likely("2: fine-tuning loss", _ft_loss(2), _ft_loss(1))
SURELY_ABOVE = _rises(ABOVE.name, lemma_a_26.large(4), _surely)
SURELY_COSTS = _surely(COSTS.name, _ft_loss(2), _ft_loss(1))

theorem = claims.Theorem(
    space=stage.stage_space(
        **{**strengths.FIELDS, **drawn.FIELDS, "lam_0": claims.Real(0.1, 8, log=True)},
        slowness=claims.Choice(1.0),
    ),
    assumes=_assumptions(drawn.AS_PRINTED),
    hypotheses=stage.APART,
    simulate=_simulate(drawn.AS_PRINTED),
    claims=(_rises("1: rises at n <= r", lambda r: -after(4.0)(r)), COSTS),
    source=claims.Printed(
        "Theorem A.25 under Assumption A.21 as printed",
        "with probability 1 - delta, L_pre(theta^n(K)) - L_pre(theta^{n-1}(K)) > 0 for n <= r; "
        "|theta_1^n(K) - A^ft|_F^2 > |theta_2^n(K) - A^ft|_F^2",
    ),
    note=f"{NO_UNIT}; n <= r is reversed; item 3 lacks the learning rate; {drawn.NO_BATCH}",
    readings=(
        claims.Reading(
            "Lemma A.26",
            claims.Printed(
                "Lemma A.26 under Assumption A.21 as printed",
                "if ft_n > 4 pre_n and lam = 0, then L_pre(theta^n(K)) - L_pre(theta^{n-1}(K)) > 0",
            ),
            simulate=_simulate_alone(drawn.AS_PRINTED),
            assumes=_assumed_alone(drawn.AS_PRINTED),
            claims=(ABOVE,),
            note=f"{NO_UNIT}; item 3 lacks the learning rate; {drawn.NO_BATCH}",
        ),
        claims.Reading(
            "corrected",
            claims.Corrected(
                "n > r, and items 3 and 4 of Assumption A.21: "
                "K >= log(100 / epsilon) / (eta min{pre_i, ft_i}), "
                "d + log(K / delta) for d - log(10 d K delta)"
            ),
            simulate=theorem_4_7.simulation(drawn.CORRECTED_UNDRAWN),
            assumes=theorem_4_7.assumptions(drawn.CORRECTED_UNDRAWN),
            claims=(SURELY_ABOVE, SURELY_COSTS),
            note="item 4 then asks for 10^600 inputs: the run on them is that on the population",
            primary=True,
        ),
    ),
    mutants=(
        claims.Mutant(
            "every feature that fine-tuning enlarges",
            claims=(_rises(ABOVE.name, lemma_a_26.large(1), _surely),),
        ),
        claims.Mutant(
            "a stronger pull-back costs nothing",
            claims=(_surely(COSTS.name, _ft_loss(1), _ft_loss(2)),),
        ),
    ),
    keys=128,
    instances=40,
    mutant_instances=12,
)
