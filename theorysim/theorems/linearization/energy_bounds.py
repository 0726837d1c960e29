"""A constant pull keeps parameters within r_0 sqrt(2 / lambda) at all times, however steep f is.

Along the flow of Lemma 3 with a constant lambda, R + (lambda / 2) ||theta - theta_0||^2 falls, from
r_0^2, and the integral of ||theta'||^2 is what it loses: so ||theta_t - theta_0|| <=
r_0 min(sqrt(t), sqrt(2 / lambda)), and ||f_t - y|| <= r_0. Beside Theorems 2 and 4 of Afzal et al.
(2025) this needs no Lipschitz constant and no end of time: the ball of radius r is never left if
lambda >= 2 r_0^2 / r^2, less than lambda_0 = 2 r_0 Lip(f) / r wherever r_0 < r Lip(f).
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.linearization import _flow as flow


def _pull(x: claims.Instance) -> tuple[Array, Array]:
    """The strength, and the last time."""
    strength = x.pulled * x.strength
    return strength, x.horizon * flow.time_scale(x, strength)


def simulate(x: claims.Instance, key) -> flow.Moved:
    return flow.move(x, *_pull(x))


def predict(x: claims.Instance) -> Float[Array, "2 times"]:
    """r_0 sqrt(t), and r_0 sqrt(2 / lambda), which is infinite at lambda = 0."""
    strength, end = _pull(x)
    roots = jnp.sqrt(end * jnp.array(flow.GRID[1:]))
    uniform = jnp.sqrt(2 / jnp.where(strength > 0, strength, 1))
    return x.residual_size * jnp.stack([roots, jnp.broadcast_to(uniform, roots.shape)])


def _is_pulled(r) -> Float[Array, ""]:
    return r.x.pulled - 0.5


EARLY = claims.at_most(
    "||theta_t - theta_0|| <= r_0 sqrt(t)", lambda r: r.sim.distance, lambda r: r.theory[0]
)
UNIFORM = claims.at_most(
    "||theta_t - theta_0|| <= r_0 sqrt(2 / lambda)",
    lambda r: r.sim.distance,
    lambda r: r.theory[1],
    where=_is_pulled,
)
ENERGY = claims.at_most(
    "R + (lambda / 2) ||theta_t - theta_0||^2 <= r_0^2",
    lambda r: r.sim.residual**2 + r.x.pulled * r.x.strength / 2 * r.sim.distance**2,
    lambda r: r.x.residual_size**2,
)

theorem = claims.Theorem(
    space=flow.distance_space(),
    simulate=simulate,
    predict=predict,
    claims=(EARLY, UNIFORM, ENERGY),
    printed="by the energy",
    source=claims.Finding("bounds of the distance without Lipschitz constants, for all times"),
    integrates=True,
    mutants=(
        claims.Mutant(
            "half of the squares",
            claims=(EARLY.scaled(0.5**0.5), ENERGY.scaled(0.5)),
        ),
        # A linear model reaches half of it at most.
        claims.Mutant("a quarter of the distance", claims=(UNIFORM.scaled(0.25),)),
    ),
)
