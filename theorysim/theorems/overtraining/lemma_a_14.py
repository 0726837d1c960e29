"""With a large batch size, all batch covariances of a run are close to the identity.

Lemma A.14 of Springer et al. (2025): under Assumption A.13, m >= C_1^2 (d - log(10 K delta)) /
epsilon^2, with probability 1 - delta every |S_k - I|_op, k <= K, is at most epsilon. The union
bound over K batches needs log(K / delta), which grows with K; the assumption as printed shrinks
with K and asks for nothing once 10 K delta > e^d, whatever the constant.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp

from theorysim.claims import (
    Corrected,
    Mutant,
    Reading,
    Real,
    Size,
    Space,
    Theorem,
    with_probability,
)
from theorysim.theorems.overtraining import _finetuning as ft


def _demanded(formula: Callable) -> Callable:
    return lambda x: formula(x.d, x.steps, x.failure, ft.BATCH_CONSTANT, x.accuracy)


def _batch(formula: Callable) -> Callable:
    return lambda x: ft.least_batch(x.d, _demanded(formula)(x))


def _margin(formula: Callable) -> Callable:
    return lambda x: 1 - _demanded(formula)(x) / _batch(formula)(x)


def _linear_batch(d, steps, failure, constant, accuracy):
    return ft.union_batch(d, steps, failure, constant, accuracy) * accuracy


PRINTED, UNION = _batch(ft.printed_batch), _batch(ft.union_batch)


def _simulate(batch: Callable) -> Callable:
    return lambda x, key: ft.sample_covariances(key, x.d, batch(x), x.steps)


def _deviations(r):
    return ft.op_norm(r.sim - jnp.eye(r.x.d))


theorem = Theorem(
    space=Space(
        d=Size(3, high=16),
        steps=Size(12, high=1000),
        failure=Real(0.02, 0.5, log=True),
        accuracy=Real(1e-3, 1, log=True),
    ),
    hypotheses={"Assumption A.13": _margin(ft.printed_batch)},
    requirements={"batch size": PRINTED},
    simulate=_simulate(PRINTED),
    claims=(
        with_probability(
            "all covariances within epsilon of I",
            _deviations,
            lambda r: r.x.accuracy,
            at_least=lambda r: 1 - r.x.failure,
        ),
    ),
    readings=(
        Reading(
            "corrected",
            Corrected(""),
            hypotheses={"union bound": _margin(ft.union_batch)},
            requirements={"batch size": UNION},
            simulate=_simulate(UNION),
            primary=True,
            note="m >= C_1^2 (d + log(K / delta)) / epsilon^2, from a union bound over the batches",
        ),
    ),
    mutants=(Mutant("m in proportion to 1/epsilon", simulate=_simulate(_batch(_linear_batch))),),
    keys=512,
    instances=32,
    mutant_instances=32,
)
