"""The Hessian at the end of training, and the loss about it."""

from theorysim.scenes.picture import Picture, View
from theorysim.scenes.transferability._digits import CAPTION
from theorysim.theorems.transferability._digits import KINDS
from theorysim.theorems.transferability._digits_starts import STARTS


def _views(kind: int) -> tuple[View, View]:
    lines = ("start", "weights before training")
    return (
        View(
            f"(a) Hessian, {KINDS[kind]}",
            "eigenvalue",
            lambda data: data.spectrum.isel(kind=kind),
            "rank",
            "rank",
            *lines,
            names=STARTS,
            log_x=False,
            log_y=True,
        ),
        View(
            f"(b, c) About the minimum, {KINDS[kind]}",
            "rise of the loss, nats",
            lambda data: data.rise.isel(kind=kind),
            "radius",
            "length of the step, in filters",
            *lines,
            names=STARTS,
            log_x=False,
            log_y=True,
        ),
    )


picture = Picture(
    title="Are minima flatter after pretraining?",
    caption=CAPTION + " Digits 5 to 9 are learned until the loss is 0.02 nats.",
    views=(*_views(0), *_views(1)),
)
