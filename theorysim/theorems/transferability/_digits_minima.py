"""The loss about the ends and about the starts of training: what Figures 3 and 5 look at.

Digits 5 to 9 are learned from random and from pretrained weights until the training loss is the
same, by plain networks, and by networks with batch normalisation as those of the paper.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int

from theorysim import claims
from theorysim.numerics.spectra import top_hessian_eigenvalues
from theorysim.theorems.transferability import _digits as digits
from theorysim.theorems.transferability import _digits_starts as starts

LEVEL = 0.02
"""nats, where training ends"""
RADII = tuple(k / 8 for k in range(1, 9))
"""lengths of steps, as shares of the lengths of filters"""
GRID, APART = 100, 0.1
"""points on either side of the start, and from each to the next, in lengths of the gradient: as in
print, where they fill planes; here they lie on lines"""
LINES = 8
"""of the directions"""

SPACE = claims.Space(
    **starts.SIZES,
    first=claims.Size(24, low=4),
    second=claims.Size(16, low=4),
    steps=claims.Size(400, low=20, high=10_000),
    most=claims.Size(4000, low=50, high=100_000),
    ranks=claims.Size(20, low=2, high=200),
    products=claims.Size(120, low=20, high=1000),
    directions=claims.Size(32, low=2),
)


class Landscape(NamedTuple):
    """Of all starts, in nats; `steps` are those until the loss is at its level."""

    steps: Float[Array, "kind start"]
    spectrum: Float[Array, "kind start rank"]
    """of the Hessian of the training loss at the end, the largest first"""
    error: Float[Array, "kind start"]
    """on images that were not trained on"""
    rise: Float[Array, "kind start radius"]
    """of the loss about the end, in random directions of all layers, on average"""
    change: Float[Array, "kind start radius"]
    """|change of the loss| about the start, in directions of the middle layer, on average"""
    next_change: Float[Array, "kind start"]
    """the same from each point of the printed grid to the next one"""


def axes(x: claims.Instance) -> dict[str, object]:
    """Kinds and starts in words, eigenvalues by ranks, radii in lengths of filters."""
    return {
        "kind": digits.KINDS,
        "start": starts.STARTS,
        "rank": 1 + np.arange(x.ranks),
        "radius": np.asarray(RADII),
    }


def until(
    start: digits.Network, task: digits.Task, level: float, most: int
) -> tuple[digits.Network, Int[Array, ""]]:
    """The first network of a run whose loss is at most the level, and its step, at most `most`."""
    descent = digits.optimiser()
    value = jax.value_and_grad(digits.loss)

    def goes_on(state: tuple) -> Array:
        _, (height, _), _, step = state
        return (height > level) & (step < most)

    def step(state: tuple) -> tuple:
        network, (_, slope), memory, count = state
        updates, memory = descent.update(slope, memory)
        network = optax.apply_updates(network, updates)
        return network, value(network, task), memory, count + 1

    memory = descent.init(start)  # type: ignore[arg-type]
    begin = (start, value(start, task), memory, jnp.asarray(0))
    network, _, _, count = jax.lax.while_loop(goes_on, step, begin)
    return network, count


def direction(network: digits.Network, draw: Float[Array, " n"]) -> digits.Network:
    """Normal numbers, scaled so that every filter is as long as the network's; none on biases."""
    ends = np.cumsum([weight.size for weight in network.weights])
    parts = jnp.split(draw, ends[:-1])

    def scaled(weight: Array, part: Array) -> Array:
        rows = part.reshape(weight.shape)
        lengths = [jnp.linalg.norm(matrix, axis=1, keepdims=True) for matrix in (weight, rows)]
        return rows * (lengths[0] / lengths[1])

    along = tuple(map(scaled, network.weights, parts))
    biases = tuple(map(jnp.zeros_like, network.biases))
    return eqx.tree_at(lambda n: (n.weights, n.biases), network, (along, biases))


def changes(
    network: digits.Network, task: digits.Task, directions: Any
) -> Float[Array, "directions radius"]:
    """The loss at every radius in every direction, minus that of the network."""

    def at(along: digits.Network, radius: Array) -> Array:
        moved = jax.tree.map(lambda a, b: a + radius * b, network, along)
        return digits.loss(moved, task)

    radii = jnp.asarray(RADII, jnp.float32)
    heights = jax.lax.map(lambda along: jax.vmap(lambda r: at(along, r))(radii), directions)
    return heights - digits.loss(network, task)


def middle_alone(along: digits.Network) -> digits.Network:
    """A direction that leaves all layers but the middle one."""
    middle = len(along.weights) // 2
    kept = tuple(w if k == middle else jnp.zeros_like(w) for k, w in enumerate(along.weights))
    return eqx.tree_at(lambda n: n.weights, along, kept)


def changes_to_the_next(
    network: digits.Network, task: digits.Task, directions: Any
) -> Float[Array, "directions"]:
    """The mean |change of the loss| between neighbours of the printed grid, in every direction.

    Directions are of the middle layer; they give way to steps as long as a tenth of its gradient.
    """
    slope = jax.grad(digits.loss)(network, task).weights[len(network.weights) // 2]
    places = APART * jnp.linalg.norm(slope) * jnp.arange(-GRID, GRID + 1)

    def of_line(along: digits.Network) -> Array:
        length = optax.tree.norm(along)

        def at(place: Array) -> Array:
            moved = jax.tree.map(lambda a, b: a + place / length * b, network, along)
            return digits.loss(moved, task)

        return jnp.mean(jnp.abs(jnp.diff(jax.vmap(at)(places))))

    return jax.lax.map(of_line, directions)


def _of_kind(x: claims.Instance, key: Array, is_normalised: bool, null: starts.Null) -> Landscape:
    for_starts, for_products, for_draws = jax.random.split(key, 3)
    hidden = (x.first, x.second)
    data = starts.drawn(x, for_starts, hidden, is_normalised, null, x.steps)
    size = sum(weight[0].size for weight in data.starts.weights)
    draws = jax.random.normal(for_draws, (x.directions, size))

    def of_start(start: digits.Network) -> Landscape:
        end, count = until(start, data.task, LEVEL, x.most)
        spectrum = top_hessian_eigenvalues(
            lambda network: digits.loss(network, data.task),
            end,
            x.ranks,
            iterations=x.products,
            key=for_products,
        ).eigenvalues
        about_end = jax.vmap(lambda draw: direction(end, draw))(draws)
        about_start = jax.vmap(lambda draw: middle_alone(direction(start, draw)))(draws)
        lines = jax.tree.map(lambda leaf: leaf[:LINES], about_start)
        return Landscape(
            count.astype(spectrum.dtype),
            spectrum,
            digits.error(end, data.test),
            jnp.mean(changes(end, data.task, about_end), axis=0),
            jnp.mean(jnp.abs(changes(start, data.task, about_start)), axis=0),
            jnp.mean(changes_to_the_next(start, data.task, lines)),
        )

    return jax.lax.map(of_start, data.starts)


def simulate(x: claims.Instance, key: Array) -> Landscape:
    """Training from all starts, and the loss about them and about the ends."""
    return starts.of_both_kinds(_of_kind, x, key, starts.Null())


def random_starts(x: claims.Instance, key: Array) -> Landscape:
    """The null in which all starts are random."""
    return starts.of_both_kinds(_of_kind, x, key, starts.Null(is_pretrained=False))


def from_shuffled_labels(x: claims.Instance, key: Array) -> Landscape:
    """The null in which the labels of the sources are dealt out anew."""
    return starts.of_both_kinds(_of_kind, x, key, starts.Null(has_labels=False))


SETTING: dict[str, Any] = {
    "space": SPACE,
    "simulate": simulate,
    "mutants": (
        claims.Mutant("all starts are random", simulate=random_starts),
        claims.Mutant("pretraining on shuffled labels", simulate=from_shuffled_labels),
    ),
    "note": "small networks on digits, for ResNet-50",
    "data": ("digits",),
    "axes": axes,
}
"""what experiments on these landscapes have in common"""
