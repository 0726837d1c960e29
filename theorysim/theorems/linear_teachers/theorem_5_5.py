"""With its first layers frozen, a deep linear network can only rescale the source.

Theorem 5.5 of Shachaf et al. (2021): from 0-balanced weights whose product is theta_S, with the
first k = 1 or 2 of three layers fixed, beta(t) = c(t) theta_S at every time. What c is stays open;
it obeys a scalar flow (systems/deep_linear). From the prose below: "the model is still equal to the
source task", true of its direction only, and "its error cannot be reduced with additional data".
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp

from theorysim.claims import Instance, Mutant, Printed, Reading, Theorem, at_least, equal
from theorysim.numerics.flow import statement_options
from theorysim.numerics.products import dot
from theorysim.systems import deep_linear
from theorysim.systems import deep_linear_network as network
from theorysim.theorems.linear_teachers import _deep as deep
from theorysim.theorems.linear_teachers._problem import (
    data,
    distribution_fields,
    moment_form,
    problem_space,
    risk,
    source,
    target,
)

DEPTH, FROZEN = 3, (1, 2)

# Times in units of the fastest rate of ln c per trainable layer: c stays above exp(-6), whereas on
# its way to c = 0 (for teachers in opposition) rounding would in the end choose the side.
TIMES = (0.0, 0.1, 0.3, 1.0, 3.0)


def _times(x: Instance):
    outputs = dot(data(x), source(x))
    pull = jnp.abs(dot(outputs, dot(data(x), target(x))))
    fastest = jnp.maximum(jnp.sum(jnp.square(outputs)), pull) * x.source_norm ** (-2 / DEPTH)
    return jnp.asarray(TIMES) * x.n / (2 * fastest)


def simulate(x: Instance, key):
    """beta(t) and its risk along gradient flow of the other layers."""
    samples, labels = data(x), dot(data(x), target(x))
    layers = deep.balanced(x, key, DEPTH, source(x))
    options = statement_options(x.tolerance_scale)
    found = {}
    for frozen in FROZEN:
        path = network.flow_path(layers, samples, labels, _times(x), frozen=frozen, **options)
        found[frozen] = {"weights": path.weights, "risk": risk(x, path.weights, target(x))}
    return found


def _predict(direction: Callable, trained: Callable) -> Callable:
    def predict(x: Instance):
        problem = data(x), source(x), target(x), DEPTH
        options = statement_options(x.tolerance_scale)
        squares = moment_form(x, source(x))
        products = moment_form(x, target(x) + source(x)) - moment_form(x, target(x) - source(x))
        return {
            "direction": direction(x),
            "scale": {
                frozen: deep_linear.frozen_scale_flow(
                    *problem, DEPTH - trained(frozen), _times(x), **options
                )
                for frozen in FROZEN
            },
            "least risk": moment_form(x, target(x) - products / (4 * squares) * source(x)),
        }

    return predict


def _along(r, weights):
    """The part along the predicted direction."""
    return dot(weights, r.theory["direction"])[..., None] * r.theory["direction"]


def _scale(r, frozen: int):
    return dot(r.sim[frozen]["weights"], r.x.source_direction) / r.x.source_norm


def _claims(frozen: int) -> tuple:
    return (
        equal(
            f"beta(t) = c theta_S, k = {frozen}",
            lambda r: r.sim[frozen]["weights"],
            lambda r: _along(r, r.sim[frozen]["weights"]),
        ),
        equal(
            f"scalar flow of c, k = {frozen}",
            lambda r: _scale(r, frozen),
            lambda r: r.theory["scale"][frozen],
        ),
        at_least(
            f"risk of the best c theta_S, k = {frozen}",
            lambda r: r.sim[frozen]["risk"],
            lambda r: r.theory["least risk"],
        ),
    )


theorem = Theorem(
    space=problem_space(**distribution_fields()),
    simulate=simulate,
    predict=_predict(lambda x: x.source_direction, lambda frozen: DEPTH - frozen),
    claims=tuple(claim for frozen in FROZEN for claim in _claims(frozen)),
    readings=(
        Reading(
            "still equal to the source task",
            Printed("", ""),
            claims=(
                equal("beta(t) = theta_S", lambda r: r.sim[1]["weights"], lambda r: source(r.x)),
            ),
            note="the prose: true of the direction only",
        ),
    ),
    mutants=(
        Mutant(
            "it turns to the target, at the rate of the frozen layers",
            predict=_predict(lambda x: x.target_direction, lambda frozen: frozen),
        ),
    ),
    instances=32,
    mutant_instances=16,
    integrates=True,
)
