"""Pretrained weights are where the loss changes little, and training from them takes fewer steps.

Figure 5 of Liu et al. (2019): training from pretrained weights converges faster (a), and the loss
about the start, in random directions of one middle layer, is smoother (b, c). Here small networks
learn digits 5 to 9, from random weights and from weights that learned digits 0 to 4, or digits 5 to
9 in other images; plain ones, and some with batch normalisation as the paper's. "Smoother" is read
as a smaller mean change of the loss, up to steps as long as the filters; the paper's pictures go as
far as a grid of 0.1 times the gradient does.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.transferability import _digits_minima as minima
from theorysim.theorems.transferability import _digits_starts as starts


def _of_start(kind: int, start: int) -> tuple[claims.Claim, ...]:
    name = starts.name(kind, start)
    return (
        claims.on_average(
            f"(a) {name}: fewer steps to the same loss",
            lambda r: r.sim.steps[:, kind, start],
            lambda r: r.sim.steps[:, kind, 0],
        ),
        claims.on_average(
            f"(b, c) {name}: the loss about the start changes less",
            lambda r: jnp.mean(r.sim.change[:, kind, start], axis=-1),
            lambda r: jnp.mean(r.sim.change[:, kind, 0], axis=-1),
            statement="on average over radii up to the length of the filters",
        ),
    )


theorem = claims.Experiment(
    claims=starts.for_each(_of_start),
    source=claims.Printed(
        "Figure 5",
        "The convergence of fine-tuning from pretrained networks is significantly faster than "
        "training from random initialization ... ImageNet pretrained landscape is much smoother",
    ),
    **minima.SETTING,
)
