"""Checks of what public functions are given: a named error with a remedy instead of a silent NaN.

Kernels run under jit and vmap, where values are traced and nothing can be raised. Every check
therefore looks at known values only and lets traced ones pass: the result is then NaN where the
mathematics ends, and a theorem masks it by its hypotheses. What checks:

- `linear_regression.row_space` and all that stands on it: independent rows, not too many;
- descents of a linear model (`linear_regression.train`) and of `two_layer_linear`: a learning rate
  below 2/lambda_max, before the first step;
- every other descent, and closed forms of descents: their outcome, by `descent.check_descent` or
  `check_outcome`, since a rate past the limit is harmless where few steps are asked for;
- `kernel_ridge.relative_size`, `two_layer_relu_limit.complexity`: an invertible Gram matrix;
- `balanced_flow`, `deep_linear`, `deep_linear_limit`, `rank_one.train`: the hypotheses under which
  their formulas are right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import Tracer
from jaxtyping import Array, Float


def is_known(*values: Any) -> bool:
    """Whether no array in the given pytrees is traced."""
    return not any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(values))


def when_known(check: Callable[..., None], *arguments: Any) -> None:
    """Calls a check where none of its arguments is traced, also in the midst of a traced function.

    There, what is computed from constants would be traced as well, and decide nothing.
    """
    if is_known(arguments):
        with jax.ensure_compile_time_eval():
            check(*arguments)


def are_finite(values: Any) -> bool:
    """Whether all floating-point numbers of a pytree of known arrays are finite."""
    leaves = [leaf for leaf in jax.tree.leaves(values) if jnp.issubdtype(leaf.dtype, jnp.inexact)]
    return all(bool(jnp.all(jnp.isfinite(leaf))) for leaf in leaves)


def check_learning_rate(
    learning_rate: Any, largest: Callable[..., Float[Array, ""]], *arguments: Any
) -> None:
    """ValueError unless 0 < learning_rate < 2/lambda_max = largest(*arguments), where all known."""

    def check(learning_rate: Any, *arguments: Any) -> None:
        rate, limit = float(learning_rate), float(largest(*arguments))
        if not rate > 0:
            raise ValueError(
                f"learning rate {rate:.6g} is not positive: choose one below {limit:.6g}"
            )
        if not rate < limit:
            raise ValueError(
                f"learning rate {rate:.6g} exceeds 2/lambda_max = {limit:.6g}: choose a smaller one"
            )

    when_known(check, learning_rate, *arguments)


def check_outcome(
    outcome: Any, learning_rate: Any, largest: Callable[..., Float[Array, ""]], *arguments: Any
) -> None:
    """`check_learning_rate`, but only where the outcome of a descent is known and not finite."""
    if is_known(outcome) and not are_finite(outcome):
        check_learning_rate(learning_rate, largest, *arguments)
