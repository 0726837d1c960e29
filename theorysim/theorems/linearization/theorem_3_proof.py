"""The gap between a fine-tuned model and its linearisation grows by at most b - b e^(-lambda t).

Proof of Theorem 3 of Afzal et al. (2025), line by line, for the linearised flow without a pull (A).
The flow of the linearised model that the proof prints has a pull, which its next display forgets.
The line of the triangle inequality has a minus for a plus and the inner product without its factor
1 / Delta, and a later copy of the last bound has a minus in front: both bound the growth of the gap
by what can be negative. With that minus Lemma 1 turns the inequality around, and then the minus is
gone: the last display, b - b e^(-lambda t), is right. Lip(k) is that of the kernel itself, until
the line that uses Lemma 1.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.linearization import _flow as flow
from theorysim.theorems.linearization import _models as models


class Grown(NamedTuple):
    """Along the flow: slopes of Delta by automatic differentiation, and the parts of the bounds."""

    distance: Float[Array, " times"]
    residual: Float[Array, " times"]
    radius: Float[Array, " times"]
    gap: Float[Array, " times"]  # Delta
    growth: Float[Array, " times"]  # d Delta / dt
    half_square: Float[Array, " times"]  # half of d Delta^2 / dt
    product: Float[Array, " times"]  # <(k_0 - k_t) 2 (y - y*) - lambda J u, y - y_lin>
    linear: Float[Array, " times"]  # <k_0 (2 (y_lin - y*) - 2 (y - y*)), y - y_lin>
    kernel: Float[Array, " times"]  # ||(k_0 - k_t) 2 (y - y*)||
    pull: Float[Array, " times"]  # ||J u||
    along: Float[Array, " times"]  # |<J u, y - y_lin>|


def _simulate(pulled: bool = False) -> Callable:
    """`pulled`: the linearised flow has the pull that the proof prints for it (C)."""

    def simulate(x: claims.Instance, key) -> Grown:
        path = flow.run(x, x.strength, flow.growth_times(x)[-1])
        f, y, start = models.outputs(x), models.targets(x), models.start(x)
        slope, jacobian = jax.grad(models.loss(x)), models.jacobian(x, start)
        gram = models.gram(x, start)

        def parts(delta, straight):
            error, behind = f(delta) - y, f(delta) - straight
            back = x.strength * jacobian @ delta if pulled else 0.0
            straight_moves = -2 * gram @ (straight - y) - back
            moves = jax.jvp(f, (delta,), (-slope(delta) - x.strength * delta,))[1] - straight_moves
            bend = -models.gram_change(x, start, delta) @ (2 * error)
            moved = models.jacobian(x, delta) @ delta
            norm = jnp.linalg.norm
            return (
                norm(behind),
                jax.jvp(norm, (behind,), (moves,))[1],
                jnp.vdot(moves, behind),
                jnp.vdot(bend - x.strength * moved, behind),
                jnp.vdot(gram @ (2 * (straight - y) - 2 * error), behind),
                norm(bend),
                norm(moved),
                jnp.abs(jnp.vdot(moved, behind)),
            )

        straight = path.straight["C" if pulled else "A"]
        found = jax.vmap(parts)(path.deltas, straight)
        return Grown(path.distance, path.residual, path.radius, *found)

    return simulate


def predict(x: claims.Instance) -> Float[Array, " times"]:
    """1 - e^(-lambda t)."""
    return x.strength * flow.faded_time(x.strength, flow.growth_times(x))


def _third(r, residual) -> Float[Array, " times"]:
    """2 Lip(k) ||u|| ||residual|| + lambda Lip(f) ||u||."""
    bent = 2 * models.kernel_lipschitz(r.x, r.sim.radius) * residual
    return (bent + r.x.strength * models.lipschitz(r.x, r.sim.radius).f) * r.sim.distance


def _before_lemma(r) -> Float[Array, " times"]:
    """2 Lip(f) r_0 ((2 / lambda) Lip(k) r_0 + Lip(f))."""
    f, r_0 = models.lipschitz(r.x, r.sim.radius).f, r.x.residual_size
    bent = 2 / r.x.strength * models.kernel_lipschitz(r.x, r.sim.radius) * r_0
    return 2 * f * r_0 * (bent + f)


def _by_lemma(r) -> Float[Array, " times"]:
    """b = 2 Lip(f)^2 r_0 ((4 / lambda) Lip(grad f) r_0 + 1)."""
    return flow.gap_factor(r.x, models.lipschitz(r.x, r.sim.radius), r.x.strength)


def _fifth(r) -> Float[Array, " times"]:
    """2 Lip(f) r_0 ((2 / lambda) Lip(k) r_0 + Lip(f)) (1 - e^(-lambda t))."""
    return _before_lemma(r) * r.theory


def _sixth(r) -> Float[Array, " times"]:
    """b - b e^(-lambda t)."""
    return _by_lemma(r) * r.theory


PLACE = "slides, Section 3, Theorem 3, proof"
FIRST = claims.equal(
    "half of d/dt Delta^2", lambda r: r.sim.half_square, lambda r: r.sim.product + r.sim.linear
)
DROPPED = claims.at_most("k_0 is semidefinite", lambda r: r.sim.linear, lambda r: 0.0)
HALF = claims.at_most(
    "half of d/dt Delta^2, bounded", lambda r: r.sim.half_square, lambda r: r.sim.product
)
THIRD = claims.at_most(
    "by Lip(k) and Lip(f)", lambda r: r.sim.growth, lambda r: _third(r, r.sim.residual)
)
FOURTH = claims.at_most(
    "by the residual at the start",
    lambda r: _third(r, r.sim.residual),
    lambda r: _third(r, r.x.residual_size),
)
FIFTH = claims.at_most("by Theorem 2", lambda r: _third(r, r.x.residual_size), _fifth)
# Of the network, Lip(k) is not known but by Lemma 1.
SIXTH = claims.at_most(
    "by Lemma 1: at most b - b e^(-lambda t)", _fifth, _sixth, where=lambda r: 1.5 - r.x.family
)
LAST = claims.at_most("at most b - b e^(-lambda t)", lambda r: r.sim.growth, _sixth)
MINUS = claims.at_most(
    "growth of the gap",
    lambda r: r.sim.growth,
    lambda r: r.sim.kernel - r.x.strength * r.sim.along,
)
PRODUCT = claims.equal(
    "growth of the gap as a product", lambda r: r.sim.growth, lambda r: jnp.abs(r.sim.product)
)
DIVIDED = PRODUCT.against(lambda r: (r.sim.product + r.sim.linear) / r.sim.gap)
BY_LEMMA = claims.at_most(
    "by Lemma 1, with a minus", lambda r: -_before_lemma(r), lambda r: -_by_lemma(r)
)
SIGN = claims.equal("the minus is lost", lambda r: -_by_lemma(r), _sixth)
PLUS = MINUS.against(lambda r: r.sim.kernel + r.x.strength * r.sim.pull)
LINES = (FIRST, DROPPED, HALF, THIRD, FOURTH, FIFTH, SIXTH, LAST)

theorem = claims.Theorem(
    space=flow.growth_space(),
    simulate=_simulate(),
    predict=predict,
    claims=LINES,
    printed="proof displays",
    source=claims.Printed(
        PLACE,
        "(1/2) d/dt Delta^2 <= <(k_0 - k_t) 2 (y - y*) - lambda J (theta_t - theta_0), y - y_lin>; "
        "dDelta/dt <= Lip(k) ||theta_t - theta_0|| ||2 (y - y*)|| + lambda Lip(f) "
        "||theta_t - theta_0|| <= 2 Lip(k) ||theta_t - theta_0|| ||y(0) - y*|| + lambda Lip(f) "
        "||theta_t - theta_0|| <= 4 Lip(k) Lip(f) ||y(0) - y*||^2 (1 - e^(-lambda t)) / lambda + "
        "2 Lip(f)^2 ||y(0) - y*|| (1 - e^(-lambda t)); dDelta/dt <= b - b e^(-lambda t)",
    ),
    integrates=True,
    readings=(
        claims.Reading(
            "first display, for the flow printed above it",
            claims.Printed(
                PLACE,
                "d/dt y_lin = -k_0 2 (y_lin - y*) - lambda J_lin (theta_t - theta_0); (1/2) d/dt "
                "Delta^2 = <-k_t 2 (y - y*) - lambda J (theta_t - theta_0) + k_0 2 (y_lin - y*), "
                "y - y_lin>",
            ),
            simulate=_simulate(pulled=True),
            claims=(FIRST,),
            note="the pull of the linearised model, just printed, is left out of the difference",
        ),
        claims.Reading(
            "first display, for the flow printed above it, corrected",
            claims.Corrected("d/dt y_lin = -k_0 2 (y_lin - y*), without a pull"),
            claims=(FIRST,),
            note="the display, and all that follows, is that of the linearised flow without a pull",
        ),
        claims.Reading(
            "proof display, growth without 1 / Delta",
            claims.Printed(
                PLACE,
                "d/dt Delta = ||(k_0 - k_t) 2 (y - y*) - lambda J (theta_t - theta_0), y - y_lin||",
            ),
            claims=(PRODUCT,),
            note="the product lacks 1 / Delta, its sign, and the term of k_0",
        ),
        claims.Reading(
            "proof display, growth without 1 / Delta, corrected",
            claims.Corrected(
                "d/dt Delta = (<(k_0 - k_t) 2 (y - y*) - lambda J (theta_t - theta_0), y - y_lin> "
                "+ <k_0 (2 (y_lin - y*) - 2 (y - y*)), y - y_lin>) / Delta"
            ),
            claims=(DIVIDED,),
            note="half of the growth of Delta^2, divided by Delta",
        ),
        claims.Reading(
            "proof display, triangle inequality with a minus",
            claims.Printed(
                PLACE,
                "||(k_0 - k_t) 2 (y - y*)|| - lambda ||J (theta_t - theta_0), y - y_linear||",
            ),
            claims=(MINUS,),
            note="a norm of a difference is at most the sum of the norms",
        ),
        claims.Reading(
            "proof display, triangle inequality with a minus, corrected",
            claims.Corrected("||(k_0 - k_t) 2 (y - y*)|| + lambda ||J (theta_t - theta_0)||"),
            claims=(PLUS,),
            note="the next line follows from it, as printed",
        ),
        claims.Reading(
            "proof display, -b (1 - e^(-lambda t))",
            claims.Printed(
                PLACE,
                "-2 Lip(f) ||y(0) - y*|| ((2 / lambda) Lip(k) ||y(0) - y*|| + Lip(f)) "
                "(1 - e^(-lambda t))",
            ),
            claims=(MINUS.against(lambda r: -_fifth(r)),),
            note="the minus belongs to e^(-lambda t) alone",
        ),
        claims.Reading(
            "proof display, -b (1 - e^(-lambda t)), corrected",
            claims.Corrected(
                "2 Lip(f) ||y(0) - y*|| ((2 / lambda) Lip(k) ||y(0) - y*|| + Lip(f)) "
                "(1 - e^(-lambda t)), without the minus in front"
            ),
            claims=(MINUS.against(_fifth),),
            note="it is what the copy before bounds the growth by",
        ),
        claims.Reading(
            "proof display, by Lemma 1 with a minus",
            claims.Printed(
                PLACE,
                "-2 Lip(f) ||y(0) - y*|| ((2 / lambda) Lip(k) ||y(0) - y*|| + Lip(f)) <= -2 Lip(f) "
                "||y(0) - y*|| ((4 / lambda) Lip(grad f) Lip(f) ||y(0) - y*|| + Lip(f)) (Lemma 1) "
                "= 2 Lip(f)^2 ||y(0) - y*|| ((4 / lambda) Lip(grad f) ||y(0) - y*|| + 1) "
                "(1 - e^(-lambda t))",
            ),
            claims=(BY_LEMMA, SIGN),
            note="Lip(k) <= 2 Lip(f) Lip(grad f) gives >= under a minus; then the minus is gone, "
            "and a factor 1 - e^(-lambda t) appears",
        ),
        claims.Reading(
            "proof display, by Lemma 1 with a minus, corrected",
            claims.Corrected(
                "2 Lip(f) ||y(0) - y*|| ((2 / lambda) Lip(k) ||y(0) - y*|| + Lip(f)) "
                "(1 - e^(-lambda t)) <= b - b e^(-lambda t): no minus, and the factor on both sides"
            ),
            claims=(SIXTH,),
            note="what follows, d/dt Delta <= b - b e^(-lambda t), needs no minus",
        ),
    ),
    mutants=(
        claims.Mutant(
            "the factor 2 lost in the proof",
            claims=tuple(line.scaled(0.5) for line in (THIRD, FIFTH, SIXTH, LAST)),
        ),
        claims.Mutant("the sign of k_0 lost", claims=(DROPPED.reversed(), HALF.reversed())),
        claims.Mutant("a smaller residual at the start", claims=(FOURTH.scaled(0.5),)),
        claims.Mutant("without the curvature", claims=(FIRST.against(lambda r: r.sim.linear),)),
    ),
)
