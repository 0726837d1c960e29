"""What the pictures of transfer between digits share."""

from collections.abc import Sequence

CAPTION = "Small ReLU networks on scikit-learn's digits, where the paper has ResNet-50 and LeNet."


def in_two_rows(words: Sequence[str]) -> tuple[str, ...]:
    """Ticks of which every second one is a line lower, so that they have room."""
    return tuple("\n" * (place % 2) + word for place, word in enumerate(words))
