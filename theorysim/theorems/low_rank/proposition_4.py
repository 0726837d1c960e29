"""How large the error, the gradient and the drift of fine-tuning can be.

Propositions 4 to 6 and Lemma 3 of Dayi and Chen (2024), for p = 1: the loss E(f* - f^)^2 is at most
C lambda_max^2 min(k^2, 4 k xi^2), the student's gradient E|grad f^|^2 / d at most C lambda_max^2
k^2 xi^2 / (k + xi^2) and the drift |grad Phi| at most C lambda_max^2 k xi^2 / A. C has no printed
value: it is read as 4 E[s'^2] = 4 sum_p p mu_p^2, which c^ = -c at m = 1 attains for the loss as xi
grows (twice that for the drift). All sides are exact in closed form; `lemma-3` has
p = 2 and the gradient of the loss.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.systems import rank_one
from theorysim.systems.rank_one_overlap import correlations, population_loss, speed
from theorysim.theorems.low_rank._problem import activation, problem, problem_space


def simulate(x: claims.Instance, key):
    """Loss, mean square of a = d f^ / dp, and |h(m)| sqrt(1 - m^2), in closed form."""
    given, chosen = problem(x), activation(x)
    own = given._replace(teacher=given.student)
    kicks = jnp.outer(given.student * x.readout, given.student * x.readout)
    slopes = chosen.tangent(correlations(own, jnp.ones(())))
    return (
        population_loss(given, chosen, x.overlap),
        x.scale**2 / rank_one.square_length(given) * jnp.sum(kicks * slopes),
        jnp.abs(speed(given, chosen, x.overlap)) * jnp.sqrt(1 - x.overlap**2),
    )


def _claims(largest=jnp.max):
    def scale(r: claims.Run):
        """C lambda_max^2."""
        slope_square = activation(r.x).tangent(jnp.ones(()))
        return 4 * slope_square * largest(jnp.abs(r.x.readout)) ** 2

    return (
        claims.at_most(
            "Proposition 4: the loss",
            lambda r: r.sim[0],
            lambda r: scale(r) * jnp.minimum(r.x.k**2, 4 * r.x.k * r.x.scale**2),
        ),
        claims.at_most(
            "Proposition 5: the gradient of the student",
            lambda r: r.sim[1],
            lambda r: scale(r) * r.x.k**2 * r.x.scale**2 / (r.x.k + r.x.scale**2),
        ),
        claims.at_most(
            "Proposition 6: the drift",
            lambda r: r.sim[2],
            lambda r: 2 * scale(r) * r.x.k * r.x.scale**2 / (1 + r.x.scale**2 / r.x.k),
        ),
    )


theorem = claims.Theorem(
    space=problem_space(overlap=claims.Real(-1, 1)),
    simulate=simulate,
    claims=_claims(),
    aliases=("proposition-5", "proposition-6"),
    source=claims.Printed(
        "Propositions 4 to 6, Appendix A.2",
        "C lambda_max^2 min{k^2, 4 k xi^2}; C lambda_max^2 k^2 xi^2 / (k + xi^2); "
        "C lambda_max^2 k xi^2 / (1 + xi^2/k)",
    ),
    mutants=(claims.Mutant("lambda_min for lambda_max", claims=_claims(jnp.min)),),
    instances=256,
    mutant_instances=256,
)
