"""Under Conditions 1 to 3, steps of size delta / (d V_k) recover u in T = alpha d V_k steps.

Theorem 7 of Dayi and Chen (2024): delta = min(S epsilon^3 / (4 mu log(dV)^2), 1), alpha = 4 log(dV)
/ (epsilon delta S), eta = delta / (d V), T = ceil(alpha d V) and T_weak = ceil(4 d V / (delta S)),
which the proof has as ceil(2 d V / (delta S)). Decided is what the schedule asks of the drift: the
population's flow from beta / sqrt(d) must reach the weak level 1/2 within the time eta T_weak and
1 - epsilon within eta T. Noise is measured in Theorems 4 to 6; the requirement is the printed T.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.low_rank.condition_2 import CONDITION_2
from theorysim.theorems.low_rank.condition_3 import CONDITION_3, SETTING, condition_space, signal
from theorysim.theorems.low_rank.proposition_9 import alpha, logarithm


def _delta(x: claims.Instance):
    return jnp.minimum(signal(x) * x.epsilon**3 / (4 * x.constant * logarithm(x) ** 2), 1.0)


def simulate(x: claims.Instance, key):
    """Times of the population's flow to an overlap of 1/2, and to one of 1 - epsilon."""
    start = x.beta / jnp.sqrt(x.dimension)
    return tuple(SETTING.flow_time(x, start, level) for level in (0.5, 1 - x.epsilon))


def _predict(weak: float, power: int = 1):
    """eta T_weak = weak / S and eta T = alpha delta = 4 log(dV) / (epsilon S), with S^power."""

    def predict(x: claims.Instance):
        whole = alpha(x, signal(x) ** power, _delta(x)) * _delta(x)
        return weak / signal(x) ** power, whole

    return predict


theorem = claims.Theorem(
    space=condition_space(
        beta=claims.Real(0.01, 1, log=True), epsilon=claims.Real(0.001, 0.45, log=True)
    ),
    simulate=simulate,
    predict=_predict(4.0),
    assumes=(CONDITION_2, CONDITION_3),
    claims=(
        claims.at_most("C1: |m| >= 1/2 after T_weak", lambda r: r.sim[0], lambda r: r.theory[0]),
        claims.at_most("C2: 1 - |m_T| <= epsilon", lambda r: r.sim[1], lambda r: r.theory[1]),
    ),
    requirements={
        "log10 of T": lambda x: jnp.log10(alpha(x, signal(x), _delta(x)) * x.dimension * x.variance)
    },
    source=claims.Printed(
        "Theorem 7, Section 3.1",
        "sup_(t <= T_weak) |m_t| >= r with T_weak = ceil(4 d V_k / (delta S_k)); |m_T| >= 1 - eps",
    ),
    readings=(
        claims.Reading(
            "T_weak of the proof",
            claims.Printed(
                "Proof of Theorem 7, Appendix B.3.3", "T_weak = ceil(2 d V_k / (delta S_k))"
            ),
            predict=_predict(2.0),
        ),
    ),
    mutants=(
        claims.Mutant(
            "the 1/S of T and T_weak is lost",
            of=("as printed", "T_weak of the proof"),
            predict=_predict(4.0, power=0),
        ),
    ),
)
