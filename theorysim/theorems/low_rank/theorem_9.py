"""A direction close to u gives a member of a linear family with small loss.

Theorem 9 of Dayi and Chen (2024), Appendix C: 1 - |<u, u^>| <= epsilon (k + xi^2) /
(2 C_sigma lambda_max^2 xi^2 k^2) implies that some h of L_lambda has E(f* - h)^2 <= epsilon. The
candidate of the proof, sum_i lambda_i s(<(w_i + xi c_i u^) / sqrt(A), x>), is checked for ReLU with
C_sigma = 1 and its loss in closed form, with every display on the way.
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import Instance, Mutant, Real, Run, Theorem, at_most, equal
from theorysim.numerics.gaussian import relu
from theorysim.numerics.kernels import arc_cosine
from theorysim.systems import rank_one
from theorysim.systems.rank_one_overlap import population_loss
from theorysim.theorems.low_rank._problem import problem, problem_space


def simulate(x: Instance, key):
    """The candidate's loss and that of its neurons one by one, at 1 - m = x.gap.

    The scale of lengths is that of neurons of norm one; distances come from their differences.
    """
    given = problem(x)
    same = given._replace(student=given.teacher)
    kick = x.scale**2 / x.k / rank_one.square_length(given)
    # 1 - cos(angle) = kick gap for the angle between v_i and its candidate; differences of duals
    # of nearly equal neurons would lose their digits.
    angle = 2 * jnp.arcsin(jnp.sqrt(kick * x.gap / 2))
    return {
        "loss": population_loss(same, relu(), 1 - x.gap),
        "alone": kick * x.gap - arc_cosine(angle) / jnp.pi,
        "square": 2 * kick * x.gap,
        "apart": jnp.sqrt(2 * x.gap) * x.scale / jnp.sqrt(x.k),
    }


def _largest(r: Run):
    return jnp.max(jnp.abs(r.x.readout)) ** 2


def _epsilon(constant: float):
    """The epsilon for which the hypothesis on 1 - m is an equality."""

    def epsilon(r: Run):
        k, square = r.x.k, r.x.scale**2
        return constant * _largest(r) * square * k**2 / (k + square) * r.x.gap

    return epsilon


def _claims(constant: float, length: float):
    return (
        at_most("E(f* - h)^2 <= epsilon", lambda r: r.sim["loss"], _epsilon(2 * constant)),
        at_most(
            "P1: Cauchy-Schwarz over neurons",
            lambda r: r.sim["loss"],
            lambda r: constant * r.x.k * jnp.sum(r.x.readout**2) * r.sim["alone"],
        ),
        at_most(
            "P2: Lipschitz neurons", lambda r: r.sim["alone"], lambda r: constant * r.sim["square"]
        ),
        equal(
            "P3: their distance",
            lambda r: jnp.sqrt(r.sim["square"]),
            lambda r: length * r.sim["apart"] / jnp.sqrt(1 + r.x.scale**2 / r.x.k),
        ),
    )


theorem = Theorem(
    space=problem_space(gap=Real(1e-4, 2, log=True)),
    simulate=simulate,
    claims=_claims(1.0, 1.0),
    mutants=(Mutant("a fiftieth of the constant", claims=_claims(0.02, 2.0)),),
)
