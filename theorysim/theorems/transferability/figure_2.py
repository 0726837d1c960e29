"""The weights leave their pretraining all along, and less for targets that are more similar.

Figure 2 of Liu et al. (2019): (1/sqrt(n)) |W - W_0|_F along the training of the last layer (left)
or of all layers (right), for five targets. Here pretraining is on digits 0 to 4; the targets are
other images of them, digits 5 to 9, and these in negative, upside down and with permuted pixels.
"Faster" convergence is read as being nearer to the last deviation all along. That deviations
"eventually" converge is not claimed of so short a training: without the paper's decay of weights
and rates a cross-entropy lets weights grow like a logarithm for as long as one likes. Whether they
changed by less in the last doubling of the steps than in the one before, which a logarithm does
not, is a check of ours. Beside them a network of Section 6, of which infinite width predicts
|W_Q(k) - W(P)|.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.transferability import _digits_deviation as deviation
from theorysim.theorems.transferability._digits_section_6 import about_the_mean, unexplained
from theorysim.theorems.transferability._digits_seen import seen


def _change(r: claims.Run, first: int, last: int) -> Float[Array, "run setting target"]:
    """By how much the deviation changes between two records."""
    return jnp.abs(r.sim.deviation[..., last] - r.sim.deviation[..., first])


def _pace(r: claims.Run) -> Float[Array, "run setting target"]:
    """The deviation as a share of the last one, on average over the training."""
    return jnp.mean(r.sim.deviation / r.sim.deviation[..., -1:], axis=-1)


GROW = claims.on_average(
    "deviations grow all along",
    lambda r: r.sim.deviation[..., :-1],
    lambda r: r.sim.deviation[..., 1:],
)
CONVERGE = claims.on_average(
    "deviations already converge",
    lambda r: _change(r, deviation.PARTS // 2, deviation.PARTS),
    lambda r: _change(r, deviation.PARTS // 4, deviation.PARTS // 2),
    statement="the last doubling of the steps changes them by less than the one before",
    printed=False,
)
LEAST = claims.on_average(
    "the most similar target deviates least",
    lambda r: r.sim.deviation[..., :1, -1],
    lambda r: r.sim.deviation[..., 1:, -1],
)
LESS = claims.on_average(
    "digits as they are deviate less than with permuted pixels",
    lambda r: r.sim.deviation[..., 1, -1],
    lambda r: r.sim.deviation[..., -1, -1],
)
FASTEST = claims.on_average(
    "the most similar target converges fastest",
    lambda r: _pace(r)[..., 1:],
    lambda r: _pace(r)[..., :1],
    statement="its share of the last deviation, on average over the training, is above each other",
)
TOLD = claims.on_average(
    "in the network of Section 6 infinite width tells targets apart",
    lambda r: unexplained(r.sim.distance[..., -1], r.sim.predicted[..., -1]),
    lambda r: about_the_mean(r.sim.distance[..., -1]),
    statement="predicted distances leave less of the measured ones than their mean does",
    printed=False,
)
OF_THE_SOURCE = (LEAST.name, LESS.name, FASTEST.name)

theorem = claims.Experiment(
    claims=(GROW, CONVERGE, LEAST, LESS, FASTEST, TOLD),
    source=claims.Printed(
        "Figure 2 and Section 3",
        "increases monotonously throughout the training process and eventually converges. Datasets "
        "with larger visual similarity to ImageNet have smaller deviations from pretrained weight, "
        "and [...] also converges faster.",
    ),
    mutants=(
        claims.Mutant(
            "without pretraining", simulate=deviation.without_pretraining, breaks=OF_THE_SOURCE
        ),
        claims.Mutant(
            "the source is like the last target",
            simulate=deviation.source_like_last_target,
            breaks=OF_THE_SOURCE,
        ),
        claims.Mutant(
            "fine-tuning has hardly begun",
            simulate=deviation.hardly_trained,
            breaks=(CONVERGE.name, FASTEST.name),
        ),
        claims.Mutant("time runs backwards", claims=seen((GROW, CONVERGE), deviation.backwards)),
        claims.Mutant(
            "deviations of other targets",
            claims=seen((LEAST, LESS, FASTEST, TOLD), deviation.of_the_next),
        ),
    ),
    **deviation.SETTING,
)
