"""Whether the proof of Lemma A.26 may replace its tolerance by a share of pre_n^2.

Springer et al. (2025), Appendix A.5. With G_n = min over i <= n of |pre_i - ft_i|^2: losses at n
and n - 1 are off by G_n / 5 and G_(n-1) / 5; the conclusion subtracts 2 pre_n^2 / 5 in all, where
ft_n > 4 pre_n. The displays themselves are another statement (lemma-a.26-proof), and are true.
"""

from collections.abc import Callable

from theorysim import claims
from theorysim.theorems.overtraining import _stage_space as stage
from theorysim.theorems.overtraining.lemma_a_26 import large
from theorysim.theorems.overtraining.theorem_4_6_inferences import (
    every_feature_moves,
    to_all,
    to_stage,
    two_stages,
)


def _later(factor: float) -> Callable:
    return lambda r: large(factor)(r)[1:]


def _moved(r: claims.Run):
    """(ft_n - pre_n)^2 from n = 2."""
    return ((stage.ft_spectrum(r.x) - stage.pre_spectrum(r.x)) ** 2)[1:]


def _kept(r: claims.Run):
    """pre_n^2 from n = 2."""
    return stage.pre_spectrum(r.x)[1:] ** 2


def _apart(factor: float) -> claims.Claim:
    return claims.at_least(
        "P3: ft_n - pre_n > 2 pre_n",
        lambda r: stage.ft_spectrum(r.x) - stage.pre_spectrum(r.x),
        lambda r: 2 * stage.pre_spectrum(r.x),
        strict=True,
        where=large(factor),
    )


def _inferences(gaps: Callable, tolerance: Callable, factor: float = 4) -> tuple:
    """The tolerances of both losses are at most 2/5 of `tolerance`, which leaves a rise."""
    return (
        claims.at_most(
            "the tolerance",
            lambda r: two_stages(gaps)(r) / 5,
            lambda r: 2 / 5 * tolerance(r),
            where=_later(factor),
        ),
        claims.at_least(
            "P4 > 0",
            lambda r: _moved(r) - _kept(r) - 2 / 5 * tolerance(r),
            lambda r: 0.0,
            strict=True,
            where=_later(factor),
        ),
    )


theorem = claims.Theorem(
    space=stage.stage_space(
        d=claims.Size(3, low=2, high=9), ft=claims.Real(0.2, 16, log=True, shape="d")
    ),
    hypotheses={"every feature moves": claims.strict(every_feature_moves)},
    simulate=lambda x, key: (),
    claims=(_apart(4), *_inferences(to_stage, _kept)),
    source=claims.Printed(
        "proof of Lemma A.26",
        "|L_pre(theta^n(K)) - ...| <= min_{i<=n} |pre_i - ft_i|^2 / 5; therefore the increment is "
        ">= ... - 2 (pre_n)^2 / 5 > 0",
    ),
    printed="inferences",
    note="min |pre_i - ft_i|^2 is not at most pre_n^2, and it is larger at n - 1 than at n",
    readings=(
        claims.corrected(
            "- 2 (ft_n - pre_n)^2 / 5, from min over all i <= d",
            claims=(_apart(4), *_inferences(to_all, _moved)),
            note="what is left, 3 (ft_n - pre_n)^2 / 5 - pre_n^2, is still positive",
        ),
    ),
    mutants=(
        claims.Mutant(
            "ft_n > pre_n is enough",
            claims=(_apart(1), _inferences(to_all, _moved, factor=1)[1]),
        ),
        claims.Mutant("min over i <= n", claims=_inferences(to_stage, _moved)[:1]),
    ),
)
