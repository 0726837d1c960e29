"""Gradients going back through the layers of pretrained networks and of random ones.

Figure 7 of Liu et al. (2019): the size of entries of the gradient in a middle layer (a, b), the
projections of weights on the singular vectors of the gradient (c), and the size of the gradient in
every layer (d): those of random networks are said to grow, those of pretrained ones to be stable,
for their weights shrink the leading singular vectors. Here a deep narrow network of He's
initialisation meets digits 5 to 9, random, or after it learned digits 0 to 4, or digits 5 to 9 in
other images; a plain one, and one with batch normalisation as the paper's, of which alone, after
other digits and with a new head, its words are taken. Gradients are those in the activations of all
images together, for which dL/dx^(k-1) = W_k 1 (dL/dx^k). Singular values are called large as far as
the gradient in the logits has any: one less than there are classes. Pretraining with the old head
has solved the task already where its digits are the same: its gradients are small for that reason,
too.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.transferability import _digits as digits
from theorysim.theorems.transferability import _digits_starts as starts
from theorysim.theorems.transferability._digits_seen import seen

SHARES = tuple(k / 20 for k in range(1, 20))
RATE = 0.02
"""of pretraining: deep networks need a smaller one"""
LARGE = digits.HALF - 1
"""singular values of the gradient in the logits, whose sum over the classes is zero"""


class Gradients(NamedTuple):
    """Of the loss in the activations, for every start."""

    size: Float[Array, "kind start layer"]
    """Frobenius norm of dL/dx^k over all images"""
    quantile: Float[Array, "kind start share"]
    """of the entries of |dL/dx^k| in the middle layer"""
    projection: Float[Array, "kind start component"]
    """|W_k v_i| sqrt(units) / |W_k|_F, v_i the singular vectors of what W_k meets: mean over k"""


def axes(x: claims.Instance) -> dict[str, object]:
    """Kinds and starts in words, layers and singular vectors from 1 on, quantiles by shares."""
    return {
        "kind": digits.KINDS,
        "start": starts.STARTS,
        "layer": 1 + np.arange(x.layers),
        "share": np.asarray(SHARES),
        "component": 1 + np.arange(x.components),
    }


def gradients(network: digits.Network, task: digits.Task) -> list[digits.Layer]:
    """The derivatives of the loss in what every layer receives and gives, the head last."""
    shapes = jax.eval_shape(network.layers, task.images)
    nothing = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape), shapes)

    def shifted(offsets: list[digits.Layer]) -> Array:
        logits = network.layers(task.images, offsets)[-1].given
        return digits.cross_entropy(logits, task.labels)

    return jax.grad(shifted)(nothing)


def projections(
    weight: Float[Array, "units fan"], slope: Float[Array, "n units"], count: int
) -> Float[Array, " count"]:
    """|W v_i| sqrt(units) / |W|_F, v_i the leading right singular vectors: 1 for a random W."""
    vectors = jnp.linalg.svd(slope, full_matrices=False)[2][:count]
    lengths = jnp.linalg.norm(vectors @ weight, axis=1)
    return lengths * jnp.sqrt(float(len(weight))) / jnp.linalg.norm(weight)


def _observed(network: digits.Network, task: digits.Task, count: int) -> Gradients:
    slopes = gradients(network, task)[:-1]
    middle = jnp.abs(slopes[len(slopes) // 2].given)
    inner = zip(network.weights[1:], slopes[1:], strict=False)
    return Gradients(
        jnp.stack([jnp.linalg.norm(slope.given) for slope in slopes]),
        jnp.quantile(middle, jnp.asarray(SHARES, jnp.float32)),
        jnp.mean(jnp.stack([projections(w, s.received, count) for w, s in inner]), axis=0),
    )


def _of_kind(x: claims.Instance, key: Array, is_normalised: bool, null: starts.Null) -> Gradients:
    hidden = (x.width,) * x.layers
    data = starts.drawn(x, key, hidden, is_normalised, null, x.steps, RATE)
    return jax.lax.map(lambda start: _observed(start, data.task, x.components), data.starts)


def simulate(x: claims.Instance, key: Array) -> Gradients:
    """The gradients of all starts, before they learn the target."""
    return starts.of_both_kinds(_of_kind, x, key, starts.Null())


def random_starts(x: claims.Instance, key: Array) -> Gradients:
    """The null in which all starts are random."""
    return starts.of_both_kinds(_of_kind, x, key, starts.Null(is_pretrained=False))


def from_shuffled_labels(x: claims.Instance, key: Array) -> Gradients:
    """The null in which the labels of the sources are dealt out anew."""
    return starts.of_both_kinds(_of_kind, x, key, starts.Null(has_labels=False))


def without_normalisation(x: claims.Instance, key: Array) -> Gradients:
    """The null in which both kinds of networks are plain."""
    return starts.of_both_kinds(_of_kind, x, key, starts.Null(is_normalised=False))


def from_the_other_end(found: Gradients) -> Gradients:
    """The same with layers counted from the head."""
    return found._replace(size=found.size[..., ::-1])


def _growth(r: claims.Run, kind: int, start: int) -> Float[Array, " run"]:
    """log of the size of the gradient in the first hidden layer over that in the last."""
    return jnp.log(r.sim.size[:, kind, start, 0] / r.sim.size[:, kind, start, -1])


def _of_random(kind: int) -> claims.Claim:
    return claims.on_average(
        f"(d) {digits.KINDS[kind]}: gradients of random weights grow towards the first layer",
        lambda r: 0.0,
        lambda r: _growth(r, kind, 0),
        printed=digits.KINDS[kind] == "batch norm",
    )


def _of_start(kind: int, start: int) -> tuple[claims.Claim, ...]:
    name, printed = starts.name(kind, start), starts.is_printed(kind, start)
    return (
        claims.on_average(
            f"(a, b) {name}: gradients in the middle layer are smaller",
            lambda r: jnp.mean(r.sim.quantile[:, kind, start], axis=-1),
            lambda r: jnp.mean(r.sim.quantile[:, kind, 0], axis=-1),
            printed=printed,
        ),
        claims.on_average(
            f"(c) {name}: the weights shrink the first singular vectors",
            lambda r: r.sim.projection[:, kind, start, :LARGE],
            lambda r: r.sim.projection[:, kind, 0, :LARGE],
            statement="each of those with large singular values",
            printed=printed,
        ),
        claims.on_average(
            f"(d) {name}: gradients are more stable than of random weights",
            lambda r: jnp.abs(_growth(r, kind, start)),
            lambda r: jnp.abs(_growth(r, kind, 0)),
            printed=printed,
        ),
    )


OF_RANDOM = tuple(map(_of_random, range(len(digits.KINDS))))
OF_STARTS = starts.for_each(_of_start)
# With the head of pretraining the task is solved already: gradients are small in plain networks,
# too, and say nothing of normalisation.
SOLVED = f"(a, b) {starts.name(1, starts.OLD_HEAD)}"
NORMALISED = tuple(
    name
    for name in digits.names_of((*OF_RANDOM, *OF_STARTS))
    if f" {digits.KINDS[1]}" in name and not name.startswith(SOLVED)
)

theorem = claims.Experiment(
    space=claims.Space(
        **starts.SIZES,
        width=claims.Size(48, low=8),
        layers=claims.Size(8, low=3, high=64),
        components=claims.Size(10, low=2, high=100),
        steps=claims.Size(600, low=20, high=10_000),
    ),
    simulate=simulate,
    claims=(*OF_RANDOM, *OF_STARTS),
    source=claims.Printed(
        "Figure 7 and Section 4",
        "the singular vectors of the gradient with large singular values are shrunk in the weight "
        "matrices. [...] The gradient of randomly initialized networks grows fast with layer "
        "numbers during back-propagation while the gradient of ImageNet pretrained networks "
        "remains stable.",
    ),
    note="deep narrow networks on digits, for ResNet-50, which is normalised and has a new head",
    mutants=(
        claims.Mutant(
            "all starts are random", simulate=random_starts, breaks=digits.names_of(OF_STARTS)
        ),
        claims.Mutant(
            "pretraining on shuffled labels",
            simulate=from_shuffled_labels,
            breaks=digits.names_of(OF_STARTS),
        ),
        claims.Mutant("both kinds are plain", simulate=without_normalisation, breaks=NORMALISED),
        claims.Mutant(
            "layers are counted from the head", claims=seen(OF_RANDOM, from_the_other_end)
        ),
    ),
    data=("digits",),
    axes=axes,
)
