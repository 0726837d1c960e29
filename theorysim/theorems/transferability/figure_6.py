"""How far a step along the gradient changes the loss, from pretrained weights and from random ones.

Figure 6 of Liu et al. (2019): at every step of training, the largest change of the loss along the
gradient, up to a step as long as it, from random weights (left) and from pretrained ones (right).
Here a small network learns digits 5 to 9, from random weights and from weights that learned digits
0 to 4, or digits 5 to 9 in other images; a plain one, and one with batch normalisation as the
paper's, of which alone, after other digits and with a new head, its words are taken. By Theorem 1
pretraining lowers gradients only where the tasks are similar.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.transferability import _digits as digits
from theorysim.theorems.transferability import _digits_starts as starts

POINTS = 21
"""along the gradient, its start included"""
RECORDS = 30


class Variation(NamedTuple):
    """Along training, from every start: the loss, and its largest change along the gradient."""

    loss: Float[Array, "kind start step"]
    variation: Float[Array, "kind start step"]


def axes(x: claims.Instance) -> dict[str, object]:
    """Kinds and starts in words, steps of training by their numbers."""
    return {
        "kind": digits.KINDS,
        "start": starts.STARTS,
        "step": x.every * np.arange(RECORDS + 1),
    }


def variation(network: digits.Network, task: digits.Task) -> Float[Array, ""]:
    """max |L(W - s grad L) - L(W)| over s from 0 to 1."""
    here, slope = jax.value_and_grad(digits.loss)(network, task)

    def at(share: Array) -> Array:
        return digits.loss(jax.tree.map(lambda w, g: w - share * g, network, slope), task)

    return jnp.max(jnp.abs(jax.vmap(at)(jnp.linspace(0, 1, POINTS)) - here))


def _of_kind(x: claims.Instance, key: Array, is_normalised: bool, null: starts.Null) -> Variation:
    steps = x.every * RECORDS
    data = starts.drawn(x, key, (x.width, x.width), is_normalised, null, steps)

    def record(network: digits.Network) -> tuple[Array, Array]:
        return digits.loss(network, data.task), variation(network, data.task)

    def of_start(start: digits.Network) -> tuple[Array, Array]:
        return digits.path(start, data.task, steps, x.every, record)

    return Variation(*jax.lax.map(of_start, data.starts))


def simulate(x: claims.Instance, key: Array) -> Variation:
    """Training from all starts."""
    return starts.of_both_kinds(_of_kind, x, key, starts.Null())


def random_starts(x: claims.Instance, key: Array) -> Variation:
    """The null in which all starts are random."""
    return starts.of_both_kinds(_of_kind, x, key, starts.Null(is_pretrained=False))


def from_shuffled_labels(x: claims.Instance, key: Array) -> Variation:
    """The null in which the labels of the sources are dealt out anew."""
    return starts.of_both_kinds(_of_kind, x, key, starts.Null(has_labels=False))


def _smaller(kind: int, start: int) -> tuple[claims.Claim, ...]:
    name, printed = starts.name(kind, start), starts.is_printed(kind, start)
    return (
        claims.on_average(
            f"{name}: smaller at the start",
            lambda r: r.sim.variation[:, kind, start, 0],
            lambda r: r.sim.variation[:, kind, 0, 0],
            printed=printed,
        ),
        claims.on_average(
            f"{name}: smaller along training",
            lambda r: jnp.mean(r.sim.variation[:, kind, start, 1:], axis=-1),
            lambda r: jnp.mean(r.sim.variation[:, kind, 0, 1:], axis=-1),
            statement="on average over the records after the start",
            printed=printed,
        ),
    )


theorem = claims.Experiment(
    space=claims.Space(
        **starts.SIZES,
        width=claims.Size(64, low=8),
        every=claims.Size(10, low=1),
    ),
    simulate=simulate,
    claims=starts.for_each(_smaller),
    source=claims.Printed(
        "Figure 6",
        "The variation of pretrained networks is substantially smaller than the randomly "
        "initialized one, implying a more desirable loss landscape and more stable optimization.",
    ),
    note="small networks on digits, for ResNet-50, which is normalised and has a new head",
    mutants=(
        claims.Mutant("all starts are random", simulate=random_starts),
        claims.Mutant("pretraining on shuffled labels", simulate=from_shuffled_labels),
    ),
    data=("digits",),
    axes=axes,
)
