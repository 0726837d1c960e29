"""A sample's gradient is on average the gradient of the mean loss.

Condition 1 of Dayi and Chen (2024), Section 3.1: E_x[grad L(u^; x)] = grad E_x[L(u^; x)], for
spherical gradients. The sample's loss is differentiated automatically, and so is its mean in closed
form (Appendix A.1). For Lipschitz activations, a ReLU and a linear part, the mean is taken over
random samples; for polynomials of degree 4, whose gradients have too heavy tails for that, by a
product Gauss-Hermite rule, which is exact for them.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.gaussian import Activation
from theorysim.numerics.random import normal
from theorysim.systems import rank_one
from theorysim.systems.rank_one_overlap import population_loss
from theorysim.theorems.low_rank import _problem as problems
from theorysim.theorems.low_rank._product_rule import product_rule

SAMPLES = 16  # per key


def _lipschitz(x: claims.Instance) -> Activation:
    """kink * ReLU + mu_0 + mu_1 a."""
    return problems.activation(x.replace(mu=x.mu * jnp.array([1.0, 1.0, 0.0, 0.0, 0.0])))


def _spherical(x: claims.Instance, loss) -> Float[Array, " d"]:
    here = problems.learner(x, x.overlap)
    return rank_one.spherical_gradient(loss, problems.problem(x).features, here)


def _slopes(x: claims.Instance, activation: Activation, inputs: Array) -> Float[Array, "n d"]:
    """The gradients of the losses of samples."""

    def slope(sample):
        def loss(direction):
            given = problems.problem(x)
            student = (direction, given.student)
            return rank_one.sample_loss(given, activation.value, problems.truth(x), student, sample)

        return _spherical(x, loss)

    return jax.vmap(slope)(inputs)


def _drawn(x: claims.Instance, key) -> Float[Array, " d"]:
    """The mean over a key's samples."""
    return jnp.mean(_slopes(x, _lipschitz(x), normal(key, (SAMPLES, x.d))), axis=0)


def _exact(x: claims.Instance, key) -> Float[Array, " d"]:
    """The mean over all inputs."""
    inputs, shares = product_rule(x.d)
    return jnp.asarray(shares) @ _slopes(x, problems.series(x), jnp.asarray(inputs))


def _predict(activation):
    """The gradient of the mean loss."""

    def predict(x: claims.Instance) -> Float[Array, " d"]:
        def loss(direction):
            overlap = direction @ problems.truth(x)
            return population_loss(problems.problem(x), activation(x), overlap)

        return _spherical(x, loss)

    return predict


UNBIASED = claims.equal("the mean gradient", lambda r: r.mean(r.sim), lambda r: r.theory)
POLYNOMIAL = claims.equal("the mean gradient", lambda r: r.sim[0], lambda r: r.theory)
SOURCE = claims.Printed("Condition 1, Section 3.1", "E_x[grad L(u^; x)] = grad E_x[L(u^; x)]")

theorem = claims.Theorem(
    space=problems.problem_space(
        k=claims.Size(3, high=4),
        d=claims.Size(6, low=5, high=7),
        overlap=claims.Real(-0.99, 0.99),
        elsewhere=claims.Gaussian("d"),
    ),
    simulate=_drawn,
    predict=_predict(_lipschitz),
    claims=(UNBIASED,),
    printed="Lipschitz activations",
    source=SOURCE,
    readings=(
        claims.Reading(
            "polynomials",
            SOURCE,
            simulate=_exact,
            predict=_predict(problems.series),
            claims=(POLYNOMIAL,),
        ),
    ),
    mutants=(
        claims.Mutant("the gradient of half the loss", claims=(UNBIASED.scaled(0.5),)),
        claims.Mutant(
            "the gradient of half the loss, polynomials",
            of=("polynomials",),
            claims=(POLYNOMIAL.scaled(0.5),),
        ),
    ),
    keys=4096,
    instances=16,
    mutant_instances=16,
)
