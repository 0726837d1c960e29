"""What the statements on fine-tuning share: instances, learning rate, margins, starts, batches.

Section A.3 of Springer et al. (2025). A network W_1 W_2 that was pre-trained on U diag(pre) V^T up
to its n-th feature is fine-tuned on U diag(ft) V^T with a pull-back of strength lam. Spectra carry
an overall scale, because several printed conditions compare quantities that scale differently; the
learning rate is a share of the largest one that Assumption A.8 admits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim.claims import (
    Choice,
    Field,
    Instance,
    Integer,
    Orthogonal,
    Real,
    Size,
    Space,
    Spectrum,
)
from theorysim.numerics.products import dot
from theorysim.systems import batch_covariance, linear_modes, two_layer_linear

Factors: TypeAlias = tuple[Float[Array, "*steps d d"], Float[Array, "*steps d d"]]

# A value of Lemma A.12's constant C_1, whose existence is all that the paper states; the lemma's
# own check verifies it.
BATCH_CONSTANT = 5.0

HIGHEST = jax.lax.Precision.HIGHEST


def fine_tuning_space(**parts: Size | Field) -> Space:
    """Instances of Section A.3; `parts` add to the shared fields and sizes or replace them."""
    shared: dict[str, Size | Field] = {
        "d": Size(4),
        "U": Orthogonal("d"),
        "V": Orthogonal("d"),
        "scale": Real(1e-8, 1e2, log=True),
        "pre": Spectrum("d", 1, 10),
        "ft": Real(1, 10, log=True, shape="d"),
        "n": Integer(1, "d"),
        "regularised": Choice(0.0, 1.0),
        "strength": Real(0.01, 30, log=True),
        "rate_share": Real(0.01, 1),
    }
    return Space(**{**shared, **parts})


def rotated(x: Instance) -> Instance:
    """The instance in the coordinates U^T W_1 and W_2 V, in which its runs are the same.

    From the ideal start zeros stay exactly zero there. In the given coordinates rounding seeds the
    directions that a run of exact arithmetic never enters, and they grow: the run is at a saddle.
    """
    identity = jnp.eye(x.d, dtype=x.U.dtype)
    return x.replace(U=identity, V=identity)


def pre_spectrum(x: Instance) -> Float[Array, " d"]:
    """The features of pre-training, in decreasing order."""
    return x.scale * x.pre


def ft_spectrum(x: Instance) -> Float[Array, " d"]:
    """The features of fine-tuning, in no order."""
    return x.scale * x.ft


def gamma(x: Instance) -> Float[Array, ""]:
    """Gamma of Eq. 12: the largest of all features."""
    return jnp.maximum(jnp.max(pre_spectrum(x)), jnp.max(ft_spectrum(x)))


def pull_back(x: Instance) -> Float[Array, ""]:
    """lam, exactly 0 where fine-tuning is not regularised."""
    return x.regularised * x.strength


def learning_rate(x: Instance) -> Float[Array, ""]:
    """eta = share / (4 (lam + 2) Gamma): Assumption A.8 admits every share below 1."""
    return x.rate_share / (4 * (pull_back(x) + 2) * gamma(x))


def growth(x: Instance, factor: Any) -> Float[Array, ""]:
    """1 + factor eta Gamma, the growth per step in the bounds of Lemmas A.16 to A.20."""
    return 1 + factor * learning_rate(x) * gamma(x)


def small_rate(x: Instance) -> Float[Array, ""]:
    """Margin of Assumption A.8: 4 eta (lam + 2) Gamma < 1."""
    return 1 - 4 * learning_rate(x) * (pull_back(x) + 2) * gamma(x)


def enough_steps(x: Instance, steps: Any, accuracy: Any) -> Float[Array, ""]:
    """Margin of Assumption A.10 over the learned modes: K eta min >= log(100 Gamma / epsilon)."""
    return steps * learning_rate(x) * smallest_learned(x) - jnp.log(100 * gamma(x) / accuracy)


def smallest_learned(x: Instance) -> Float[Array, ""]:
    """The least feature, of pre-training or of fine-tuning, among the first n."""
    smaller = jnp.minimum(pre_spectrum(x), ft_spectrum(x))
    return jnp.min(smaller, where=jnp.arange(x.d) < x.n, initial=jnp.inf)


def printed_batch(d: Any, steps: Any, failure: Any, constant: Any, accuracy: Any) -> Any:
    """The least batch size of Assumption A.13 as printed: C_1^2 (d - log(10 K delta)) / eps^2."""
    return constant**2 * (d - jnp.log(10 * steps * failure)) / accuracy**2


def union_batch(d: Any, steps: Any, failure: Any, constant: Any, accuracy: Any) -> Any:
    """The least batch size that a union bound over K batches needs in place of A.13's."""
    return constant**2 * (d + jnp.log(steps / failure)) / accuracy**2


def learned(x: Instance, spectrum: Float[Array, " d"]) -> Float[Array, " d"]:
    """The first n entries of a spectrum, zeros behind."""
    return jnp.where(jnp.arange(x.d) < x.n, spectrum, 0)


def assembled(x: Instance, spectrum: Float[Array, " d"]) -> Float[Array, "d d"]:
    """U diag(spectrum) V^T."""
    return dot(x.U * spectrum, x.V.T)


def factors(x: Instance, modes: Float[Array, " d"]) -> Factors:
    """W_1 = U diag(modes), W_2 = diag(modes) V^T."""
    return x.U * modes, modes[:, None] * x.V.T


def ideal_start(x: Instance) -> Factors:
    """Eqs. 7 and 8: the first n features are learned, the others exactly zero."""
    return factors(x, jnp.sqrt(learned(x, pre_spectrum(x))))


def real_modes(x: Instance) -> Float[Array, " d"]:
    """Modes of the pre-trained network at the n-th stage time, from e^-tau U and e^-tau V^T.

    tau is measured from the largest feature: e^-tau = e^-depth sqrt(Sigma_11).
    """
    spectrum = pre_spectrum(x)
    tau = x.depth - jnp.log(spectrum[0]) / 2
    time = linear_modes.stage_times(spectrum, tau)[x.n - 1]
    return jnp.sqrt(linear_modes.growth(time, spectrum, tau))


def real_start(x: Instance) -> Factors:
    """The factors of the pre-trained network at the n-th stage time."""
    return factors(x, real_modes(x))


def op_norm(matrix: Float[Array, "*lead d d"]) -> Float[Array, "*lead"]:
    """The largest singular value."""
    return jnp.linalg.norm(matrix, ord=2, axis=(-2, -1))


def furthest(first: Factors, second: Factors) -> Float[Array, "..."]:
    """max over j of |W_j - W_j'|_op; leading axes broadcast."""
    return jnp.maximum(op_norm(first[0] - second[0]), op_norm(first[1] - second[1]))


def tuning(x: Instance, anchor: Float[Array, "d d"]) -> two_layer_linear.FineTuning:
    """The loss of Eq. 9: target, anchor and strength."""
    return two_layer_linear.FineTuning(assembled(x, ft_spectrum(x)), anchor, pull_back(x))


def fine_tuning_loss(x: Instance, anchor: Float[Array, "d d"]) -> Callable[..., Float[Array, ""]]:
    """|theta - A^ft|_F^2 + lam |theta - anchor|_F^2 of the factors (Eq. 9), not halved.

    A second argument, the covariance S of a batch, turns the first term into the batch's
    Tr((theta - A^ft)^T (theta - A^ft) S).
    """
    settings = tuning(x, anchor)

    def loss(weights: Factors, covariance: Float[Array, "d d"] | None = None) -> Array:
        weights = two_layer_linear.Factors(*weights)
        if covariance is None:
            return two_layer_linear.fine_tuning_loss(weights, settings)
        return two_layer_linear.batch_loss(weights, settings, covariance)

    return loss


def fine_tune(
    x: Instance,
    start: Factors,
    anchor: Float[Array, "d d"],
    steps: int,
    covariances: Float[Array, "steps d d"] | None = None,
) -> Factors:
    """Both factors along gradient descent; with covariances, step k sees the k-th batch only.

    Each leads with an axis of steps + 1 states.
    """
    return two_layer_linear.fine_tune(
        two_layer_linear.Factors(*start),
        tuning(x, anchor),
        learning_rate(x),
        steps,
        covariances=None if covariances is None else lambda k: covariances[k],
    )


def fine_tune_on(
    x: Instance,
    start: Factors,
    anchor: Float[Array, "d d"],
    covariances: Float[Array, "steps d d"],
) -> Factors:
    """As `fine_tune`, one step for every batch."""
    return fine_tune(x, start, anchor, covariances.shape[0], covariances)


def printed_step(
    x: Instance, weights: Factors, anchor: Float[Array, "d d"], covariance: Float[Array, "d d"]
) -> Factors:
    """Eqs. 10 and 11 to the letter: Eq. 11 has the covariance on the other side of the error."""
    first, second = weights
    rate, lam = 2 * learning_rate(x), pull_back(x)
    theta = dot(first, second)
    error, pull = theta - assembled(x, ft_spectrum(x)), lam * (theta - anchor)
    return (
        first - rate * dot(dot(error, covariance) + pull, second.T),
        second - rate * dot(first.T, dot(covariance, error) + pull),
    )


def run_printed(
    x: Instance,
    start: Factors,
    anchor: Float[Array, "d d"],
    covariances: Float[Array, "steps d d"],
) -> Factors:
    """Both factors along Eqs. 10 and 11 to the letter, as `fine_tune_on` returns them."""

    def step(weights: Factors, covariance: Array) -> tuple[Factors, Factors]:
        weights = printed_step(x, weights, anchor, covariance)
        return weights, weights

    _, path = jax.lax.scan(step, start, covariances)
    return jax.tree.map(lambda first, rest: jnp.concatenate([first[None], rest]), start, path)


def least_batch(d: int, demanded: Any) -> Float[Array, ""]:
    """A batch size that meets a demand and makes a covariance regular.

    It exceeds the demand by a thousandth, so that the rounding of neither matters.
    """
    return jnp.maximum(jnp.ceil(1.001 * demanded), d)


def sample_covariances(
    key: Array, d: int, batch: Float[Array, ""], steps: int
) -> Float[Array, "steps d d"]:
    """Independent covariances of so many batches."""
    keys = jax.random.split(key, steps)
    return jax.vmap(lambda k: batch_covariance.wishart(k, d, batch))(keys)


def directions(key: Array, d: int, count: int) -> Float[Array, "count d d"]:
    """Random symmetric matrices of operator norm one: what a batch adds to I is epsilon of one."""
    gaussian = jax.random.normal(key, (count, d, d))
    symmetric = gaussian + jnp.swapaxes(gaussian, -1, -2)
    return symmetric / op_norm(symmetric)[:, None, None]
