"""The overlap for growing xi, and the steps to an overlap of 1/2."""

from fractions import Fraction

from theorysim.scenes.low_rank._best import CHAIN, RATES, STEPS, at_best, best_steps
from theorysim.scenes.picture import Picture, View
from theorysim.theorems.low_rank.figure_5 import HALFWAY, QUANTISED, RATIOS

picture = Picture(
    title="From fine-tuning to learning features, third Hermite polynomial",
    caption=f"{RATES} {CHAIN}",
    views=(
        View(
            "c of signs",
            "|⟨û, u⟩|",
            lambda data: at_best(data, "overlap", level=HALFWAY).isel(teacher=QUANTISED),
            "time",
            STEPS,
            "ratio",
            "ξ / (d^¼ k^½)",
            beside=lambda data: at_best(data, "chain", level=HALFWAY).isel(teacher=QUANTISED),
        ),
        View(
            "How long it takes",
            "steps until 1/2",
            lambda data: best_steps(data, level=HALFWAY),
            "ratio",
            "ξ / (d^¼ k^½)",
            "teacher",
            "c",
            beside=lambda data: best_steps(data, "chain", level=HALFWAY),
            names=("c of signs", "c on the sphere"),
            ticks=[str(Fraction(ratio)) for ratio in RATIOS],
            log_x=False,
            log_y=True,
        ),
    ),
)
