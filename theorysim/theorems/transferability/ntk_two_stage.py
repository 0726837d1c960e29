"""As the width grows, both stages of training tend to those of a linear model in closed form.

What Section 6 of Liu et al. (2019) rests on: with patterns frozen at W(0), u_Q(k) - y_Q =
-(I - eta H_Q)^k r with r = y_Q - u_Q(P), u_Q(P) = u_Q(0) + H_PQ^T A y_P, A the sum of
eta (I - eta H_P)^k over pretraining, and the weights move by sqrt(c^T H c). Real networks start
silent (pairs of opposite signs, so that u(0) = 0), or with Gaussian weights: then the prediction
starts from the outputs that they have. The median of every error over networks falls at least as
m^(-1/4), the paper's rate, and is measured to fall as m^(-1/2); a mean square would follow the few
networks whose own Gram matrix makes the learning rate unstable.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import two_layer_relu_limit as limit
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training

WIDTHS = (128, 512, 2048)
EVERY = 4
"""steps of fine-tuning between records"""


class Observed(NamedTuple):
    """Along fine-tuning, and the length of pretraining."""

    target_outputs: Float[Array, "*keys times q"]
    loss: Float[Array, "*keys times"]
    pretraining: Float[Array, "*keys"]
    """||W(P) - W(0)||"""
    fine_tuning: Float[Array, "*keys times"]
    """||W_Q(k) - W(P)||"""
    both: Float[Array, "*keys times"]
    """||W_Q(k) - W(0)||"""
    source_outputs: Float[Array, "*keys times p"]


NAMES = (
    "u_Q(k)",
    "loss",
    "|W(P) - W(0)|",
    "|W_Q(k) - W(P)|",
    "|W_Q(k) - W(0)|",
    "u_P after k steps",
)


def _simulate(begin: Callable) -> Callable:
    """Both stages of a real network; its outputs at the random start come first."""

    def simulate(x: claims.Instance, key) -> tuple[Float[Array, " n"], Observed]:
        network = begin(x, key)
        ready = training.pretrained(x, network)
        length = jnp.linalg.norm(ready.weights - network.weights)

        def record(now):
            here = training.observe(now, ready, problem.target(x))
            there = training.observe(now, network, problem.source(x))
            return Observed(
                here.outputs, here.loss, length, here.distance, there.distance, there.outputs
            )

        path = training.fine_tuning(x, ready, record, every=EVERY)
        inputs = problem.joint_inputs(x)
        start = training.outputs(network.weights, network.signs, inputs)
        return start, path._replace(pretraining=length)

    return simulate


def _path(x: claims.Instance, share: Float[Array, ""], start: Float[Array, " n"]) -> Observed:
    """Infinite width, from these outputs; fine-tuning at a share of its rate."""
    first, second = problem.stable_rates(x)
    steps = jnp.arange(0, x.target_steps + 1, EVERY)
    path = limit.transfer(
        problem.joint_gram(x),
        limit.Stage(x.source_labels, start[: x.p], first, x.source_steps),
        limit.Stage(x.target_labels, start[x.p :], share * second, steps),
        normalisation=problem.NORMALISATION,
    )
    return Observed(
        path.target_outputs,
        path.target_loss,
        path.pretraining.distance,
        path.fine_tuning.distance,
        path.distance,
        path.source_outputs,
    )


def _predict(share: float) -> Callable:
    """The share of the rate with which infinite width fine-tunes."""
    return lambda x: jnp.asarray(share)


def _falls(index: int, exponent: float, relation: str):
    def error(r):
        start, real = r.sim
        predicted = jax.vmap(lambda u: _path(r.x, r.theory, u)[index])(start)
        apart = jnp.abs(real[index] - predicted).reshape(len(start), -1)
        return jnp.median(jnp.max(apart, axis=1))

    return claims.scales_as(
        f"error of {NAMES[index]}",
        error,
        over={"width": WIDTHS},
        exponent=exponent,
        relation=relation,
    )


QUARTER = tuple(_falls(index, -1 / 4, "at_most") for index in range(len(NAMES)))

theorem = claims.Theorem(
    space=problem.problem_space(
        width=claims.Size(128, low=2, high=65536),
        source_steps=claims.Size(12, high=100_000),
        target_steps=claims.Size(12, high=100_000),
        kappa=claims.Real(1, 10, log=True),
        rate_share=claims.Real(0.3, 0.9),
    ),
    assumes=(problem.REGULAR,),
    simulate=_simulate(training.silent),
    predict=_predict(1.0),
    claims=QUARTER,
    printed="errors of order m^(-1/4)",
    source=claims.Finding(
        "the dynamics of infinite width that Section 6 rests on, with the rate m^(-1/4) of the "
        "errors in Theorems 1 and 2"
    ),
    note="exact pretraining and fine-tuning at infinite width describe real wide networks",
    readings=(
        claims.Reading(
            "Gaussian starts",
            claims.Finding("random outputs u(0), from which Theorems 1 to 3 take the law"),
            simulate=_simulate(training.started),
            note="the same rate from the outputs that the random network has",
        ),
        claims.Reading(
            "errors of order m^(-1/2)",
            claims.Finding("the measured rate"),
            claims=tuple(_falls(index, -1 / 2, "equal") for index in range(len(NAMES))),
            note="the fluctuation of the empirical Gram matrices; the error of the loss has as a "
            "factor what is left to learn, and where this is small it falls faster",
        ),
    ),
    mutants=(
        claims.Mutant("fine-tuning at half the rate", predict=_predict(0.5)),
        claims.Mutant("m^(-3/4)", claims=tuple(rate.with_exponent(-0.75) for rate in QUARTER)),
        claims.Mutant("1 / m", claims=tuple(rate.with_exponent(-1.0) for rate in QUARTER)),
    ),
    keys=32,
    instances=48,
    mutant_instances=24,
)
