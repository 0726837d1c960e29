"""Every feature that is learned makes the network more sensitive to noise.

After Proposition 4.3 of Springer et al. (2025): a newly learned feature "introduces a new dimension
along which the perturbation degrades loss". The sensitivity L~(n) - L_pre(n) rises with n, at the
ideal states by 2 d gamma^2 pre_n, and at those of the flow at its stage times, too.
"""

from theorysim import claims
from theorysim.theorems.overtraining import _perturbation as noise
from theorysim.theorems.overtraining import _stages as stages
from theorysim.theorems.overtraining import proposition_4_3 as proposition
from theorysim.theorems.overtraining._finetuning import pre_spectrum


def simulate(x: claims.Instance, key):
    """Increments of the sensitivity at n = 2, ..., d: ideal states, and those of the flow."""
    pre, silent = pre_spectrum(x), x.replace(noise=0 * x.noise)

    def increments(modes):
        return proposition.increments(x, modes) - proposition.increments(silent, modes)

    return increments(stages.ideal_modes(pre)[1:]), increments(stages.real_modes(pre, x.tau)[1:])


PRICE = claims.equal(
    "price of a feature",
    lambda r: r.sim[0],
    lambda r: 2 * r.x.d * noise.variance(r.x) * pre_spectrum(r.x)[1:],
)
IDEAL = claims.at_least("ideal states", lambda r: r.sim[0], lambda r: 0.0, strict=True)
FLOW = claims.at_least("states of the flow", lambda r: r.sim[1], lambda r: 0.0, strict=True)

theorem = claims.Theorem(
    space=proposition.theorem.space,
    simulate=simulate,
    claims=(PRICE, IDEAL, FLOW),
    source=claims.Printed(
        "after Proposition 4.3",
        "a newly non-zero feature introduces a new dimension along which the perturbation degrades "
        "loss",
    ),
    mutants=(
        claims.Mutant("noise in one factor", claims=(PRICE.scaled(0.5),)),
        claims.Mutant("features make it robust", claims=(IDEAL.reversed(), FLOW.reversed())),
    ),
)
