"""What digits learn from several sources: what Figure 8 and the rule of Theorem 1 look at.

The target are ten digits in a few noisy images. Sources, with the same number of images: the same
digits; these upside down; with permuted pixels; and, in images as they are, other labels: whether
digits are even, how bright the upper half is, and the digits of other images. The networks of
Section 6 learn whether digits are below five, in the same images.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.transferability import _digits as digits
from theorysim.theorems.transferability import _digits_section_6 as section_6

SOURCES = ("none", "same", "upside down", "permuted", "parity", "brightness", "shuffled")
NONE, SAME, UPSIDE_DOWN, PERMUTED, PARITY, BRIGHTNESS, SHUFFLED = range(len(SOURCES))
HEADS = ("old", "new")
NOISE = 0.3
"""standard deviation of the noise on a pixel of the target"""
RATE = 0.01
"""of fine-tuning, as in the paper"""

SPACE = claims.Space(
    source=claims.Size(600, low=50, high=900),
    target=claims.Size(100, low=20, high=600),
    width=claims.Size(64, low=8),
    few=claims.Size(150, low=20, high=900),
    wide=claims.Size(256, low=16, high=16384),
    steps=claims.Size(300, low=20, high=10_000),
)
PAPER_SIZES = {"target": 600}


class Transferred(NamedTuple):
    """Of every source; without one, networks are tuned from random weights."""

    accuracy: Float[Array, "head source"]
    """on noisy images that were not trained on"""
    deviation: Float[Array, "head source"]
    mismatch: Float[Array, "source"]
    """|y_Q - u_Q(P)|^2 / |y_Q|^2 of networks of Section 6"""
    predicted_mismatch: Float[Array, "source"]
    distance: Float[Array, "source"]
    """|W_Q(k) - W(P)| of networks of Section 6 after fine-tuning"""
    predicted_distance: Float[Array, "source"]


def axes(x: claims.Instance) -> dict[str, object]:
    """Sources and heads in words."""
    return {"source": SOURCES, "head": HEADS}


def work(x: claims.Instance) -> float:
    """Multiplications, forwards and twice as many backwards."""
    inputs = digits.pixels()
    deep = (inputs + x.width + digits.CLASSES) * x.width * (x.source + len(HEADS) * x.target)
    return 3.0 * x.steps * len(SOURCES) * (deep + (x.few + x.target) * inputs * x.wide)


class _Sources(NamedTuple):
    """All of them, one after the other, and what their labels are where these are +1 or -1."""

    task: digits.Task
    is_positive: Array


def _sources(task: digits.Task, key: Array) -> _Sources:
    order, deal = jax.random.split(key)
    images, labels = task
    bright = digits.brightness(images, digits.CLASSES)
    wrong = jax.random.permutation(deal, labels)
    low = labels < digits.HALF
    # The first one stands in the place of no source, and is not trained on.
    kinds = (
        (images, labels, low),
        (images, labels, low),
        (digits.upside_down(images), labels, low),
        (digits.permuted(images, order), labels, low),
        (images, labels % 2, labels % 2 == 0),
        (images, bright, bright < digits.HALF),
        (images, wrong, wrong < digits.HALF),
    )
    stacked = [jnp.stack(leaves) for leaves in zip(*kinds, strict=True)]
    return _Sources(digits.Task(*stacked[:2]), stacked[2])


def _transferred(
    x: claims.Instance, key: Array, *, all_the_same: bool = False, is_answered: bool = True
) -> Transferred:
    keys = jax.random.split(key, 7)
    every = digits.drawn(keys[0])
    other = digits.part(every, x.source)
    other = other._replace(images=digits.noisy(other.images, keys[1], NOISE))
    target, test = digits.part(other, 0, x.target), digits.part(other, x.target)
    if not is_answered:
        target = digits.shuffled(target, keys[6])
    sources = _sources(digits.part(every, 0, x.source), keys[2])
    steps = jnp.where(jnp.arange(len(SOURCES)) == NONE, 0, x.steps)
    if all_the_same:
        first = jax.tree.map(lambda leaf: leaf[SAME], sources)
        sources = jax.tree.map(
            lambda leaf: jnp.broadcast_to(leaf, (len(SOURCES), *leaf.shape)), first
        )
        steps = jnp.full_like(steps, x.steps)
    widths = (digits.pixels(), x.width, x.width, digits.CLASSES)
    scratch, fresh = (digits.initialised(k, widths) for k in keys[3:5])
    goal = section_6.task(target.images, target.labels < digits.HALF)

    def of_source(both: tuple[_Sources, Array]) -> Transferred:
        source, count = both
        ready = digits.trained(scratch, source.task, count)
        starts = (ready, digits.with_head_of(ready, fresh))
        ends = [digits.trained(start, target, x.steps, RATE) for start in starts]
        moved = (digits.deviation(e, s, x.target) for e, s in zip(ends, starts, strict=True))
        few = section_6.task(source.task.images[: x.few], source.is_positive[: x.few])
        wide = section_6.pretrained(section_6.untrained(keys[5], x.wide, few), few, count)
        distances = section_6.distances(wide, goal, x.steps, x.steps)
        return Transferred(
            jnp.stack([1 - digits.error(end, test) for end in ends]),
            jnp.stack(list(moved)),
            *section_6.mismatches(wide, goal),
            *(path[-1] for path in distances),
        )

    found = jax.lax.map(of_source, (sources, steps))
    return found._replace(accuracy=found.accuracy.T, deviation=found.deviation.T)


def simulate(x: claims.Instance, key: Array) -> Transferred:
    """Pretraining on every source, then fine-tuning on the target."""
    return _transferred(x, key)


def from_the_same_source(x: claims.Instance, key: Array) -> Transferred:
    """The null in which all sources, none too, are the same."""
    return _transferred(x, key, all_the_same=True)


def without_a_task(x: claims.Instance, key: Array) -> Transferred:
    """The null in which the labels of the target are dealt out anew."""
    return _transferred(x, key, is_answered=False)


def of_the_next(found: Transferred) -> Transferred:
    """The same with the predictions of the next source for each one."""
    return found._replace(
        predicted_mismatch=jnp.roll(found.predicted_mismatch, -1, axis=-1),
        predicted_distance=jnp.roll(found.predicted_distance, -1, axis=-1),
    )
