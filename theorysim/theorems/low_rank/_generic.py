"""What counterexamples are asked for beyond the print, so that none of them is degenerate.

A display that is violated on instances like these is violated in earnest: not because a neuron is
missing or counted twice. Nothing that holds is asked for them.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.systems import rank_one
from theorysim.theorems.low_rank._problem import features

NEAREST = 0.9

GENERIC = {
    "lambda_i != 0": claims.strict(lambda x: jnp.min(jnp.abs(x.readout))),
    f"|<w_i, w_j>| <= {NEAREST}": lambda x: NEAREST - rank_one.largest_cosine(features(x)),
}
