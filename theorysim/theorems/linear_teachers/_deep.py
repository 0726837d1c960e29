"""What the statements on deep linear networks share: balanced starts and gradient flow of matrices.

Section 5 of Shachaf et al. (2021). The clock of the flow runs by the size of the later layers,
||W_2 ... W_L||^2, which changes neither the orbit nor its limit: near the origin, where deep
networks stand still for long, and at every depth the flow is as fast as in linear regression.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from theorysim import claims
from theorysim.numerics.flow import integrate, statement_options
from theorysim.numerics.products import dot
from theorysim.systems import deep_linear_network as network
from theorysim.systems.deep_linear_network import Layers
from theorysim.systems.linear_regression import row_space
from theorysim.theorems.linear_teachers._problem import problem_space, source

# Times in units of the decay of the slowest mode of linear regression, doubling: from each to the
# next, what is left is squared, so the last step is far larger than the distance to the limit.
TIMES = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)

# Share of the initial loss at which it counts as vanished (Assumption 3.3): at the slowest rate
# there is exp(-32) of it left at the last time.
VANISHED = 1e-13


# Of gradient descent.
STEPS, EVERY = 1600, 100


class Trained(NamedTuple):
    """A trained network: beta(t) as `Run.limit` takes it, and whether Assumption 3.3 is met."""

    weights: Float[Array, "d times"]
    vanished: Float[Array, ""]
    """margin of the share of the initial loss that is left"""


def balanced(
    x: claims.Instance, key: PRNGKeyArray, depth: int, start: Float[Array, " d"]
) -> Layers:
    """0-balanced layers of width d whose product is `start`, in random hidden directions."""
    return network.balanced_layers(jax.random.fold_in(key, depth), start, (x.d,) * (depth - 1))


def later_layers(layers: Layers) -> Float[Array, " d_1"]:
    """W_2 ... W_L; the number one for a single layer."""
    if len(layers) == 1:
        return jnp.ones(1, layers[0].dtype)
    return network.end_to_end(layers[1:])


def convergence_times(samples: Float[Array, "n d"]) -> Float[Array, " times"]:
    """`TIMES` for these samples."""
    slowest = 2 * jnp.square(jnp.linalg.norm(samples, ord=-2)) / len(samples)
    return jnp.asarray(TIMES, samples.dtype) / slowest


def flows(
    networks: Mapping[int, Layers],
    samples: Float[Array, "n d"],
    labels: Float[Array, " n"],
    tolerance_scale: Any,
) -> dict[int, Layers]:
    """Gradient flow of every network in all of its matrices, at `convergence_times`."""

    def velocity(layers: Layers) -> Layers:
        slope = jax.grad(network.loss)(layers, samples, labels)
        clock = jnp.sum(jnp.square(later_layers(layers)))
        return jax.tree.map(lambda leaf: -leaf / clock, slope)

    def field(state: dict[int, Layers], _: None) -> dict[int, Layers]:
        return {depth: velocity(layers) for depth, layers in state.items()}

    # A limit is read off the last steps of a path: the default tolerances keep the noise that step
    # control leaves near a stable point far below them.
    times = convergence_times(samples)
    return integrate(field, dict(networks), times, **statement_options(tolerance_scale))


def start_space() -> claims.Space:
    """Both tasks, and the size and direction of the weights that pretraining starts with."""
    return problem_space(start=claims.UnitVector("d"), scale=claims.Real(1e-3, 1, log=True))


def random_start(x: claims.Instance, key: PRNGKeyArray, depth: int) -> Layers:
    """Normal layers of standard deviation x.scale."""
    return network.gaussian_layers(key, x.d, (x.d,) * (depth - 1), x.scale)


def stage(
    x: claims.Instance, layers: Layers, samples: Float[Array, "n d"], teacher: Float[Array, " d"]
) -> Layers:
    """The path of gradient flow of one network towards a teacher's labels."""
    start, labels = {len(layers): layers}, dot(samples, teacher)
    return flows(start, samples, labels, x.tolerance_scale)[len(layers)]


def pretraining(x: claims.Instance, layers: Layers) -> Layers:
    """`stage` on d samples of the source task, orthogonal ones."""
    return stage(x, layers, jnp.sqrt(float(x.d)) * x.frame, source(x))


def last(path: Layers) -> Layers:
    """The layers at the end of a path."""
    return jax.tree.map(lambda leaf: leaf[-1], path)


def trained(path: network.Observed) -> Trained:
    """`Trained` for an observed path."""
    loss = path.train_loss
    return Trained(settling(path.weights), VANISHED - loss[-1] / loss[0])


def observed(layers: Layers, samples: Float[Array, "n d"], labels: Float[Array, " n"]) -> Trained:
    """`Trained` for a path of matrices."""
    return trained(jax.vmap(lambda each: network.observe(each, samples, labels))(layers))


def descent(
    layers: Layers,
    samples: Float[Array, "n d"],
    labels: Float[Array, " n"],
    rate_share: Float[Array, ""],
    longest: Float[Array, ""],
) -> Trained:
    """`Trained` for descent, at a share of the stability limit where ||beta|| <= longest."""
    rate = rate_share * network.critical_learning_rate(samples, len(layers), longest)
    return trained(network.train_path(layers, samples, labels, rate, STEPS, every=EVERY))


def frozen_flow(
    layers: Layers,
    samples: Float[Array, "n d"],
    labels: Float[Array, " n"],
    times: Float[Array, " times"],
    frozen: int,
    tolerance_scale: Any,
) -> Float[Array, "times d"]:
    """beta(t) along gradient flow of all but the first layers."""
    options = statement_options(tolerance_scale)
    return network.flow_path(layers, samples, labels, times, frozen=frozen, **options).weights


def outside_rows(
    samples: Float[Array, "n d"], first_layers: Float[Array, "*times d d_1"]
) -> Float[Array, "*times d d_1"]:
    """P_perp W_1."""
    basis = row_space(samples)
    return first_layers - dot(basis, dot(basis.T, first_layers))


def settling(path: Float[Array, "times d"]) -> Float[Array, "d times"]:
    """A path for `Run.limit`: the end, approached in every component as by the whole vector.

    A single component can pass its limit and come back, so its own steps need not shrink.
    """
    end = path[-1]
    return end[:, None] + jnp.linalg.norm(path - end, axis=-1)
