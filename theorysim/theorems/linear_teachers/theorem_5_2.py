"""Depth rescales what fine-tuning keeps of the source, outside of the data.

Theorem 5.2 of Shachaf et al. (2021), Eq. 5, for 0-balanced networks of depth 1, 2, 3, 5 and 8,
trained in all of their matrices by gradient flow; judged where the loss vanished (Assumption 3.3).
Eq. 5 is implicit in the norm of the limit; its solution (systems/deep_linear_limit) is a claim of
its own. Gradient descent is theorem-5.2-descent, Eq. 6 is theorem-5.2-infinite-depth.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import deep_linear_limit as deep_limit
from theorysim.theorems.linear_teachers import _deep as deep
from theorysim.theorems.linear_teachers import _problem as problem

DEPTHS = (1, 2, 3, 5, 8)


class Fitted(NamedTuple):
    """Every depth trained, and P_perp W_1(t) of all of them side by side."""

    trained: dict[int, deep.Trained]
    first_layers: Float[Array, "times d all_hidden"]


class Limit(NamedTuple):
    """P_perp theta_S, P_par theta_T, and what they make of the limit at every depth."""

    kept: Float[Array, " d"]
    learned: Float[Array, " d"]
    solved: dict[int, Float[Array, " d"]]


def _simulate(part: Callable = deep.outside_rows) -> Callable:
    """beta(t) at every depth along gradient flow, and the part of W_1 outside of the data."""

    def simulate(x: claims.Instance, key) -> Fitted:
        start = {depth: deep.balanced(x, key, depth, problem.source(x)) for depth in DEPTHS}
        flow = deep.flows(start, problem.data(x), problem.labels(x), x.tolerance_scale)
        first = jnp.concatenate([layers[0] for layers in flow.values()], axis=-1)
        return Fitted(
            {
                depth: deep.observed(layers, problem.data(x), problem.labels(x))
                for depth, layers in flow.items()
            },
            part(problem.data(x), first),
        )

    return simulate


def _predict(coefficient: Callable = deep_limit.source_coefficient) -> Callable:
    def predict(x: claims.Instance) -> Limit:
        lengths = deep_limit.alignment(*problem.task(x))
        kept, learned = problem.outside(x, problem.source(x)), problem.inside(x, problem.target(x))
        solved = {depth: coefficient(lengths, depth) * kept + learned for depth in DEPTHS}
        return Limit(kept, learned, solved)

    return predict


def _eq_5(depth: int, power: float):
    """Eq. 5 with the norm of the limit that training reached."""

    def limit(r) -> Float[Array, " d"]:
        return r.limit(r.sim.trained[depth].weights)

    def rescaled(r) -> Float[Array, " d"]:
        stretched = jnp.linalg.norm(limit(r)) / r.x.source_norm
        return stretched**power * r.theory.kept + r.theory.learned

    return claims.equal(
        f"Eq. 5, L = {depth}",
        limit,
        rescaled,
        where=lambda r: r.sim.trained[depth].vanished,
        statement="beta = (||beta|| / ||theta_S||)^((L - 1) / L) P_perp theta_S + P_par theta_T",
    )


def _solved(depth: int):
    return claims.equal(
        f"Eq. 5 solved, L = {depth}",
        lambda r: r.limit(r.sim.trained[depth].weights),
        lambda r: r.theory.solved[depth],
        where=lambda r: r.sim.trained[depth].vanished,
    )


theorem = claims.Theorem(
    space=problem.problem_space(),
    simulate=_simulate(),
    predict=_predict(),
    claims=(
        *(_eq_5(depth, (depth - 1) / depth) for depth in DEPTHS),
        *(_solved(depth) for depth in DEPTHS),
        claims.equal(
            "P_perp W_1 stands still",
            lambda r: r.sim.first_layers,
            lambda r: r.sim.first_layers[:1],
        ),
    ),
    source=claims.Printed(
        "Section 5, Theorem 5.2, Eq. 5, and the text below it",
        "lim beta(t) = (||lim beta(t)|| / ||theta_S||)^((L-1)/L) P_perp theta_S + P_par theta_T; "
        "P_perp W_1(0) and its norm remain static",
    ),
    printed="gradient flow",
    mutants=(
        claims.Mutant(
            "the power (L - 1) / L lost",
            predict=_predict(lambda lengths, depth: deep_limit.infinite_depth_coefficient(lengths)),
            claims=tuple(_eq_5(depth, 1.0) for depth in DEPTHS),
        ),
        claims.Mutant(
            "all of W_1 stands still",
            simulate=_simulate(lambda samples, first_layers: first_layers),
        ),
    ),
    instances=12,
    mutant_instances=12,
    integrates=True,
)
