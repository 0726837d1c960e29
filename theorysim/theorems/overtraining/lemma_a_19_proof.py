"""The distance of the real to the ideal run grows by a factor per step, in the Frobenius norm.

The displays of the proof of Lemma A.19 of Springer et al. (2025) state in the Frobenius norm what
the lemma states in the operator norm. Neither names Assumption A.8, on which Lemmas A.9 and A.17
rest.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.overtraining import lemma_a_19 as statement
from theorysim.theorems.overtraining._finetuning import growth, growth_powers
from theorysim.theorems.overtraining.assumption_a_8 import ASSUMPTION as A_8


def _frobenius(r):
    return jnp.maximum(*(jnp.linalg.norm(difference, axis=(-2, -1)) for difference in r.sim))


def _displays(factor: float) -> tuple:
    return (
        claims.at_most(
            "P1: growth per step, in the Frobenius norm",
            lambda r: _frobenius(r)[1:],
            lambda r: growth(r.x, factor) * _frobenius(r)[:-1],
        ),
        claims.at_most(
            "P2: growth from the start, in the Frobenius norm",
            lambda r: _frobenius(r)[1:],
            lambda r: (growth_powers(r.x, factor) * r.theory)[1:],
        ),
    )


theorem = claims.Theorem(
    space=statement.theorem.space,
    hypotheses=statement.theorem.hypotheses,
    simulate=statement.theorem.simulate,
    predict=statement.predict,
    claims=_displays(32),
    source=claims.Printed(
        "proof of Lemma A.19",
        "e_{k+1} <= (1 + 32 eta Gamma) e_k, e_k = max_j |W_j^n(k) - W_j^n'(k)|_F",
    ),
    printed="proof displays",
    note="at learning rates beyond Assumption A.8 runs diverge by more than that factor",
    readings=(
        claims.corrected(
            "Assumption A.8 is among the hypotheses",
            name="proof displays, corrected",
            assumes=(A_8,),
            note="with the Assumption A.8 of Lemmas A.9 and A.17",
        ),
    ),
    mutants=(claims.Mutant("no growth", claims=_displays(0)),),
)
