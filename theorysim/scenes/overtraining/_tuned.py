"""What the pictures of the fine-tuned language model share: a line for each learning rate."""

from collections.abc import Callable

from theorysim.scenes.picture import View

CAPTION = (
    "A model of bigrams, pre-trained on Python's help and fine-tuned on its library, where the "
    "paper has OLMo-30M, C4 and StarCoder."
)


def against_budget(title: str, label: str, quantity: Callable, log_y: bool = True) -> View:
    """A quantity against the budget, a line for each learning rate."""
    along, lines = ("budget", "pre-training, steps"), ("rate", "learning rate of fine-tuning")
    return View(title, label, quantity, *along, *lines, log_y=log_y)
