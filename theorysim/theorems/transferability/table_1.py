"""Weights move the further from their pretraining, the worse a target is generalised.

Table 1 of Liu et al. (2019), for a ResNet-50 of ImageNet and five targets: training errors are all
near zero, test errors vary, and the deviation of the weights "is approximately proportional" to
them. Here networks on digits 0 to 4 learn other ones. "Nearly zero" is read as below the largest
training error that is printed; "varies" as a difference between two targets that other runs have
chosen; "proportional" twice: the two are correlated, and a line through the origin leaves less of
the deviations than their mean does. What is printed of them has a statement of its own.
"""

from functools import partial

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.halves import of_the_other_half
from theorysim.theorems.transferability import _digits_deviation as deviation
from theorysim.theorems.transferability import _table_1 as table
from theorysim.theorems.transferability._digits_section_6 import about_the_mean, unexplained
from theorysim.theorems.transferability._digits_seen import seen

NEARLY_ZERO = float(np.max(table.TRAINING_ERRORS)) / 100


def _end(r: claims.Run) -> Float[Array, "run setting target"]:
    return r.sim.deviation[..., -1]


def _of_extreme(r: claims.Run, extreme) -> Float[Array, "run setting"]:
    """The test error of the target whose error is extreme in the other half of the runs."""
    place = extreme(of_the_other_half(r.sim.error), axis=-1)
    return jnp.take_along_axis(r.sim.error, place[..., None], axis=-1)[..., 0]


def _over_scratch(r: claims.Run) -> Float[Array, "run setting target"]:
    """The test error, less that without pretraining."""
    return r.sim.error - r.sim.scratch_error


FITTED = claims.on_average(
    "training errors are nearly zero",
    lambda r: r.sim.train_error,
    lambda r: NEARLY_ZERO,
    statement="below 0.15 %, the largest one that is printed",
)
VARY = claims.on_average(
    "test errors vary",
    partial(_of_extreme, extreme=jnp.argmin),
    partial(_of_extreme, extreme=jnp.argmax),
    statement="from the target that is best in the other half of the runs to the worst one",
)
BEST = claims.on_average(
    "the most similar target is generalised best",
    lambda r: r.sim.error[..., :1],
    lambda r: r.sim.error[..., 1:],
)
GAINS = claims.on_average(
    "the most similar target gains most from pretraining",
    lambda r: _over_scratch(r)[..., :1],
    lambda r: _over_scratch(r)[..., 1:],
    statement="the test error less that from scratch: some targets are easier without a source",
)
CORRELATED = claims.on_average(
    "deviations and errors go together",
    lambda r: 0.0,
    lambda r: table.correlation(r.sim.error, _end(r)),
)
ON_A_LINE = claims.on_average(
    "deviations are proportional to errors",
    lambda r: unexplained(_end(r), table.proportional(r.sim.error, _end(r))),
    lambda r: about_the_mean(_end(r)),
    statement="sum (d - c e)^2 < sum (d - mean d)^2 with the best c, in both settings",
)
PROPORTIONAL = (CORRELATED.name, ON_A_LINE.name)
OF_THE_SOURCE = (BEST.name, GAINS.name, *PROPORTIONAL)

theorem = claims.Experiment(
    claims=(FITTED, VARY, BEST, GAINS, CORRELATED, ON_A_LINE),
    source=claims.Printed(
        "Table 1 and Section 3",
        "for both settings and for all target datasets, the training error converges to nearly "
        "zero while the generalization error varies significantly. In particular, a network "
        "pretrained on more similar dataset tends to generalize better [...] is approximately "
        "proportional to the generalization error",
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
        claims.Mutant("fine-tuning has hardly begun", simulate=deviation.hardly_trained),
        claims.Mutant(
            "deviations of other targets",
            claims=seen((CORRELATED, ON_A_LINE), deviation.of_the_next),
        ),
        claims.Mutant(
            "labels of the tests are shuffled",
            simulate=deviation.without_answers,
            breaks=(VARY.name, *OF_THE_SOURCE),
        ),
    ),
    **deviation.SETTING,
)
