"""How flat the minima are in which training from pretrained and from random weights ends.

Figure 3 of Liu et al. (2019): the 20 largest eigenvalues of the Hessian at the end of training (a),
and the loss about it in random directions whose filters are as long as those of the network (b, c).
Here small networks learn digits 5 to 9 until the training loss is 0.02 nats, from random weights
and from weights that learned digits 0 to 4, or digits 5 to 9 in other images; plain networks, and
networks with batch normalisation as the paper's, of which alone, after other digits and with a new
head, its words are taken. Products with the Hessian give its eigenvalues, by Lanczos' method.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.transferability import _digits_minima as minima
from theorysim.theorems.transferability import _digits_starts as starts


def _of_start(kind: int, start: int) -> tuple[claims.Claim, ...]:
    name, printed = starts.name(kind, start), starts.is_printed(kind, start)
    return (
        claims.on_average(
            f"(a) {name}: the largest eigenvalue is smaller",
            lambda r: r.sim.spectrum[:, kind, start, 0],
            lambda r: r.sim.spectrum[:, kind, 0, 0],
            printed=printed,
        ),
        claims.on_average(
            f"(a) {name}: the sum of the largest eigenvalues is smaller",
            lambda r: jnp.sum(r.sim.spectrum[:, kind, start], axis=-1),
            lambda r: jnp.sum(r.sim.spectrum[:, kind, 0], axis=-1),
            printed=printed,
        ),
        claims.on_average(
            f"(b, c) {name}: the loss rises less about the minimum",
            lambda r: jnp.mean(r.sim.rise[:, kind, start], axis=-1),
            lambda r: jnp.mean(r.sim.rise[:, kind, 0], axis=-1),
            statement="on average over radii up to the length of the filters",
            printed=printed,
        ),
    )


theorem = claims.Experiment(
    claims=starts.for_each(_of_start),
    source=claims.Printed(
        "Figure 3",
        "ImageNet pretrained networks have significantly smaller eigenvalues, indicating flatter "
        "minima. [...] Randomly initialized networks end up with sharper minima, while pretrained "
        "networks stay in flat regions.",
    ),
    **minima.SETTING,
)
