"""How large the error, the gradient and the drift of fine-tuning can be.

Propositions 4 to 6 and Lemma 3 of Dayi and Chen (2024), for p = 1: the loss E(f* - f^)^2 is at most
C lambda_max^2 min(k^2, 4 k xi^2), the student's gradient E|grad f^|^2 / d at most C lambda_max^2
k^2 xi^2 / (k + xi^2) and the drift |grad Phi| at most C lambda_max^2 k xi^2 / A. C has no printed
value: it is read as 4 E[s'^2] = 4 sum_p p mu_p^2, which c^ = -c at m = 1 attains for the loss as xi
grows (twice that for the drift). All sides are exact in closed form.
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import Instance, Mutant, Real, Run, Theorem, at_most
from theorysim.numerics.gaussian import slope_square
from theorysim.systems import rank_one
from theorysim.systems.rank_one_overlap import correlations, population_loss, speed
from theorysim.theorems.low_rank._problem import activation, problem, problem_space


def simulate(x: Instance, key):
    """Loss, mean square of a = d f^ / dp, and |h(m)| sqrt(1 - m^2)."""
    given, chosen = problem(x), activation(x)
    a = rank_one.square_length(given)
    own = given._replace(teacher=given.student)
    kicks = x.scale**2 / a * jnp.outer(given.student * x.readout, given.student * x.readout)
    slopes = chosen.tangent(correlations(own, jnp.ones(())))
    return {
        "loss": population_loss(given, chosen, x.overlap),
        "gradient": jnp.sum(kicks * slopes),
        "drift": jnp.abs(speed(given, chosen, x.overlap)) * jnp.sqrt(1 - x.overlap**2),
    }


def _scale(r: Run):
    """C lambda_max^2."""
    return slope_square(activation(r.x)) * jnp.max(jnp.abs(r.x.readout)) ** 2


def _claims(share: float):
    return (
        at_most(
            "Proposition 4: the loss",
            lambda r: r.sim["loss"],
            lambda r: share * _scale(r) * jnp.minimum(r.x.k**2, 4 * r.x.k * r.x.scale**2),
        ),
        at_most(
            "Proposition 5: the gradient of the student",
            lambda r: r.sim["gradient"],
            lambda r: share * _scale(r) * r.x.k**2 * r.x.scale**2 / (r.x.k + r.x.scale**2),
        ),
        at_most(
            "Proposition 6: the drift",
            lambda r: r.sim["drift"],
            lambda r: 2 * share * _scale(r) * r.x.k * r.x.scale**2 / (1 + r.x.scale**2 / r.x.k),
        ),
    )


theorem = Theorem(
    space=problem_space(overlap=Real(-1, 1)),
    simulate=simulate,
    claims=_claims(4.0),
    aliases=("proposition-5", "proposition-6", "lemma-3"),
    mutants=(Mutant("a hundredth of the constant", claims=_claims(0.04)),),
    instances=256,
)
