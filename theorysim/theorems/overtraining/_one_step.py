"""Well-conditioned states and batches near the identity, for the one-step lemmas A.15, A.16, A.18.

Half of the states share the singular vectors of the two maps, which is where the bounds are
tightest; the others have vectors of their own. The lemmas ask nothing of the learning rate, which
exceeds what Assumption A.8 admits by up to a factor 100. A batch is a covariance: every symmetric
matrix within epsilon < 1 of the identity is that of some batch.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.claims.hypotheses import Margin
from theorysim.numerics.products import dot
from theorysim.theorems.overtraining import _finetuning as ft
from theorysim.theorems.overtraining import _runs as runs
from theorysim.theorems.overtraining.assumption_a_8 import ASSUMPTION as A_8


def one_step_space(**parts: claims.Size | claims.Field) -> claims.Space:
    """Spectra as for all of fine-tuning, one state, and the eigenvalues of a batch's deviation."""
    state: dict[str, claims.Size | claims.Field] = {
        "d": claims.Size(3),
        "aligned": claims.Choice(0.0, 1.0),
        "inner": claims.Orthogonal("d"),
        "outer": claims.Orthogonal("d"),
        "left": claims.Real(-2, 2, shape="d"),
        "right": claims.Real(-2, 2, shape="d"),
        "deviation": claims.Real(-1, 1, shape="d"),
        "rate_share": claims.Real(0.01, 100, log=True),
    }
    return ft.fine_tuning_space(**{**state, **parts})


def state(x: claims.Instance, left: Float[Array, " d"], right: Float[Array, " d"]) -> ft.Factors:
    """Factors with singular values sqrt(Gamma) |left| and sqrt(Gamma) |right|, at most 2 each."""
    root = jnp.sqrt(ft.gamma(x))
    first = jnp.where(x.aligned > 0, x.U, x.outer)
    second = jnp.where(x.aligned > 0, x.V, x.outer.T)
    return (root * dot(first * left, x.inner.T), root * dot(x.inner * right, second.T))


def well_conditioned(x: claims.Instance, weights: ft.Factors) -> Float[Array, ""]:
    """Margin of |W_1|_op, |W_2|_op <= 2 sqrt(Gamma), in units of the bound."""
    largest = jnp.maximum(ft.op_norm(weights[0]), ft.op_norm(weights[1]))
    return 1 - largest / (2 * jnp.sqrt(ft.gamma(x)))


def two_state_space(**parts: claims.Size | claims.Field) -> claims.Space:
    """The space with the singular values of a second state and how far it is from the first.

    Strengths reach 100: how far a step takes two states apart grows with lam.
    """
    second: dict[str, claims.Size | claims.Field] = {
        "strength": claims.Real(0.01, 100, log=True),
        "other_left": claims.Real(-2, 2, shape="d"),
        "other_right": claims.Real(-2, 2, shape="d"),
        "apart": claims.Real(1e-4, 1, log=True),
    }
    return one_step_space(**{**second, **parts})


def two_states(x: claims.Instance) -> tuple[ft.Factors, ft.Factors]:
    """Two states; a mean of well-conditioned ones is well conditioned, too."""
    here, there = state(x, x.left, x.right), state(x, x.other_left, x.other_right)
    return here, jax.tree.map(lambda a, b: a + x.apart * (b - a), here, there)


def both_well_conditioned(x: claims.Instance) -> Float[Array, ""]:
    """The smaller of the margins of the two states."""
    here, there = two_states(x)
    return jnp.minimum(well_conditioned(x, here), well_conditioned(x, there))


# What Lemmas A.16 and A.18 assume of the states.
CONDITIONED: dict[str, Margin] = {"well conditioned": both_well_conditioned}


def grows_by(
    constant: Callable, apart: Callable = lambda r: ft.furthest(*r.sim)
) -> tuple[claims.Claim, ...]:
    """The step takes two states apart by at most a factor 1 + constant eta Gamma."""

    def bound(r: claims.Run) -> Array:
        return ft.growth(r.x, constant(r.x)) * ft.furthest(*two_states(r.x))

    return (claims.at_most("C1: growth of the distance", apart, bound),)


def without_pull_back(name: str, lemma: str, hypotheses: dict[str, Margin]) -> claims.Reading:
    """The lemma as printed, for lam = 0 and learning rates of Assumption A.8 only."""
    return claims.Reading(
        name,
        claims.Finding(f"{lemma} restricted to lam = 0 and Assumption A.8, where it holds"),
        assumes=(A_8,),
        hypotheses={**hypotheses, "lam = 0": lambda x: -ft.pull_back(x)},
        note="without a pull-back a learning rate of Assumption A.8 makes up for what is lost",
    )


def direction(x: claims.Instance) -> Float[Array, "d d"]:
    """A symmetric matrix of operator norm at most one: what a batch adds to I is epsilon of it."""
    basis = jnp.where(x.aligned > 0, x.V, x.outer)
    return dot(basis * x.deviation, basis.T)


def near_identity(x: claims.Instance, accuracy: Any) -> Float[Array, "d d"]:
    """A batch covariance S with |S - I|_op <= accuracy: the event of Lemma A.14."""
    return jnp.eye(x.d) + accuracy * direction(x)


def anchor(x: claims.Instance) -> Float[Array, "d d"]:
    """The network at the ideal start, to which the regularisation pulls."""
    return dot(*ft.ideal_start(x))


def descended(
    x: claims.Instance, weights: ft.Factors, covariance: Float[Array, "d d"] | None = None
) -> ft.Factors:
    """One step of gradient descent on the loss of an infinite or of the given batch."""
    batches = None if covariance is None else covariance[None]
    path = runs.fine_tune(x, weights, anchor(x), 1, batches)
    return jax.tree.map(lambda states: states[-1], path)


def to_the_letter(
    x: claims.Instance, weights: ft.Factors, covariance: Float[Array, "d d"]
) -> ft.Factors:
    """One step of Eqs. 10 and 11 as printed."""
    return runs.printed_step(x, weights, anchor(x), covariance)
