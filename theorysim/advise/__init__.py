"""Decisions on a user's own model: which layers to tune, and what to expect of it.

Every function takes a model of Flax (nnx, linen) or Equinox, or a function `model(params, x)`, and
gives an `Advice`: printed, the answer comes first, then the numbers, then where the theory stops
applying to this model.
"""

from theorysim.advise.answer import Advice as Advice
from theorysim.advise.layer_choice import layers as layers
from theorysim.advise.length_choice import length as length
from theorysim.advise.source_choice import transfer as transfer
from theorysim.advise.strength_choice import strength as strength
