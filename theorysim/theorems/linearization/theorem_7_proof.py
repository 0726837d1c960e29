"""The risk with added layers by the extreme eigenvalues of K, where eta <= 1.

Proof of Theorem 7 of Afzal et al. (2025): the eigenvalues by Theorem 6, both bounds of 1 /
R(K)^(1/2) and of R(K + S)^(1/2), those of the ratio of risks, and (1 - eta)^2 <= (1 + eta)^(-2),
which holds up to eta = sqrt(2).
"""

import dataclasses

from theorysim import claims
from theorysim.theorems.linearization import _layers as layers

LARGEST_LOWER = claims.at_most(
    "lambda_max(K + sigma I)", lambda r: 1 - r.theory.eta, lambda r: r.theory.q
)
LARGEST_UPPER = claims.at_most(
    "lambda_max(K + S) + sigma", lambda r: r.theory.q, lambda r: 1 + r.theory.eta
)
SMALLEST = claims.at_least(
    "lambda_min(K + S) + sigma", lambda r: r.theory.smallest, lambda r: 1 - r.theory.eta
)
INVERSE_LOWER = claims.at_least(
    "1 / root of R(K), lower",
    lambda r: r.theory.length / layers.risk_roots(r)[0],
    lambda r: r.theory.q * r.theory.largest / (r.theory.kappa * (1 + r.theory.eta)),
)
INVERSE_UPPER = claims.at_most(
    "1 / root of R(K), upper",
    lambda r: (1 - r.theory.eta) * r.theory.length / layers.risk_roots(r)[0],
    lambda r: r.theory.q * r.theory.largest,
)
ROOT_LOWER = claims.at_least(
    "root of R(K + S), lower",
    lambda r: layers.risk_roots(r)[1],
    lambda r: r.theory.length / ((1 + r.theory.eta) * r.theory.largest),
)
ROOT_UPPER = claims.at_most(
    "root of R(K + S), upper",
    lambda r: layers.risk_roots(r)[1] * (1 - r.theory.eta) * r.theory.largest,
    lambda r: r.theory.length * r.theory.kappa**2,
    statement="sigma |y| kappa / ((1 - eta) lambda_min(K + sigma I))",
)
RATIO_LOWER = claims.at_least(
    "ratio, lower",
    layers.ratio,
    lambda r: r.theory.q / (r.theory.kappa * (1 + r.theory.eta) ** 2),
)
RATIO_UPPER = claims.at_most(
    "ratio, upper",
    lambda r: (1 - r.theory.eta) ** 2 * layers.ratio(r),
    lambda r: r.theory.kappa * r.theory.q,
)
SQUARES = claims.at_most(
    "(1 - eta)^2 <= (1 + eta)^(-2)",
    lambda r: (1 - r.theory.eta) ** 2,
    lambda r: (1 + r.theory.eta) ** -2,
)

theorem = claims.Theorem(
    space=layers.space(),
    simulate=layers.tuned,
    predict=layers.spectra,
    claims=(
        *(LARGEST_LOWER, LARGEST_UPPER, SMALLEST, INVERSE_LOWER, INVERSE_UPPER),
        *(ROOT_LOWER, ROOT_UPPER, RATIO_LOWER, RATIO_UPPER, SQUARES),
    ),
    hypotheses=layers.AT_MOST_ONE,
    printed="proof displays",
    source=claims.Printed(
        "slides, Section 5, proof of Theorem 7",
        "lambda_max(K + sigma I) <= lambda_max(K + S + sigma I) / (1 - eta), lambda_min(K + S) + "
        "sigma >= (1 - eta) lambda_min(K + sigma I), lambda_max(K + S) + sigma <= (1 + eta) "
        "lambda_max(K + sigma I); "
        "sigma ||y*|| / ((1 + eta) lambda_max(K + sigma I)) <= R(theta u theta^)^(1/2) <= "
        "sigma ||y*|| kappa / ((1 - eta) lambda_min(K + sigma I)); "
        "suppose that 0 <= eta <= 1, then (1 - eta)^2 <= (1 + eta)^(-2)",
    ),
    readings=(
        claims.Reading(
            "proof display (1 - eta)^2 <= (1 + eta)^(-2), any eta",
            claims.Finding("a step of the proof beyond the eta <= 1 that it supposes"),
            claims=(SQUARES,),
            hypotheses={},
            note="true up to eta = sqrt(2)",
        ),
    ),
    mutants=(
        claims.Mutant("1 - eta and 1 + eta swapped", predict=layers.negative),
        claims.Mutant(
            "a square lost", claims=(dataclasses.replace(SQUARES, lhs=lambda r: 1 - r.theory.eta),)
        ),
    ),
    mutant_instances=512,
)
