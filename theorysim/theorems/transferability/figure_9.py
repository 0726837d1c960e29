"""What accuracy on a target is after pretraining of ever more steps, beside pretraining's own.

Figure 9 of Liu et al. (2019): ResNet-50, pretrained on the photos of Food-101 for ever longer and
fine-tuned on birds: the longer the pretraining, the better its own accuracy, while that of the
target rises, then falls. Here a small network learns ten digits whose labels are wrong in part, for
"even fit noise" is what the paper blames, and then a few noisy images, with the head that it had or
with a new one. So the fall is planted: with true labels there is none (a null), and the wrong ones
are also why accuracy on other images of pretraining falls, which in print rises. Beside it, the
loss with which networks of Section 6 start to learn noisy images after source labels of which some
are wrong, and what infinite width predicts of it.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from theorysim import claims
from theorysim.numerics.halves import of_the_other_half
from theorysim.theorems.transferability import _digits as digits
from theorysim.theorems.transferability import _digits_section_6 as section_6

HEADS = ("old", "new")
NOISE = 0.3
"""standard deviation of the noise on a pixel of the target"""
WRONG, WRONG_SIGNS = 0.5, 0.3
"""shares of source labels that are drawn anew, and of the two labels that are turned"""
RATE, STEPS = 0.01, 100
"""of fine-tuning"""


class Curves(NamedTuple):
    """After so many steps of pretraining."""

    source_train: Float[Array, "checkpoint"]
    """accuracy on the images and labels of pretraining, wrong ones included"""
    source_test: Float[Array, "checkpoint"]
    """accuracy on other images of it, with true labels"""
    target: Float[Array, "head checkpoint"]
    """accuracy on images of the target after fine-tuning that were not trained on"""
    mismatch: Float[Array, "checkpoint"]
    """|y_Q - u_Q(P)|^2 / |y_Q|^2 of networks of Section 6"""
    predicted: Float[Array, "checkpoint"]


def checkpoints(x: claims.Instance) -> Int[np.ndarray, " checkpoints"]:
    """Steps of pretraining: 0, 10, 30, 100, 300, ..."""
    ladder = [(10, 30)[k % 2] * 10 ** (k // 2) for k in range(x.checkpoints - 1)]
    return np.array([0, *ladder])


def axes(x: claims.Instance) -> dict[str, object]:
    """Steps of pretraining, with one in the place of none; heads in words."""
    return {"checkpoint": np.maximum(checkpoints(x), 1), "head": HEADS}


def _with_noise(labels: Array, share: float, key: Array) -> Array:
    """A share of the labels drawn anew from all classes."""
    where, what = jax.random.split(key)
    fresh = jax.random.randint(what, labels.shape, 0, digits.CLASSES)
    return jnp.where(jax.random.uniform(where, labels.shape) < share, fresh, labels)


def _curves(
    x: claims.Instance,
    key: Array,
    *,
    wrong: float = WRONG,
    turned: float = WRONG_SIGNS,
    are_steps_taken: bool = True,
) -> Curves:
    keys = jax.random.split(key, 7)
    every = digits.drawn(keys[0])
    clean, other = digits.part(every, 0, x.source), digits.part(every, x.source)
    source = clean._replace(labels=_with_noise(clean.labels, wrong, keys[1]))
    noisy = other._replace(images=digits.noisy(other.images, keys[2], NOISE))
    target, test = digits.part(noisy, 0, x.target), digits.part(noisy, x.target)
    widths = (digits.pixels(), x.width, x.width, digits.CLASSES)
    start, fresh = (digits.initialised(k, widths) for k in keys[3:5])

    few, is_low = digits.part(clean, 0, x.few), noisy.labels < digits.HALF
    is_turned = jax.random.uniform(keys[5], (x.few,)) < turned
    signs = section_6.task(few.images, (few.labels < digits.HALF) ^ is_turned)
    goal = section_6.task(noisy.images, is_low)
    silent = section_6.untrained(keys[6], x.wide, signs)

    def at(steps: Array) -> Curves:
        network = digits.trained(start, source, steps)
        heads = (network, digits.with_head_of(network, fresh))
        ends = [digits.trained(head, target, STEPS, RATE) for head in heads]
        return Curves(
            1 - digits.error(network, source),
            1 - digits.error(network, other),
            jnp.stack([1 - digits.error(end, test) for end in ends]),
            *section_6.mismatches(section_6.pretrained(silent, signs, steps), goal),
        )

    steps = jnp.asarray(checkpoints(x)) if are_steps_taken else jnp.zeros(x.checkpoints, int)
    found = jax.lax.map(at, steps)
    return found._replace(target=found.target.T)


def simulate(x: claims.Instance, key: Array) -> Curves:
    """Pretraining of all lengths from one start, each followed by fine-tuning."""
    return _curves(x, key)


def without_steps(x: claims.Instance, key: Array) -> Curves:
    """The null in which no pretraining takes a step."""
    return _curves(x, key, are_steps_taken=False)


def with_wrong_labels(x: claims.Instance, key: Array) -> Curves:
    """The null in which all source labels are drawn anew: there is nothing to learn."""
    return _curves(x, key, wrong=1.0, turned=0.5)


def with_true_labels(x: claims.Instance, key: Array) -> Curves:
    """The null in which all source labels are right: there is no noise to fit."""
    return _curves(x, key, wrong=0.0, turned=0.0)


def _best(values: Float[Array, "run checkpoint"]) -> Int[Array, " run"]:
    """The checkpoint that is best for the other half of the runs."""
    return jnp.argmax(of_the_other_half(values), axis=-1)


def _there(values: Float[Array, "run checkpoint"], place: Int[Array, " run"]) -> Array:
    return jnp.take_along_axis(values, place[:, None], axis=-1)[:, 0]


def _at_best(values: Float[Array, "run checkpoint"]) -> Float[Array, " run"]:
    return _there(values, _best(values))


def _rises(head: int) -> claims.Claim:
    return claims.on_average(
        f"{HEADS[head]} head: the target's accuracy first rises",
        lambda r: r.sim.target[:, head, 0],
        lambda r: _at_best(r.sim.target[:, head]),
    )


def _falls(head: int) -> claims.Claim:
    return claims.on_average(
        f"{HEADS[head]} head: then it falls",
        lambda r: r.sim.target[:, head, -1],
        lambda r: _at_best(r.sim.target[:, head]),
    )


def _meanwhile(name: str, accuracy, printed: bool) -> claims.Claim:
    return claims.on_average(
        name,
        lambda r: _there(accuracy(r), _best(r.sim.target[:, 0])),
        lambda r: accuracy(r)[:, -1],
        statement="from the checkpoint that is best for the target, with the old head, to the last",
        printed=printed,
    )


RISES, FALLS = (tuple(map(part, range(len(HEADS)))) for part in (_rises, _falls))
ON_OTHERS = _meanwhile(
    "meanwhile accuracy of pretraining increases, on other images",
    lambda r: r.sim.source_test,
    printed=True,
)
ON_ITS_OWN = _meanwhile(
    "meanwhile accuracy of pretraining increases, on its images",
    lambda r: r.sim.source_train,
    printed=False,
)
MISMATCH_FALLS = claims.on_average(
    "in the network of Section 6 the mismatch first falls",
    lambda r: -_at_best(-r.sim.mismatch),
    lambda r: r.sim.mismatch[:, 0],
    printed=False,
)
MISMATCH_RISES = claims.on_average(
    "in the network of Section 6 the mismatch then rises",
    lambda r: -_at_best(-r.sim.mismatch),
    lambda r: r.sim.mismatch[:, -1],
    printed=False,
)
TOLD = claims.on_average(
    "in the network of Section 6 infinite width tells checkpoints apart",
    lambda r: section_6.unexplained(r.sim.mismatch, r.sim.predicted),
    lambda r: section_6.about_the_mean(r.sim.mismatch),
    statement="predictions leave less of the measured mismatches than their mean does",
    printed=False,
)

theorem = claims.Experiment(
    space=claims.Space(
        source=claims.Size(600, low=50, high=1500),
        target=claims.Size(40, low=20, high=200),
        width=claims.Size(64, low=8),
        few=claims.Size(150, low=20, high=600),
        wide=claims.Size(256, low=16, high=16384),
        checkpoints=claims.Size(7, low=3, high=12),
    ),
    simulate=simulate,
    claims=(*RISES, *FALLS, ON_OTHERS, ON_ITS_OWN, MISMATCH_FALLS, MISMATCH_RISES, TOLD),
    source=claims.Printed(
        "Figure 9 and Section 5.2",
        "Although accuracy of pretraining increases stably, transferability increases only during "
        "the early epochs and decreases afterwards. [...] although the test accuracy on the "
        "pretraining dataset continues increasing",
    ),
    note="small networks on digits of which half have labels drawn anew, for ResNet-50 on Food-101",
    mutants=(
        claims.Mutant("no pretraining takes a step", simulate=without_steps),
        claims.Mutant(
            "all source labels are wrong",
            simulate=with_wrong_labels,
            breaks=digits.names_of((*RISES, ON_OTHERS, MISMATCH_FALLS)),
        ),
        claims.Mutant(
            "all source labels are right",
            simulate=with_true_labels,
            breaks=digits.names_of((*FALLS, MISMATCH_RISES)),
        ),
    ),
    data=("digits",),
    axes=axes,
)
