"""The risk of seven layers against the length of either teacher, by the number of samples."""

from theorysim.scenes.picture import Picture, View
from theorysim.theorems.linear_teachers.figure_2b_trained import SHARES


def _view(place: int) -> View:
    return View(
        f"n = {SHARES[place]:g} d",
        "population loss",
        lambda data: data.risk.isel(share=place),
        "factor",
        "scaling factor α",
        "scaled",
        "scaled:",
        beside=lambda data: data.predicted.isel(share=place),
        names=("source", "target"),
        log_x=False,
        log_y=True,
    )


picture = Picture(
    title="Which norm harms more: the source's or the target's",
    caption="Seven layers, d = 40, by gradient descent; directions 0.1 apart. Dashed: Eq. 5.",
    views=tuple(map(_view, range(len(SHARES)))),
)
