"""Flows of ordinary differential equations, on diffrax, with tolerances that can be coarsened.

The error of an integration is measured, not assumed: the same flow at tolerances 32 times coarser
(`tolerance_scale` is traced, so nothing is compiled anew) differs from it by more than its own
error. So that it differs at all where the tolerances bind nowhere (a short flow, or states below
`atol`), steps have a bound that grows as theirs would.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import diffrax
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PyTree

# At least so many steps, and the order of the method: the error of a step goes with its power.
FEWEST, ORDER = 16, 8

# Steps after which a flow counts as failed, rather than to go on for ever.
LONGEST = 1 << 14

# The same for flows of statements: a search finds instances that are stiff without bound, and all
# others beside them wait. Every statement that integrates has the same verdicts under `LONGEST`.
_SEARCHED = 1 << 12


def integrate(
    field: Callable[[Any, Any], Any],
    start: PyTree[Array],
    times: Float[Array, " times"],
    args: Any = None,
    *,
    rtol: float = 1e-10,
    atol: float = 1e-12,
    tolerance_scale: Any = 1.0,
    max_steps: int = LONGEST,
    reverse: bool = False,
) -> PyTree[Array]:
    """States of d state / dt = field(state, args) at increasing `times`, starting at `times[0]`.

    Dormand-Prince of order 8 with step control, in `FEWEST` steps at least. Every array of
    the result leads with the axis of times. Where the integration fails (more than `max_steps`
    steps, a step below the resolution of time, a field that is not finite) all states are NaN.

    Args:
        field: the autonomous vector field.
        start: state at `times[0]`, any pytree of arrays.
        times: increasing times.
        args: handed to the field.
        rtol, atol: relative and absolute tolerance per step; below float64 they are raised to what
            the precision allows.
        tolerance_scale: factor on both tolerances, and by its 8th root on the longest step.
        max_steps: bound on the number of steps.
        reverse: make room for reverse derivatives; there are forward ones only without.
    """
    eps = float(jnp.finfo(jnp.result_type(*jax.tree.leaves(start), float)).eps)
    rtol, atol = max(rtol, 8 * eps), max(atol, 8 * eps * 1e-2)
    span = times[-1] - times[0]
    controller = diffrax.PIDController(
        rtol=rtol * tolerance_scale,
        atol=atol * tolerance_scale,
        dtmin=eps * span,
        dtmax=span / FEWEST * tolerance_scale ** (1 / ORDER),
    )
    adjoint = diffrax.RecursiveCheckpointAdjoint() if reverse else diffrax.ForwardMode()
    known = jax.tree.map(lambda leaf: jnp.where(jnp.isfinite(leaf), leaf, 0), start)
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(lambda t, state, args: _guard(field, state, args)),
        diffrax.Dopri8(),
        t0=times[0],
        t1=times[-1],
        dt0=None,
        y0=(known, jnp.zeros((), times.dtype)),
        args=args,
        saveat=diffrax.SaveAt(ts=times),
        stepsize_controller=controller,
        adjoint=adjoint,
        max_steps=max_steps,
        throw=False,
    )
    path: Any = solution.ys
    states, time_undefined = path
    defined = _all_finite((start, times)) & (time_undefined[-1] == 0)
    succeeded = (solution.result == diffrax.RESULTS.successful) & defined
    return jax.tree.map(lambda path: jnp.where(succeeded, path, jnp.nan), states)


def statement_options(tolerance_scale: Any) -> dict[str, Any]:
    """Options of `integrate` within a statement: scaled tolerances, and fewer steps."""
    return {"tolerance_scale": tolerance_scale, "max_steps": _SEARCHED}


def _guard(
    field: Callable[[Any, Any], Any], state_and_clock: tuple[Any, Array], args: Any
) -> tuple[Any, Array]:
    """The field, and a clock that runs where it is not finite (there the state stands still).

    Step control never ends on NaN. With the clock as a component, a trial step that strays out of
    the domain has a large error and is rejected, and a flow that starts outside runs to its end.
    """
    state, clock = state_and_clock
    slope = field(state, args)
    defined = _all_finite((state, slope))
    still = jax.tree.map(lambda leaf: jnp.where(defined, leaf, 0), slope)
    return still, jnp.where(defined, 0, jnp.ones_like(clock))


def _all_finite(tree: PyTree[Array]) -> Bool[Array, ""]:
    return jnp.all(jnp.stack([jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(tree)]))


def gradient_flow(
    loss: Callable[[Any], Float[Array, ""]],
    start: PyTree[Array],
    times: Float[Array, " times"],
    **options: Any,
) -> PyTree[Array]:
    """Parameters of d params / dt = -grad loss(params) at `times`; options as for `integrate`."""
    descent = jax.grad(loss)

    def field(params: Any, args: Any) -> Any:
        return jax.tree.map(jnp.negative, descent(params))

    return integrate(field, start, times, **options)
