"""Strict order of the features of pre-training, without which there are no stages.

Section 4.1 of Springer et al. (2025) has it; Appendix A says "arranged in decreasing order". Where
two features are equal the flow learns both at once.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.claims.hypotheses import Margin
from theorysim.theorems.overtraining._finetuning import pre_spectrum


def _margin(x: claims.Instance):
    return jnp.min(-jnp.diff(pre_spectrum(x)), initial=jnp.inf)


IN_ORDER: dict[str, Margin] = {"pre-training features in order": claims.strict(_margin)}
