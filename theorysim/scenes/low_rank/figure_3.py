"""The overlap with four activations, at two scales."""

from theorysim.scenes.low_rank._best import CHAIN, RATES, STEPS, at_best
from theorysim.scenes.picture import Picture, View
from theorysim.theorems.low_rank.figure_3 import ACTIVATIONS


def _view(title: str, scale: int) -> View:
    return View(
        title,
        "|⟨û, u⟩|",
        lambda data: at_best(data, "overlap").isel(scale=scale),
        "time",
        STEPS,
        "activation",
        "activation",
        beside=lambda data: at_best(data, "chain").isel(scale=scale),
        names=ACTIVATIONS,
    )


picture = Picture(
    title="Fine-tuning with several activations",
    caption=f"{RATES} {CHAIN}",
    views=(_view("(a) ξ = 1", 0), _view("(b) ξ = √k", 1)),
)
