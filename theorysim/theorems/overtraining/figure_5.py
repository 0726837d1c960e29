"""At a fixed, large learning rate, longer pre-training eventually makes the fine-tuned model worse.

Figure 5 of Springer et al. (2025), for OLMo-30M: the loss of pre-training (top) and of the task
(bottom), after fine-tuning, as the budget grows; both eventually rise where the learning rate is
large enough, that of pre-training in the shape of a U, the earlier and the more, the larger the
rate. Here a model of bigrams of characters learns the text of Python's help, then that of Python's
library; the largest rate is 15 times that of pre-training. Losses are in nats, of which perplexity
is the exponential. All of it is so, too, where fine-tuning goes on with the text of pre-training:
it is the rate that harms. The print does not say otherwise; what the new text adds to the rise is
asked beside it.
"""

import dataclasses
from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.overtraining import _language_study as study
from theorysim.theorems.overtraining._language_readings import (
    first_falls,
    inflection,
    on_programs,
    on_the_same_text,
    rise,
    rises,
    trend,
)
from theorysim.theorems.overtraining._language_tuned import RATES

LARGEST = -1


def _in_the_rate(values: Float[Array, "run rate"]) -> Float[Array, "run"]:
    return trend(values, jnp.asarray(RATES))


def _on(text: Callable) -> tuple[claims.Claim, ...]:
    def of(losses: Array) -> Float[Array, "run budget"]:
        return text(losses)[:, LARGEST]

    return (
        first_falls("top: the loss of pre-training first falls", lambda r: of(r.sim.pre)),
        rises("top: the loss of pre-training eventually rises", lambda r: of(r.sim.pre)),
        rises("bottom: the loss of the task eventually rises", lambda r: of(r.sim.ft)),
        claims.on_average(
            "top: the larger the rate, the earlier the inflection",
            lambda r: _in_the_rate(inflection(text(r.sim.pre))),
            lambda r: 0.0,
            statement="log2 of the best budget falls with the log of the rate: a line through all",
        ),
        claims.on_average(
            "top: the larger the rate, the larger the rise",
            lambda r: 0.0,
            lambda r: _in_the_rate(rise(text(r.sim.pre))),
            statement="it grows with the log of the rate: a line through all rates",
        ),
    )


def _what_the_text_adds(new: Callable, old: Callable) -> claims.Claim:
    return claims.on_average(
        "top: programs raise it more than the text of pre-training does",
        lambda r: rise(old(r.sim.pre)[:, LARGEST]),
        lambda r: rise(new(r.sim.pre)[:, LARGEST]),
        printed=False,
    )


EVERY = (*_on(on_programs), _what_the_text_adds(on_programs, on_the_same_text))

theorem = claims.Experiment(
    **study.SETTING,
    claims=EVERY,
    source=claims.Printed(
        "Figure 5 and Section 3.4.1",
        "extending pre-training can lead to an overall increase in the C4 perplexity (top), and ID "
        "perplexity (fine-tuning task; bottom), when fine-tuning with fixed hyperparameters. [...] "
        "This results in a U-shaped trend of the C4 perplexity after fine-tuning (Figure 5, top). "
        "[...] models trained with larger learning rates exhibit an inflection point at lower "
        "token budgets, and the degradation is more pronounced.",
    ),
    note="a model of bigrams of characters, on Python's help and then its library",
    mutants=(
        study.NO_BUDGETS,
        claims.Mutant(
            "fine-tuning on the text of pre-training",
            claims=(*_on(on_the_same_text), _what_the_text_adds(on_the_same_text, on_programs)),
        ),
        # Longer pre-training lowers the loss at first at any rate, and at the smallest the most.
        dataclasses.replace(study.NO_RATES, breaks=tuple(claim.name for claim in EVERY[1:])),
    ),
)
