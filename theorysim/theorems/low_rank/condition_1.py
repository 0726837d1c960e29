"""A sample's gradient is on average the gradient of the mean loss.

Condition 1 of Dayi and Chen (2024), Section 3.1: E_x[grad L(u^; x)] = grad E_x[L(u^; x)], for
spherical gradients. The sample's loss is differentiated automatically, and so is its mean in closed
form (Appendix A.1), for activations with a kink.
"""

import jax
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import rank_one
from theorysim.systems.rank_one_overlap import population_loss
from theorysim.theorems.low_rank import _problem as problems


def _spherical(x: claims.Instance, loss) -> Float[Array, " d"]:
    here = problems.learner(x, x.overlap)
    return rank_one.spherical_gradient(loss, problems.problem(x).features, here)


def simulate(x: claims.Instance, key) -> Float[Array, " d"]:
    """The gradient of a sample's loss."""
    given, sample = problems.problem(x), jax.random.normal(key, (x.d,))

    def loss(direction):
        value, u = problems.activation(x).value, problems.truth(x)
        return rank_one.sample_loss(given, value, u, (direction, given.student), sample)

    return _spherical(x, loss)


def predict(x: claims.Instance) -> Float[Array, " d"]:
    """The gradient of the mean loss."""

    def loss(direction):
        given, chosen = problems.problem(x), problems.activation(x)
        return population_loss(given, chosen, direction @ problems.truth(x))

    return _spherical(x, loss)


UNBIASED = claims.equal("the mean gradient", lambda r: r.mean(r.sim), lambda r: r.theory)

theorem = claims.Theorem(
    space=problems.problem_space(
        overlap=claims.Real(-0.99, 0.99),
        elsewhere=claims.Gaussian("d"),
        # Of polynomials of degree 4 the mean gradient shows only after millions of samples.
        mu=claims.Real(-0.1, 0.1, shape=problems.DEGREES),
    ),
    simulate=simulate,
    predict=predict,
    claims=(UNBIASED,),
    source=claims.Printed("Condition 1, Section 3.1", "E_x[grad L(u^; x)] = grad E_x[L(u^; x)]"),
    mutants=(claims.Mutant("the gradient of half the loss", claims=(UNBIASED.scaled(0.5),)),),
    keys=8192,
    instances=16,
    mutant_instances=16,
)
