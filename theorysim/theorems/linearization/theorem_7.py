"""The change of the ridge risk by added layers lies within a factor a of lambda_max's change.

Theorem 7 of Afzal et al. (2025): with kappa(K + sigma I) <= c, a = c / (1 - eta)^2 and q =
lambda_max(K + S + sigma I) / lambda_max(K + sigma I), q / a <= (R(K + S) / R(K))^(1/2) <= a q. The
statement puts no limit on eta and fails above 1, where a decreases; its proof supposes eta <= 1.
Because S is a Gram matrix, eta is not needed at all: 1 / (kappa q) <= ... <= kappa.
theorem-7-proof has the displays.
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
    source=claims.Printed(
        "slides, Section 5, Theorem 7",
        "lambda_max(K + S + sigma I) / (a lambda_max(K + sigma I)) <= (R(theta u theta^) / "
        "R(theta))^(1/2) <= a lambda_max(K + S + sigma I) / lambda_max(K + sigma I), "
        "a = c / (1 - eta)^2",
    ),
    note="without the eta <= 1 of the proof a is small for large eta",
    readings=(
        claims.Reading(
            "proof slide, eta <= 1",
            claims.Printed("slides, Section 5, proof of Theorem 7", "suppose that 0 <= eta <= 1"),
            hypotheses=layers.AT_MOST_ONE,
        ),
        claims.Reading(
            "corrected, any eta",
            claims.Corrected("1 / (kappa q) and kappa for the bounds, which no longer contain eta"),
            claims=_bounds(_inverse, _kappa),
            primary=True,
            note="kappa alone bounds the ratio, since S is semidefinite",
        ),
    ),
    mutants=(
        claims.Mutant("lower and upper bound swapped", claims=_bounds(_kappa, _inverse)),
        claims.Mutant(
            "1 - eta and 1 + eta swapped", of=("proof slide, eta <= 1",), predict=layers.negative
        ),
    ),
    mutant_instances=512,
)
