"""Fine-tuning of any model with a pull to its start: descent, the selective scheme, and the flow.

The loss R(theta) = ||f(theta) - y||^2 is summed over inputs and outputs, neither halved nor
averaged; the pull is lambda/2 ||theta - theta_0||^2. A step takes the two in turn,

    v = theta - eta grad R(theta),    theta' = v - eta lambda_t (v - theta_0).

The selective scheme pulls (lambda_t = lambda) only where <grad R, theta - theta_0> >= 0 and leaves
lambda_t = 0 elsewhere. The paper evaluates that product at theta' itself, which depends on the
choice ("printed"; both choices, one or none can be consistent); "old" evaluates it at theta,
"intermediate" at v.

Source: Afzal et al., "Linearization Explains Fine-Tuning in Large Language Models", NeurIPS 2025.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PyTree

from theorysim.numerics.tangent_kernels import Model, empirical_ntk
from theorysim.systems.linearized import as_matrix, check_targets, linearize

Loss: TypeAlias = Callable[[Any], Float[Array, ""]]
Scalar: TypeAlias = float | Float[Array, ""]
Scheme: TypeAlias = Literal["always", "old", "intermediate", "printed"]
SCHEMES = ("always", "old", "intermediate", "printed")


class Step(NamedTuple):
    """Parameters after a step, the strength it used, and how many choices were consistent.

    `consistent` is 1 but for the scheme "printed", where it may be 0 (then the pull is off) or 2
    (then it is on).
    """

    params: Any
    strength: Float[Array, ""]
    consistent: Float[Array, ""]


class Trajectory(NamedTuple):
    """Observables of a run; every array leads with the start and then every step.

    `linear_gap` is ||y - y_lin|| to the linearised model trained by the same scheme, `taylor_gap`
    to the linearised model at the same parameters; `strength` is the lambda_t of each step.
    """

    residual: Float[Array, "times n *k"]
    loss: Float[Array, " times"]
    distance: Float[Array, " times"]
    linear_gap: Float[Array, " times"]
    taylor_gap: Float[Array, " times"]
    strength: Float[Array, " steps"]
    params: Any
    """parameters at the end"""

    def switches(self) -> np.ndarray:
        """Numbers of the steps at which the regulariser was switched on or off. Eager."""
        return np.flatnonzero(np.diff(np.asarray(self.strength))) + 1


def squared_loss(outputs: Callable[[Any], Array], targets: Array) -> Loss:
    """R(theta) = ||outputs(theta) - targets||^2."""
    return lambda params: jnp.sum(jnp.square(outputs(params) - targets))


def towards_loss(loss: Loss, anchor: PyTree[Array], params: PyTree[Array]) -> Float[Array, ""]:
    """<grad R(theta), theta - theta_0>: where it is >= 0, the pull lowers the loss."""
    step = optax.tree.sub(params, anchor)
    return jnp.asarray(optax.tree.vdot(jax.grad(loss)(params), step))


def regularised_step(
    loss: Loss,
    anchor: PyTree[Array],
    params: PyTree[Array],
    learning_rate: Scalar,
    strength: Scalar,
    scheme: Scheme = "always",
) -> Step:
    """One step of regularised descent."""
    kind = jnp.result_type(*jax.tree.leaves(params))
    learning_rate, strength = jnp.asarray(learning_rate, kind), jnp.asarray(strength, kind)
    half = optax.tree.add_scale(params, -learning_rate, jax.grad(loss)(params))

    def pulled(by: Array) -> Any:
        return optax.tree.add_scale(half, -learning_rate * by, optax.tree.sub(half, anchor))

    def is_on(at: Any) -> Array:
        return towards_loss(loss, anchor, at) >= 0

    consistent = jnp.ones((), strength.dtype)
    if scheme == "always":
        on = jnp.asarray(True)
    elif scheme == "printed":
        on, off = is_on(pulled(strength)), ~is_on(half)
        consistent = on.astype(strength.dtype) + off.astype(strength.dtype)
    else:
        on = is_on(params if scheme == "old" else half)
    used = jnp.where(on, strength, 0)
    return Step(pulled(used), used, consistent)


class Descent(NamedTuple):
    """A run: what was recorded of the start and of every step, and the parameters at the end."""

    path: Any
    strength: Float[Array, " steps"]
    consistent: Float[Array, " steps"]
    params: Any


def regularised_descent(
    loss: Loss,
    start: PyTree[Array],
    learning_rate: Scalar,
    strength: Scalar,
    steps: int,
    scheme: Scheme = "always",
    record: Callable[[Any], Any] = lambda params: params,
) -> Descent:
    """A number of regularised steps."""

    def advance(params: Any, _: None) -> tuple[Any, tuple]:
        step = regularised_step(loss, start, params, learning_rate, strength, scheme)
        return step.params, (record(step.params), step.strength, step.consistent)

    end, (kept, used, consistent) = jax.lax.scan(advance, start, None, length=steps)
    path = jax.tree.map(
        lambda first, rest: jnp.concatenate([jnp.asarray(first)[None], rest]), record(start), kept
    )
    return Descent(path, used, consistent, end)


def fine_tune(
    model: Model,
    params: PyTree[Array],
    inputs: PyTree[Array],
    targets: Float[Array, "n *k"],
    *,
    learning_rate: float,
    steps: int,
    strength: float = 0.0,
    scheme: Scheme = "always",
) -> Trajectory:
    """Fine-tunes a model beside its linearisation, both by the same scheme from the same start.

        run = fine_tune(model, params, inputs, targets, learning_rate=0.01, steps=500, strength=1.0)
        run.linear_gap[-1], run.distance[-1]

    Args:
        model: `model(params, x)` for one input (see `theorysim.numerics.models`).
        params: the parameters at the start.
        inputs, targets: training data, stacked along a leading axis.
        learning_rate, steps: of gradient descent on the summed squared error.
        strength: lambda of the pull lambda/2 ||theta - theta_0||^2.
        scheme: "always", or where the selective scheme evaluates its inner product.

    Raises:
        ValueError: for targets of another shape than the outputs, an unknown scheme, a negative
            strength, or a run that diverges.
    """
    if scheme not in SCHEMES:
        raise ValueError(f"scheme {scheme!r} is unknown: use one of {', '.join(SCHEMES)}")
    if strength < 0:
        raise ValueError(f"strength = {strength:g} is negative: use a pull of 0 or more")
    check_targets(jax.eval_shape(lambda: jax.vmap(lambda x: model(params, x))(inputs)), targets)
    linear = linearize(model, params)

    def stacked(f: Model) -> Callable[[Any], Array]:
        return lambda p: jax.vmap(lambda x: f(p, x))(inputs)

    def observe(p: Any) -> tuple[Array, Array, Array]:
        return stacked(model)(p), stacked(linear)(p), optax.tree.norm(optax.tree.sub(p, params))

    def descend(f: Model, rate: Array, pull: Array, record: Callable) -> Descent:
        loss = squared_loss(stacked(f), targets)
        return regularised_descent(loss, params, rate, pull, steps, scheme, record)

    def run(rate: Array, pull: Array) -> Trajectory:
        own = descend(model, rate, pull, observe)
        beside = descend(linear, rate, pull, stacked(linear)).path
        outputs, expanded, distance = own.path
        gaps = _norms(outputs - beside), _norms(outputs - expanded)
        residual = outputs - targets[None]
        loss = jnp.square(_norms(residual))
        return Trajectory(residual, loss, distance, *gaps, own.strength, own.params)

    trajectory = jax.jit(run)(learning_rate, strength)
    finite = np.isfinite(np.asarray(trajectory.loss))
    if not finite.all():
        gram = as_matrix(empirical_ntk(model, params, inputs), targets.size)
        limit = 2 / (2 * jnp.linalg.eigvalsh(gram)[-1] + strength)
        raise ValueError(
            f"learning rate {learning_rate:g} diverges at step {int(np.argmin(finite))}; linear "
            f"descent is stable up to 2/lambda_max = {float(limit):.4g}: choose a smaller one"
        )
    return trajectory


def _norms(path: Float[Array, "times n *k"]) -> Float[Array, " times"]:
    """Euclidean norm over all axes but the first."""
    return jnp.linalg.norm(path.reshape(path.shape[0], -1), axis=1)
