"""The step sizes and numbers of steps of Theorem 7 and of what its proof uses."""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import Field, Instance, Real, Space


def schedule_space(**fields: Field) -> Space:
    """Dimensions, the conditions' V >= 1 and S <= 1, epsilon and the constant mu_1 or C."""
    return Space(
        dimension=Real(10, 1e6, log=True),
        variance=Real(1, 1e4, log=True),
        signal=Real(1e-3, 1, log=True),
        epsilon=Real(0.001, 0.9, log=True),
        constant=Real(1, 100, log=True),
        **fields,
    )


def logarithm(x: Instance):
    """log(d V)."""
    return jnp.log(x.dimension * x.variance)


def alpha(x: Instance, delta):
    """4 log(d V) / (epsilon delta S)."""
    return 4 * logarithm(x) / (x.epsilon * delta * x.signal)
