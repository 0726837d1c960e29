"""Pre-training is the gradient flow of the squared distance, with a known exact solution.

Eqs. 5 and 6 of Springer et al. (2025): the flow's field is minus the gradient of
|W_1 W_2 - A^pre|_F^2 (not halved). Along it W_1^T W_1 - W_2 W_2^T is conserved and the loss falls,
from any start. From W_1 = W_2 = exp(-tau) I the product is that of the exact solution of balanced
flows, whatever the singular vectors: U = V = I, U = V or independent ones. From W_1 = exp(-tau) U
and W_2 = exp(-tau) V^T every mode follows a logistic curve of its own, which the statements on
fine-tuning take for their starts.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.flow import gradient_flow, statement_options
from theorysim.numerics.products import dot
from theorysim.systems.balanced_flow import balanced_flow
from theorysim.systems.linear_modes import growth
from theorysim.theorems.overtraining import _pretraining as pretraining

TIMES = 25


class Flows(NamedTuple):
    """Minus the gradient anywhere, the flow from there, the products of the flows from
    exp(-tau) I and from exp(-tau) U and exp(-tau) V^T."""

    field: tuple[Float[Array, "d d"], Float[Array, "d d"]]
    anywhere: tuple[Float[Array, "times d d"], Float[Array, "times d d"]]
    loss: Float[Array, " times"]
    product: Float[Array, "times d d"]
    modes: Float[Array, "times d d"]


def _times(x: claims.Instance):
    """Times of the flow from anywhere, and twice those of the flows from small weights.

    The first for the time scale of the fastest feature, the others for a number of half-times of
    the slowest one.
    """
    learned = x.half_times * x.tau / (2 * x.sigma[-1])
    horizons = jnp.stack([1 / x.sigma[0], learned, learned])
    return horizons[:, None] * jnp.linspace(0, 1, TIMES, dtype=x.tau.dtype)


def simulate(x: claims.Instance, key):
    loss = pretraining.pretraining_loss(x)
    anywhere = (x.first, x.second)
    left, _, right = pretraining.decomposition(x)
    aligned = (jnp.exp(-x.tau) * left, jnp.exp(-x.tau) * right.T)
    small = pretraining.identity_start(x)
    starts = jax.tree.map(lambda *w: jnp.stack(w), anywhere, small, aligned)

    def flow(start, times):
        return gradient_flow(loss, start, times, **statement_options(x.tolerance_scale))

    paths = jax.vmap(flow)(starts, _times(x))
    from_anywhere, from_identity, from_aligned = (
        jax.tree.map(lambda w, i=i: w[i], paths) for i in range(3)
    )
    return Flows(
        field=jax.tree.map(jnp.negative, jax.grad(loss)(anywhere)),
        anywhere=from_anywhere,
        loss=jax.vmap(loss)(from_anywhere),
        product=dot(*from_identity),
        modes=dot(*from_aligned),
    )


def _predict(speed: float):
    """The printed field times `speed`, and the exact product of the flow at that speed."""

    def predict(x: claims.Instance):
        error = dot(x.first, x.second) - pretraining.target(x)
        target, times = pretraining.decomposition(x), speed * _times(x)[1]
        exact = balanced_flow(*pretraining.identity_start(x), target, times)
        left, sigma, right = target
        modes = dot(left * growth(times[:, None], sigma, x.tau)[:, None], right.T)
        field = -2 * speed * dot(error, x.second.T), -2 * speed * dot(x.first.T, error)
        return field, exact.product, modes

    return predict


def _transposed(matrices: Float[Array, "times d d"]):
    return jnp.swapaxes(matrices, -1, -2)


def _inner_grams(r: claims.Run):
    """W_1^T W_1 - W_2 W_2^T along the flow from anywhere."""
    first, second = r.sim.anywhere
    return dot(_transposed(first), first) - dot(second, _transposed(second))


def _outer_grams(r: claims.Run):
    """W_1 W_1^T - W_2^T W_2, with the transposes misplaced."""
    first, second = r.sim.anywhere
    return dot(first, _transposed(first)) - dot(_transposed(second), second)


def _conserved(difference):
    return claims.equal("conservation", difference, lambda r: difference(r)[:1])


FALLS = claims.decreasing("the loss falls", lambda r: r.sim.loss)

theorem = claims.Theorem(
    space=pretraining.pretraining_space(
        tau=claims.Real(1, 6),
        half_times=claims.Real(0.5, 2),
        first=claims.Gaussian("d", "d"),
        second=claims.Gaussian("d", "d"),
    ),
    simulate=simulate,
    predict=_predict(1.0),
    source=claims.Printed(
        "Eqs. 5 and 6, Appendix A.1",
        "dW_1/dt = -2 (theta - A^pre) W_2^T, dW_2/dt = -2 W_1^T (theta - A^pre)",
    ),
    note="conservation, decrease and the exact products are consequences that the paper leaves out",
    integrates=True,
    claims=(
        claims.equal("W_1 (Eq. 5)", lambda r: r.sim.field[0], lambda r: r.theory[0][0]),
        claims.equal("W_2 (Eq. 6)", lambda r: r.sim.field[1], lambda r: r.theory[0][1]),
        _conserved(_inner_grams),
        FALLS,
        claims.equal("exact product", lambda r: r.sim.product, lambda r: r.theory[1]),
        claims.equal("separate modes", lambda r: r.sim.modes, lambda r: r.theory[2]),
    ),
    mutants=(
        claims.Mutant("half the gradient", predict=_predict(0.5)),
        claims.Mutant("transposes misplaced", claims=(_conserved(_outer_grams),)),
        claims.Mutant("flow up the gradient", claims=(FALLS.reversed(),)),
    ),
)
