"""Beyond some stage each feature's share of the noise outweighs what it explains.

The proof of Theorem A.3, the formal version of Theorem 4.4 of Springer et al. (2025): the choice of
s, increments of L~ at the ideal states, and how far the real ones are off (Lemma A.6). Of these the
proof knows no more than the ball of Theorem A.1, in which P2 and P3 are asked for; whether the
states that the flow itself passes obey them is not.
"""

from collections.abc import Callable

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.overtraining import _perturbation as noise
from theorysim.theorems.overtraining import theorem_4_4 as statement
from theorysim.theorems.overtraining._finetuning import pre_spectrum
from theorysim.theorems.overtraining.assumption_a_2 import corrected_radius, printed_radius


def _simulate(radius: Callable) -> Callable:
    """At a share of the radius from the ideal states.

    Increments of L~ at n = 2, ..., d, real and ideal, and gains over the ideal n = 1, ..., d.
    """

    def simulate(x: claims.Instance, key):
        x = statement.drawn(x)
        ideal, moves = noise.ideal_states(x), statement.real_moves(x, radius)
        rises = noise.rises(x, noise.move_by(ideal, moves))
        return rises, noise.rises(x, ideal), noise.gains(x, ideal, moves)

    return simulate


def _spectrum(x: claims.Instance):
    return pre_spectrum(statement.drawn(x))


def _squares(r: claims.Run):
    return _spectrum(r.x)[1:] ** 2


def _none(r: claims.Run):
    return 0.0


def _later(late: int) -> Callable:
    """Nonnegative at n > s, for n = 2, ..., d; s is chosen `late` by so much."""
    return lambda r: jnp.arange(2, r.x.d + 1) - _choice(r.x, late) - 1


def _choice(x: claims.Instance, late: int):
    return jnp.argmax(noise.variance(x) > _spectrum(x) / x.d) + late


def _displays(late: int) -> tuple:
    """The choice of s, P1 and P4, which are displayed for n > s."""
    later = _later(late)
    return (
        claims.at_most(
            "the choice of s: s <= d - 1", lambda r: _choice(r.x, late), lambda r: r.x.d - 1
        ),
        claims.at_least(
            "P1: ideal increments", lambda r: r.sim[1], _squares, strict=True, where=later
        ),
        claims.at_least("P4: increments", lambda r: r.sim[0], _none, strict=True, where=later),
    )


def _near_ideal(late: int) -> tuple:
    """P2 and P3: how far the states n and n - 1 are off."""

    def off(name, gain):
        half = lambda r: -_squares(r) / 2  # noqa: E731
        return claims.at_least(name, gain, half, strict=True, where=_later(late))

    return (
        off("P2: state n", lambda r: r.sim[2][1:]),
        off("P3: state n - 1", lambda r: -r.sim[2][:-1]),
    )


theorem = claims.Theorem(
    space=statement.theorem.space,
    hypotheses=statement.theorem.hypotheses,
    simulate=_simulate(printed_radius),
    claims=_displays(late=1),
    source=claims.Printed(
        "proof of Theorem A.3",
        "the least s with gamma^2 > pre_s / d, s <= d - 1; for n > s: "
        "L~(ideal^n) - L~(ideal^{n-1}) > pre_n^2, L~(theta^n) - L~(theta^{n-1}) > 0",
    ),
    printed="proof displays",
    note="s may be d",
    readings=(
        claims.Reading(
            "inference: P2 and P3 by Lemma A.6",
            claims.Printed(
                "proof of Theorem A.3",
                "for n > s: L~(theta^n) - L~(ideal^n) > -pre_n^2 / 2, "
                "L~(ideal^{n-1}) - L~(theta^{n-1}) > -pre_n^2 / 2",
            ),
            claims=_near_ideal(late=1),
            note="Lemma A.6 fails: states as near to the ideal ones as Theorem A.1 has them need "
            "not obey P2 and P3; those of the flow are not asked",
        ),
        claims.corrected(
            "s is one less than that index, and exp(-C tau) as in the corrected A.2",
            simulate=_simulate(corrected_radius),
            claims=(*_displays(late=0), *_near_ideal(late=0)),
            note="with s one less, and starts as small as the corrected Lemma A.6 asks",
        ),
    ),
    mutants=(
        claims.Mutant("s too late, as printed", claims=_displays(late=1)[:1]),
        claims.Mutant(
            "s too early by one", claims=(*_displays(late=-1)[1:], *_near_ideal(late=-1))
        ),
        claims.Mutant("starts as far as printed", simulate=_simulate(printed_radius)),
    ),
    # Noise that is just above what the last feature explains is drawn in one of fifty.
    mutant_instances=1024,
)
