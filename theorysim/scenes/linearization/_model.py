"""The model of this paper's scenes: outputs f_i = s_i delta_i + b delta_i^2 / 2, one weight each.

Slopes s_i fall from 1 to `slowest`, so that the linear model's modes have the rates 2 s_i^2; the
residual at the start is spread evenly. Both Lipschitz constants are exact.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim.scenes.scene import Slider

OUTPUTS = 4
QUADRATIC = 0.0  # the family of `_models`

STRENGTH = Slider("pull λ", 0.0, 20.0, 1.0)
SLOWEST = Slider("slope of the slowest output", 0.05, 1.0, 0.5, log=True)
BEND = Slider("curvature b", 0.003, 3.0, 0.1, log=True)
RESIDUAL = Slider("residual at the start ‖f(θ₀) − y‖", 0.01, 10.0, 1.0, log=True)


def model(
    theorem: claims.Theorem, slowest: Any, bend: Any, residual: Any, **fields: Any
) -> claims.Instance:
    """An instance of a theorem about `_models`; `fields` are further values."""
    drawn = theorem.space.sample(jax.random.key(0), theorem.space.default_sizes(n=OUTPUTS))
    even = jnp.ones(OUTPUTS)
    return drawn.replace(
        family=jnp.asarray(QUADRATIC),
        slope=jnp.asarray(slowest) ** jnp.linspace(0, 1, OUTPUTS),
        bend=even,
        bend_scale=jnp.asarray(bend),
        residual=even / jnp.linalg.norm(even),
        residual_size=jnp.asarray(residual),
        **fields,
    )
