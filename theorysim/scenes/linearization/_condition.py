"""Views of the condition number and of what training makes of it, for every choice."""

from collections.abc import Sequence

from theorysim.scenes.picture import Picture, View
from theorysim.theorems.linearization._condition import SUBSET_NAMES

WEAK, STRONG = 0.1, 1.0


def picture(title: str, choice: str, ticks: Sequence[str]) -> Picture:
    """Figures (a) to (c), at one of the pulls."""

    def view(
        title: str, label: str, quantity, beside=None, log_y: bool = False, strength: float = STRONG
    ) -> View:
        def at(part):
            return part and (lambda data: part(data.sel(strength=strength)))

        return View(
            title,
            label,
            at(quantity),
            "choice",
            choice,
            beside=at(beside),
            ticks=ticks,
            log_x=False,
            log_y=log_y,
        )

    return Picture(
        title=title,
        caption=f"A tanh network on digits, for RoBERTa; pull λ = {STRONG:g} where it is not said. "
        "Dashed: the linearised model's loss, in closed form.",
        views=(
            view(
                "(a) Training loss after ten epochs",
                "‖f − y‖²",
                lambda data: data.loss.isel(epoch=-1),
                lambda data: data.linear_loss.isel(epoch=-1),
                log_y=True,
            ),
            view("(b) Condition number", "κ(K + σI)", lambda data: data.condition, log_y=True),
            view(
                f"(b) Condition number, λ = {WEAK:g}",
                "κ(K + σI)",
                lambda data: data.condition,
                log_y=True,
                strength=WEAK,
            ),
            view("(c) Accuracy", "share of test images told right", lambda data: data.accuracy),
        ),
    )


def subsets(title: str) -> Picture:
    """Choices are subsets of layers."""
    return picture(title, "tuned layers", [name.replace("+", "\n") for name in SUBSET_NAMES])
