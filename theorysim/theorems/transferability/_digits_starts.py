"""Random and pretrained weights, from which digits 5 to 9 are learned: for Figures 3, 5, 6 and 7.

Pretraining is on digits 0 to 4, or on other images of digits 5 to 9, from the layers of the random
start. Heads are new, the same one for all, but for the last start, which keeps that of pretraining.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array

from theorysim import claims
from theorysim.theorems.transferability import _digits as digits

Result = TypeVar("Result")

STARTS = ("random", "other digits", "same digits", "same digits, old head")
PRETRAINED = range(1, len(STARTS))
OLD_HEAD = len(STARTS) - 1

SIZES = {
    "source": claims.Size(500, low=50, high=600),
    "target": claims.Size(200, low=20, high=200),
}


def is_printed(kind: int, start: int) -> bool:
    """Whether the paper has such networks: normalised ones with a new head, for another data set.

    The other kinds and starts are ours, beside them.
    """
    return (digits.KINDS[kind], STARTS[start]) == ("batch norm", "other digits")


def for_each(claims_of: Callable[[int, int], tuple[claims.Claim, ...]]) -> tuple[claims.Claim, ...]:
    """The claims on both kinds of networks and all pretrained starts."""
    pairs = ((kind, start) for kind in range(len(digits.KINDS)) for start in PRETRAINED)
    return tuple(claim for pair in pairs for claim in claims_of(*pair))


class Drawn(NamedTuple):
    """The starts, stacked, and the target: images to learn, and others."""

    starts: digits.Network
    task: digits.Task
    test: digits.Task


class Null(NamedTuple):
    """What is taken from an experiment, if anything."""

    is_pretrained: bool = True
    has_labels: bool = True
    is_normalised: bool = True


def drawn(
    x: claims.Instance,
    key: Array,
    hidden: tuple[int, ...],
    is_normalised: bool,
    null: Null,
    steps: int,
    rate: float = digits.RATE,
) -> Drawn:
    """Data and starts of one run; without pretraining, those after it are random, too."""
    keys = jax.random.split(key, 6)
    high = digits.drawn(keys[0], low=digits.HALF)
    other = digits.part(digits.drawn(keys[1], high=digits.HALF), 0, x.source)
    same = digits.part(high, x.target, x.source)
    sources = jax.tree.map(lambda *leaves: jnp.stack(leaves), other, same)
    if not null.has_labels:
        sources = digits.shuffled(sources, keys[2])
    widths = (digits.pixels(), *hidden, digits.HALF)
    random, fresh, stranger = (digits.initialised(k, widths, is_normalised) for k in keys[3:])
    before, count = (random, steps) if null.is_pretrained else (stranger, 0)
    tuned = jax.lax.map(lambda source: digits.trained(before, source, count, rate), sources)
    first, second = (jax.tree.map(lambda leaf, k=k: leaf[k], tuned) for k in (0, 1))
    # The head with which pretraining began is not new: the layers have learned to serve it.
    every = (*(digits.with_head_of(n, fresh) for n in (random, first, second)), second)
    return Drawn(
        jax.tree.map(lambda *leaves: jnp.stack(leaves), *every),
        digits.part(high, 0, x.target),
        digits.part(high, x.target + x.source),
    )


def of_both_kinds(
    of_kind: Callable[..., Result], x: claims.Instance, key: Array, null: Null
) -> Result:
    """`of_kind(x, key, is_normalised, null)` of plain networks and of normalised ones, stacked."""
    kinds = [of_kind(x, key, flag, null) for flag in (False, null.is_normalised)]
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *kinds)


def name(kind: int, start: int) -> str:
    """What a claim calls them."""
    return f"{digits.KINDS[kind]}, {STARTS[start]}"
