"""Fine-tuning ends near the mean of the two maps' features, weighted by the pull-back.

Lemma A.23 of Springer et al. (2025): under Assumption A.21 and for every n <= d,
|U^T theta^n(K) V - (ft_:n + lam pre_:n) / (1 + lam)|_F <= min over i <= n of |pre_i - ft_i|^2
/ (500 (lam_0 + 1)^2 Gamma). Item 3 of A.21 is read as printed, as the Assumption A.10 that it
names, and corrected. (Lemma A.11, from which it is said to follow, prints pre and ft swapped.) The
batch is infinite, which item 4 admits.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp

from theorysim.claims import Corrected, Instance, Mutant, Printed, Reading, Run, Theorem, at_most
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining._finetuning import gamma, pre_spectrum

AS_PRINTED = a_21.Assumption(a_21.steps_as_printed)
AS_LABELLED = a_21.Assumption(a_21.steps_as_labelled)
CORRECTED = a_21.Assumption(a_21.steps_free_of_scale)


def _simulate(assumption: a_21.Assumption) -> Callable:
    return lambda x, key: assumption.run(x, a_21.pull_back(x), key)[0]


def _limit(swapped: bool = False) -> Callable:
    """(ft_:n + lam pre_:n) / (1 + lam) for n = 0, ..., d, as diagonal matrices."""

    def predict(x: Instance):
        target, anchor = a_21.ft_spectrum(x), pre_spectrum(x)
        if swapped:
            target, anchor = anchor, target
        lam = a_21.pull_back(x)
        learned = jnp.tril(jnp.ones((x.d + 1, x.d)), -1)
        return (learned * (target + lam * anchor) / (1 + lam))[..., None] * jnp.eye(x.d)

    return predict


def _distance(r: Run):
    return jnp.linalg.norm((r.sim - r.theory)[..., 1:, :, :], axis=(-2, -1))


def _bound(r: Run):
    return a_21.smallest_gaps(r.x) / (500 * (r.x.lam_0 + 1) ** 2 * gamma(r.x))


SIZES = CORRECTED.hypotheses()

theorem = Theorem(
    space=a_21.assumption_space(),
    hypotheses=AS_PRINTED.hypotheses(),
    requirements=AS_PRINTED.requirements(),
    simulate=_simulate(AS_PRINTED),
    predict=_limit(),
    claims=(at_most("distance to the limit", _distance, _bound),),
    readings=(
        Reading(
            "item 3 as A.10",
            Printed("", ""),
            simulate=_simulate(AS_LABELLED),
            hypotheses=AS_LABELLED.hypotheses(),
            requirements=AS_LABELLED.requirements(),
            note="log(100 Gamma / epsilon) <= 0 asks for no step where the features are small",
        ),
        Reading(
            "corrected",
            Corrected(""),
            simulate=(corrected_run := _simulate(CORRECTED)),
            hypotheses=SIZES,
            requirements=CORRECTED.requirements(),
            primary=True,
            note="K >= log(100 / epsilon) / (eta min): item 3 lacks eta and depends on the scale",
        ),
    ),
    mutants=(
        Mutant(
            "the features swapped, as in Lemma A.11",
            simulate=corrected_run,
            predict=_limit(swapped=True),
        ),
    ),
)
