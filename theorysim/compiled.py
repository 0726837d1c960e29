"""`jax.jit` for programs on whose NaN a verdict hangs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

# Reductions that XLA hands to its library of kernels (CPU, jaxlib 0.10.2, from some hundred rows
# on) drop NaN: the largest of many undefined errors comes out as -inf, the smallest undefined
# margin as inf. Without the library they keep it.
KEEPING_NAN = {"xla_cpu_experimental_ynn_fusion_type": ""}


def jit(function: Callable, **options: Any) -> Callable:
    """The function, compiled such that reductions keep NaN; not to be called inside of another.

    `options` are those of `jax.jit`.
    """
    return jax.jit(function, compiler_options=dict(KEEPING_NAN), **options)
