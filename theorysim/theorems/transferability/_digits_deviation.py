"""How far fine-tuning moves from pretraining, for five targets: what Table 1 and Figure 2 look at.

Pretraining on digits 0 to 4. The targets, from similar to different: other images of them, digits
5 to 9, and these in negative, upside down and with pixels permuted; all with a new head. Either the
head alone is trained ("fixed"), or the whole network. A network of Section 6 learns whether digits
are even, in the same images of the target, and in as many of the source.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import two_layer_relu as relu
from theorysim.theorems.transferability import _digits as digits
from theorysim.theorems.transferability import _digits_section_6 as section_6

TARGETS = ("0 to 4", "5 to 9", "negative", "upside down", "permuted")
SETTINGS = ("fixed", "fine-tuned")
PARTS = 8
"""of the training, between which deviations are recorded: a power of two, for doublings"""

SPACE = claims.Space(
    source=claims.Size(500, low=50, high=600),
    target=claims.Size(100, low=20, high=200),
    width=claims.Size(64, low=8),
    wide=claims.Size(512, low=16, high=16384),
    parts=claims.Size(50, low=2, high=1000),
)
PAPER_SIZES = {"width": 512}
"""in print that of the hidden layer of a classifier with batch normalisation on frozen features;
here heads are linear, and it is that of all hidden layers"""


class Transferred(NamedTuple):
    """Of every target."""

    train_error: Float[Array, "setting target"]
    error: Float[Array, "setting target"]
    """on images that were not trained on"""
    scratch_error: Float[Array, "setting target"]
    """the same without pretraining, from the weights with which it begins"""
    deviation: Float[Array, "setting target step"]
    distance: Float[Array, "target step"]
    """|W_Q(k) - W(P)| of the network of Section 6"""
    predicted: Float[Array, "target step"]
    """the same at infinite width"""


def steps(x: claims.Instance) -> int:
    """Of pretraining and of fine-tuning."""
    return PARTS * x.parts


def axes(x: claims.Instance) -> dict[str, object]:
    """Settings and targets in words, steps by their numbers."""
    return {"setting": SETTINGS, "target": TARGETS, "step": x.parts * np.arange(PARTS + 1)}


def work(x: claims.Instance) -> float:
    """Multiplications, forwards and twice as many backwards."""
    inputs = digits.pixels()
    deep = (inputs + x.width + digits.HALF) * x.width
    samples = x.source + 2 * len(TARGETS) * x.target  # with pretraining and without
    return 3.0 * steps(x) * (samples * deep + (len(TARGETS) + 1) * x.target * inputs * x.wide)


class Drawn(NamedTuple):
    """The data of one run: the source, and the targets for training and for testing."""

    source: digits.Task
    target: digits.Task
    test: digits.Task


def drawn(x: claims.Instance, key: Array) -> Drawn:
    """A draw of all of them; no image is in two of them, but for the kinds of the same image."""
    low, high, order = jax.random.split(key, 3)
    first = digits.drawn(low, high=digits.HALF)
    second = digits.drawn(high, low=digits.HALF)
    rest = digits.part(first, x.source)
    count = min(len(rest.labels), len(second.labels))
    kinds = (
        rest,
        second,
        second._replace(images=1 - second.images),
        second._replace(images=digits.upside_down(second.images)),
        second._replace(images=digits.permuted(second.images, order)),
    )
    every = digits.Task(
        *(jnp.stack([leaf[:count] for leaf in leaves]) for leaves in zip(*kinds, strict=True))
    )
    return Drawn(
        digits.part(first, 0, x.source),
        jax.tree.map(lambda leaf: leaf[:, : x.target], every),
        jax.tree.map(lambda leaf: leaf[:, x.target :], every),
    )


def _head_alone(
    start: digits.Network, task: digits.Task, test: digits.Task, x: claims.Instance, rate: float
) -> tuple[Array, Array, Array]:
    """Errors and deviations of a head on features that stay."""
    features, tested = (start.layers(t.images)[-2].given for t in (task, test))
    head = digits.only_head(start)
    return _whole(head, task._replace(images=features), test._replace(images=tested), x, rate)


def _whole(
    start: digits.Network, task: digits.Task, test: digits.Task, x: claims.Instance, rate: float
) -> tuple[Array, Array, Array]:
    """Errors and deviations where all layers are trained."""

    def record(network: digits.Network) -> tuple[Array, Array, Array]:
        return (
            digits.error(network, task),
            digits.error(network, test),
            digits.deviation(network, start, x.target),
        )

    fitted, tested, moved = digits.path(start, task, steps(x), x.parts, record, rate)
    return fitted[-1], tested[-1], moved


def _transferred(
    x: claims.Instance,
    key: Array,
    *,
    is_pretrained: bool = True,
    with_answers: bool = True,
    from_last_target: bool = False,
    rate: float = digits.RATE,
) -> Transferred:
    for_data, for_start, for_head, for_wide = jax.random.split(key, 4)
    data = drawn(x, for_data)
    if not with_answers:
        data = data._replace(test=digits.shuffled(data.test, for_data))
    widths = (digits.pixels(), x.width, x.width, digits.HALF)
    source = jax.tree.map(lambda leaf: leaf[-1], data.test) if from_last_target else data.source
    count = steps(x) if is_pretrained else 0
    random, head = (digits.initialised(k, widths) for k in (for_start, for_head))
    before = digits.trained(random, source, count)

    def of_all_targets(start: digits.Network) -> tuple:
        ready = digits.with_head_of(start, head)

        def of_target(both: tuple[digits.Task, digits.Task]) -> tuple:
            runs = (train(ready, *both, x, rate) for train in (_head_alone, _whole))
            return tuple(jnp.stack(pair) for pair in zip(*runs, strict=True))

        return jax.lax.map(of_target, (data.target, data.test))

    fitted, tested, moved = of_all_targets(before)
    _, from_scratch, _ = of_all_targets(random)
    few = digits.part(source, 0, x.target)
    even = _parity(few, from_last_target)
    wide = section_6.pretrained(section_6.untrained(for_wide, x.wide, even), even, count)
    is_high = jnp.arange(len(TARGETS)) > 0
    distances = jax.lax.map(
        lambda both: section_6.distances(wide, _parity(*both), steps(x), x.parts),
        (data.target, is_high),
    )
    return Transferred(
        fitted.T,
        tested.T,
        from_scratch.T,
        jnp.swapaxes(moved, 0, 1),
        distances.measured,
        distances.predicted,
    )


def _parity(task: digits.Task, is_high: bool | Array) -> relu.Task:
    """Even digits against odd ones; classes of the high digits count from 5 on."""
    numbers = task.labels + digits.HALF * jnp.asarray(is_high, int)
    return section_6.task(task.images, numbers % 2 == 0)


def simulate(x: claims.Instance, key: Array) -> Transferred:
    """Pretraining on digits 0 to 4, then all targets."""
    return _transferred(x, key)


def without_pretraining(x: claims.Instance, key: Array) -> Transferred:
    """The null in which every target is learned from random weights."""
    return _transferred(x, key, is_pretrained=False)


def source_like_last_target(x: claims.Instance, key: Array) -> Transferred:
    """The null whose source are digits 5 to 9 with permuted pixels, as the last target."""
    return _transferred(x, key, from_last_target=True)


def without_answers(x: claims.Instance, key: Array) -> Transferred:
    """The null in which the labels of the tests are dealt out anew."""
    return _transferred(x, key, with_answers=False)


def hardly_trained(x: claims.Instance, key: Array) -> Transferred:
    """The null with so small a rate that fine-tuning has hardly begun when it ends."""
    return _transferred(x, key, rate=1e-4 * digits.RATE)


def backwards(found: Transferred) -> Transferred:
    """The same with deviations in the contrary order of time."""
    return found._replace(deviation=found.deviation[..., ::-1])


def of_the_next(found: Transferred) -> Transferred:
    """The same with the deviations and predictions of the next target for each one."""
    return found._replace(
        deviation=jnp.roll(found.deviation, -1, axis=-2),
        predicted=jnp.roll(found.predicted, -1, axis=-2),
    )


SETTING: dict[str, Any] = {
    "space": SPACE,
    "simulate": simulate,
    "note": "small networks on digits, for ResNet-50 on ImageNet",
    "data": ("digits",),
    "axes": axes,
    "work": work,
    "paper_sizes": PAPER_SIZES,
}
"""what experiments on these targets have in common"""
