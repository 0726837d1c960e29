"""What the statements on Gaussian perturbation share: instances, the perturbed loss, states.

Section A.2 of Springer et al. (2025). A network W_1 W_2 that was pre-trained on U diag(pre) V^T up
to its n-th feature is disturbed by independent Gaussian noise of variance gamma^2 in all entries of
both factors. Spectra carry an overall scale, because printed bounds compare quantities that scale
differently; the variance is measured in units of that scale over d.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems import two_layer_linear
from theorysim.theorems.overtraining._finetuning import (
    Factors,
    assembled,
    ideal_start,
    pre_spectrum,
)


def perturbation_space(**parts: claims.Size | claims.Field) -> claims.Space:
    """Instances of Section A.2; `parts` add to the shared fields and sizes or replace them."""
    shared: dict[str, claims.Size | claims.Field] = {
        "d": claims.Size(3, high=32),
        "U": claims.Orthogonal("d"),
        "V": claims.Orthogonal("d"),
        "scale": claims.Real(1e-3, 10, log=True),
        "pre": claims.Spectrum("d", 1, 10),
        "noise": claims.Real(0.1, 100, log=True),
        "n": claims.Integer(1, "d"),
    }
    return claims.Space(**{**shared, **parts})


def flow_space() -> claims.Space:
    """Instances whose stages the flow from e^-tau in every mode passes."""
    return perturbation_space(
        d=claims.Size(3, low=2, high=6),
        pre=claims.Spectrum("d", 1, 10, gap=1.5),
        tau=claims.Real(5, 40),
    )


def variance(x: claims.Instance) -> Float[Array, ""]:
    """gamma^2."""
    return x.noise * x.scale / x.d


def target(x: claims.Instance) -> Float[Array, "d d"]:
    """A^pre."""
    return assembled(x, pre_spectrum(x))


def at_stage(x: claims.Instance, n: Float[Array, ""] | int) -> Factors:
    """The ideal factors with the first n features learned."""
    return ideal_start(x.replace(n=jnp.asarray(n)))


def sampled_perturbed_loss(
    x: claims.Instance, factors: Factors, alpha: Array, beta: Array
) -> Array:
    """|(W_1 + alpha) (W_2 + beta) - A^pre|_F^2 for every draw of the noise (leading axes)."""
    moved = dot(factors[0] + alpha, factors[1] + beta)
    return jnp.sum((moved - target(x)) ** 2, axis=(-2, -1))


def perturbed_loss(x: claims.Instance, factors: Factors) -> Float[Array, ""]:
    """E |(W_1 + alpha) (W_2 + beta) - A^pre|_F^2 in closed form (statement eq-15)."""
    weights = two_layer_linear.Factors(*factors)
    return two_layer_linear.perturbed_loss(weights, target(x), jnp.sqrt(variance(x)))


def perturbed_loss_rise(x: claims.Instance, start: Factors, move: Factors) -> Float[Array, ""]:
    """perturbed_loss(start + move) - perturbed_loss(start), free of cancellation."""
    end = move_by(start, move)
    product_move = dot(start[0], move[1]) + dot(move[0], end[1])
    twice_error = dot(*start) + dot(*end) - 2 * target(x)
    norms = sum(jnp.sum(m * (s + e)) for s, m, e in zip(start, move, end))
    return jnp.sum(product_move * twice_error) + x.d * variance(x) * norms


def gains(x: claims.Instance, states: Factors, moves: Factors) -> Float[Array, " states"]:
    """What L~ gains by moves from states that are stacked along the leading axis."""
    return jax.vmap(lambda state, move: perturbed_loss_rise(x, state, move))(states, moves)


def rises(x: claims.Instance, states: Factors) -> Float[Array, " states-1"]:
    """Increments of L~ along stacked states."""
    before = jax.tree.map(lambda w: w[:-1], states)
    return gains(x, before, jax.tree.map(lambda w: jnp.diff(w, axis=0), states))


def ideal_states(x: claims.Instance) -> Factors:
    """The ideal factors at n = 1, ..., d, stacked."""
    return jax.vmap(lambda n: at_stage(x, n))(jnp.arange(1, x.d + 1))


def move_by(start: Factors, move: Factors) -> Factors:
    """Both factors moved."""
    return start[0] + move[0], start[1] + move[1]


def move_in_ball(
    centre: Float[Array, "d d"],
    radius: Float[Array, ""],
    direction: Float[Array, "d d"],
    aligned: Float[Array, ""],
) -> Float[Array, "d d"]:
    """A move of Frobenius norm `radius` away from a nonzero `centre`.

    `aligned` in [-1, 1] turns the way there from the given direction to the centre's own (1) or its
    negative (-1): the norm of the centre changes fastest along these.
    """
    unit, own = (m / jnp.linalg.norm(m) for m in (direction, centre))
    way = (1 - jnp.abs(aligned)) * unit + aligned * own
    return radius * way / jnp.linalg.norm(way)
