"""No two features are almost parallel.

Assumption 4 of Dayi and Chen (2024), angular separation: |<w_i, w_j>| <= 1 - log(k) / sqrt(k) for
all i != j. The bound is strictest, 0.264, at k = 7 and 8: random features meet it in many
dimensions only.
"""

from theorysim import claims
from theorysim.systems import rank_one
from theorysim.theorems.low_rank._recovery import Setting, odd, recovery_space

SEPARATED = Setting(False, lambda x: 1.0, odd)  # at xi = 1


def _margin(x: claims.Instance):
    return rank_one.separation(x.k) - rank_one.largest_cosine(SEPARATED.features(x))


ASSUMPTION_4 = claims.Assumption(
    "Assumption 4",
    claims.Printed(
        "Assumption 4, Section 1.2.3", "|<w_i, w_j>| <= 1 - log k / sqrt(k) for all i != j"
    ),
    {"Assumption 4: |<w_i, w_j>| <= 1 - log k / sqrt(k)": _margin},
)

CLAIMS = ASSUMPTION_4.can_be_met()

theorem = claims.Theorem(
    space=recovery_space(),
    simulate=lambda x, key: x.rows,
    claims=CLAIMS,
    source=ASSUMPTION_4.source,
    survivors=claims.unrefutable(CLAIMS),
)
