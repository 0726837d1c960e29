"""Descent of a quadratic grows without bound where the learning rate exceeds 2 / sharpness.

Cohen, Kaur, Li, Kolter and Talwalkar (2021), Section 2: on a quadratic with largest curvature
lambda, gradient descent with learning rate eta diverges for eta > 2 / lambda along the sharpest
direction and converges for eta < 2 / lambda; at eta = 2 / lambda it swings between two points. In
numbers: |<w_t, v>| = |1 - eta lambda|^t |<w_0, v>| along every eigenvector v.
"""

import jax.numpy as jnp
import optax

from theorysim import claims
from theorysim.numerics.descent import descend


def simulate(x: claims.Instance, key):
    """The parts along the eigenvectors, step by step."""
    hessian = x.axes @ (x.curvatures[:, None] * x.axes.T)
    rate = x.edge / x.curvatures[0]
    path = descend(lambda w: w @ hessian @ w / 2, x.axes @ x.start, optax.sgd(rate), x.steps)
    return path @ x.axes


def predict(x: claims.Instance):
    factors = 1 - x.edge * x.curvatures / x.curvatures[0]
    return factors ** jnp.arange(x.steps + 1)[:, None] * x.start


def _sharpest(r):
    return jnp.abs(r.sim[1:, 0]), jnp.abs(r.sim[:-1, 0])


PARTS = claims.equal("every eigenvector", lambda r: r.sim, lambda r: r.theory)
GROWS = claims.at_least(
    "grows above 2 / lambda",
    lambda r: _sharpest(r)[0],
    lambda r: _sharpest(r)[1],
    where=lambda r: r.x.edge - 2,
)
FALLS = claims.at_most(
    "falls below 2 / lambda",
    lambda r: _sharpest(r)[0],
    lambda r: _sharpest(r)[1],
    where=lambda r: 2 - r.x.edge,
)

theorem = claims.Theorem(
    space=claims.Space(
        d=claims.Size(3, high=16),
        steps=claims.Size(20, high=100),
        curvatures=claims.Spectrum("d", 0.1, 10),
        axes=claims.Orthogonal("d"),
        start=claims.UnitVector("d"),
        edge=claims.Real(0.05, 3),
    ),
    simulate=simulate,
    predict=predict,
    claims=(PARTS, GROWS, FALLS),
    source=claims.Printed(
        "Cohen, Kaur, Li, Kolter and Talwalkar 2021, Section 2",
        "diverges if and only if any eigenvalue exceeds 2 / eta",
    ),
    mutants=(
        claims.Mutant(
            "an edge of 1 / lambda",
            claims=(
                claims.at_least(GROWS.name, GROWS.lhs, GROWS.rhs, where=lambda r: r.x.edge - 1),
            ),
        ),
        claims.Mutant(
            "an edge of 2.5 / lambda",
            claims=(
                claims.at_most(FALLS.name, FALLS.lhs, FALLS.rhs, where=lambda r: 2.5 - r.x.edge),
            ),
        ),
        claims.Mutant(
            "no sign", claims=(PARTS.against(lambda r: jnp.abs(r.theory) * jnp.sign(r.x.start)),)
        ),
    ),
)
