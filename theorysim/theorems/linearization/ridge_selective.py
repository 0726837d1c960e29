"""The selective scheme trains a linearised model without any regularisation: not to f*.

Section 4 of Afzal et al. (2025) takes the ridge solution f* = K(., x) [K + sigma I]^(-1) y, sigma =
lambda / 2, for what regularised fine-tuning of the linearised model finds. The update of Section 2
finds it, its pull always on, in small steps. The selective scheme of Section 3, of which Section 4
does not speak, never pulls: along descent on a
linear model from theta_0 the product <grad R, theta - theta_0> is negative, whatever lambda, and
the end is that of no pull, the least-norm interpolation. (With the condition at theta_(t-1),
rounding decides it once the gradient is zero, and every other pull is a kick.) Here f0 = 0 and the
loss is summed, for which the printed formula is right (ridge-reformulation).
"""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems import kernel_ridge
from theorysim.systems.fine_tuning import Scheme, regularised_descent, squared_loss
from theorysim.theorems.linearization import _ridge as ridge

STEPS = 2000
EVERY = 50


def _simulate(scheme: Scheme, pulled: bool = True) -> Callable:
    """Outputs along descent, times last; a mutant's pull is zero."""

    def simulate(x: claims.Instance, key) -> Float[Array, "n times"]:
        jacobian = ridge.jacobian(x)
        loss = squared_loss(lambda w: dot(jacobian, w), x.targets)
        strength = 2 * x.sigma if pulled else 0.0
        rate = x.share / (2 * x.spectrum[0] + 2 * x.sigma)
        start = jnp.zeros(x.n)
        path = regularised_descent(loss, start, rate, strength, STEPS, scheme).path[::EVERY]
        return dot(path, jacobian.T).T

    return simulate


def predict(x: claims.Instance) -> Float[Array, " n"]:
    """f* on the training inputs."""
    gram = ridge.kernel(ridge.jacobian(x))
    return dot(gram, kernel_ridge.coefficients(gram, x.targets, x.sigma))


def _interpolation(x: claims.Instance) -> Float[Array, " n"]:
    """The part of y that a linear model can fit."""
    basis = x.basis * (ridge.eigenvalues(x) > 0)
    return dot(basis, dot(basis.T, x.targets))


END = claims.equal("f on the training inputs", lambda r: r.limit(r.sim), lambda r: r.theory)

theorem = claims.Theorem(
    space=ridge.ridge_space(
        spectrum=claims.Spectrum("n", 0.3, 3),
        sigma=claims.Real(1e-2, 10, log=True),
        share=claims.Real(0.3, 0.9),
        n=claims.Size(3, low=1, high=8),
    ),
    simulate=_simulate("printed"),
    predict=predict,
    claims=(END,),
    printed="f* for the selective scheme",
    source=claims.Finding("Section 4's optimal function for the scheme of Section 3"),
    note="for a linear model the selective scheme is descent without a pull: it interpolates",
    readings=(
        claims.Reading(
            "the least-norm interpolation",
            claims.Finding("what the scheme of Section 3 trains a linear model to"),
            predict=_interpolation,
            primary=True,
            note="whatever lambda: the product of the condition is never positive",
        ),
    ),
    mutants=(claims.Mutant("the pull always on", simulate=_simulate("always")),),
    instances=64,
)
