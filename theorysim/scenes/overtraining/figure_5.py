"""Both losses after fine-tuning at fixed learning rates, against the budget."""

from theorysim.scenes.overtraining._tuned import CAPTION, against_budget, on_programs
from theorysim.scenes.picture import Picture

picture = Picture(
    title="At a large fixed rate, longer pre-training ends in a worse model",
    caption=CAPTION,
    views=(
        against_budget(
            "Top: pre-training", "loss above entropy, nats", lambda data: on_programs(data.pre)
        ),
        against_budget(
            "Bottom: the task", "loss above entropy, nats", lambda data: on_programs(data.ft)
        ),
    ),
)
