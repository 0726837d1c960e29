"""Accuracy and movement on the target, after several sources."""

from theorysim.scenes.picture import Picture, View
from theorysim.scenes.transferability._digits import CAPTION, in_two_rows
from theorysim.theorems.transferability import _digits_sources as sources

TICKS = in_two_rows(sources.SOURCES)

picture = Picture(
    title="Pretraining helps where inputs and labels are similar",
    caption=CAPTION + " The target are ten digits in 100 noisy images.",
    views=(
        View(
            "After fine-tuning",
            "accuracy",
            lambda data: data.accuracy,
            "source",
            "",
            "head",
            "head",
            ticks=TICKS,
            names=sources.HEADS,
            log_x=False,
        ),
        View(
            "Fine-tuning",
            "Σ |W − W₀| / √n",
            lambda data: data.deviation,
            "source",
            "",
            "head",
            "head",
            ticks=TICKS,
            names=sources.HEADS,
            log_x=False,
        ),
        View(
            "Networks of Section 6",
            "|W_Q(k) − W(P)|",
            lambda data: data.distance,
            "source",
            "source",
            beside=lambda data: data.predicted_distance,
            ticks=TICKS,
            log_x=False,
        ),
    ),
)
