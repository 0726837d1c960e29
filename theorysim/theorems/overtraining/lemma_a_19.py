"""The runs from the real and from the ideal start stay within (1 + 32 eta Gamma)^k exp(-C tau).

Lemma A.19 of Springer et al. (2025): both runs see the same batches, on the event that every
|S_k - I|_op <= epsilon < 1 / (4 (1 + 32 eta Gamma)^K). exp(-C tau) bounds the Frobenius distance of
the starts (Theorem A.1); here it is that distance. As printed both pull to the real start
theta^n(0); a reading lets each pull to its own. All is in the coordinates U^T W_1 and W_2 V. The
displays of the proof state the same in the Frobenius norm.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp

from theorysim.claims import Instance, Mutant, Printed, Reading, Real, Size, Theorem, at_most
from theorysim.numerics.products import dot
from theorysim.theorems.overtraining import _finetuning as ft


def _accuracy(x: Instance):
    return x.accuracy_share / (4 * ft.growth(x, 32) ** x.steps)


def _simulate(ideal_anchor: Callable, run: Callable) -> Callable:
    """W_j(k) of the real start minus that of the ideal one, k = 0..K."""

    def simulate(x: Instance, key):
        straight = ft.rotated(x)
        covariances = jnp.eye(x.d) + _accuracy(x) * ft.directions(key, x.d, x.steps)
        real, ideal = ft.real_start(straight), ft.ideal_start(straight)
        anchor = dot(*real)
        from_real = run(straight, real, anchor, covariances)
        from_ideal = run(straight, ideal, dot(*ideal_anchor(straight)), covariances)
        return tuple(a - b for a, b in zip(from_real, from_ideal))

    return simulate


def predict(x: Instance):
    """exp(-C tau): the distance of the starts, the same for both factors."""
    missing = ft.real_modes(x) - jnp.sqrt(ft.learned(x, ft.pre_spectrum(x)))
    return jnp.sqrt(jnp.sum(missing**2))


def _frobenius(r):
    norms = [jnp.sqrt(jnp.sum(difference**2, axis=(-2, -1))) for difference in r.sim]
    return jnp.maximum(*norms)


def _claims(factor: float) -> tuple:
    def bound(r):
        return ft.growth(r.x, factor) ** jnp.arange(r.x.steps + 1) * r.theory

    return (
        at_most("C1: the distance of W_1", lambda r: ft.op_norm(r.sim[0]), bound),
        at_most("C2: the distance of W_2", lambda r: ft.op_norm(r.sim[1]), bound),
    )


DISPLAYS = (
    at_most(
        "P1: growth per step, in the Frobenius norm",
        lambda r: _frobenius(r)[:, 1:],
        lambda r: ft.growth(r.x, 32) * _frobenius(r)[:, :-1],
    ),
    at_most(
        "P2: growth from the start, in the Frobenius norm",
        lambda r: _frobenius(r)[:, 1:],
        lambda r: ft.growth(r.x, 32) ** jnp.arange(1, r.x.steps + 1) * r.theory,
    ),
)

theorem = Theorem(
    space=ft.fine_tuning_space(
        d=Size(3),
        steps=Size(10, high=200),
        depth=Real(3, 15),
        accuracy_share=Real(1e-4, 0.999, log=True),
    ),
    hypotheses={
        "Assumption A.8": ft.small_rate,
        "epsilon < 1 / (4 (1 + 32 eta Gamma)^K)": lambda x: 1 - x.accuracy_share,
    },
    simulate=_simulate(ft.real_start, ft.fine_tune_on),
    predict=predict,
    claims=_claims(32),
    printed="steps down the gradient, one anchor",
    readings=(
        Reading(
            "each its own anchor",
            Printed("", ""),
            simulate=_simulate(ft.ideal_start, ft.fine_tune_on),
        ),
        Reading(
            "Eq. 11 as printed", Printed("", ""), simulate=_simulate(ft.real_start, ft.run_printed)
        ),
        Reading("proof displays", Printed("", ""), claims=DISPLAYS),
    ),
    mutants=(Mutant("no growth", claims=_claims(0)),),
)
