"""What fine-tuning adds to the loss of pre-training, against the budget."""

from theorysim.scenes.overtraining._tuned import CAPTION, against_budget, on_programs
from theorysim.scenes.picture import Picture

picture = Picture(
    title="The longer the pre-training, the more fine-tuning at a fixed rate harms",
    caption=CAPTION,
    views=(
        against_budget(
            "What fine-tuning adds",
            "loss of pre-training after − before, nats",
            lambda data: on_programs(data.pre) - data.base,
            log_y=False,
        ),
    ),
)
