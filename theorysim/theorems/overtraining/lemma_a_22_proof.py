"""Distances of factors bound those of products, up to a term of second order.

The proof of Lemma A.22 of Springer et al. (2025):
|theta - theta_hat|_op <= |W_1 - hat W_1| |hat W_2| + |W_2 - hat W_2| |hat W_1|, which is at most
4 sqrt(Gamma) times the sum of the distances, and |.|_F <= d |.|_op. Lemma A.20 gives the distances:
with items 4 and 5 of Assumption A.21 they are at most 3 sqrt(Gamma) epsilon. The displays are tried
at any factors that are so near. Another reading combines the constants of the two.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.overtraining._assumption_a_21 import AS_PRINTED, stage
from theorysim.theorems.overtraining._finetuning import op_norm
from theorysim.theorems.overtraining.lemma_a_22 import distance_bound


class States(NamedTuple):
    """hat W_1 = hat W_2, and W_j - hat W_j; in the coordinates U^T W_1 and W_2 V."""

    ideal: Float[Array, "d d"]
    away: tuple[Float[Array, "d d"], Float[Array, "d d"]]


def _states(x: claims.Instance, key) -> States:
    """Learned modes between start and target; distances along random directions, or along W_j."""
    pre, ft = stage.pre_spectrum(x), stage.ft_spectrum(x)
    reached = jnp.where(jnp.arange(x.d) < x.n, pre + x.between * (ft - pre), 0)
    ideal = jnp.diag(jnp.sqrt(reached))
    radius = 3 * jnp.sqrt(stage.gamma(x)) * AS_PRINTED.accuracy(x)

    def away(way, share):
        direction = jnp.where(x.aligned > 0, ideal, way)
        return share * radius * direction / op_norm(direction)

    return States(ideal, (away(x.first, x.nearness[0]), away(x.second, x.nearness[1])))


def _difference(r: claims.Run):
    """theta - theta_hat, without cancellation."""
    ideal, (first, second) = r.sim
    return dot(first, ideal) + dot(ideal, second) + dot(first, second)


def _away(r: claims.Run) -> list[Float[Array, ""]]:
    """|W_1 - hat W_1|_op and |W_2 - hat W_2|_op."""
    return [op_norm(away) for away in r.sim.away]


def _hat_w_1(r: claims.Run):
    return r.sim.ideal


def _w_1(r: claims.Run):
    return r.sim.ideal + r.sim.away[0]


def _product_rule(first_factor: Callable) -> Callable:
    """Both summands of the first display, |W_2 - hat W_2| times that of `first_factor`."""

    def bound(r: claims.Run):
        first, second = _away(r)
        return first * op_norm(r.sim.ideal) + second * op_norm(first_factor(r))

    return bound


def _sum_of_distances(r: claims.Run):
    return 4 * jnp.sqrt(stage.gamma(r.x)) * sum(_away(r))


def _displays(first_factor: Callable) -> tuple[claims.Claim, ...]:
    rule = _product_rule(first_factor)
    return (
        claims.at_most("product rule", lambda r: op_norm(_difference(r)), rule),
        claims.at_most("factors are bounded", rule, _sum_of_distances),
        claims.at_most("both together", lambda r: op_norm(_difference(r)), _sum_of_distances),
        claims.at_most(
            "norms",
            lambda r: jnp.linalg.norm(_difference(r)),
            lambda r: r.x.d * op_norm(_difference(r)),
        ),
    )


def _product_bound(r: claims.Run):
    """4 d sqrt(Gamma) (|W_1 - hat W_1| + |W_2 - hat W_2|) by Lemma A.20, items 4 and 5, k = K."""
    x = r.x
    growth = stage.learning_rate(x) * stage.gamma(x)
    log_share = AS_PRINTED.steps(x) * (jnp.log1p(16 * growth) - jnp.log1p(32 * growth))
    return 8 * x.d * stage.gamma(x) * AS_PRINTED.accuracy(x) * (1 + 2 * jnp.exp(log_share))


AMENDED = _displays(_w_1)
RULE, BOUNDED, TOGETHER, NORMS = AMENDED

theorem = claims.Theorem(
    space=stage.stage_space(
        n=claims.Integer(1, "d"),
        between=claims.Real(0, 1, shape="d"),
        first=claims.Gaussian("d", "d"),
        second=claims.Gaussian("d", "d"),
        aligned=claims.Choice(0.0, 1.0),
        nearness=claims.Real(0.01, 1, shape=(2,)),
    ),
    assumes=(AS_PRINTED.assumption(),),
    hypotheses=stage.APART,
    simulate=_states,
    claims=_displays(_hat_w_1),
    source=claims.Printed(
        "proof of Lemma A.22",
        "|theta - theta_hat|_op <= |W_1 - hat W_1|_op |hat W_2|_op + |W_2 - hat W_2|_op "
        "|hat W_1|_op <= 4 sqrt(Gamma) (...), |.|_F <= d |.|_op",
    ),
    printed="proof displays",
    note="the product rule loses (W_1 - hat W_1) (W_2 - hat W_2); the chain as a whole holds",
    readings=(
        claims.corrected(
            "|W_2 - hat W_2| |W_1| in place of |W_2 - hat W_2| |hat W_1|",
            name="proof displays, corrected",
            claims=AMENDED,
            note="the product rule has one of the two factors without a hat",
        ),
        claims.Reading(
            "inference of the constants",
            claims.Printed(
                "proof of Lemma A.22",
                "Combining these two inequalities with A.21, we get the desired result",
            ),
            simulate=lambda x, key: (),
            claims=(
                claims.at_most(
                    "A.20 and A.21 combined", _product_bound, lambda r: distance_bound(r)[-1]
                ),
            ),
            note="Lemma A.20 and the two inequalities combine to 8 d Gamma epsilon and more; "
            "by the bound on epsilon of A.21 the result allows 4 d Gamma epsilon",
        ),
    ),
    mutants=(
        claims.Mutant(
            "the factors' distances swapped, half the sum, the square root of d",
            claims=(
                RULE.against(lambda r: _away(r)[0] * op_norm(r.sim.ideal)),
                BOUNDED.scaled(0.125),
                TOGETHER.scaled(0.125),
                NORMS.against(lambda r: op_norm(_difference(r))),
            ),
        ),
    ),
)
