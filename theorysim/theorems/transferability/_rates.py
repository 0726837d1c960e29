"""Rates of what Liu et al. (2019) bound with probability 1 - delta: those of a quantile over runs.

A mean square would follow the few networks whose own Gram matrix, far from that of infinite width,
makes the learning rate unstable.
"""

from collections.abc import Callable, Mapping

import jax.numpy as jnp

from theorysim import claims
from theorysim.claims.kinds import PowerLaw
from theorysim.theorems.transferability import _training as training


def quantile_rate(
    name: str,
    sizes: Callable,
    over: Mapping[str, tuple[float, ...]],
    exponent: float,
    relation: str = "at_most",
) -> PowerLaw:
    """The 1 - delta quantile of |sizes| is at most, or at least, such a power."""
    return claims.scales_as(
        name,
        lambda r: jnp.quantile(jnp.abs(sizes(r)), 1 - r.x.failure),
        over=over,
        exponent=exponent,
        relation=relation,
    )


def width_rate(name: str, sizes: Callable, exponent: float) -> PowerLaw:
    """`quantile_rate` along the width."""
    return quantile_rate(name, sizes, {"width": training.WIDTHS}, exponent)
