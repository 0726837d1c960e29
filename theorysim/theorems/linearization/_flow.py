"""The flow of fine-tuning with a constant pull, and the flows of its linearised counterparts.

All parameters are distances from theta_0 and start at zero. The paper writes the linearised model's
flow in several ways, which differ in what the pull acts on:

    A  on nothing,    B  on the linearised model's own parameters,    C  on those of the model,
    D  no flow of its own: the linearised model at the parameters of the model.
"""

from math import factorial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.flow import integrate, statement_options
from theorysim.systems.fine_tuning import squared_loss
from theorysim.systems.linear_modes import mean_decay
from theorysim.theorems.linearization import _models as models

GRID = (0.0, 0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 1.0)
"""times that are kept, as shares of the last one"""

READINGS = ("A", "B", "C", "D")

_SERIES = tuple((-1.0) ** k / factorial(k + 2) for k in range(13, -1, -1))
"""1 - (1 - e^(-z)) / z = z polyval(series, z), to rounding for z < 1/2"""


class Moved(NamedTuple):
    """Along the flow, from the first time after zero on."""

    distance: Float[Array, " times"]
    residual: Float[Array, " times"]
    memory: Float[Array, " times"]
    """integral over s from 0 to t of e^(-lambda (t - s)) ||y(s) - y*||"""
    radius: Float[Array, " times"]
    """of a ball around theta_0 that holds the path up to every time"""


class Path(NamedTuple):
    """Along the flow and beside its linearised counterparts, from the first time after zero on."""

    times: Float[Array, " times"]
    distance: Float[Array, " times"]
    residual: Float[Array, " times"]
    outputs: Float[Array, "times n"]
    straight: dict[str, Float[Array, "times n"]]
    """outputs of the linearised model, for every reading"""
    deltas: Float[Array, "times p"]
    linear: Float[Array, "times p"]
    """parameters of reading A"""
    radius: Float[Array, " times"]
    """of a ball around theta_0 that holds the path up to every time"""


def distance_space() -> claims.Space:
    """Flows with a pull or none, up to horizons in units of the fastest time."""
    return models.model_space(
        pulled=claims.Choice(0.0, 1.0),
        strength=claims.Real(0.05, 100, log=True),
        horizon=claims.Real(1, 3000, log=True),
    )


def growth_space() -> claims.Space:
    """Flows with a pull up to a horizon."""
    return models.model_space(
        strength=claims.Real(0.05, 100, log=True), horizon=claims.Real(0.03, 100, log=True)
    )


def growth_times(x: claims.Instance) -> Float[Array, " times"]:
    """`GRID` up to the horizon of `growth_space`."""
    return x.horizon * time_scale(x, x.strength) * jnp.array(GRID[1:])


def run(x: claims.Instance, strength: Float[Array, ""], end: Float[Array, ""]) -> Path:
    """Integrates the model and its linearised counterparts up to time `end`."""
    f, y, origin = models.outputs(x), models.targets(x), models.start(x)
    start, jacobian = f(origin), models.jacobian(x, origin)
    slope = jax.grad(models.loss(x))

    def straight(u: Array) -> Array:
        return start + jnp.matmul(jacobian, u, precision=jax.lax.Precision.HIGHEST)

    linear_slope = jax.grad(squared_loss(straight, y))

    def field(state: tuple, strength: Array) -> tuple:
        delta, a, b, c = state
        return (
            -slope(delta) - strength * delta,
            -linear_slope(a),
            -linear_slope(b) - strength * b,
            -linear_slope(c) - strength * delta,
        )

    times = end * jnp.array(GRID)
    options = statement_options(x.tolerance_scale)
    path = integrate(field, (origin,) * 4, times, strength, **options)
    delta, *linear = jax.tree.map(lambda leaf: leaf[1:], path)
    outputs = jax.vmap(f)(delta)
    linearised = {name: jax.vmap(straight)(u) for name, u in zip(READINGS, (*linear, delta))}
    distance, residual = (jnp.linalg.norm(part, axis=1) for part in (delta, outputs - y))
    radius = _radius(x, strength, times, distance, residual)
    return Path(times[1:], distance, residual, outputs, linearised, delta, linear[0], radius)


def move(x: claims.Instance, strength: Float[Array, ""], end: Float[Array, ""]) -> Moved:
    """Integrates the model alone up to time `end`."""
    f, y, origin = models.outputs(x), models.targets(x), models.start(x)
    slope = jax.grad(models.loss(x))

    def field(state: tuple, strength: Array) -> tuple:
        delta, memory = state
        remembered = jnp.linalg.norm(f(delta) - y) - strength * memory
        return -slope(delta) - strength * delta, remembered

    times = end * jnp.array(GRID)
    options = statement_options(x.tolerance_scale)
    path, memory = integrate(field, (origin, jnp.zeros(())), times, strength, **options)
    distance = jnp.linalg.norm(path[1:], axis=1)
    residual = jnp.linalg.norm(jax.vmap(f)(path[1:]) - y, axis=1)
    return Moved(distance, residual, memory[1:], _radius(x, strength, times, distance, residual))


def _radius(
    x: claims.Instance, strength: Array, times: Array, distance: Array, residual: Array
) -> Float[Array, " times"]:
    energy = residual**2 + strength / 2 * distance**2
    return holding_radius(times, distance, jnp.append(x.residual_size**2, energy))


def holding_radius(
    times: Float[Array, " more"], distance: Float[Array, " times"], energy: Float[Array, " more"]
) -> Float[Array, " times"]:
    """Of balls that hold the path between the times that are kept, too.

    Within dt of a time it goes no further than sqrt(dt dE): the flow descends E = R + lambda/2
    ||u||^2, and what E loses is the integral of ||u'||^2.
    """
    lost = jnp.maximum(energy[:-1] - energy[1:], 0)
    before = jnp.append(0.0, distance[:-1])
    return jax.lax.cummax(jnp.maximum(before + jnp.sqrt(jnp.diff(times) * lost), distance))


def pulled_flow(
    x: claims.Instance,
    delta: models.Delta,
    strength: Float[Array, ""],
    times: Float[Array, " times"],
    weight: float = 1.0,
) -> Float[Array, "times p"]:
    """The model's flow alone, from `delta` at the first of the times; `weight` is that of R."""
    slope = jax.grad(models.loss(x))

    def field(delta: models.Delta, strength: Array) -> models.Delta:
        return -weight * slope(delta) - strength * delta

    return integrate(field, delta, times, strength, **statement_options(x.tolerance_scale))


def gap(r: claims.Run, name: str) -> Float[Array, " times"]:
    """||f - f_linear|| of a reading, where the simulation returned a `Path`."""
    return jnp.linalg.norm(r.sim.outputs - r.sim.straight[name], axis=-1)


def gap_factor(
    x: claims.Instance, constants: models.Lipschitz, strength: Float[Array, ""]
) -> Float[Array, "*times"]:
    """b of Theorem 3."""
    bent = 4 / strength * constants.jacobian * x.residual_size
    return 2 * constants.f**2 * x.residual_size * (bent + 1)


def faded_time(strength: Float[Array, ""], times: Float[Array, " times"]) -> Float[Array, " times"]:
    """(1 - e^(-lambda t)) / lambda, t where lambda = 0."""
    return times * mean_decay(strength * times)


def excess_time(
    strength: Float[Array, ""], times: Float[Array, " times"]
) -> Float[Array, " times"]:
    """t - (1 - e^(-lambda t)) / lambda, without cancellation at small lambda t."""
    z = strength * times
    is_small = z < 0.5
    series = jnp.polyval(jnp.array(_SERIES, z.dtype), jnp.where(is_small, z, 0.0))
    return times * jnp.where(is_small, z * series, 1 - mean_decay(z))


def time_scale(x: claims.Instance, strength: Float[Array, ""]) -> Float[Array, ""]:
    """1 / (lambda + the smoothness of R): no longer than the fastest time of the flow."""
    return 1 / (strength + models.smoothness(x))
