"""The real run on batches stays close to the ideal run on the population, with high probability.

Lemma A.20 of Springer et al. (2025): under Assumptions A.8 and A.13 and for
epsilon < 1 / (4 (1 + 16 eta Gamma)^K), with probability 1 - delta both factors are well conditioned
and within (1 + 32 eta Gamma)^k exp(-C tau) + 2 (1 + 16 eta Gamma)^k sqrt(Gamma) epsilon, k <= K.
Batches are drawn from their law at the size that the assumption requirements; as printed (see Lemma
A.14) it requirements nothing where 10 K delta > e^d. exp(-C tau) is the distance of the starts.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp

from theorysim.claims import (
    Corrected,
    Instance,
    Mutant,
    Reading,
    Real,
    Size,
    Theorem,
    with_probability,
)
from theorysim.numerics.products import dot
from theorysim.theorems.overtraining import _finetuning as ft


def _accuracy(x: Instance):
    return x.accuracy_share / (4 * ft.growth(x, 16) ** x.steps)


def _demanded(formula: Callable) -> Callable:
    return lambda x: formula(x.d, x.steps, x.failure, ft.BATCH_CONSTANT, _accuracy(x))


def _batch(formula: Callable) -> Callable:
    return lambda x: ft.least_batch(x.d, _demanded(formula)(x))


def _hypotheses(name: str, formula: Callable) -> dict[str, Callable]:
    return {
        "Assumption A.8": ft.small_rate,
        name: lambda x: 1 - _demanded(formula)(x) / _batch(formula)(x),
        "epsilon < 1 / (4 (1 + 16 eta Gamma)^K)": lambda x: 1 - x.accuracy_share,
    }


def _simulate(batch: Callable) -> Callable:
    """Norms of both factors, and their distances to the ideal run on the population."""

    def simulate(x: Instance, key):
        straight = ft.rotated(x)
        covariances = ft.sample_covariances(key, x.d, batch(x), x.steps)
        real, ideal = ft.real_start(straight), ft.ideal_start(straight)
        anchor = dot(*real)
        run = ft.fine_tune_on(straight, real, anchor, covariances)
        population = ft.fine_tune(straight, ideal, dot(*ideal), x.steps)
        return {
            "norms": jnp.stack([ft.op_norm(w) for w in run]),
            "distances": jnp.stack([ft.op_norm(a - b) for a, b in zip(run, population)]),
        }

    return simulate


def _predict(start: float) -> Callable:
    """The bound, with so much of the term for the distance of the starts."""

    def predict(x: Instance):
        missing = ft.real_modes(x) - jnp.sqrt(ft.learned(x, ft.pre_spectrum(x)))
        steps = jnp.arange(x.steps + 1)
        apart = start * ft.growth(x, 32) ** steps * jnp.sqrt(jnp.sum(missing**2))
        return apart + 2 * ft.growth(x, 16) ** steps * jnp.sqrt(ft.gamma(x)) * _accuracy(x)

    return predict


def _both_sides(r):
    """Norms over their bound beside distances over theirs."""
    norms = r.sim["norms"] / (2 * jnp.sqrt(ft.gamma(r.x)))
    return jnp.concatenate([norms, r.sim["distances"] / r.theory], axis=1)


PRINTED, UNION = _batch(ft.printed_batch), _batch(ft.union_batch)

UNION_BOUND = _hypotheses("union bound", ft.union_batch)

theorem = Theorem(
    space=ft.fine_tuning_space(
        d=Size(2),
        steps=Size(10, high=50),
        depth=Real(3, 15),
        accuracy_share=Real(1e-4, 0.999, log=True),
        failure=Real(0.1, 0.5, log=True),
    ),
    hypotheses=_hypotheses("Assumption A.13", ft.printed_batch),
    requirements={"batch size": PRINTED},
    simulate=_simulate(PRINTED),
    predict=_predict(1.0),
    claims=(
        with_probability(
            "C1, C2: well conditioned and close",
            _both_sides,
            lambda r: 1.0,
            at_least=lambda r: 1 - r.x.failure,
        ),
    ),
    readings=(
        Reading(
            "corrected",
            Corrected(""),
            hypotheses=UNION_BOUND,
            requirements={"batch size": UNION},
            simulate=_simulate(UNION),
            primary=True,
            note="Assumption A.13 with d + log(K / delta) in place of d - log(10 K delta)",
        ),
    ),
    mutants=(
        Mutant(
            "without the distance of the starts",
            simulate=_simulate(UNION),
            predict=_predict(0.0),
        ),
    ),
    keys=128,
    instances=32,
)
