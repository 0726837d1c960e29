"""Programs of single and of double precision in one process, each with its own constants.

JAX 0.10 turns an array of NumPy's that a traced program names (`weights` in
`jnp.asarray(weights) * x`) into one of the precision of that moment, and keeps it for as long as a
trace of it lives, whatever precision is asked for later. A statement whose `simulate` somebody had
run in single precision was then verified with constants of 8 digits, and refuted though it is true.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import TypeVar

import jax

Function = TypeVar("Function", bound=Callable)

TRACED = "/jax/core/compile/jaxpr_trace_duration"

OTHERS = (
    "another thread traced programs in another precision meanwhile: constants of NumPy's may have "
    "lost digits; let one end before the other begins"
)

# Clears what theorysim remembers of traces.
_memories: list[Callable[[], None]] = []

# The precision that one is within, if any.
_within: ContextVar[bool | None] = ContextVar("_within", default=None)

# The precisions (double or not) of traces that may live; None before anyone listens.
_alive: set[bool] | None = None


@contextmanager
def in_precision(double: bool) -> Generator[None]:
    """Within it, programs are traced in double (or single) precision with constants of their own.

    Where programs of the other one may have been traced, all that JAX keeps of programs is let go
    of: they are traced anew when they are called again. A warning tells of threads that traced in
    the other precision meanwhile: constants may be theirs.
    """
    _let_go_of_others(double)
    outer, token = _within.get(), _within.set(double)
    try:
        with jax.enable_x64(double):
            yield
        if not _listening() <= {double}:
            warnings.warn(OTHERS, RuntimeWarning, stacklevel=3)
    finally:
        _within.reset(token)
        if outer is not None:
            _let_go_of_others(outer)


def _let_go_of_others(double: bool) -> None:
    """Let go of all traces, where some may be of the other precision."""
    if not _listening() <= {double}:
        for forget in _memories:
            forget()
        jax.clear_caches()
        _listening().clear()


def remembers_traces(function: Function) -> Function:
    """The function with its last 256 results, which hold traces: forgotten when these are."""
    remembering = lru_cache(maxsize=256)(function)
    _memories.append(remembering.cache_clear)
    return remembering  # type: ignore[return-value]


def _listening() -> set[bool]:
    """What was traced since all was let go of; before anyone listened it may be anything."""
    global _alive
    if _alive is None:
        _alive = {True, False}
        jax.monitoring.register_event_duration_secs_listener(_note)
    return _alive


def _note(event: str, duration_secs: float, **about: str | int) -> None:
    """Hear of a trace, in the thread that made it."""
    del duration_secs, about
    if event == TRACED:
        _listening().add(jax.dtypes.canonicalize_dtype(float).itemsize == 8)
