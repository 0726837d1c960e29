"""The risks of the frozen, the vanilla and the fine-tuned model against the number of samples."""

from theorysim.scenes.picture import Picture, View
from theorysim.theorems.linear_teachers.figure_3_trained import MODELS


def _view(title: str, scale: int) -> View:
    return View(
        title,
        "population loss",
        lambda data: data.risk.isel(scale=scale),
        "share",
        "samples n / d",
        "model",
        "model",
        beside=lambda data: data.predicted,
        names=MODELS,
        log_x=False,
        log_y=True,
    )


picture = Picture(
    title="Frozen, from scratch, fine-tuned",
    caption="Two layers, d = 30, by gradient descent. Dashed: Theorem 5.5, Eq. 1 and Eq. 5.",
    views=(_view("Small first weights", 0), _view("First weights of Xavier's scale", 1)),
)
