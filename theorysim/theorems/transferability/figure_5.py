"""How far the loss changes about pretrained and random weights, and how long training takes.

Figure 5 of Liu et al. (2019): training from pretrained weights converges faster (a), and the loss
about the start, in random directions of one middle layer, is smoother (b, c). Here small networks
learn digits 5 to 9, from random weights and from weights that learned digits 0 to 4, or digits 5 to
9 in other images; plain ones, and some with batch normalisation as the paper's, of which alone,
after other digits and with a new head, its words are taken. "Smoother" is read as a smaller mean
change of the loss from each point of the printed grid to the next, a tenth of the gradient away
(Appendix A); and, beside that, up to steps as long as the filters, which is a scale of ours.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.transferability import _digits_minima as minima
from theorysim.theorems.transferability import _digits_starts as starts


def _of_start(kind: int, start: int) -> tuple[claims.Claim, ...]:
    name, printed = starts.name(kind, start), starts.is_printed(kind, start)
    return (
        claims.on_average(
            f"(a) {name}: fewer steps to the same loss",
            lambda r: r.sim.steps[:, kind, start],
            lambda r: r.sim.steps[:, kind, 0],
            printed=printed,
        ),
        claims.on_average(
            f"(b, c) {name}: the loss about the start changes less from point to point",
            lambda r: r.sim.next_change[:, kind, start],
            lambda r: r.sim.next_change[:, kind, 0],
            statement="of the printed grid: a tenth of the gradient apart, as far as ten of it",
            printed=printed,
        ),
        claims.on_average(
            f"(b, c) {name}: the loss about the start changes less far away",
            lambda r: jnp.mean(r.sim.change[:, kind, start], axis=-1),
            lambda r: jnp.mean(r.sim.change[:, kind, 0], axis=-1),
            statement="on average over radii up to the length of the filters",
            printed=False,
        ),
    )


theorem = claims.Experiment(
    claims=starts.for_each(_of_start),
    source=claims.Printed(
        "Figure 5 and Appendix A",
        "The convergence of fine-tuning from pretrained networks is significantly faster than "
        "training from random initialization. [...] ImageNet pretrained landscape is much "
        "smoother, indicating better Lipschitzness and predictiveness of the loss function.",
    ),
    **minima.SETTING,
)
