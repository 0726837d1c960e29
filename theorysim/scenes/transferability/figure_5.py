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


def _of_every_start(title: str, label: str, name: str, log_y: bool = False) -> View:
    return View(
        title,
        label,
        lambda data: data[name],
        "kind",
        "networks",
        "start",
        "weights before training",
        ticks=KINDS,
        names=STARTS,
        log_x=False,
        log_y=log_y,
    )


picture = Picture(
    title="Where training starts: its length, and the loss about it",
    caption=CAPTION + " Digits 5 to 9 are learned until the loss is 0.02 nats.",
    views=(
        _of_every_start("(a) Training", "steps to the same loss", "steps"),
        _of_every_start(
            "(b, c) On the printed grid", "|change of the loss|, nats", "next_change", log_y=True
        ),
        _about_the_start(0),
        _about_the_start(1),
    ),
)
