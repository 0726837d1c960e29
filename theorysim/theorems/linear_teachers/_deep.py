"""What the statements on deep linear networks share: balanced starts and gradient flow of matrices.

Section 5 of Shachaf et al. (2021). Several networks are integrated as one system. Its clock may run
by the size of the later layers, ||W_2 ... W_L||^2, which changes neither the orbit nor its limit:
the flow is then as fast near the origin and at every depth as in linear regression.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from theorysim.claims import Instance
from theorysim.numerics.flow import integrate
from theorysim.systems import deep_linear_network as network
from theorysim.systems.deep_linear_network import Layers

# Far below the distances that tell readings apart; steps are limited by stability.
TOLERANCES: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-11}

# The coarser run that measures the error is 32^2 times coarser: at 32 times, the stiff flow of
# depth 8 differed from its limit by up to 2.2 times the measured error; at 32^2 times by 0.15.
COARSENING_POWER = 2

# Times in units of the decay of the slowest mode of linear regression. A flow whose loss vanishes
# at 20 (to the square of the tolerance) has reached its limit at 40, up to a factor exp(-20). There
# the integrator's noise is compared at several times: at a single one it may be small by chance.
EARLY_TIMES = (0.0, 0.5, 1.0, 2.0)
LATE_TIMES = (20.0, 40.0, 44.0, 48.0, 52.0, 56.0, 60.0)
VANISHED = 1e-14


def balanced(x: Instance, key: PRNGKeyArray, depth: int, start: Float[Array, " d"]) -> Layers:
    """0-balanced layers of width d whose product is `start`, in random hidden directions."""
    return network.balanced_layers(jax.random.fold_in(key, depth), start, (x.d,) * (depth - 1))


def later_layers(layers: Layers) -> Float[Array, " d_1"]:
    """W_2 ... W_L; the number one for a single layer."""
    if len(layers) == 1:
        return jnp.ones(1, layers[0].dtype)
    return network.end_to_end(layers[1:])


def convergence_times(samples: Float[Array, "n d"]) -> Float[Array, " times"]:
    """Early and late times of the size-clocked flow."""
    slowest = 2 * jnp.square(jnp.linalg.norm(samples, ord=-2)) / len(samples)
    return jnp.asarray(EARLY_TIMES + LATE_TIMES, samples.dtype) / slowest


def early(path: Float[Array, "*keys times rest"]) -> Float[Array, "*keys early rest"]:
    """The records while the flow moves."""
    return path[..., : len(EARLY_TIMES), :]


def limit(path: Float[Array, "*keys times rest"]) -> Float[Array, "*keys late rest"]:
    """The records at which a flow of vanishing loss has reached its limit."""
    return path[..., len(EARLY_TIMES) + 1 :, :]


def vanished(loss: Float[Array, "*keys times"]) -> Float[Array, "*keys"]:
    """Margin of Assumption 3.3."""
    return VANISHED - loss[..., len(EARLY_TIMES)] / loss[..., 0]


def flows(
    networks: Mapping[int, Layers],
    samples: Float[Array, "n d"],
    labels: Float[Array, " n"],
    times: Float[Array, " times"],
    coarsening: Any,
    *,
    by_size: bool,
) -> dict[int, Layers]:
    """Gradient flow of every network; `by_size` makes the clock run by ||W_2 ... W_L||^2."""

    def velocity(layers: Layers) -> Layers:
        slope = jax.grad(network.loss)(layers, samples, labels)
        speed = 1 / jnp.sum(jnp.square(later_layers(layers))) if by_size else 1.0
        return jax.tree.map(lambda leaf: -speed * leaf, slope)

    def field(state: dict[int, Layers], _: None) -> dict[int, Layers]:
        return {name: velocity(layers) for name, layers in state.items()}

    coarser = coarsening**COARSENING_POWER
    return integrate(field, dict(networks), times, coarsening=coarser, **TOLERANCES)


def paths(flow: Mapping[int, Layers]) -> dict[int, Float[Array, "times d"]]:
    """The end-to-end vector of every network along its flow."""
    return {name: jax.vmap(network.end_to_end)(layers) for name, layers in flow.items()}
