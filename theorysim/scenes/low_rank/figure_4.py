"""The overlap where part of u is in the span of the features."""

from theorysim.scenes.low_rank._best import CHAIN, RATES, STEPS, at_best, best_steps
from theorysim.scenes.picture import Picture, View

picture = Picture(
    title="Fine-tuning where u is not orthogonal to the features",
    caption=f"{RATES} {CHAIN}",
    views=(
        View(
            "(a) At several shares",
            "|⟨û, u⟩|",
            lambda data: at_best(data, "overlap"),
            "time",
            STEPS,
            "share",
            "part of u in the span of W",
            beside=lambda data: at_best(data, "chain"),
        ),
        View(
            "How long it takes",
            "steps until 0.9",
            best_steps,
            "share",
            "part of u in the span of W",
            beside=lambda data: best_steps(data, "chain"),
            log_x=False,
        ),
    ),
)
