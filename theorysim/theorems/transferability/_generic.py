"""What counterexamples are asked for beyond the print, so that none of them is degenerate.

|y| <= 1 admits labels that are all zero, and then terms with labels vanish. A display that is
violated on other labels is violated in earnest. Nothing that holds is asked for them.
"""

import jax.numpy as jnp

from theorysim import claims

LABELLED = {
    "y_P != 0": claims.strict(lambda x: jnp.min(jnp.abs(x.source_labels))),
    "y_Q != 0": claims.strict(lambda x: jnp.min(jnp.abs(x.target_labels))),
}
