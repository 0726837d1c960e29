"""Why longer pre-training is punished: each new feature lowers the loss by its square, no more.

The proof sketch of Theorem 4.7 of Springer et al. (2025): before fine-tuning
L_pre(t_n) - L_pre(t_{n-1}) is about -pre_n^2, and the inflection point r(lam) is that of the
limits (ft + lam pre) / (1 + lam). The main text leaves the sizes open: they are those of the
corrected Assumption A.21 with the accuracy of part 2.
"""

from dataclasses import replace

import jax.numpy as jnp

from theorysim import claims
from theorysim.systems.ideal_stages import inflection_point
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining import _strengths as strengths

SIZES = replace(a_21.CORRECTED, bound=strengths.pair_bound)

FALL = claims.equal(
    "pre-training alone: increments",
    lambda r: jnp.diff(r.sim.before),
    lambda r: -(a_21.stage.pre_spectrum(r.x) ** 2),
    statement="L_pre(theta^n(0)) - L_pre(theta^(n-1)(0)) = -pre_n^2",
)

theorem = claims.Theorem(
    space=a_21.stage.stage_space(**strengths.FIELDS),
    assumes=(SIZES.assumption(),),
    simulate=strengths.simulation(SIZES),
    predict=strengths.limits(),
    claims=(
        FALL,
        claims.equal(
            "r(lam) of the limit",
            lambda r: inflection_point(strengths.increments(r)),
            lambda r: inflection_point(r.theory.increments),
        ),
    ),
    source=claims.Printed(
        "proof sketch of Theorem 4.7", "L_pre(t_n; 0) - L_pre(t_{n-1}; 0) = -(sigma_n^pre)^2, about"
    ),
    printed="proof sketch",
    mutants=(
        claims.Mutant("the two spectra swapped", predict=strengths.limits(swapped=True)),
        claims.Mutant("twice the square", claims=(FALL.scaled(2.0),)),
    ),
)
