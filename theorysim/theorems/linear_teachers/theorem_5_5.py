"""With its first layers frozen, a deep linear network can only rescale the source.

Theorem 5.5 of Shachaf et al. (2021): from 0-balanced weights whose product is theta_S, with the
first k = 1 or 2 of three layers fixed, beta(t) = c(t) theta_S at every time. What c is stays open;
it obeys a scalar flow (systems/deep_linear). From the prose below: "the model is still equal to the
source task", true of its direction only, and "its error cannot be reduced with additional target
data", read as: it stays above the risk of the best multiple of theta_S, whatever the data.
Assumption 3.3 is part of the setting that is printed; no generic target meets it (with two samples
or more), so half of the targets are made to: on the samples they are a multiple of theta_S. Targets
that are so everywhere are theorem-5.5-aligned.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.flow import statement_options
from theorysim.systems import deep_linear
from theorysim.theorems.linear_teachers import _deep as deep
from theorysim.theorems.linear_teachers import _problem as problem
from theorysim.theorems.linear_teachers.assumption_3_3 import zero_frozen_loss

DEPTH, FROZEN = 3, (1, 2)

# Times in units of the fastest rate of ln c per trainable layer: c stays above exp(-6), whereas on
# its way to c = 0 (for teachers in opposition) rounding would in the end choose the side.
TIMES = (0.0, 0.1, 0.3, 1.0, 3.0)


class Frozen(NamedTuple):
    """beta(t) and its risk, with some of the first layers frozen."""

    weights: Float[Array, "times d"]
    risk: Float[Array, " times"]


class Rescaled(NamedTuple):
    """The direction of beta(t), c(t) by the number of frozen layers, the risk of the best c."""

    direction: Float[Array, " d"]
    scale: dict[int, Float[Array, " times"]]
    least_risk: Float[Array, ""]


def _target(x: claims.Instance) -> Float[Array, " d"]:
    """theta_T; where it can be fitted, alpha theta_S on the samples."""
    unfitted = problem.target(x)
    fitted = x.alpha * problem.inside(x, problem.source(x)) + problem.outside(x, unfitted)
    return jnp.where(x.fitted > 0, fitted, unfitted)


def _task(
    x: claims.Instance,
) -> tuple[Float[Array, "n d"], Float[Array, " d"], Float[Array, " d"]]:
    """X, theta_S and theta_T."""
    return problem.data(x), problem.source(x), _target(x)


def _labels(x: claims.Instance) -> Float[Array, " n"]:
    """y = X theta_T."""
    return problem.outputs(x, _target(x))


def _times(x: claims.Instance) -> Float[Array, " times"]:
    fitted = problem.outputs(x, problem.source(x))
    pull = jnp.abs(jnp.vdot(fitted, _labels(x)))
    fastest = jnp.maximum(jnp.sum(jnp.square(fitted)), pull) * x.source_norm ** (-2 / DEPTH)
    return jnp.asarray(TIMES) * x.n / (2 * fastest)


def simulate(x: claims.Instance, key) -> dict[int, Frozen]:
    """Gradient flow of the other layers, by the number of frozen ones."""
    layers = deep.balanced(x, key, DEPTH, problem.source(x))
    found = {}
    for frozen in FROZEN:
        path = deep.frozen_flow(
            layers, problem.data(x), _labels(x), _times(x), frozen, x.tolerance_scale
        )
        found[frozen] = Frozen(path, problem.risk(x, path, _target(x)))
    return found


def _predict(
    direction: Callable = lambda x: x.source_direction,
    frozen_layers: Callable = lambda frozen: frozen,
    best: float = 1.0,
) -> Callable:
    def predict(x: claims.Instance) -> Rescaled:
        def flow(frozen: int) -> Float[Array, " times"]:
            sizes = DEPTH, frozen_layers(frozen)
            options = statement_options(x.tolerance_scale)
            return deep_linear.frozen_scale_flow(*_task(x), *sizes, _times(x), **options)

        form, (_, source, target) = functools.partial(problem.moment_form, x), _task(x)
        scale = {frozen: flow(frozen) for frozen in FROZEN}
        products = form(target + source) - form(target - source)
        error = target - best * products / (4 * form(source)) * source
        return Rescaled(direction(x), scale, form(error))

    return predict


def _claims(k: int) -> tuple:
    """With k frozen layers."""

    def part(r, direction: Float[Array, " d"]) -> Float[Array, " times"]:
        return jnp.sum(r.sim[k].weights * direction, axis=-1)

    def along(r) -> Float[Array, "times d"]:
        return part(r, r.theory.direction)[:, None] * r.theory.direction

    def scale(r) -> Float[Array, " times"]:
        return part(r, r.x.source_direction) / r.x.source_norm

    best = f"risk of the best c theta_S, k = {k}"
    return (
        claims.equal(f"beta(t) = c theta_S, k = {k}", lambda r: r.sim[k].weights, along),
        claims.equal(f"scalar flow of c, k = {k}", scale, lambda r: r.theory.scale[k]),
        claims.at_least(best, lambda r: r.sim[k].risk, lambda r: r.theory.least_risk),
    )


UNCHANGED = claims.equal(
    "beta(t) = theta_S", lambda r: r.sim[1].weights, lambda r: problem.source(r.x)
)


theorem = claims.Theorem(
    space=problem.problem_space(
        fitted=claims.Choice(0.0, 1.0),
        alpha=claims.Real(0.1, 10, log=True),
        **problem.distribution_fields(),
    ),
    simulate=simulate,
    predict=_predict(),
    claims=tuple(claim for frozen in FROZEN for claim in _claims(frozen)),
    assumes=(zero_frozen_loss(_labels),),
    source=claims.Printed(
        "Section 5.2, Theorem 5.5, and the text below it",
        "<beta(t), x> = c <x, theta_S>; its error cannot be reduced with additional target data",
    ),
    note="Assumption 3.3, part of the setting, is met where y is a multiple of X theta_S only",
    readings=(
        claims.Reading(
            "without Assumption 3.3",
            claims.Finding("whether frozen layers need Assumption 3.3 (zero train loss)"),
            assumes=(),
            note="frozen layers rescale theta_S whether or not the loss vanishes",
        ),
        claims.Reading(
            "still equal to the source task",
            claims.Printed(
                "Section 5.2, below Theorem 5.5",
                "the model is still equal to the source task, independently of the target task",
            ),
            assumes=(),
            hypotheses={"n < d": lambda x: x.d - x.n - 1.0},
            claims=(UNCHANGED,),
            note="the direction of beta stays that of theta_S, its length follows the target",
        ),
        claims.Reading(
            "still equal to the source task, corrected",
            claims.Corrected("the model is still a multiple c theta_S of the source task"),
            assumes=(),
            hypotheses={"n < d": lambda x: x.d - x.n - 1.0},
            claims=_claims(1)[:1],
            note="c, which Theorem 5.5 leaves open, depends on the target task",
        ),
    ),
    mutants=(
        claims.Mutant(
            "it turns to the target", predict=_predict(direction=lambda x: x.target_direction)
        ),
        claims.Mutant(
            "k and L - k swapped", predict=_predict(frozen_layers=lambda frozen: DEPTH - frozen)
        ),
        claims.Mutant("twice the best c", predict=_predict(best=2.0)),
    ),
    instances=32,
    mutant_instances=16,
    integrates=True,
)
