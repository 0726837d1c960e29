"""Every mode contracts to the root of the minimiser, by 1 - 2 eta min per step.

The proof of Lemma A.11 of Springer et al. (2025) states of the entries of W_1 what holds of its
rotated entries and of roots of features, and finds a number of steps sufficient whose logarithm
depends on the unit of the features.
"""

from collections.abc import Callable

import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.overtraining import _finetuning as ft
from theorysim.theorems.overtraining import _runs as runs
from theorysim.theorems.overtraining.assumption_a_8 import ASSUMPTION as A_8
from theorysim.theorems.overtraining.assumption_a_10 import FIELDS, accuracy, logarithm, steps_for


def _simulate(steps: Callable) -> Callable:
    """Diagonals of W_1 and of U^T W_1, each after `more_steps` (early) and after all (late)."""

    def simulate(x: claims.Instance, key):
        early = runs.rotated_run(x, runs.rotated_start(x), x.more_steps)
        late = runs.rotated_run(x, early, steps(x) - x.more_steps)
        firsts = early.first, late.first
        given = jnp.stack([jnp.diag(dot(x.U, first)) for first in firsts])
        return given, jnp.stack([jnp.diag(first) for first in firsts])

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
    return _displays(lambda sim: sim[1], jnp.sqrt, **slips)


theorem = claims.Theorem(
    space=ft.fine_tuning_space(**FIELDS),
    assumes=(A_8,),
    simulate=_simulate(steps_for(_printed_logarithm, 2.0)),
    predict=ft.weighted(ft.pre_spectrum, ft.ft_spectrum),
    claims=_displays(lambda sim: sim[0], lambda feature: feature),
    source=claims.Printed(
        "proof of Lemma A.11",
        "|W_1(K)_ii - (pre_i + lam ft_i) / (1 + lam)| <= (1 - 2 eta min)^K |pre_i - ...|; "
        "K >= log(100 sqrt(Gamma) |pre_i - ft_i| / eps) / (2 eta min) gives "
        "|...| <= eps / (100 sqrt(Gamma))",
    ),
    printed="proof displays",
    note="the displays compare entries of W_1, neither rotated nor squared, with features, and "
    "the two spectra are swapped",
    readings=(
        claims.corrected(
            "(U^T W_1)_ii, roots of features with the spectra swapped back, "
            "K >= log(100 Gamma / eps) / (2 eta min)",
            name="proof displays, corrected",
            predict=ft.weighted(ft.ft_spectrum, ft.pre_spectrum),
            simulate=_simulate(steps_for(logarithm, 2.0)),
            claims=_of_modes(),
            note="with this number of steps the displays hold in every unit of the features",
        ),
    ),
    mutants=(
        claims.Mutant(
            "the two spectra swapped", predict=ft.weighted(ft.pre_spectrum, ft.ft_spectrum)
        ),
        claims.Mutant("twice as fast, a tenth as far", claims=_of_modes(speed=4, share=0.001)),
    ),
)
