"""Under Gaussian noise the loss rises again from the first feature on that the noise outweighs.

Section 4.2 of Springer et al. (2025), which has no figure of it: the loss L~_pre(t_n) of the linear
network with noise of variance gamma^2 in all entries of both factors, at every stage of a
pre-training on batches. By Proposition 4.3 it rises where 2 d gamma^2 > sigma_n; variances lie
between the features, so that each turns at another stage. Beside it, the closed form at the ideal
stages.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems import two_layer_linear
from theorysim.systems.two_layer_linear import Factors
from theorysim.theorems.overtraining import _network_stages as stages
from theorysim.theorems.overtraining._network import RUNS

DRAWS = 1024

# By which the loss of a real stage, over so many draws, may differ from that of the ideal one.
TENTH = 0.1


class Noisy(NamedTuple):
    """L~_pre at the stages n = 0, ..., d, and its closed form at the ideal ones."""

    loss: Float[Array, "gamma stage"]
    theory: Float[Array, "gamma stage"]


def gammas(x: claims.Instance) -> Float[Array, "gamma"]:
    """Deviations at which 2 d gamma^2 is between two features, or beyond all of them."""
    between = stages.GAP ** (jnp.arange(x.d + 1) - 0.5)
    return jnp.sqrt(between / (2 * x.d))


def _noisy(x: claims.Instance, key: Array, found: stages.Pretrained) -> Noisy:
    target = found.vectors.assembled(stages.features(x))
    shape = (DRAWS, x.d, x.d)
    noise = Factors(*(jax.random.normal(k, shape) for k in jax.random.split(key)))

    def sampled(gamma: Array, at: Factors) -> Float[Array, ""]:
        moved = dot(at.first + gamma * noise.first, at.second + gamma * noise.second)
        return jnp.mean(jnp.sum((moved - target) ** 2, axis=(1, 2)))

    def closed(gamma: Array, at: Factors) -> Float[Array, ""]:
        return two_layer_linear.perturbed_loss(at, target, gamma)

    def over(loss, states: Factors) -> Float[Array, "gamma stage"]:
        of_gamma = lambda gamma: jax.lax.map(lambda at: loss(gamma, at), states)  # noqa: E731
        return jax.lax.map(of_gamma, gammas(x))

    return Noisy(over(sampled, found.stages), over(closed, stages.ideal(x, found.vectors)))


def simulate(x: claims.Instance, key: Array) -> Noisy:
    """Pre-training up to every stage, then the loss over draws of noise."""
    train, draw = jax.random.split(key)
    return _noisy(x, draw, stages.at_stages(x, train))


def without_learning(x: claims.Instance, key: Array) -> Noisy:
    """The null in which every later stage is the first one."""
    train, draw = jax.random.split(key)
    return _noisy(x, draw, stages.first_stage_only(stages.at_stages(x, train)))


def axes(x: claims.Instance) -> dict[str, object]:
    """Deviations of the noise, and how many features are learned."""
    return {"gamma": gammas(x), "stage": jnp.arange(x.d + 1)}


def _rises_where_outweighed(r: claims.Run) -> Float[Array, "run gamma feature"]:
    """Increments of L~, with the sign that 2 d gamma^2 - sigma_n gives them."""
    outweighs = 2 * r.x.d * gammas(r.x)[:, None] ** 2 > stages.features(r.x)
    return jnp.diff(r.sim.loss) * jnp.where(outweighs, 1, -1)


def _inflection(r: claims.Run) -> Float[Array, "run gamma"]:
    return jnp.argmin(r.sim.loss, axis=-1).astype(float)


theorem = claims.Experiment(
    space=claims.Space(d=claims.Size(4, low=2, high=6)),
    simulate=simulate,
    keys=RUNS,
    claims=(
        claims.on_average(
            "the loss rises where 2 d gamma^2 > sigma_n, and falls elsewhere",
            lambda r: 0.0,
            _rises_where_outweighed,
            statement="0 < (L~(n) - L~(n-1)) sign(2 d gamma^2 - sigma_n) at every n and gamma",
        ),
        claims.on_average(
            "the larger the noise, the earlier the inflection",
            lambda r: _inflection(r)[:, 1:],
            lambda r: _inflection(r)[:, :-1],
        ),
        claims.on_average(
            "the closed form of the ideal stages",
            lambda r: jnp.abs(r.sim.loss / r.sim.theory - 1),
            lambda r: TENTH,
            statement="|L~ / (its closed form at the ideal stage) - 1| < 1/10",
            printed=False,
        ),
    ),
    source=claims.Printed(
        "Section 4.2, Proposition 4.3 and Theorem 4.4",
        "The above proposition allows us to characterize the inflection point (Definition 4.2) in "
        "the Gaussian perturbation setting as the smallest [...] such that [...] there exists an "
        "inflection point [...] such that [...] increases monotonically for [...]",
    ),
    note="no figure of the paper: the linear network of Section 4, trained on batches",
    mutants=(claims.Mutant("later stages learn nothing", simulate=without_learning),),
    axes=axes,
)
