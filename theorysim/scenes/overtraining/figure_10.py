"""The loss of pre-training on the way to a fine-tuned model, and its quadratic approximation."""

from __future__ import annotations

from theorysim.scenes.overtraining._taylor import Quantity, views
from theorysim.scenes.overtraining._tuned import CAPTION, at_the_best_rate, on_programs
from theorysim.scenes.picture import Picture


def _at_the_best(name: str) -> Quantity:
    return lambda data: at_the_best_rate(data[name], on_programs(data.ft))


picture = Picture(
    title="Towards the fine-tuned model the loss leaves its quadratic approximation",
    caption=f"{CAPTION} The theory is the second-order Taylor polynomial at λ = 0.",
    views=views(
        _at_the_best("towards"),
        _at_the_best("towards_taylor"),
        _at_the_best("towards_above"),
        "λ: 0 is the base model, 1 the fine-tuned one",
    ),
)
