"""The distance of the ideal runs follows a linear recursion, with noise from every batch.

The displays of the proof of Lemma A.17 of Springer et al. (2025), on the lemma's runs; the last of
them with epsilon up to 1 / (2 (1 + 16 eta Gamma)^K). Assumption A.8, that of Lemma A.9 from which
the proof starts, is not named. That P2 gives this last display is a reading of its own.
"""

from collections.abc import Callable

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.overtraining import _finetuning as ft
from theorysim.theorems.overtraining import _runs as runs
from theorysim.theorems.overtraining.assumption_a_8 import ASSUMPTION as A_8
from theorysim.theorems.overtraining.lemma_a_17 import (
    WITHOUT_TIES,
    accuracy,
    growth,
    root,
    simulation,
)
from theorysim.theorems.overtraining.lemma_a_17 import theorem as lemma


def _recursion(noise: float = 32) -> Callable:
    def bound(r):
        batch = noise * ft.learning_rate(r.x) * accuracy(r.x) * ft.gamma(r.x) ** 1.5
        return ft.growth(r.x, 16) * r.sim[:-1] + batch

    return bound


P1 = claims.at_most("P1: recursion of e_k", lambda r: r.sim[1:], _recursion())
P2 = claims.at_most(
    "P2: e_k <= ((1 + 16 eta Gamma)^k - 1) 2 eps sqrt(Gamma)",
    lambda r: r.sim,
    lambda r: (growth(r) - 1) * 2 * accuracy(r.x) * root(r),
)
P3 = claims.at_most(
    "P3: e_K < sqrt(Gamma) / 4", lambda r: r.sim[-1], lambda r: root(r) / 4, strict=True
)
INFERENCE = claims.at_most(
    "P3 from P2",
    lambda r: (growth(r)[-1] - 1) * 2 * accuracy(r.x, 0.5) * root(r),
    lambda r: root(r) / 4,
    strict=True,
)
LAST = {
    "epsilon < 1 / (2 (1 + 16 eta Gamma)^K)": claims.strict(lambda x: 1 - x.accuracy_share),
    **WITHOUT_TIES,
}

theorem = claims.Theorem(
    space=lemma.space,
    hypotheses=lemma.hypotheses,
    simulate=lemma.simulate,
    claims=(P1, P2),
    source=claims.Printed(
        "proof of Lemma A.17",
        "epsilon_{k+1} <= (1 + 16 eta Gamma) epsilon_k + 32 eta epsilon Gamma^(3/2)",
    ),
    printed="proof displays",
    note="at learning rates beyond Assumption A.8 the ideal run itself is not well conditioned",
    readings=(
        claims.corrected(
            "Assumption A.8 is among the hypotheses",
            name="proof displays, corrected",
            assumes=(A_8,),
            note="with the Assumption A.8 of Lemma A.9",
        ),
        claims.Reading(
            "proof display for epsilon < 1 / (2 (1 + 16 eta Gamma)^K)",
            claims.Printed("proof of Lemma A.17", "epsilon_K < Gamma^(1/2) / 4"),
            simulate=simulation(runs.fine_tune_on, 0.5),
            hypotheses=LAST,
            claims=(P3,),
            note="at learning rates beyond Assumption A.8 runs diverge; P2 does not give it",
        ),
        claims.Reading(
            "that display, corrected",
            claims.Corrected("Assumption A.8 is among the hypotheses"),
            simulate=simulation(runs.fine_tune_on, 0.5),
            assumes=(A_8,),
            hypotheses=LAST,
            claims=(P3,),
            note="true of the runs, though P2 does not give it",
        ),
        claims.Reading(
            "inference of P3 from P2",
            claims.Printed(
                "proof of Lemma A.17",
                "epsilon_k <= ((1 + 16 eta Gamma)^k - 1) 2 epsilon Gamma^(1/2). Given that "
                "epsilon < 1 / (2 (1 + 16 eta Gamma)^K), epsilon_K < Gamma^(1/2) / 4",
            ),
            simulate=lambda x, key: (),
            hypotheses=LAST,
            claims=(INFERENCE,),
            note="P2 gives e_K < sqrt(Gamma), not a quarter of it",
        ),
    ),
    mutants=(
        claims.Mutant(
            "no noise of the batch, one step late",
            claims=(
                P1.against(_recursion(noise=0)),
                P2.against(lambda r: jnp.append(0.0, P2.rhs(r)[:-1])),
            ),
        ),
        claims.Mutant(
            "without the growth of the runs",
            of=("that display, corrected",),
            claims=(P3.against(lambda r: root(r) * accuracy(r.x) / 4),),
        ),
    ),
)
