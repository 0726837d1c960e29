"""What an added layer does to the loss, its eta, and both sides of Theorem 7."""

import numpy as np

from theorysim.scenes.picture import Picture, View
from theorysim.theorems.linearization.experiment_added_layers import NAMES


def _view(title: str, label: str, quantity, beside=None) -> View:
    return View(
        title,
        label,
        quantity,
        "pair",
        "tuned + added layer",
        "scale",
        "how often the added layer counts",
        beside=beside,
        ticks=NAMES,
        log_x=False,
    )


picture = Picture(
    title="Adding a layer to a tuned one",
    caption="A network with three hidden layers, on digits. Ratios are of roots of the training "
    "loss. Dashed: exact ridge regression. A bound of Theorem 7 is met where its line is above 0.",
    views=(
        _view(
            "Ratio of the losses",
            "log₁₀ (R(K + S) / R(K))^½",
            lambda data: np.log10(data.ratio),
            lambda data: np.log10(data.ridge),
        ),
        _view(
            "Theorem 7, above",
            "log₁₀ (upper bound / ratio)",
            lambda data: np.log10(data.upper / data.ratio),
        ),
        _view(
            "Theorem 7, below",
            "log₁₀ (ratio / lower bound)",
            lambda data: np.log10(data.ratio / data.lower),
        ),
        _view("Size of the added kernel", "log₁₀ η", lambda data: np.log10(data.eta)),
    ),
)
