"""Fine-tuning harms the pre-training loss the more, the more features were learned before.

Theorem 4.6 (progressive sensitivity) of Springer et al. (2025), formally Theorem A.24. With
Delta_pre(n) = L_pre(theta^n(K)) - L_pre(theta^n(0)): it is never negative and grows with n. The
main text asks for (alpha, 1)-misaligned spectra with alpha > 1 and leaves the sizes open (they are
those of the corrected reading here); the appendix asks for Assumption A.21 instead. Item 3 of A.21
is read as printed, as the Assumption A.10 that it names, and corrected.

The batch is infinite, which item 4 of A.21 admits. The proof is a statement of its own.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining import _practice as practice
from theorysim.theorems.overtraining import _stage_space as stage
from theorysim.theorems.overtraining import _stages as stages


class Change(NamedTuple):
    """Delta_pre(n) for n = 0, ..., d; loss and distance of the real start from the ideal one."""

    change: Float[Array, " stages"]
    start_loss: Float[Array, " stages"]
    start: Float[Array, " stages"]


def simulation_of(run: Callable) -> Callable:
    """The run's Delta_pre and its start, from `run(x, lam, key)`."""

    def simulate(x: claims.Instance, key) -> Change:
        theta, modes = run(x, stage.pull_back(x), key)
        pre = stage.pre_spectrum(x)
        start, ideal = stages.diagonal(modes), stages.diagonal(stages.ideal_modes(pre))
        return Change(
            change=stages.loss_change(theta, start, pre),
            start_loss=stages.loss_change(start, ideal, pre),
            start=jnp.linalg.norm(start - ideal, axis=(-2, -1)),
        )

    return simulate


@cache
def simulation(sizes: a_21.Sizes) -> Callable:
    """The same at sizes that Assumption A.21 admits."""
    return simulation_of(sizes.run)


def change(r: claims.Run) -> Float[Array, " d"]:
    """Delta_pre(n) from n = 1."""
    return r.sim.change[1:]


NOT_NEGATIVE = claims.at_least(
    "Delta_pre(n) >= 0", change, lambda r: 0.0, statement="L_pre(theta^n(K)) >= L_pre(theta^n(0))"
)
GROWS = claims.increasing("Delta_pre(n) in n", change)


def _misaligned(x: claims.Instance):
    """Margin of ft_i > pre_i for all i > 1."""
    return jnp.min((stage.ft_spectrum(x) / stage.pre_spectrum(x))[1:] - 1, initial=jnp.inf)


theorem = claims.Theorem(
    space=stage.stage_space(**practice.FIELDS),
    assumes=(a_21.CORRECTED.assumption(),),
    hypotheses={
        "(alpha, 1)-misaligned, alpha > 1": claims.strict(_misaligned),
        "fine-tuning features in order": claims.strict(stage.in_order),
    },
    simulate=simulation(a_21.CORRECTED),
    claims=(NOT_NEGATIVE, GROWS),
    source=claims.Printed(
        "Theorem 4.6", "(alpha, 1)-misaligned, alpha > 1: Delta_pre(t_n) >= 0 and increases with n"
    ),
    printed="main text",
    note="the main text leaves the sizes open: here they are those of the corrected reading",
    aliases=("theorem-a.24",),
    readings=(
        a_21.AS_PRINTED.reading("appendix", simulation, note=a_21.NO_RATE),
        a_21.AS_LABELLED.reading("appendix, item 3 as A.10", simulation, note=a_21.NO_UNIT),
        a_21.CORRECTED.reading("corrected", simulation, note=a_21.FREE_OF_SCALE, primary=True),
        practice.reading("Theorem 4.6", a_21.AS_LABELLED, simulation_of(practice.run)),
    ),
    mutants=(
        claims.Mutant(
            "fine-tuning helps the pre-training loss, the more the longer",
            of=("main text", "corrected"),
            claims=(NOT_NEGATIVE.reversed(), GROWS.reversed()),
        ),
    ),
)
