"""In seven layers the target's norm harms much more than the source's, with enough samples.

Figure 2b of Shachaf et al. (2021): teachers whose directions are 0.1 apart; one of them is alpha
long, the other 1. Neither the number of samples nor the dimension is in the main text: from d / 10
to 3 d / 4 samples are tried, each number with claims of its own. "Much more" is read as twice.
Networks are pretrained and fine-tuned by gradient descent of all matrices, on normal inputs; beside
them stand Eq. 5 at depth 7 and Eq. 7, that of infinite depth, which forgets the source's norm.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import deep_linear_limit as deep_limit
from theorysim.systems import deep_linear_network as network
from theorysim.theorems.linear_teachers import _deep_descent as deep
from theorysim.theorems.linear_teachers import _growing_samples as samples

DEPTH, FACTORS, SHARES = 7, (1.0, 2.0, 4.0, 8.0), (0.1, 0.3, 0.5, 0.75)
ANGLE, MUCH = 0.1, 2.0


class Risks(NamedTuple):
    """Population risks for inputs N(0, I), by which teacher is scaled: the source, the target."""

    risk: Float[Array, "scaled share factor"]
    predicted: Float[Array, "scaled share factor"]
    infinite: Float[Array, "scaled share factor"]


def _teachers(x: claims.Instance, key: Array) -> tuple[Array, Array]:
    """theta_S and theta_T, by which one is scaled and by the factor."""
    for_source, for_other = jax.random.split(key)
    source = samples.unit(for_source, x.d)
    apart = samples.unit(for_other, x.d)
    apart = apart - jnp.sum(apart * source) * source
    # The chord of this length between unit vectors.
    half = 2 * jnp.arcsin(ANGLE / 2)
    target = jnp.cos(half) * source + jnp.sin(half) * apart / jnp.linalg.norm(apart)
    lengths, ones = jnp.asarray(FACTORS)[:, None], jnp.ones((len(FACTORS), 1))
    sources = jnp.stack([lengths * source, ones * source])
    return sources, jnp.stack([ones * target, lengths * target])


def _trained(
    x: claims.Instance, key: Array, depth: int = DEPTH, handed_over=lambda layers: layers
) -> Risks:
    for_teachers, for_rows, for_layers = jax.random.split(key, 3)
    sources, targets = _teachers(x, for_teachers)
    counts = samples.counts(x, SHARES)
    every = jax.random.normal(for_rows, (counts[-1], x.d))

    def of_pair(source: Float[Array, "d"], target: Float[Array, "d"]) -> Risks:
        layers = handed_over(deep.pretrained(for_layers, depth, source, x.steps))

        def with_rows(rows: Float[Array, "n d"]) -> Risks:
            ends = (
                network.end_to_end(deep.descend(layers, rows, target, x.steps)),
                deep_limit.limit(rows, source, target, depth),
                deep_limit.infinite_depth_limit(rows, source, target),
            )
            return Risks(*(deep.risk(end, target) for end in ends))

        return jax.tree.map(lambda *each: jnp.stack(each), *(with_rows(every[:n]) for n in counts))

    found = jax.vmap(jax.vmap(of_pair))(sources, targets)
    return jax.tree.map(lambda each: jnp.swapaxes(each, 1, 2), found)


def simulate(x: claims.Instance, key: Array) -> Risks:
    """Seven layers, pretrained on every source, fine-tuned towards its target."""
    return _trained(x, key)


def of_one_layer(x: claims.Instance, key: Array) -> Risks:
    """The null of a single layer, to which the scales of both teachers are alike."""
    return _trained(x, key, depth=1)


def from_unbalanced_layers(x: claims.Instance, key: Array) -> Risks:
    """The null in which the pretrained layers are of unequal size, with the same product."""
    return _trained(x, key, handed_over=deep.unbalanced)


def _harms(place: int, many: str) -> tuple[claims.Claim, claims.Claim]:
    def scaled(r: claims.Run, which: int) -> Float[Array, "run factor"]:
        return r.sim.risk[:, which, place, 1:]

    return (
        claims.on_average(
            f"with {many} samples: the target's norm harms more",
            lambda r: scaled(r, 0),
            lambda r: scaled(r, 1),
            statement="E R with alpha theta_S below that with alpha theta_T, alpha = 2, 4, 8",
        ),
        claims.on_average(
            f"with {many} samples: much more",
            lambda r: MUCH * scaled(r, 0),
            lambda r: scaled(r, 1),
            statement="twice E R with alpha theta_S below E R with alpha theta_T, alpha = 2, 4, 8",
        ),
    )


theorem = claims.Experiment(
    space=claims.Space(d=claims.Size(40, low=20), steps=claims.Size(16000, low=500, high=100000)),
    simulate=simulate,
    claims=(
        *_harms(0, "d / 10"),
        *_harms(1, "3 d / 10"),
        *_harms(2, "d / 2"),
        *_harms(3, "3 d / 4"),
        claims.on_average(
            "descent ends where Theorem 5.2 says",
            lambda r: jnp.abs(r.sim.risk / r.sim.predicted - 1),
            lambda r: samples.TWENTIETH,
            statement="E |R / R(Eq. 5) - 1| < 1/20, everywhere",
            printed=False,
        ),
    ),
    source=claims.Printed(
        "Section 5.3, Figure 2b",
        "increasing the norm of the target vector harms generalization much more than increasing "
        "the norm of the source vector, as the theorem predicts, even for a relatively shallow "
        "model",
    ),
    note="d = 40; the number of samples, dimensions, rates and steps are not in the main text",
    mutants=(
        claims.Mutant("a single layer", simulate=of_one_layer),
        claims.Mutant("layers of unequal size", simulate=from_unbalanced_layers),
    ),
    axes=lambda x: {"scaled": ("source", "target"), "share": SHARES, "factor": FACTORS},
)
