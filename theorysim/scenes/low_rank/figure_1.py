"""The overlap with c^ frozen and trained, and the steps until u is found at every rate."""

from theorysim.scenes.low_rank._best import CHAIN, RATES, STEPS, at_best, steps
from theorysim.scenes.picture import Picture, View

LINES = ("training", "training")
NAMES = ("ĉ frozen", "joint")

picture = Picture(
    title="Joint training and training with ĉ frozen, ξ = 1",
    caption=f"{RATES} {CHAIN}",
    views=(
        View(
            "Both, at their best rates",
            "|⟨û, u⟩|",
            lambda data: at_best(data, "overlap"),
            "time",
            STEPS,
            *LINES,
            beside=lambda data: at_best(data, "chain"),
            names=NAMES,
        ),
        View(
            "At every rate",
            "steps until 0.9",
            steps,
            "rate",
            "halvings of the largest rate",
            *LINES,
            beside=lambda data: steps(data, "chain"),
            names=NAMES,
            log_x=False,
            log_y=True,
        ),
    ),
)
