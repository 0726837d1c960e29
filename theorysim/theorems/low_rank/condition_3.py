"""The overlap's speed keeps its sign and half of its size, from a start that is not slow.

Condition 3 of Dayi and Chen (2024), Section 3.1: max(S, S^2) <= V and h(sign(h(0)) m) sign(h(0)) >=
|h(0)| / 2 >= S for all m >= 0. S is here a share of |h(0)| / 2, and u is flipped where h(0) < 0.
Features are orthonormal, the activation is ReLU, readouts have any sign and size.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.low_rank._recovery import Setting, odd, recovery_space

SETTING = Setting(True, lambda x: x.scale, odd)


def condition_space(**fields: claims.Field | claims.Size) -> claims.Space:
    """Problems with the numbers of Conditions 2 and 3: V, mu_1, and S as a share of |h(0)| / 2."""
    given: dict[str, claims.Field | claims.Size] = {
        "k": claims.Size(5, low=2, high=48),
        "readout": claims.Real(-1.25, 1.25, shape="k"),
        "scale": claims.Real(0.5, 2, log=True),
        "dimension": claims.Real(50, 400, log=True),
        "variance": claims.Real(1, 100, log=True),
        "constant": claims.Real(1, 100, log=True),
        "share": claims.Real(0.1, 1, log=True),
    }
    return recovery_space(**{**given, **fields})


def signal(x: claims.Instance):
    """S."""
    return x.share * SETTING.start_speed(SETTING.problem(x)) / 2


CONDITION_3 = claims.Assumption(
    "Condition 3",
    claims.Printed(
        "Condition 3, Section 3.1",
        "max{S_k, S_k^2} <= V_k; h(sign(h(0)) m) sign(h(0)) >= |h(0)|/2 >= S_k for all m >= 0",
    ),
    {
        "Condition 3: S > 0": claims.strict(signal),
        "Condition 3: max(S, S^2) <= V": lambda x: (
            x.variance - jnp.maximum(signal(x), signal(x) ** 2)
        ),
        "Condition 3: h keeps half of h(0)": lambda x: SETTING.share_kept(SETTING.problem(x)) - 0.5,
        "Condition 3: |h(0)| / 2 >= S": lambda x: 1 - x.share,
    },
)

CLAIMS = CONDITION_3.can_be_met()

theorem = claims.Theorem(
    space=condition_space(share=claims.Real(0.1, 10, log=True)),
    simulate=lambda x, key: x.share,
    claims=CLAIMS,
    source=CONDITION_3.source,
    survivors=claims.unrefutable(CLAIMS),
)
