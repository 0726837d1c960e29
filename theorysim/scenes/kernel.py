"""What a scene computes: compiled once, in float64, from numbers to arrays of NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import jax
import numpy as np


def kernel(static: Sequence[str] = ()) -> Callable[[Callable], Callable[..., Any]]:
    """Compile a function of numbers; those in `static` are compiled in, such as a depth.

    The function returns any tree of arrays. It is compiled when it is first called.
    """

    def compiled(function: Callable) -> Callable[..., Any]:
        program = jax.jit(function, static_argnames=static)

        @wraps(function)
        def call(*args: Any, **named: Any) -> Any:
            with jax.enable_x64(True):
                return jax.tree.map(np.asarray, program(*args, **named))

        return call

    return compiled
