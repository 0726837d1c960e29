"""Views of the table of Section 6, run anew, that its trainings share."""

from theorysim.scenes.picture import View
from theorysim.theorems.linearization.table_1 import STRENGTHS

TICKS = tuple(f"{strength:g}" for strength in STRENGTHS)


def row(title: str, label: str, quantity, beside=None, log_y: bool = False) -> View:
    """One row of the table, the strongest pull first."""
    return View(
        title,
        label,
        quantity,
        "strength",
        "pull λ",
        beside=beside,
        ticks=TICKS,
        log_x=False,
        log_y=log_y,
    )


SHARE = row(
    "Gap, over that of shuffled tangents",
    "ratio of ‖f − f_linear‖",
    lambda data: data.gap / data.shuffled_gap,
)
ACCURACY = row("Accuracy", "share of test images told right", lambda data: data.accuracy)
WITH_THEORY = (
    row(
        "Distance from the start",
        "‖θ − θ₀‖",
        lambda data: data.distance,
        lambda data: data.linear_distance,
    ),
    row(
        "Gap to the linearised model",
        "‖f − f_linear‖",
        lambda data: data.gap,
        lambda data: data.linear_gap,
        log_y=True,
    ),
    SHARE,
    ACCURACY,
)
