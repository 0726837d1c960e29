"""Depth rescales what fine-tuning keeps of the source, outside of the data.

Theorem 5.2 of Shachaf et al. (2021), Eq. 5, for 0-balanced networks of depth 1, 2, 3, 5 and 8,
trained in all of their matrices; judged where the loss vanished (Assumption 3.3). Eq. 5 is implicit
in the norm of the limit; its solution (systems/deep_linear_limit) is a claim of its own. Training
is by gradient descent or flow in the paper (Section 3); the proof is for the flow, and descent
obeys Eq. 5 to first order only. Eq. 6 is theorem-5.2-infinite-depth.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

from theorysim.claims import Instance, Mutant, Printed, Reading, Real, Theorem, equal, scales_as
from theorysim.numerics.products import dot
from theorysim.systems import deep_linear_limit as deep_limit
from theorysim.systems import deep_linear_network as network
from theorysim.systems.linear_regression import row_space
from theorysim.theorems.linear_teachers import _deep as deep
from theorysim.theorems.linear_teachers._problem import (
    data,
    inside,
    outside,
    problem_space,
    source,
    target,
)

DEPTHS = (1, 2, 3, 5, 8)

# Descent of two layers, and its learning rate as a share of the stability limit.
STEPS, EVERY = 1600, 100
SHARES = (0.1, 0.2, 0.4)


def _observed(samples, labels, layers: network.Layers):
    path = jax.vmap(lambda each: network.observe(each, samples, labels))(layers)
    loss = path.train_loss
    return {
        "weights": deep.settling(path.weights),
        "vanished": deep.VANISHED - loss[-1] / loss[0],
    }


def simulate(x: Instance, key):
    """beta(t) at every depth along gradient flow, and what P_perp W_1 has moved."""
    samples, labels = data(x), dot(data(x), target(x))
    start = {depth: deep.balanced(x, key, depth, source(x)) for depth in DEPTHS}
    flow = deep.flows(start, samples, labels, x.tolerance_scale)
    first = {depth: layers[0] for depth, layers in flow.items()}
    return {
        depth: _observed(samples, labels, layers) | {"first layer": first[depth]}
        for depth, layers in flow.items()
    }


def simulate_descent(x: Instance, key):
    """beta(t) of two layers along gradient descent."""
    samples, labels = data(x), dot(data(x), target(x))
    # The printed limit enters the bound on the curvature only: any rate below it is stable.
    limit = deep_limit.limit(samples, source(x), target(x), 2)
    longest = jnp.maximum(jnp.linalg.norm(source(x)), jnp.linalg.norm(limit))
    rate = x.rate_share * network.critical_learning_rate(samples, 2, longest)
    layers = deep.balanced(x, key, 2, source(x))
    path = network.train_path(layers, samples, labels, rate, STEPS, every=EVERY)
    vanished = deep.VANISHED - path.train_loss[-1] / path.train_loss[0]
    return {2: {"weights": deep.settling(path.weights), "vanished": vanished}}


def _predict(coefficient: Callable) -> Callable:
    def predict(x: Instance):
        lengths = deep_limit.alignment(data(x), source(x), target(x))
        kept, learned = outside(x, source(x)), inside(x, target(x))
        factors = {depth: coefficient(lengths, depth) for depth in DEPTHS}
        return {
            "kept": kept,
            "learned": learned,
            "limit": {depth: factor * kept + learned for depth, factor in factors.items()},
        }

    return predict


def _eq_5(depth: int, power: Callable):
    """Eq. 5 with the norm of the limit that training reached."""

    def limit(r):
        return r.limit(r.sim[depth]["weights"])

    def rescaled(r):
        stretched = jnp.linalg.norm(limit(r), axis=-1, keepdims=True) / r.x.source_norm
        return stretched ** power(depth) * r.theory["kept"] + r.theory["learned"]

    return equal(f"Eq. 5, L = {depth}", limit, rescaled, where=_vanished(depth))


def _vanished(depth: int):
    return lambda r: r.sim[depth]["vanished"][:, None]


def _solved(depth: int):
    return equal(
        f"Eq. 5 solved, L = {depth}",
        lambda r: r.limit(r.sim[depth]["weights"]),
        lambda r: r.theory["limit"][depth],
        where=_vanished(depth),
    )


def _outside_first_layers(r):
    """P_perp W_1(t) of all depths, side by side: arrays (keys, times, d, all hidden units)."""
    first = jnp.concatenate([r.sim[depth]["first layer"] for depth in DEPTHS], axis=-1)
    basis = row_space(data(r.x))
    return first - dot(basis, dot(basis.T, first))


def _claims(power: Callable) -> tuple:
    return (
        *(_eq_5(depth, power) for depth in DEPTHS),
        *(_solved(depth) for depth in DEPTHS),
        equal(
            "P_perp W_1 stands still",
            _outside_first_layers,
            lambda r: _outside_first_layers(r)[:, :1],
        ),
    )


def _power(depth: int):
    return (depth - 1) / depth


theorem = Theorem(
    space=problem_space(rate_share=Real(SHARES[0], SHARES[-1], log=True)),
    simulate=simulate,
    predict=_predict(deep_limit.source_coefficient),
    claims=_claims(_power),
    printed="gradient flow",
    readings=(
        Reading(
            "gradient descent",
            Printed("", ""),
            simulate=simulate_descent,
            claims=(_eq_5(2, _power),),
        ),
        Reading(
            "gradient descent, to first order",
            Printed("", ""),
            simulate=simulate_descent,
            claims=(
                scales_as(
                    "distance from Eq. 5 ~ eta, L = 2",
                    lambda r: jnp.linalg.norm(
                        r.limit(r.sim[2]["weights"]) - r.theory["limit"][2], axis=-1
                    ),
                    over={"rate_share": SHARES},
                    exponent=1,
                    relation="at_least",
                    where=lambda r: r.sim[2]["vanished"],
                ),
            ),
            note="descent leaves 0-balanced weights by an order of the learning rate",
        ),
    ),
    mutants=(
        Mutant(
            "the power (L - 1) / L lost",
            predict=_predict(lambda lengths, depth: deep_limit.infinite_depth_coefficient(lengths)),
            claims=_claims(lambda depth: 1.0),
        ),
    ),
    instances=12,
    mutant_instances=12,
    integrates=True,
)
