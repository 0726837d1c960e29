"""The gradient with which fine-tuning starts, after several sources."""

from theorysim.scenes.picture import Picture, View
from theorysim.scenes.transferability._digits import in_two_rows
from theorysim.theorems.transferability import _digits_sources as sources

picture = Picture(
    title="Similar tasks lower the gradient, other ones raise it",
    caption="Two-layer networks of Section 6 on scikit-learn's digits: is a digit below five?",
    views=(
        View(
            "",
            "|y_Q − u_Q(P)|² / |y_Q|²",
            lambda data: data.mismatch,
            "source",
            "source of pretraining",
            beside=lambda data: data.predicted_mismatch,
            ticks=in_two_rows(sources.SOURCES),
            log_x=False,
        ),
    ),
)
