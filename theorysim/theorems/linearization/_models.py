"""Models whose Lipschitz constants on a ball are known: quadratic, sine, and a small tanh network.

Parameters are written as delta = theta - theta_0 in R^(2 n), and f maps them to the outputs on all
n training inputs at once. The first two families act entry by entry,

    quadratic:  f_i = slope_i delta_i + bend_i delta_i^2 / 2   (linear where bend is 0),
    sine:       f_i = slope_i sin(frequency_i delta_i + phase_i),

so that the Jacobian is diagonal and both constants (operator norms) are exact. The network has two
hidden units, f_i = 2^(-1/2) sum_j v_j tanh(w_j . x_i), and bounds of both constants. The loss is
||f - y||^2, summed; targets are f(0) minus a given residual.
"""

from collections.abc import Callable
from math import pi, sqrt
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems.fine_tuning import squared_loss

HIDDEN = 2
STEEPEST_BEND = 4 / (3 * sqrt(3))
"""the largest |tanh''|"""

Delta = Float[Array, " p"]


class Lipschitz(NamedTuple):
    """Constants of f and of its Jacobian on the ball of a radius around theta_0."""

    f: Float[Array, "*times"]
    jacobian: Float[Array, "*times"]


def model_space(**parts: claims.Size | claims.Field) -> claims.Space:
    """All families; `parts` add to the fields or replace them."""
    shared: dict[str, claims.Size | claims.Field] = {
        "n": claims.Size(3, low=2, high=16),
        "family": claims.Choice(0.0, 1.0, 2.0),
        # Above zero without loss: a sign of it is one of delta, of the bend and of the phase.
        "slope": claims.Real(0.05, 3, log=True, shape="n"),
        "bend": claims.Gaussian("n"),
        "bend_scale": claims.Real(1e-3, 3, log=True),
        "frequency": claims.Real(0.1, 3, log=True, shape="n"),
        "phase": claims.Real(0, 2 * pi, shape="n"),
        "weights": claims.Gaussian("n", HIDDEN),
        "rows": claims.Gaussian("n", "n"),
        "residual": claims.UnitVector("n"),
        "residual_size": claims.Real(1e-2, 10, log=True),
    }
    return claims.Space(**{**shared, **parts})


def point_space() -> claims.Space:
    """A point of a ball, and pulls: of any strength, and of a share of the largest allowed one."""
    return model_space(
        radius=claims.Real(0.01, 10, log=True),
        way=claims.Gaussian("n", HIDDEN),
        strength=claims.Real(1e-2, 100, log=True),
        share=claims.Real(0.01, 0.99),
    )


def point(x: claims.Instance) -> Delta:
    """On the sphere of x.radius, in the direction x.way."""
    return x.radius * jnp.ravel(x.way) / jnp.linalg.norm(x.way)


def along_flow(
    x: claims.Instance, f: Callable[[Delta], Array], strength: Float[Array, ""] | float
) -> Array:
    """d/dt f(delta) at `point(x)` along d delta/dt = -grad R - strength delta."""
    delta = point(x)
    velocity = -jax.grad(loss(x))(delta) - strength * delta
    return jax.jvp(f, (delta,), (velocity,))[1]


def start(x: claims.Instance) -> Delta:
    """delta = 0."""
    return jnp.zeros(HIDDEN * x.n)


def outputs(x: claims.Instance) -> Callable[[Delta], Float[Array, " n"]]:
    """f(theta_0 + delta) on the training inputs, measured from f(theta_0).

    Losses, gaps and derivatives do not depend on where outputs are measured from.
    """
    return lambda delta: change(x, start(x), delta)


def change(x: claims.Instance, delta: Delta, move: Delta) -> Float[Array, " n"]:
    """f(theta_0 + delta + move) - f(theta_0 + delta), exact to rounding however small the move.

    Differences of sines and of hyperbolic tangents are taken by their addition theorems: a tuned
    model hardly moves, and the rounding of whole outputs would hide its distance from a linearised
    one. So are the derivatives in delta, which are changes of the Jacobian.
    """
    entries, steps = delta[: x.n], move[: x.n]
    middle = entries + steps / 2
    quadratic = x.slope * steps + _bend(x) * middle * steps
    sine = 2 * x.slope * jnp.cos(x.phase + x.frequency * middle) * jnp.sin(x.frequency * steps / 2)
    (v_0, w_0), (_, w) = _network(x, delta), _network(x, delta + move)
    before, after = jnp.tanh(_inputs(x) @ w_0), jnp.tanh(_inputs(x) @ w)
    moved = jnp.tanh(_inputs(x) @ _weights(x, move)[1:]) * (1 - before * after)
    network = (after @ _weights(x, move)[0] + moved @ v_0) / sqrt(HIDDEN)
    return _by_family(x, quadratic, sine, network)


def first_residual(x: claims.Instance) -> Float[Array, " n"]:
    """f(theta_0) - y."""
    return x.residual_size * x.residual


def targets(x: claims.Instance) -> Float[Array, " n"]:
    """y."""
    return outputs(x)(start(x)) - first_residual(x)


def loss(x: claims.Instance) -> Callable[[Delta], Float[Array, ""]]:
    """R(delta) = ||f - y||^2."""
    return squared_loss(outputs(x), targets(x))


def jacobian(x: claims.Instance, delta: Delta) -> Float[Array, "n p"]:
    """J at theta_0 + delta."""
    return jax.jacrev(outputs(x))(delta)


def gram(x: claims.Instance, delta: Delta) -> Float[Array, "n n"]:
    """The tangent kernel J J^T at theta_0 + delta."""
    j = jacobian(x, delta)
    return _matmul(j, j.T)


def jacobian_change(x: claims.Instance, delta: Delta, move: Delta) -> Float[Array, "n p"]:
    """J at theta_0 + delta + move less J at theta_0 + delta, exact to rounding (`change`)."""
    return jax.jacrev(lambda delta: change(x, delta, move))(delta)


def gram_change(x: claims.Instance, delta: Delta, move: Delta) -> Float[Array, "n n"]:
    """The tangent kernel at theta_0 + delta + move less the one at theta_0 + delta."""
    return kernel_change(jacobian(x, delta), jacobian_change(x, delta, move))


def kernel_change(before: Float[Array, "n p"], step: Float[Array, "n p"]) -> Float[Array, "n n"]:
    """(J + D) (J + D)^T - J J^T for J = `before` and D = `step`.

    Of kernels that are rounded first the difference is lost, and alike however inputs are moved.
    """
    return _matmul(step, (before + step).T) + _matmul(before, step.T)


def lipschitz(x: claims.Instance, radius: Float[Array, "*times"]) -> Lipschitz:
    """Joint constants (of the stacked outputs, in operator norm) on balls of the given radii."""
    r = jnp.asarray(radius)[..., None]
    reach = x.frequency * r
    families = (
        Lipschitz(jnp.abs(x.slope) + jnp.abs(_bend(x)) * r, jnp.abs(_bend(x)) + 0 * r),
        Lipschitz(
            jnp.abs(x.slope * x.frequency) * _largest_cosine(x.phase, reach),
            jnp.abs(x.slope * x.frequency**2) * _largest_cosine(x.phase - pi / 2, reach),
        ),
    )
    quadratic, sine = (Lipschitz(*(jnp.max(part, -1) for part in family)) for family in families)
    network = _network_bound(x, r)
    return Lipschitz(*(_by_family(x, *parts) for parts in zip(quadratic, sine, network)))


def kernel_lipschitz(x: claims.Instance, radius: Float[Array, "*times"]) -> Float[Array, "*times"]:
    """Lip(k) on the balls: exact but for the network, which has the bound of Lemma 1."""
    r = jnp.asarray(radius)[..., None]
    bend = jnp.abs(_bend(x))
    quadratic = 2 * bend * (jnp.abs(x.slope) + bend * r)
    # k_ii' = -slope^2 frequency^3 sin(2 (phase + frequency delta)).
    swing = _largest_cosine(2 * x.phase - pi / 2, 2 * x.frequency * r)
    sine = x.slope**2 * x.frequency**3 * swing
    constants = lipschitz(x, radius)
    by_lemma = 2 * constants.f * constants.jacobian
    return _by_family(x, jnp.max(quadratic, -1), jnp.max(sine, -1), by_lemma)


def smoothness(x: claims.Instance) -> Float[Array, ""]:
    """A bound of R's curvature, 2 ||J||^2 + 2 ||f - y|| ||dJ||, where R is at most r_0^2.

    There outputs are within 2 r_0 of the first ones, and for quadratic models f_i'^2 = slope_i^2 +
    2 bend_i (f_i - f_i(0)). Of networks it is the bound at theta_0.
    """
    bend, wave = jnp.abs(_bend(x)), x.slope * x.frequency**2
    network = lipschitz(x, jnp.zeros(()))
    quadratic = jnp.max(x.slope**2 + 5 * x.residual_size * bend)
    sine = jnp.max(x.slope * wave + x.residual_size * wave)
    return 2 * _by_family(x, quadratic, sine, network.f**2 + x.residual_size * network.jacobian)


def _matmul(left: Array, right: Array) -> Array:
    return jnp.matmul(left, right, precision=jax.lax.Precision.HIGHEST)


def _by_family(x: claims.Instance, quadratic: Array, sine: Array, network: Array) -> Array:
    # Compared with what lies between: inputs are moved by rounding to measure its effect.
    return jnp.select([x.family < 0.5, x.family < 1.5], [quadratic, sine], network)


def _network_bound(x: claims.Instance, r: Float[Array, "*times 1"]) -> Lipschitz:
    """Per input first, then the root of the sum of squares over inputs."""
    v, _ = _network(x, start(x))
    length = jnp.linalg.norm(_inputs(x), axis=1)
    first = jnp.sqrt(1 + ((jnp.linalg.norm(v) + r) * length) ** 2 / HIDDEN)
    bend = STEEPEST_BEND * (jnp.max(jnp.abs(v)) + r) * length**2
    second = (bend + jnp.sqrt(bend**2 + 4 * length**2)) / (2 * sqrt(HIDDEN))
    return Lipschitz(jnp.linalg.norm(first, axis=-1), jnp.linalg.norm(second, axis=-1))


def _largest_cosine(centre: Array, reach: Array) -> Array:
    """max |cos| over [centre - reach, centre + reach]."""
    low, high = centre - reach, centre + reach
    ends = jnp.maximum(jnp.abs(jnp.cos(low)), jnp.abs(jnp.cos(high)))
    return jnp.where(jnp.floor(high / pi) >= jnp.ceil(low / pi), 1, ends)


def _bend(x: claims.Instance) -> Float[Array, " n"]:
    return x.bend_scale * x.bend


def _inputs(x: claims.Instance) -> Float[Array, "n d"]:
    """Inputs of dimension n - 1, so that the network has 2 n weights."""
    return x.rows[:, 1:]


def _network(x: claims.Instance, delta: Delta) -> tuple[Array, Array]:
    """v (hidden) and w (n - 1, hidden)."""
    weights = x.weights + _weights(x, delta)
    return weights[0], weights[1:]


def _weights(x: claims.Instance, delta: Delta) -> Float[Array, "n hidden"]:
    return delta.reshape(x.n, HIDDEN)
