"""Programs of single and of double precision in one process, each with its own constants.

JAX 0.10 turns an array of NumPy's that a traced program names (`weights` in
`jnp.asarray(weights) * x`) into one of the precision of that moment, and keeps it for as long as a
trace of it lives, whatever precision is asked for later. A statement whose `simulate` somebody had
run in single precision was then verified with constants of 8 digits, and refuted though it is true.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import jax

TRACED = "/jax/core/compile/jaxpr_trace_duration"

# The precisions (double or not) of traces that may live; None before anyone listens.
_alive: set[bool] | None = None


@contextmanager
def in_precision(double: bool) -> Generator[None]:
    """Within it, programs are traced in double (or single) precision with constants of their own.

    Where programs of the other one may have been traced, all that JAX keeps of programs is let go
    of: they are traced anew when they are called again.
    """
    if not _listening() <= {double}:
        jax.clear_caches()
        _listening().clear()
    with jax.enable_x64(double):
        yield


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
