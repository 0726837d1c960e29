"""Loss, condition number and accuracy for every subset of the layers."""

from theorysim.scenes.linearization._condition import subsets

picture = subsets("More layers: a larger condition number, and a lower loss")
