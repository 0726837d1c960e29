"""What the distances of paths to their limits make of a formula that takes those limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim.claims.run import Path

# Reverse derivatives take one pass per point, forward ones one per end, at about this price ratio.
REVERSE_COST = 4


def limit_error(
    slack: Callable[[Sequence[Array]], Float[Array, "*points"]], paths: Sequence[Path]
) -> Float[Array, "*points"]:
    """The largest change of the slack that moves of the ends, within their distances, make.

    To first order that is the sum of |derivative| * distance over all ends: signs conspire. What
    first order misses shows where the formula is evaluated again: with the signs that change the
    worst point most, and with all ends up or down. Ends of paths that are equal move together.
    Random signs in their place cancelled in some formulas of few entries at some instances, and
    grew like the root of the number of entries where the truth grows like the number.
    """
    still = [jnp.zeros_like(path.distance) for path in paths]
    plain = slack(still)
    derivatives = _derivatives(slack, still, plain.size)
    derivatives, twins = _merge_equal(paths, derivatives)
    linear = jnp.zeros(plain.size)
    for derivative, path in zip(derivatives, paths, strict=True):
        linear = linear + jnp.abs(derivative) @ jnp.ravel(path.distance)
    worst = jnp.argmax(linear)
    corner = [
        jnp.sign(d[worst]).reshape(p.distance.shape) * p.distance
        for d, p in zip(derivatives, paths, strict=True)
    ]
    for later, earlier, same in twins:
        corner[later] = jnp.where(same, corner[earlier], corner[later])
    up = [path.distance for path in paths]
    lanes = [jnp.stack([c, -c, u, -u]) for c, u in zip(corner, up, strict=True)]
    moved = jax.vmap(lambda *moves: slack(moves))(*lanes)
    return jnp.maximum(linear.reshape(plain.shape), jnp.max(jnp.abs(moved - plain), axis=0))


def _derivatives(
    slack: Callable[[Sequence[Array]], Array], still: list[Array], points: int
) -> list[Float[Array, "points ends"]]:
    """The derivative of every point by every end of each path; 0 where there is none."""

    def flat(moves: list[Array]) -> Array:
        return jnp.ravel(slack(moves))

    ends = sum(move.size for move in still)
    jacobian = jax.jacrev if REVERSE_COST * points < ends else jax.jacfwd
    try:
        found = jacobian(flat)(still)
    except ValueError:  # a loop of traced length has no reverse derivative
        found = jax.jacfwd(flat)(still)
    return [jnp.nan_to_num(d.reshape(points, -1), posinf=0.0, neginf=0.0) for d in found]


def _merge_equal(
    paths: Sequence[Path], derivatives: list[Array]
) -> tuple[list[Array], list[tuple[int, int, Array]]]:
    """Derivatives of equal paths, added up at the first of them; and which paths are equal."""
    merged, twins = list(derivatives), []
    for later in range(len(paths)):
        for earlier in range(later):
            one, other = paths[earlier].points, paths[later].points
            if one.shape == other.shape and one.dtype == other.dtype:
                same = jnp.all(one == other)
                merged[earlier] = merged[earlier] + jnp.where(same, merged[later], 0)
                merged[later] = jnp.where(same, 0, merged[later])
                twins.append((later, earlier, same))
    return merged, twins
