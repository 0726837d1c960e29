"""How often the terms that pull away from u are outweighed, against the scale, and the promise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.scenes.kernel import kernel
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.theorems.low_rank import _problem as problems
from theorysim.theorems.low_rank.claim_1 import ORDERS, theorem

SCALES = np.linspace(0.3, 2, 18)
SIGNS = 1000
NEURONS = 15


@kernel()
def shares(overlap: Any) -> tuple[Float[Array, " scales"], Float[Array, " scales"]]:
    """Shares of sign vectors whose sum has the sign of m: with the powers of m, and without."""
    drawn = theorem.space.sample(jax.random.key(0), theorem.space.default_sizes(k=NEURONS))
    keys = jax.random.split(jax.random.key(1), SIGNS)

    def at(xi_bar: Array) -> tuple[Array, Array]:
        x = drawn.replace(xi_bar=xi_bar, overlap=1.0 * overlap)
        terms = jnp.asarray(jax.vmap(lambda key: theorem.simulate(x, key))(keys))
        towards = problems.sign(jnp.asarray(overlap))
        powers = jnp.power(overlap, ORDERS)
        return (
            jnp.mean(towards * jnp.sum(terms * powers, axis=-1) >= 0),
            jnp.mean(towards * jnp.sum(terms, axis=-1) >= 0),
        )

    return jax.lax.map(at, jnp.asarray(SCALES))


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """The shares against the scale."""
    appendix, main = shares(values["overlap"])
    return [
        Panel(
            "scale of the perturbation, ξ / √k",
            "share of signs for which the sum has the sign of m",
            [
                Series("with the powers of m (appendix)", Role.SIMULATION, SCALES, appendix),
                Series("without them (main text)", Role.SIMULATION, SCALES, main),
                Series(
                    "promised: 1 − exp(−2k / (e ξ²))",
                    Role.BOUND,
                    SCALES,
                    1 - np.exp(-2 / (np.e * SCALES**2)),
                ),
            ],
        )
    ]


scene = Scene(
    title="Claim 1 needs the powers of m that the main text leaves out",
    caption=(
        f"Random signs c and ĉ of {NEURONS} neurons with a random activation of degree 4. With the "
        "powers of the overlap m the sum nearly always has its sign. Without them the sum does not "
        "know the sign of m: it is mostly positive, also where m is negative."
    ),
    panels=panels,
    sliders={"overlap": Slider("overlap m", -0.95, 0.95, -0.5, steps=10)},
)
