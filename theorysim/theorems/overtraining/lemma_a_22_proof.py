"""Distances of factors bound those of products, up to a term of second order.

The proof of Lemma A.22 of Springer et al. (2025):
|theta - theta_hat|_op <= |W_1 - hat W_1| |hat W_2| + |W_2 - hat W_2| |hat W_1|, which is at most
4 sqrt(Gamma) times the sum of the distances, and |.|_F <= d |.|_op. Under Assumption A.21 the
second-order term that the first display loses is far below rounding: the displays are tried at
sizes from practice. Another reading combines the constants of Lemma A.20 and Assumption A.21.
"""

from collections.abc import Callable

import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems import linear_modes
from theorysim.theorems.overtraining import _practice as practice
from theorysim.theorems.overtraining import _stages as stages
from theorysim.theorems.overtraining._assumption_a_21 import AS_PRINTED, stage
from theorysim.theorems.overtraining.lemma_a_22 import distance_bound


def _simulate(x: claims.Instance, key):
    """Both factors at the end of a run with sizes from practice, axes (stages, d, d)."""
    return practice.factors(x, stage.pull_back(x), key)


def _predict(x: claims.Instance):
    pre = stage.pre_spectrum(x)
    tuning = stage.tuning(x, stages.real_modes(pre, x.tau))
    ideal = linear_modes.descent(stages.ideal_modes(pre), tuning, x.steps)
    return stages.diagonal_pair(ideal)


def _op(matrices):
    """Operator norms at the stages n >= 1."""
    return jnp.linalg.norm(stages.learned_stages(matrices), ord=2, axis=(-2, -1))


def _difference(r: claims.Run):
    return dot(*r.sim) - dot(*r.theory)


def _away(r: claims.Run):
    """|W_1 - hat W_1|_op and |W_2 - hat W_2|_op."""
    return [_op(real - ideal) for real, ideal in zip(r.sim, r.theory)]


def _product_rule(first_factor: Callable) -> Callable:
    """Both summands of the first display, |W_2 - hat W_2| times that of `first_factor`."""

    def bound(r: claims.Run):
        first, second = _away(r)
        return first * _op(r.theory[1]) + second * _op(first_factor(r))

    return bound


def _displays(first_factor: Callable) -> tuple[claims.Claim, ...]:
    return (
        claims.at_most("product rule", lambda r: _op(_difference(r)), _product_rule(first_factor)),
        claims.at_most(
            "factors are bounded",
            _product_rule(lambda r: r.theory[0]),
            lambda r: 4 * jnp.sqrt(stage.gamma(r.x)) * sum(_away(r)),
        ),
        claims.at_most(
            "norms",
            lambda r: jnp.linalg.norm(_difference(r), axis=(-2, -1))[1:],
            lambda r: r.x.d * _op(_difference(r)),
        ),
    )


def _product_bound(r: claims.Run):
    """4 d sqrt(Gamma) (|W_1 - hat W_1| + |W_2 - hat W_2|) by Lemma A.20, items 4 and 5, k = K."""
    x = r.x
    growth = stage.learning_rate(x) * stage.gamma(x)
    log_share = AS_PRINTED.steps(x) * (jnp.log1p(16 * growth) - jnp.log1p(32 * growth))
    return 8 * x.d * stage.gamma(x) * AS_PRINTED.accuracy(x) * (1 + 2 * jnp.exp(log_share))


AMENDED = _displays(lambda r: r.sim[0])
RULE, BOUNDED, NORMS = AMENDED

theorem = claims.Theorem(
    space=stage.stage_space(**practice.FIELDS),
    hypotheses=practice.HYPOTHESES,
    simulate=_simulate,
    predict=_predict,
    claims=_displays(lambda r: r.theory[0]),
    source=claims.Finding(
        "the displays of the proof of Lemma A.22 where second orders can be seen"
    ),
    printed="proof displays",
    note="W_1 - hat W_1 times W_2 - hat W_2 is lost in the product rule; " + practice.NOTE,
    readings=(
        claims.corrected(
            "|W_2 - hat W_2| |W_1| in place of |W_2 - hat W_2| |hat W_1|",
            name="proof displays, corrected",
            claims=AMENDED,
            note="the product rule has one of the two factors without a hat",
        ),
        claims.Reading(
            "proof, constants",
            claims.Printed("proof of Lemma A.22", "Combining these two inequalities with A.21"),
            simulate=lambda x, key: (),
            assumes=(AS_PRINTED.assumption(),),
            hypotheses={},
            claims=(
                claims.at_most(
                    "A.20 and A.21 combined", _product_bound, lambda r: distance_bound(r)[-1]
                ),
            ),
            note="the bounds combine to 8 d Gamma epsilon and more, 4 d Gamma epsilon is allowed",
        ),
    ),
    mutants=(
        claims.Mutant(
            "the factors' distances swapped, half the sum, the square root of d",
            claims=(
                RULE.against(lambda r: _away(r)[0] * _op(r.theory[0])),
                BOUNDED.scaled(0.125),
                NORMS.against(lambda r: _op(_difference(r))),
            ),
        ),
    ),
)
