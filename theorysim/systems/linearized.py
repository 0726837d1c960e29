"""Linearised models trained with a pull towards their start: closed forms at any time and step.

The model is f(theta_0) + J u with u = theta - theta_0; the loss ||f - y||^2 is summed over inputs
and outputs, neither halved nor averaged, and lambda/2 ||u||^2 is added (`strength` is lambda). The
flow is du/dt = -2 J^T (f - y) - lambda u. A step of descent takes the two parts in turn, as the
paper does: v = u - 2 eta J^T (f - y), then u = (1 - eta lambda) v. From u = 0 both stay in the row
space, u = J^T c, so the Gram K = J J^T = V diag(kappa) V^T is all they need:

    flow:     c_i(t) = (1 - e^(-(2 kappa_i + lambda) t)) / (kappa_i + lambda/2) (V^T (y - f0))_i,
    descent:  c_i(k) = 2 eta (1 - eta lambda) (1 - rho_i^k) / (1 - rho_i) (V^T (y - f0))_i,
              rho_i = (1 - eta lambda) (1 - 2 eta kappa_i).

Several outputs per input are just more entries of f. Averaged losses are the same with J and the
error divided by the root of their number.

Source: Afzal et al., "Linearization Explains Fine-Tuning in Large Language Models", NeurIPS 2025.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Num, PyTree, Shaped

from theorysim.numerics.contraction import contraction
from theorysim.numerics.products import dot
from theorysim.numerics.tangent_kernels import Model, empirical_ntk
from theorysim.systems.linear_modes import mean_decay

Vector: TypeAlias = Float[Array, " n"]
Scalar: TypeAlias = float | Num[Array, ""]


class Modes(NamedTuple):
    """Gram V diag(curvatures) V^T and the components of y - f0 in the basis V."""

    curvatures: Vector
    basis: Float[Array, "n n"]
    gap: Vector


def linearize(model: Model, params: PyTree[Array]) -> Model:
    """The first-order model around `params`: g(p, x) = f(params, x) + J(x) (p - params)."""

    def linear(moved: PyTree[Array], x: Any) -> Array:
        step = jax.tree.map(jnp.subtract, moved, params)
        value, change = jax.jvp(lambda p: model(p, x), (params,), (step,))
        return value + change

    return linear


def modes(gram: Float[Array, "n n"], gap: Vector) -> Modes:
    """Eigendecomposition of the Gram; eigenvalues below rounding are zero. gap = y - f0."""
    curvatures, basis = jnp.linalg.eigh(gram)
    floor = curvatures.size * jnp.finfo(curvatures.dtype).eps * jnp.max(jnp.abs(curvatures))
    return Modes(jnp.where(curvatures > floor, curvatures, 0), basis, dot(basis.T, gap))


def flow_gain(curvatures: Vector, strength: Scalar, time: Scalar) -> Vector:
    """c_i / gap_i at a time of the flow: 2 t mean_decay((2 kappa + lambda) t); at infinity too.

    Without a regulariser a mode of curvature zero grows as 2 t; it moves no output.
    """
    rate = 2 * curvatures + strength
    finite = jnp.where(jnp.isfinite(time), time, 0.0)
    growing = 2 * finite * mean_decay(rate * finite)
    limit = jnp.where(rate > 0, 2 / jnp.where(rate > 0, rate, 1), jnp.inf)
    return jnp.where(jnp.isfinite(time), growing, limit)


def descent_gain(
    curvatures: Vector, strength: Scalar, learning_rate: Scalar, steps: Scalar
) -> Vector:
    """c_i / gap_i after a number of steps of descent."""
    # 1 - rho without the difference, which would lose the digits of small rates.
    shrink = learning_rate * (strength + 2 * curvatures * (1 - learning_rate * strength))
    moves = shrink != 0
    share = contraction(shrink, steps).gained / jnp.where(moves, shrink, 1)
    pushed = 2 * learning_rate * (1 - learning_rate * strength)
    return pushed * jnp.where(moves, share, jnp.asarray(steps, shrink.dtype))


def predicted_change(spectrum: Modes, gain: Vector) -> Vector:
    """f - f0 on the training inputs, for a gain of the flow or of descent."""
    moved = jnp.where(spectrum.curvatures > 0, spectrum.curvatures * gain, 0)
    return dot(spectrum.basis, moved * spectrum.gap)


def predicted_residual(spectrum: Modes, gain: Vector) -> Vector:
    """f - y on the training inputs."""
    return -dot(spectrum.basis, spectrum.gap) + predicted_change(spectrum, gain)


def predicted_distance(spectrum: Modes, gain: Vector) -> Float[Array, ""]:
    """||u||, the distance of the parameters from their start."""
    curvatures, _, gap = spectrum
    return jnp.sqrt(jnp.sum(jnp.where(curvatures > 0, curvatures * (gain * gap) ** 2, 0)))


class Linearised(NamedTuple):
    """A linearised training run at the wanted times or steps; every array leads with them.

    Residuals f - y have the shape of the targets. `coefficients` c give the parameters
    theta_0 + J^T c and the outputs f0(x) + k(x, inputs) c at other inputs.
    """

    residual: Float[Array, "times n *k"]
    loss: Float[Array, " times"]
    distance: Float[Array, " times"]
    coefficients: Float[Array, "times n *k"]
    test_outputs: Float[Array, "times m *k"] | None


def train_linearized(
    model: Model,
    params: PyTree[Array],
    inputs: PyTree[Array],
    targets: Float[Array, "n *k"],
    times: Num[ArrayLike, " times"] | Sequence[float],
    *,
    strength: float = 0.0,
    learning_rate: float | None = None,
    test_inputs: PyTree[Array] | None = None,
) -> Linearised:
    """Trains the linearised model, with or without a regulariser, in closed form at given times.

        run = train_linearized(model, params, inputs, targets, [0.1, 1.0, jnp.inf], strength=1.0)
        run.loss, run.distance

    Args:
        model: `model(params, x)` for one input (see `theorysim.numerics.models`).
        params: the parameters at the start.
        inputs: training inputs, stacked along a leading axis.
        targets: as the outputs, stacked.
        times: times of gradient flow, or numbers of steps where a learning rate is given;
            infinity is allowed.
        strength: lambda of the pull lambda/2 ||theta - theta_0||^2.
        learning_rate: step size of gradient descent.
        test_inputs: other inputs to predict at.

    Raises:
        ValueError: for targets of another shape than the outputs, a negative strength, or a
            learning rate at which descent diverges.
    """
    start = jax.vmap(lambda x: model(params, x))(inputs)
    targets = jnp.asarray(targets, start.dtype)
    check_targets(start, targets)
    if strength < 0:
        raise ValueError(f"strength = {strength:g} is negative: use a pull of 0 or more")
    gram = as_matrix(empirical_ntk(model, params, inputs), start.size)
    spectrum = modes(gram, jnp.ravel(targets - start))
    if learning_rate is not None:
        check_learning_rate(spectrum.curvatures, strength, learning_rate)
    at = jnp.atleast_1d(jnp.asarray(times, start.dtype))
    gains = jax.vmap(
        lambda time: (
            flow_gain(spectrum.curvatures, strength, time)
            if learning_rate is None
            else descent_gain(spectrum.curvatures, strength, learning_rate, time)
        )
    )(at)
    return _run(model, params, inputs, start, spectrum, gains, test_inputs)


def _run(
    model: Model,
    params: Any,
    inputs: Any,
    start: Array,
    spectrum: Modes,
    gains: Array,
    test_inputs: Any,
) -> Linearised:
    residual = jax.vmap(lambda gain: predicted_residual(spectrum, gain))(gains)
    # Coefficients along null vectors of K move nothing.
    coefficients = (
        jnp.where(spectrum.curvatures[None] > 0, gains * spectrum.gap[None], 0) @ spectrum.basis.T
    )
    shaped = (-1, *start.shape)
    elsewhere = None
    if test_inputs is not None:
        untrained = jax.vmap(lambda x: model(params, x))(test_inputs)
        cross = as_matrix(empirical_ntk(model, params, test_inputs, inputs), untrained.size)
        moved = dot(coefficients, cross.T).reshape(-1, *untrained.shape)
        elsewhere = untrained[None] + moved
    return Linearised(
        residual.reshape(shaped),
        jnp.sum(jnp.square(residual), axis=-1),
        jax.vmap(lambda gain: predicted_distance(spectrum, gain))(gains),
        coefficients.reshape(shaped),
        elsewhere,
    )


def as_matrix(gram: Float[Array, "n m *outputs"], rows: int) -> Float[Array, "rows columns"]:
    """A kernel with output axes as a matrix over pairs (input, output)."""
    return gram if gram.ndim == 2 else jnp.moveaxis(gram, 2, 1).reshape(rows, -1)


def check_targets(
    outputs: Shaped[Array, "..."] | jax.ShapeDtypeStruct, targets: Shaped[Array, "..."]
) -> None:
    """ValueError unless targets have the shape of the outputs."""
    if outputs.shape != targets.shape:
        raise ValueError(
            f"targets of shape {targets.shape} do not fit outputs of shape {outputs.shape}: "
            "reshape the targets"
        )


def check_learning_rate(curvatures: Vector, strength: float, learning_rate: float) -> None:
    """ValueError unless descent is stable on every mode. Eager.

    Up to min(1/kappa_max, 1/lambda) it always is.
    """
    rates = jnp.append(curvatures, 0)
    factor = float(
        jnp.max(jnp.abs((1 - learning_rate * strength) * (1 - 2 * learning_rate * rates)))
    )
    largest = float(jnp.max(curvatures))
    limit = 1 / max(largest, strength, 1e-300)
    if not learning_rate > 0 or factor > 1:
        raise ValueError(
            f"learning rate {learning_rate:g} is outside (0, {limit:.4g}], where descent is stable "
            f"(it multiplies the slowest error by {factor:.4g} per step): use at most "
            f"min(1/kappa_max, 1/strength) = {limit:.4g}"
        )
