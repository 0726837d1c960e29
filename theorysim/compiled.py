"""`jax.jit` for programs on whose NaN a verdict hangs."""

from __future__ import annotations

from collections.abc import Callable

import jax
from jax.stages import Wrapped

# Reductions that XLA hands to its library of kernels (CPU, jaxlib 0.10.2, from some hundred rows
# on) drop NaN: the largest of many undefined errors comes out as -inf, the smallest undefined
# margin as inf. Without the library they keep it.
KEEPING_NAN = {"xla_cpu_experimental_ynn_fusion_type": ""}


def jit(function: Callable) -> Wrapped:
    """The function, compiled such that reductions keep NaN; not to be called inside of another."""
    return jax.jit(function, compiler_options=dict(KEEPING_NAN))
