"""The change of the ridge risk by added layers lies within a factor a of lambda_max's change.

Theorem 7 of Afzal et al. (2025): with kappa(K + sigma I) <= c, a = c / (1 - eta)^2 and q =
lambda_max(K + S + sigma I) / lambda_max(K + sigma I), q / a <= (R(K + S) / R(K))^(1/2) <= a q,
where eta <= 1, which only the proof supposes. Beyond, a decreases and the bounds cross. Because S
is a Gram matrix, eta is not needed at all: 1 / (kappa q) <= ... <= kappa. theorem-7-proof has the
displays, added-layers the least upper bound.
"""

from collections.abc import Callable

from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.linearization import _layers as layers


def _a(r) -> Float[Array, ""]:
    return r.x.looseness * r.theory.kappa / (1 - r.theory.eta) ** 2


def _inverse(r) -> Float[Array, ""]:
    return 1 / (r.theory.kappa * r.theory.q)


def _kappa(r) -> Float[Array, ""]:
    return r.theory.kappa


def _bounds(lower: Callable, upper: Callable) -> tuple:
    above = claims.at_most("upper bound", layers.ratio, upper)
    return claims.at_least("lower bound", layers.ratio, lower), above


theorem = claims.Theorem(
    space=layers.space(),
    simulate=layers.tuned,
    predict=layers.spectra,
    claims=_bounds(lambda r: r.theory.q / _a(r), lambda r: _a(r) * r.theory.q),
    hypotheses=layers.AT_MOST_ONE,
    source=claims.Printed(
        "slides, Section 5, Theorem 7, and its proof",
        "lambda_max(K + S + sigma I) / (a lambda_max(K + sigma I)) <= (R(theta u theta^) / "
        "R(theta))^(1/2) <= a lambda_max(K + S + sigma I) / lambda_max(K + sigma I), "
        "a = c / (1 - eta)^2; suppose that 0 <= eta <= 1",
    ),
    readings=(
        claims.Reading(
            "any eta",
            claims.Finding("without the eta <= 1 that the proof supposes and the statement omits"),
            hypotheses={},
            note="a is small for large eta, and the bounds cross",
        ),
        claims.Reading(
            "sharper, any eta",
            claims.Finding("1 / (kappa q) and kappa for the bounds, which no longer contain eta"),
            claims=_bounds(_inverse, _kappa),
            hypotheses={},
            note="kappa alone bounds the ratio, since S is semidefinite",
        ),
    ),
    mutants=(
        claims.Mutant(
            "lower and upper bound swapped",
            claims=_bounds(lambda r: _a(r) * r.theory.q, lambda r: r.theory.q / _a(r)),
        ),
        claims.Mutant("1 - eta and 1 + eta swapped", predict=layers.negative),
        claims.Mutant(
            "the sharper bounds swapped",
            of=("sharper, any eta",),
            claims=_bounds(_kappa, _inverse),
        ),
    ),
    mutant_instances=512,
)
