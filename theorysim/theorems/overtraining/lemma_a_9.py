"""With a small learning rate, no factor of the ideal run ever exceeds the root of Gamma.

Lemma A.9 of Springer et al. (2025): under Assumption A.8, 4 eta (lam + 2) Gamma < 1, the run of
Eqs. 16 and 17 keeps |W_1(k)|_op and |W_2(k)|_op at or below sqrt(Gamma). These equations pull to
the real start, Lemma A.7 to the ideal one: each is a reading. The proof calls it a
consequence of Lemma A.28, whose step condition has two terms that do not scale like Gamma and is
therefore not implied; a reading of its own tests that link.
"""

from collections.abc import Callable

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.overtraining import _finetuning as ft
from theorysim.theorems.overtraining import _runs as runs
from theorysim.theorems.overtraining.assumption_a_8 import ASSUMPTION


def _simulate(anchored_at: Callable) -> Callable:
    """Norms of both factors along the run, pulled back to where the modes are `anchored_at(x)`."""

    def simulate(x: claims.Instance, key):
        straight, anchor = ft.rotated(x), jnp.diag(anchored_at(x) ** 2)
        first, second = runs.fine_tune(straight, ft.ideal_start(straight), anchor, x.steps)
        return ft.op_norm(first), ft.op_norm(second)

    return simulate


def _bounded_by(largest):
    """Both factors stay below the root of `largest`."""
    return (
        claims.at_most("C1: |W_1(k)|_op", lambda r: r.sim[0], lambda r: jnp.sqrt(largest(r.x))),
        claims.at_most("C2: |W_2(k)|_op", lambda r: r.sim[1], lambda r: jnp.sqrt(largest(r.x))),
    )


def _step_condition(x: claims.Instance):
    """Left side of Lemma A.28's hypothesis at sigma^2 = ft_i and sigma_0^2 = pre_i, all modes."""
    target, pre, lam = ft.ft_spectrum(x), ft.pre_spectrum(x), ft.pull_back(x)
    unscaled = lam + lam * jnp.sqrt(pre / target)
    return (lam + 2) * ft.learning_rate(x) * (2 * jnp.maximum(target, pre) + unscaled)


def _largest_of_learned(x: claims.Instance):
    """Largest step condition among the modes that move."""
    return jnp.max(ft.learned(x, _step_condition(x)))


theorem = claims.Theorem(
    space=ft.fine_tuning_space(steps=claims.Size(100, high=20_000), depth=claims.Real(3, 15)),
    assumes=(ASSUMPTION,),
    source=claims.Printed("Lemma A.9", "|W_1(k)|_op <= sqrt(Gamma), |W_2(k)|_op <= sqrt(Gamma)"),
    requirements={"left side of Lemma A.28's step condition (< 1)": _largest_of_learned},
    simulate=_simulate(ft.real_modes),
    claims=_bounded_by(ft.gamma),
    readings=(
        claims.Reading(
            "pulled to the ideal start",
            claims.Printed("Lemma A.9 by the proof of Lemma A.7", "Sigma_1^n(0) Sigma_2^n(0)"),
            simulate=_simulate(ft.ideal_modes),
        ),
        claims.Reading(
            "inference by way of Lemma A.28",
            claims.Printed("proof of Lemma A.9", "a direct consequence of Lemmas A.7 and A.28"),
            claims=(
                claims.at_least(
                    "Assumption A.8 implies its step condition",
                    lambda r: 1.0,
                    lambda r: _largest_of_learned(r.x),
                    strict=True,
                ),
            ),
            note="Assumption A.8 does not imply the step condition of Lemma A.28: for lam > 0 that "
            "compares numbers with features, and fails where these are small or lam is large",
        ),
    ),
    mutants=(
        claims.Mutant(
            "Gamma of pre-training alone",
            of=("as printed", "pulled to the ideal start"),
            claims=_bounded_by(lambda x: ft.pre_spectrum(x)[0]),
        ),
    ),
)
