"""The loss along training, and its largest change by a step along the gradient."""

from theorysim.scenes.picture import Picture, View
from theorysim.scenes.transferability._digits import CAPTION
from theorysim.theorems.transferability._digits import KINDS
from theorysim.theorems.transferability._digits_starts import STARTS


def _view(kind: int, name: str, label: str) -> View:
    return View(
        KINDS[kind],
        label,
        lambda data: data[name].isel(kind=kind),
        "step",
        "training, steps",
        "start",
        "weights before training",
        names=STARTS,
        log_x=False,
        log_y=True,
    )


LOSS = ("loss", "loss, nats")
VARIATION = ("variation", "largest |change|, nats")

picture = Picture(
    title="How a step along the gradient changes the loss",
    caption=CAPTION + " Digits 5 to 9 are learned.",
    views=(_view(0, *LOSS), _view(0, *VARIATION), _view(1, *LOSS), _view(1, *VARIATION)),
)
