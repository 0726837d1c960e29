"""Which inputs of a program its outputs depend on."""

from __future__ import annotations

from jax.extend.core import ClosedJaxpr
from jax.interpreters.partial_eval import dce_jaxpr


def used_inputs(program: ClosedJaxpr) -> list[bool]:
    """Of every input, whether some output depends on it."""
    return dce_jaxpr(program.jaxpr, [True] * len(program.jaxpr.outvars))[1]
