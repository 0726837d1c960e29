"""Loss, condition number and accuracy for every subset of the layers, with one lambda_max."""

from theorysim.scenes.linearization._condition import subsets

picture = subsets("With one largest eigenvalue for all subsets of layers")
