"""How far fine-tuning moves the parameters, against its learning rate."""

from theorysim.scenes.overtraining._tuned import CAPTION, STEPS, on_programs
from theorysim.scenes.picture import Picture, View

picture = Picture(
    title="Fine-tuning moves the parameters in proportion to its learning rate",
    caption=CAPTION,
    views=(
        View(
            "",
            "|θ_pre − θ_ft|",
            lambda data: on_programs(data.distance),
            "rate",
            "learning rate of fine-tuning",
            "budget",
            STEPS,
            log_y=True,
        ),
    ),
)
