"""Depth is said not to matter for teachers of equal norms, and to help where the target is longer.

Figure 2a of Shachaf et al. (2021): theta_T = alpha theta_S + epsilon, where the Gaussian epsilon
has half the norm of theta_S, and d / 10 samples. Dimensions, depths and learning rates are not in
the main text. Here networks of 1 to 7 layers are pretrained and fine-tuned by gradient descent of
all matrices, on normal inputs; Eq. 5 of Theorem 5.2 stands beside them. "No difference" is less
than a twentieth of the risk, which a plot does not tell; larger alpha are 2 and more. Of smaller
ones the paper says nothing.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.copies import copies
from theorysim.systems import deep_linear_limit as deep_limit
from theorysim.systems import deep_linear_network as network
from theorysim.theorems.linear_teachers import _deep_descent as deep
from theorysim.theorems.linear_teachers import _growing_samples as samples

DEPTHS, FACTORS = (1, 2, 3, 5, 7), (0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 10.0)
EQUAL, LARGER = FACTORS.index(1.0), FACTORS.index(2.0)  # the first that is clearly larger than 1
NOISE = 0.5


class Risks(NamedTuple):
    """Population risks for inputs N(0, I): of the trained networks, and by Eq. 5."""

    risk: Float[Array, "depth factor"]
    predicted: Float[Array, "depth factor"]


def _trained(
    x: claims.Instance,
    key: Array,
    depths: tuple[int, ...] = DEPTHS,
    factors: tuple[float, ...] = FACTORS,
    handed_over=lambda layers: layers,
) -> Risks:
    for_source, for_noise, for_rows, for_layers = jax.random.split(key, 4)
    source = samples.unit(for_source, x.d)
    noise = NOISE * jax.random.normal(for_noise, (x.d,)) / jnp.sqrt(x.d)
    teachers = jnp.asarray(factors)[:, None] * source + noise
    rows = jax.random.normal(for_rows, (max(x.d // 10, 1), x.d))

    def of_depth(depth: int) -> Float[Array, "factor"]:
        layers = handed_over(deep.pretrained(for_layers, depth, source, x.steps))

        def at(teacher: Float[Array, "d"]) -> Float[Array, ""]:
            weights = network.end_to_end(deep.descend(layers, rows, teacher, x.steps))
            return deep.risk(weights, teacher)

        return jax.vmap(at)(teachers)

    def predicted(depth: Array, teacher: Float[Array, "d"]) -> Float[Array, ""]:
        return deep.risk(deep_limit.limit(rows, source, teacher, depth), teacher)

    limits = jax.vmap(jax.vmap(predicted, (None, 0)), (0, None))
    return Risks(jnp.stack([*map(of_depth, depths)]), limits(jnp.asarray(depths), teachers))


def simulate(x: claims.Instance, key: Array) -> Risks:
    """Networks of every depth, pretrained once, fine-tuned towards every target."""
    return _trained(x, key)


def of_one_layer(x: claims.Instance, key: Array) -> Risks:
    """The null in which every network has one layer, on samples of its own."""
    return copies(lambda key: _trained(x, key, depths=DEPTHS[:1]), key, len(DEPTHS), axis=0)


def with_equal_norms(x: claims.Instance, key: Array) -> Risks:
    """The null in which every target has alpha = 1, on samples of its own."""
    return copies(
        lambda key: _trained(x, key, factors=FACTORS[EQUAL : EQUAL + 1]), key, len(FACTORS), axis=1
    )


def from_unbalanced_layers(x: claims.Instance, key: Array) -> Risks:
    """The null in which the pretrained layers are of unequal size, with the same product."""
    return _trained(x, key, handed_over=lambda each: deep.unbalanced(each) if each[1:] else each)


def _spread(r: claims.Run, factor: int) -> Float[Array, "run deeper"]:
    """Differences of the deeper networks from one layer, as shares of its risk."""
    risks = r.sim.risk[..., factor]
    return jnp.abs(risks[:, 1:] / risks[:, :1] - 1)


def _deeper(r: claims.Run) -> Float[Array, "run deeper factor"]:
    return r.sim.risk[:, 1:] / r.sim.predicted[:, 1:]


theorem = claims.Experiment(
    space=claims.Space(d=claims.Size(100, low=20), steps=claims.Size(8000, low=500, high=100000)),
    simulate=simulate,
    claims=(
        claims.on_average(
            "alpha = 1: no difference",
            lambda r: _spread(r, EQUAL),
            lambda r: samples.TWENTIETH,
            statement="E |R_L / R_1 - 1| < 1/20 at alpha = 1, at every depth",
        ),
        claims.on_average(
            "larger alpha: adding depth helps",
            lambda r: r.sim.risk[:, 1:, LARGER:],
            lambda r: r.sim.risk[:, :-1, LARGER:],
            statement="E R falls from each depth to the next, at alpha = 2, 3, 5, 8, 10",
        ),
        claims.on_average(
            "descent ends where Theorem 5.2 says",
            lambda r: jnp.abs(_deeper(r) - 1),
            lambda r: samples.TWENTIETH,
            statement="E |R / R(Eq. 5) - 1| < 1/20, at every depth from 2 on and every alpha",
            printed=False,
        ),
    ),
    source=claims.Printed(
        "Section 5.3, Figure 2a",
        "when alpha ~ 1, there is no difference between models of different depth. However, as "
        "alpha increases, adding depth has a positive effect on fine-tuning accuracy",
    ),
    note="d = 100; dimensions, depths, rates and numbers of steps are not in the main text",
    mutants=(
        claims.Mutant(
            "every network has one layer",
            simulate=of_one_layer,
            breaks=("alpha = 1: no difference", "larger alpha: adding depth helps"),
        ),
        claims.Mutant(
            "every target has alpha = 1",
            simulate=with_equal_norms,
            breaks=("larger alpha: adding depth helps",),
        ),
        claims.Mutant("layers of unequal size", simulate=from_unbalanced_layers),
    ),
    axes=lambda x: {"depth": DEPTHS, "factor": FACTORS},
)
