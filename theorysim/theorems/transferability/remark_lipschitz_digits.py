"""On digits, pretraining lowers the gradient from similar tasks and raises it from other ones.

Text below Theorem 1 of Liu et al. (2019), and its rule: the squared gradient in the activations
changes by |y_Q - y_(P->Q)|^2 - |y_Q|^2. Networks of Section 6 learn whether digits are below five
in noisy images, after the same digits, these upside down or with permuted pixels, their parity, the
brightness of their upper half, or labels that say nothing; infinite width predicts every start.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.transferability import _digits_sources as sources
from theorysim.theorems.transferability._digits_section_6 import about_the_mean, unexplained
from theorysim.theorems.transferability._digits_seen import seen

TRAINED = slice(1, None)
"""all sources but that of no pretraining, whose gradient is the unit"""

LOWERS = claims.on_average(
    "the same task lowers the gradient",
    lambda r: r.sim.mismatch[:, sources.SAME],
    lambda r: r.sim.mismatch[:, sources.NONE],
)
RAISE = claims.on_average(
    "completely different tasks raise it",
    lambda r: r.sim.mismatch[:, [sources.NONE]],
    lambda r: r.sim.mismatch[:, [sources.BRIGHTNESS, sources.SHUFFLED]],
    statement="labels by brightness, and labels that say nothing",
)
SIGN = claims.on_average(
    "the sign of the change is the predicted one",
    lambda r: 0.0,
    lambda r: ((r.sim.mismatch - 1) * jnp.sign(r.sim.predicted_mismatch - 1))[:, TRAINED],
    statement="(|y_Q - u_Q(P)|^2 - |y_Q|^2) times the sign of its prediction, all sources",
    printed=False,
)
TOLD = claims.on_average(
    "infinite width tells the changes apart",
    lambda r: unexplained(r.sim.mismatch[:, TRAINED], r.sim.predicted_mismatch[:, TRAINED]),
    lambda r: about_the_mean(r.sim.mismatch[:, TRAINED]),
    statement="predictions leave less of the measured gradients than their mean does",
    printed=False,
)

theorem = claims.Experiment(
    space=sources.SPACE,
    simulate=sources.simulate,
    claims=(LOWERS, RAISE, SIGN, TOLD),
    source=claims.Printed(
        "Section 6.2, below Theorem 1",
        "If the original target label is similar to the label transformed from the pretrained "
        "label, i.e. [...] is small, the Lipschitzness of loss function will be significantly "
        "improved. On the contrary, if the pretrained and target tasks are "
        "completely different, the transformed label will be discrepant with target label, "
        "resulting in larger Lipschitz constant",
    ),
    note="real networks on digits, beside Theorem 1 at infinite width",
    mutants=(
        claims.Mutant(
            "all sources are the same",
            simulate=sources.from_the_same_source,
            breaks=(LOWERS.name, RAISE.name, TOLD.name),
        ),
        # Shuffled labels make every task a completely different one, which raises the gradient.
        claims.Mutant(
            "the labels of the target are shuffled",
            simulate=sources.without_a_task,
            breaks=(LOWERS.name,),
        ),
        claims.Mutant(
            "predictions of other sources", claims=seen((SIGN, TOLD), sources.of_the_next)
        ),
    ),
    data=("digits",),
    axes=sources.axes,
    work=sources.work,
    paper_sizes=sources.PAPER_SIZES,
)
