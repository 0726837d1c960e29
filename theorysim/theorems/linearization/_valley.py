"""A curved valley, along which fine-tuning first moves away from its start and then back.

    f_1 = steep (delta_2 + bend delta_1^2),    f_2 = delta_1,

delta = theta - theta_0 in R^2, with targets (steep level, aim). Descent falls to the floor of the
valley, delta_2 = level - bend delta_1^2, and follows it to delta_1 = aim: back in delta_2, so that
<grad R, delta> becomes positive where 2 bend level > 1. Models that act entry by entry never
see that sign (`_models`). Both Lipschitz constants are exact.
"""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems.fine_tuning import Descent, Scheme, regularised_descent, squared_loss
from theorysim.theorems.linearization._models import Lipschitz

Delta = Float[Array, " 2"]
START = (0.0, 0.0)


def space(**parts: claims.Size | claims.Field) -> claims.Space:
    """Valleys, pulls, and step sizes as a share of what the curvature allows."""
    shared: dict[str, claims.Size | claims.Field] = {
        "steep": claims.Real(1, 5, log=True),
        "bend": claims.Real(0.3, 3, log=True),
        "level": claims.Real(0.3, 3, log=True),
        "aim": claims.Real(0.2, 2, log=True),
        "strength": claims.Real(0.1, 20, log=True),
        "share": claims.Real(0.01, 0.5, log=True),
    }
    return claims.Space(**{**shared, **parts})


def outputs(x: claims.Instance) -> Callable[[Delta], Float[Array, " 2"]]:
    """f(theta_0 + delta) - f(theta_0)."""
    return lambda d: jnp.stack([x.steep * (d[1] + x.bend * d[0] ** 2), d[0]])


def targets(x: claims.Instance) -> Float[Array, " 2"]:
    """y - f(theta_0)."""
    return jnp.stack([x.steep * x.level, x.aim])


def loss(x: claims.Instance) -> Callable[[Delta], Float[Array, ""]]:
    """R(delta) = ||f - y||^2."""
    return squared_loss(outputs(x), targets(x))


def residual_size(x: claims.Instance) -> Float[Array, ""]:
    """r_0."""
    return jnp.linalg.norm(targets(x))


def lipschitz(x: claims.Instance, radius: Float[Array, "*times"]) -> Lipschitz:
    """Of f and of its Jacobian, on balls of the given radii.

    J^T J has the determinant steep^2 everywhere, and its trace is largest where |delta_1| is.
    """
    trace = 1 + x.steep**2 * (1 + 4 * (x.bend * radius) ** 2)
    largest = (trace + jnp.sqrt(trace**2 - 4 * x.steep**2)) / 2
    return Lipschitz(jnp.sqrt(largest), 2 * x.steep * x.bend + 0 * radius)


def smoothness(x: claims.Instance) -> Float[Array, ""]:
    """A bound of R's curvature on the way: where |delta_1| <= 2 aim and ||f - y|| <= r_0."""
    return 2 * lipschitz(x, 2 * x.aim).f ** 2 + 4 * residual_size(x) * x.steep * x.bend


def rate(x: claims.Instance) -> Float[Array, ""]:
    """The step size: a share of 1 / (lambda + smoothness)."""
    return x.share / (x.strength + smoothness(x))


def descent(x: claims.Instance, scheme: Scheme, steps: int) -> Descent:
    """From theta_0; the path leads with the start."""
    return regularised_descent(loss(x), jnp.array(START), rate(x), x.strength, steps, scheme)
