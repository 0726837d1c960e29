"""Every mode contracts to the root of the minimiser, by 1 - 2 eta min per step.

The proof of Lemma A.11 of Springer et al. (2025) states of the entries of W_1 what holds of its
rotated entries and of roots of features, and finds a number of steps sufficient whose logarithm
depends on the unit of the features.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.overtraining import _finetuning as ft
from theorysim.theorems.overtraining import lemma_a_11 as statement
from theorysim.theorems.overtraining.assumption_a_8 import ASSUMPTION as A_8
from theorysim.theorems.overtraining.assumption_a_10 import accuracy, logarithm, steps_for


class Entries(NamedTuple):
    """Diagonals of W_1 and of U^T W_1 after `more_steps` (early) and after all steps (late)."""

    given: Float[Array, "2 d"]
    rotated: Float[Array, "2 d"]


def _simulate(steps: Callable) -> Callable:
    def simulate(x: claims.Instance, key) -> Entries:
        early = statement.run_for(x, statement.start(x), x.more_steps)
        late = statement.run_for(x, early, steps(x) - x.more_steps)
        firsts = early.first, late.first
        return Entries(
            given=jnp.stack([jnp.diag(dot(x.U, first)) for first in firsts]),
            rotated=jnp.stack([jnp.diag(first) for first in firsts]),
        )

    return simulate


def _printed_logarithm(x: claims.Instance):
    """log(100 sqrt(Gamma) |pre_i - ft_i| / epsilon), per learned mode."""
    difference = jnp.abs(ft.pre_spectrum(x) - ft.ft_spectrum(x))
    return jnp.log(ft.learned(x, 100 * jnp.sqrt(ft.gamma(x)) * difference / accuracy(x)))


def _displays(entries: Callable, root: Callable, speed: float = 2, share: float = 0.01) -> tuple:
    """For simulated entries, whose limits are roots of features."""

    def distance(time):
        return lambda r: jnp.abs(entries(r.sim)[time] - root(r.theory))

    def bound(r):
        smaller = jnp.minimum(ft.pre_spectrum(r.x), ft.ft_spectrum(r.x))
        kept = (1 - speed * ft.learning_rate(r.x) * smaller) ** r.x.more_steps
        return kept * jnp.abs(root(ft.pre_spectrum(r.x)) - root(r.theory))

    def radius(r):
        return share * accuracy(r.x) / jnp.sqrt(ft.gamma(r.x))

    return (
        claims.at_most("P1: contraction by 1 - 2 eta min", distance(0), bound, where=ft.is_learned),
        claims.at_most(
            "P2: steps for epsilon / (100 sqrt(Gamma))", distance(1), radius, where=ft.is_learned
        ),
    )


def _of_modes(**slips: float) -> tuple:
    return _displays(lambda sim: sim.rotated, jnp.sqrt, **slips)


theorem = claims.Theorem(
    space=statement.theorem.space,
    assumes=(A_8,),
    simulate=_simulate(steps_for(_printed_logarithm, 2.0)),
    predict=statement.AS_PRINTED,
    claims=_displays(lambda sim: sim.given, lambda feature: feature),
    source=claims.Printed(
        "proof of Lemma A.11",
        "|W_1(K)_ii - (pre_i + lam ft_i) / (1 + lam)| <= (1 - 2 eta min)^K |pre_i - ...|",
    ),
    printed="proof displays",
    note="the displays compare entries of W_1, neither rotated nor squared, with features",
    readings=(
        claims.corrected(
            "(U^T W_1)_ii, roots of features, K >= log(100 Gamma / eps) / (2 eta min)",
            name="proof displays, corrected",
            predict=statement.MINIMISER,
            simulate=_simulate(steps_for(logarithm, 2.0)),
            claims=_of_modes(),
            note="with this number of steps the displays hold in every unit of the features",
        ),
    ),
    mutants=(
        claims.Mutant("the two spectra swapped", predict=statement.AS_PRINTED),
        claims.Mutant("twice as fast, a tenth as far", claims=_of_modes(speed=4, share=0.001)),
    ),
)
