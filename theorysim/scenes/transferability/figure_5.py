"""Steps to the same loss, and the loss about the start."""

from theorysim.scenes.picture import Picture, View
from theorysim.scenes.transferability._digits import CAPTION
from theorysim.theorems.transferability._digits import KINDS
from theorysim.theorems.transferability._digits_starts import STARTS


def _about_the_start(kind: int) -> View:
    return View(
        f"(b, c) About the start, {KINDS[kind]}",
        "|change of the loss|, nats",
        lambda data: data.change.isel(kind=kind),
        "radius",
        "length of the step, in filters",
        "start",
        "weights before training",
        names=STARTS,
        log_x=False,
        log_y=True,
    )


picture = Picture(
    title="Where training starts: its length, and the loss about it",
    caption=CAPTION + " Digits 5 to 9 are learned until the loss is 0.02 nats.",
    views=(
        View(
            "(a) Training",
            "steps to the same loss",
            lambda data: data.steps,
            "kind",
            "networks",
            "start",
            "weights before training",
            ticks=KINDS,
            names=STARTS,
            log_x=False,
        ),
        _about_the_start(0),
        _about_the_start(1),
    ),
)
