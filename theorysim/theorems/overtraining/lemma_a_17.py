"""The ideal runs on batches and on the population differ by growing multiples of epsilon.

Lemma A.17 of Springer et al. (2025): e_k = max_j |W_j(k) - W_j'(k)|_op of the ideal infinite-batch
and finite-batch runs is at most 2 (1 + 16 eta Gamma)^k epsilon sqrt(Gamma) < sqrt(Gamma) / 2, on
the event that every |S_k - I|_op <= epsilon < 1 / (4 (1 + 16 eta Gamma)^K). The proof combines
Lemmas A.15 and A.16; the growth per step of Lemma A.16 fails for lam > 0 at some well-conditioned
states, but not along these runs. The displays of the proof are tested on the same runs, the last of
them with epsilon up to 1 / (2 (1 + 16 eta Gamma)^K).
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp

from theorysim.claims import (
    Choice,
    Instance,
    Mutant,
    Printed,
    Reading,
    Real,
    Size,
    Theorem,
    at_most,
)
from theorysim.numerics.products import dot
from theorysim.theorems.overtraining import _finetuning as ft


def _accuracy(x: Instance, numerator: float = 0.25):
    return x.accuracy_share * numerator / ft.growth(x, 16) ** x.steps


def _covariances(x: Instance, key, accuracy):
    """Batches at distance epsilon from I, drawn anew at every step or the same at all."""
    directions = ft.directions(key, x.d, x.steps)
    directions = jnp.where(x.persistent > 0, directions[:1], directions)
    return jnp.eye(x.d) + accuracy * directions


def _simulate(run: Callable, numerator: float = 0.25) -> Callable:
    """e_k, k = 0..K."""

    def simulate(x: Instance, key):
        start = ft.ideal_start(x)
        anchor = dot(*start)
        covariances = _covariances(x, key, _accuracy(x, numerator))
        population = ft.fine_tune(x, start, anchor, x.steps)
        return ft.furthest(population, run(x, start, anchor, covariances))

    return simulate


def _growth(r):
    """(1 + 16 eta Gamma)^k, k = 0..K."""
    return ft.growth(r.x, 16) ** jnp.arange(r.x.steps + 1)


def _root(r):
    return jnp.sqrt(ft.gamma(r.x))


def _bound(power: float) -> Callable:
    return lambda r: 2 * _growth(r) * _accuracy(r.x) ** power * _root(r)


def _claims(power: float) -> tuple:
    return (
        at_most(
            "C1: e_k <= 2 (1 + 16 eta Gamma)^k eps sqrt(Gamma)", lambda r: r.sim, _bound(power)
        ),
        at_most("C2: and that < sqrt(Gamma) / 2", _bound(1), lambda r: _root(r) / 2, strict=True),
    )


def _recursion(r):
    noise = 32 * ft.learning_rate(r.x) * _accuracy(r.x) * ft.gamma(r.x) ** 1.5
    return ft.growth(r.x, 16) * r.sim[:, :-1] + noise


DISPLAYS = (
    at_most("P1: recursion of e_k", lambda r: r.sim[:, 1:], _recursion),
    at_most(
        "P2: e_k <= ((1 + 16 eta Gamma)^k - 1) 2 eps sqrt(Gamma)",
        lambda r: r.sim,
        lambda r: (_growth(r) - 1) * 2 * _accuracy(r.x) * _root(r),
    ),
)
LAST_DISPLAY = (
    at_most(
        "P3: e_K < sqrt(Gamma) / 4", lambda r: r.sim[:, -1], lambda r: _root(r) / 4, strict=True
    ),
)

theorem = Theorem(
    space=ft.fine_tuning_space(
        d=Size(3),
        steps=Size(10, high=200),
        accuracy_share=Real(1e-4, 0.999, log=True),
        persistent=Choice(0.0, 1.0),
    ),
    hypotheses={
        "Assumption A.8": ft.small_rate,
        "epsilon < 1 / (4 (1 + 16 eta Gamma)^K)": lambda x: 1 - x.accuracy_share,
    },
    simulate=_simulate(ft.fine_tune_on),
    claims=_claims(1),
    printed="steps down the gradient",
    readings=(
        Reading("Eq. 11 as printed", Printed("", ""), simulate=_simulate(ft.run_printed)),
        Reading("proof displays", Printed("", ""), claims=DISPLAYS),
        Reading(
            "proof display for epsilon < 1 / (2 (1 + 16 eta Gamma)^K)",
            Printed("", ""),
            simulate=_simulate(ft.fine_tune_on, 0.5),
            claims=LAST_DISPLAY,
            note="true of the runs, though the displays before it only give e_K < sqrt(Gamma)",
        ),
    ),
    mutants=(Mutant("quadratic in epsilon", claims=_claims(2)),),
)
