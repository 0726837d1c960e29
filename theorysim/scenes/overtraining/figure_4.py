"""What fine-tuning adds to the loss of pre-training, against the budget."""

from theorysim.scenes.overtraining._tuned import (
    CAPTION,
    PERPLEXITIES,
    against_budget,
    on_programs,
    perplexity,
)
from theorysim.scenes.picture import Picture

picture = Picture(
    title="What fine-tuning at a fixed rate adds to the loss of pre-training",
    caption=CAPTION,
    views=(
        against_budget(
            "What fine-tuning adds",
            f"pre-training after − before, {PERPLEXITIES}",
            lambda data: perplexity(on_programs(data.pre)) - perplexity(data.base),
            log_y=False,
        ),
    ),
)
