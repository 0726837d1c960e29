"""Loss, condition number and accuracy for adapters on every hidden layer."""

from theorysim.scenes.linearization import _condition as condition
from theorysim.theorems.linearization._condition import ADAPTER_NAMES

picture = condition.picture(
    "Adapters of ranks 1 to 8 on one of three layers",
    "layer:rank of the adapter",
    ADAPTER_NAMES,
)
