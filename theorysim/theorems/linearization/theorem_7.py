"""For eta <= 1 layers change the ridge risk by lambda_max's change, to within a factor a.

Theorem 7 of Afzal et al. (2025): with kappa(K + sigma I) <= c, a = c / (1 - eta)^2 and q =
lambda_max(K + S + sigma I) / lambda_max(K + sigma I), q / a <= (R(K + S) / R(K))^(1/2) <= a q,
for every eta as it is stated. Its proof supposes eta <= 1, and with that it holds; beyond, a
decreases and the bounds cross. Because S is a Gram matrix, eta is not needed at all: 1 / (kappa q)
<= ... <= kappa. theorem-7-proof has the displays, added-layers the least upper bound.
"""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from theorysim import claims
from theorysim.theorems.linearization import _layers as layers


def _drawn(x: claims.Instance) -> claims.Instance:
    """Where `flat`, K and S have one eigenvalue each, as one input has: there a is nearly used."""

    def alike(sizes: Float[Array, " n"]) -> Float[Array, " n"]:
        return jnp.where(x.flat > 0, sizes[0], sizes)

    return x.replace(
        spectrum=alike(x.spectrum),
        candidate_sizes=alike(x.candidate_sizes),
        rank=jnp.where(x.flat > 0, 1, x.rank),
    )


def simulate(x: claims.Instance, key: PRNGKeyArray) -> layers.Tuned:
    return layers.tuned(_drawn(x), key)


def predict(x: claims.Instance) -> layers.Spectra:
    return layers.spectra(_drawn(x))


def _negative(x: claims.Instance) -> layers.Spectra:
    return layers.negative(_drawn(x))


def _c(r) -> Float[Array, ""]:
    return r.x.looseness * r.theory.kappa


def _a(r) -> Float[Array, ""]:
    return _c(r) / (1 - r.theory.eta) ** 2


def _inverse(r) -> Float[Array, ""]:
    return 1 / (r.theory.kappa * r.theory.q)


def _kappa(r) -> Float[Array, ""]:
    return r.theory.kappa


def _bounds(lower: Callable, upper: Callable) -> tuple:
    above = claims.at_most("upper bound", layers.ratio, upper)
    return claims.at_least("lower bound", layers.ratio, lower), above


def _within(factor: Callable) -> tuple:
    """Within the factor of lambda_max's change."""
    return _bounds(lambda r: r.theory.q / factor(r), lambda r: factor(r) * r.theory.q)


theorem = claims.Theorem(
    space=layers.space(flat=claims.Choice(0.0, 1.0)),
    simulate=simulate,
    predict=predict,
    claims=_within(_a),
    source=claims.Printed(
        "slides, Section 5, Theorem 7",
        "lambda_max(K + S + sigma I) / (a lambda_max(K + sigma I)) <= (R(theta u theta^) / "
        "R(theta))^(1/2) <= a lambda_max(K + S + sigma I) / lambda_max(K + sigma I), "
        "a = c / (1 - eta)^2",
    ),
    note="a is small for large eta, and the bounds cross",
    readings=(
        claims.Reading(
            "eta <= 1, as its proof",
            claims.Printed(
                "slides, Section 5, proof of Theorem 7",
                "suppose that 0 <= eta <= 1, ... we can have the desired form",
            ),
            hypotheses={"eta <= 1": lambda x: 1 - predict(x).eta},
            primary=True,
        ),
        claims.Reading(
            "sharper, any eta",
            claims.Finding("1 / (kappa q) and kappa for the bounds, which no longer contain eta"),
            claims=_bounds(_inverse, _kappa),
            note="kappa alone bounds the ratio, since S is semidefinite",
        ),
    ),
    mutants=(
        claims.Mutant(
            "lower and upper bound swapped",
            claims=_bounds(lambda r: _a(r) * r.theory.q, lambda r: r.theory.q / _a(r)),
        ),
        claims.Mutant("1 - eta and 1 + eta swapped", predict=_negative),
        claims.Mutant("a = c", claims=_within(_c)),
        claims.Mutant("a = c / (1 - eta)", claims=_within(lambda r: _c(r) / (1 - r.theory.eta))),
        claims.Mutant(
            "the sharper bounds swapped",
            of=("sharper, any eta",),
            claims=_bounds(_kappa, _inverse),
        ),
    ),
    mutant_instances=512,
)
