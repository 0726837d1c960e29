"""Two-layer ReLU networks of infinite width: exact pretraining and fine-tuning by gradient descent.

As the width grows, outputs follow the linear recursion u <- u - rate H (u - y), where H is the
tangent Gram matrix and rate = learning_rate times the curvature of the loss in an output. All
observables after k steps follow from the eigendecomposition of H, for any k, infinite included.
The same functions with the empirical Gram matrix of a finite network give its linearisation.

Eigenvalues below n eps lambda_max count as zero: such modes never move. Where the eigenvalues of H
coincide the results are exact but have no automatic derivative; `complexity` has one. Numbers of
steps may be infinite and traced: `jax.vmap` over them gives paths from one decomposition.

Source: Liu et al. 2019, Section 6 and Appendix C; Shachaf et al. 2021, Section 6.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import solve_triangular
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Num, PRNGKeyArray

from theorysim.numerics import checks, kernels
from theorysim.numerics.checks import check_outcome, when_known
from theorysim.numerics.contraction import contraction
from theorysim.numerics.products import dot
from theorysim.systems.two_layer_relu import Normalisation, curvature, squared_error


class Stage(NamedTuple):
    """What is trained on, and for how long."""

    labels: Float[Array, " n"]
    initial: Float[Array, " n"]
    """outputs of the untrained network on the inputs of this stage"""
    learning_rate: float | Float[Array, ""]
    steps: Num[ArrayLike, "*times"]


class Trained(NamedTuple):
    """The outcome of descent in the kernel regime; an axis of times may lead."""

    coefficients: Float[Array, "*times n"]
    """c with change of weights Z c, and change of outputs H(x, inputs) c at any x"""
    residual: Float[Array, "*times n"]
    """labels minus outputs"""
    distance: Float[Array, "*times"]
    """Frobenius norm of the change of weights, sqrt(c^T H c)"""


class Transfer(NamedTuple):
    """Pretraining followed by fine-tuning; `times` are the fine-tuning steps asked for."""

    pretraining: Trained
    fine_tuning: Trained
    coefficients: Float[Array, "times p_plus_q"]
    """with H(x, source and target inputs) they give the change of the output at any x"""
    source_outputs: Float[Array, "times p"]
    target_outputs: Float[Array, "times q"]
    source_loss: Float[Array, " times"]
    target_loss: Float[Array, " times"]
    distance: Float[Array, " times"]
    """Frobenius norm of the weights' distance from the untrained ones, over both stages"""


def kernel_descent(
    gram: Float[Array, "n n"],
    residual: Float[Array, " n"],
    rate: float | Float[Array, ""],
    steps: Num[ArrayLike, ""],
) -> Trained:
    """Descent from labels minus outputs = `residual`, mode by mode: (I - rate H)^steps residual.

    `rate` is the learning rate times `curvature`. Beyond rate = 2/lambda_max paths grow without
    bound.

    Raises:
        ValueError: for a rate so far beyond the limit that numbers overflow.
    """
    eigenvalues, vectors = _modes(gram)
    left, progress = contraction(rate * eigenvalues, steps)
    components = dot(vectors.T, residual)
    scaled = progress * components / jnp.where(eigenvalues > 0, eigenvalues, 1)
    trained = Trained(
        dot(vectors, scaled),
        dot(vectors, left * components),
        jnp.linalg.norm(jnp.sqrt(eigenvalues) * scaled),
    )
    check_outcome(trained, rate, lambda found: 2 / found[-1], eigenvalues)
    return trained


def transfer(
    gram: Float[Array, "p_plus_q p_plus_q"],
    pretraining: Stage,
    fine_tuning: Stage,
    *,
    normalisation: Normalisation,
) -> Transfer:
    """Exact infinite-width outputs, losses and weight distances of both stages.

    `gram` is the joint Gram matrix, source inputs first: `kernels.tangent_gram(inputs, inputs)`,
    or the empirical one of a finite network. `pretraining.steps` is one number (zero: training
    from scratch; `jax.vmap` for a curve), `fine_tuning.steps` an array of times.
    """
    samples = pretraining.labels.size
    cross, target = gram[:samples, samples:], gram[samples:, samples:]
    before = _train(gram[:samples, :samples], pretraining, pretraining.initial, normalisation)
    ready = fine_tuning.initial + dot(before.coefficients, cross)

    def at(steps: Num[Array, ""]) -> Transfer:
        after = _train(target, fine_tuning._replace(steps=steps), ready, normalisation)
        coefficients = jnp.concatenate([before.coefficients, after.coefficients])
        source_residual = before.residual - dot(cross, after.coefficients)
        return Transfer(
            before,
            after,
            coefficients,
            pretraining.labels - source_residual,
            fine_tuning.labels - after.residual,
            squared_error(source_residual, normalisation),
            squared_error(after.residual, normalisation),
            _weight_norm(gram, coefficients),
        )

    path = jax.vmap(at)(jnp.asarray(fine_tuning.steps))
    largest = partial(largest_learning_rate, normalisation=normalisation)
    check_outcome(path.fine_tuning, fine_tuning.learning_rate, largest, target)
    return path._replace(pretraining=before)


def complexity(gram: Float[Array, "n n"], residual: Float[Array, " n"]) -> Float[Array, ""]:
    """sqrt(r^T H^(-1) r / n) with r = labels minus outputs.

    sqrt(n) times it is the weight distance of descent without end.

    Raises:
        ValueError: where H is singular to rounding; a traced one gives NaN.
    """
    when_known(check_gram, gram)
    samples = residual.size
    eigenvalues = jnp.linalg.eigvalsh(jax.lax.stop_gradient(gram))
    regular = eigenvalues[0] > samples * jnp.finfo(gram.dtype).eps * eigenvalues[-1]
    whitened = solve_triangular(jnp.linalg.cholesky(gram), residual, lower=True)
    return jnp.where(regular, jnp.linalg.norm(whitened) / jnp.sqrt(float(samples)), jnp.nan)


def sample_initial_outputs(
    key: PRNGKeyArray, inputs: Float[Array, "n d"], scale: float | Float[Array, ""]
) -> Float[Array, " n"]:
    """Outputs of an untrained network of infinite width: N(0, scale^2 activation_gram).

    For both stages, draw once on all inputs and split.
    """
    eigenvalues, vectors = jnp.linalg.eigh(kernels.activation_gram(inputs, inputs))
    normal = jax.random.normal(key, eigenvalues.shape, eigenvalues.dtype)
    return scale * dot(vectors, jnp.sqrt(jnp.maximum(eigenvalues, 0)) * normal)


def largest_learning_rate(
    gram: Float[Array, "n n"], normalisation: Normalisation
) -> Float[Array, ""]:
    """2/lambda_max of the Hessian of the loss, H times its curvature: descent converges below."""
    return 2 / (curvature(normalisation, len(gram)) * jnp.linalg.eigvalsh(gram)[-1])


def check_gram(gram: Float[ArrayLike, "n n"]) -> None:
    """ValueError where the Gram matrix is singular to rounding. Eager."""
    eigenvalues = np.linalg.eigvalsh(np.asarray(gram))
    floor = len(eigenvalues) * np.finfo(eigenvalues.dtype).eps * eigenvalues[-1]
    if not eigenvalues[0] > floor:
        raise ValueError(
            f"the Gram matrix is singular: smallest eigenvalue {eigenvalues[0]:.3g}, needed above "
            f"{floor:.3g}: remove repeated or dependent inputs"
        )


def check_learning_rate(
    gram: Float[Array, "n n"], learning_rate: float, normalisation: Normalisation
) -> None:
    """ValueError unless 0 < learning_rate < 2/lambda_max of the Hessian of the loss."""
    largest = partial(largest_learning_rate, normalisation=normalisation)
    checks.check_learning_rate(learning_rate, largest, gram)


def _train(
    gram: Float[Array, "n n"],
    stage: Stage,
    outputs: Float[Array, " n"],
    normalisation: Normalisation,
) -> Trained:
    rate = curvature(normalisation, stage.labels.size) * stage.learning_rate
    return kernel_descent(gram, stage.labels - outputs, rate, stage.steps)


def _weight_norm(gram: Float[Array, "n n"], coefficients: Float[Array, " n"]) -> Float[Array, ""]:
    """sqrt(c^T H c), by a root of H: the quadratic form loses half of the digits near zero."""
    eigenvalues, vectors = _modes(gram)
    return jnp.linalg.norm(jnp.sqrt(eigenvalues) * dot(vectors.T, coefficients))


def _modes(gram: Float[Array, "n n"]) -> tuple[Float[Array, " n"], Float[Array, "n n"]]:
    """Eigenvalues, zero where they are rounding, and eigenvectors."""
    eigenvalues, vectors = jnp.linalg.eigh(gram)
    floor = eigenvalues.size * jnp.finfo(gram.dtype).eps * eigenvalues[-1]
    return jnp.where(eigenvalues > floor, eigenvalues, 0), vectors
