"""Whether each display of the proof of Theorem A.24 follows from those before it.

Springer et al. (2025), Appendix A.4. With G_n = min over i <= n of |pre_i - ft_i|^2 and all bounds
in units of 1 / (lam_0 + 1)^2: the distance of the starts, G_n / (1000 Gamma) by Lemma A.22, is said
to be at most G_d / (100 Gamma); this and G_n / (50 Gamma), times 32 Gamma, become G_d / 10 and
G_n / 5; their sum 3 G_n / 10 at n and at n - 1 becomes 3 G_n / 5. The displays
themselves are another statement (theorem-4.6-proof), and are true.
"""

from collections.abc import Callable

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.overtraining import _stage_space as stage

# What the proof multiplies distances of products with, for those of losses, in units of Gamma.
LOSS_PER_DISTANCE = 32.0


def every_feature_moves(x: claims.Instance):
    """Margin of min over i of |pre_i - ft_i|^2 > 0: else Assumption A.21 has no epsilon."""
    return stage.smallest_gap(x)


def to_stage(r: claims.Run):
    """G_n for n = 1, ..., d, as printed."""
    return stage.smallest_gaps(r.x)


def to_all(r: claims.Run):
    """G_d at every stage, which Assumption A.21 gives."""
    return jnp.broadcast_to(stage.smallest_gap(r.x), (r.x.d,))


def two_stages(gaps: Callable) -> Callable:
    """What two neighbouring stages may each be off by, together: from n = 2."""
    return lambda r: gaps(r)[1:] + gaps(r)[:-1]


def _starts(start: float, gaps: Callable) -> claims.Claim:
    """What Lemma A.22 says of the starts at stage n, for what the proof takes from it."""
    return claims.at_most(
        "the starts by Lemma A.22", lambda r: gaps(r) / 1000, lambda r: to_all(r) / start
    )


def _inferences(start: float, end: float, gaps: Callable) -> tuple[claims.Claim, ...]:
    """From distances of G / (start Gamma) and G / (end Gamma)."""
    return (
        _starts(start, gaps),
        claims.at_most(
            "P1 from the distance of the starts",
            lambda r: LOSS_PER_DISTANCE / start * to_all(r),
            lambda r: to_all(r) / 10,
        ),
        claims.at_most(
            "the end's loss from its distance",
            lambda r: LOSS_PER_DISTANCE / end * gaps(r),
            lambda r: gaps(r) / 5,
        ),
        claims.at_most(
            "P4 from P3 at n and n - 1",
            lambda r: 3 / 10 * two_stages(gaps)(r),
            lambda r: 3 / 5 * to_stage(r)[1:],
        ),
    )


theorem = claims.Theorem(
    space=stage.stage_space(d=claims.Size(3, low=2, high=9)),
    hypotheses={"every feature moves": claims.strict(every_feature_moves)},
    simulate=lambda x, key: (),
    claims=_inferences(100, 50, to_stage),
    source=claims.Printed(
        "proof of Theorem A.24",
        "|theta - theta_hat|_F <= min / (100 ...), <= 32 Gamma |theta - theta_hat|_F "
        "<= min / (10 ...); combining these, Delta_n - Delta_{n-1} >= ... - 3 min / (5 ...)",
    ),
    printed="inferences",
    note="min over i <= n is not below that over all i, nor that over i <= n - 1 below it; "
    "32 / 100 is not 1 / 10",
    readings=(
        claims.corrected(
            "1/1000 and 1/500, as in Lemmas A.22 and A.23, and min over all i <= d in these, too",
            claims=_inferences(1000, 500, to_all),
            note="with the lemmas' own constants and the minimum that Assumption A.21 has",
        ),
    ),
    mutants=(
        claims.Mutant("the constants as printed", claims=_inferences(100, 50, to_all)[1:3]),
        claims.Mutant(
            "min over i <= n",
            claims=(_starts(1000, to_stage), *_inferences(1000, 500, to_stage)[3:]),
        ),
    ),
)
