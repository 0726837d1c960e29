"""Both losses after fine-tuning at the rate that is best for the task, against the budget."""

from theorysim.scenes.overtraining._tuned import CAPTION, STEPS, at_the_best_rate, on_programs
from theorysim.scenes.picture import Picture, View


def _view(title: str, name: str) -> View:
    return View(
        title,
        "loss above entropy, nats",
        lambda data: at_the_best_rate(on_programs(data[name]), on_programs(data.ft)),
        "budget",
        STEPS,
    )


picture = Picture(
    title="Both losses after fine-tuning at the rate that is best for the task",
    caption=CAPTION,
    views=(_view("Top: pre-training", "pre"), _view("Bottom: the task", "ft")),
)
