"""Whether four losses off by 1/50 each leave the proof of Lemma A.27 with 1/25 in all.

Springer et al. (2025), Appendix A.5. With G_n = min over i <= n of |pre_i - ft_i|^2 and all bounds
in units of 1/(1 + lam_2)^2 - 1/(1 + lam_1)^2: the losses at lam_1 and lam_2, at n and at n - 1, are
each off by G_n / 50 (and G_(n-1) / 50), and the difference of the increments by G_n / 25. The
displays themselves are another statement (lemma-a.27-proof), and are true.
"""

from collections.abc import Callable

from theorysim import claims
from theorysim.theorems.overtraining import _stage_space as stage
from theorysim.theorems.overtraining.theorem_4_6_inferences import (
    every_feature_moves,
    to_all,
    to_stage,
    two_stages,
)


def _moved(r: claims.Run):
    """(pre_n - ft_n)^2 from n = 2."""
    return ((stage.pre_spectrum(r.x) - stage.ft_spectrum(r.x)) ** 2)[1:]


def _inferences(gaps: Callable, share: float) -> tuple[claims.Claim, ...]:
    return (
        claims.at_most(
            "P3 from P2 at both strengths, at n and n - 1",
            lambda r: 2 * two_stages(gaps)(r) / 50,
            lambda r: share * to_stage(r)[1:],
        ),
        claims.at_least(
            "P3 > 0",
            lambda r: _moved(r) - share * to_stage(r)[1:],
            lambda r: 0.0,
            strict=True,
        ),
    )


REST = _inferences(to_all, 2 / 25)[1]

theorem = claims.Theorem(
    space=stage.stage_space(d=claims.Size(3, low=2, high=9)),
    hypotheses={"every feature moves": claims.strict(every_feature_moves)},
    simulate=lambda x, key: (),
    claims=_inferences(to_stage, 1 / 25),
    source=claims.Printed(
        "proof of Lemma A.27",
        "<= min / 50 (...); combining these two inequalities, ... >= ... - min / 25 (...) > 0",
    ),
    printed="inferences",
    note="four losses are off by 1/50 each, and two of them by the minimum up to n - 1",
    readings=(
        claims.corrected(
            "2/25 in place of 1/25, from min over all i <= d",
            claims=_inferences(to_all, 2 / 25),
            note="the difference of the increments stays positive",
        ),
    ),
    mutants=(
        claims.Mutant("1/25 as printed", claims=_inferences(to_all, 1 / 25)[:1]),
        claims.Mutant(
            "the minimum up to n - 1",
            claims=(REST.against(lambda r: 2 * to_stage(r)[:-1]),),
        ),
    ),
)
