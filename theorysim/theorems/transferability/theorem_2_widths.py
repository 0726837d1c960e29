"""The errors of finite width in Theorems 1 and 2 and in Eq. 9 fall at least as m^(-1/4).

Liu et al. (2019), Eq. 4 (activation gradient), Eq. 5 and 48 (weight distance), Eq. 9 (the part eps
of the pretrained weights outside of Z_P(0) H_P^(-1) y_P) and Eq. 46 (m^(-1/2), of H_PQ^T -
Z_Q(0)^T Z_P(0)). Real networks are silent at first (pairs of opposite signs), so that the errors
of order kappa vanish, and both stages run to their end. Errors are quantiles over networks, as the
print bounds them.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._quantiles import quantile

# Eq. 46 needs no training: so many networks are drawn for it beside each one that is trained.
DRAWN = 16

# A stage has ended once what is left of its slowest mode is e^-6.
ENOUGH = 6


class Observed(NamedTuple):
    """||u_Q(P) - y_Q||, ||W(Q) - W(P)||_F, and the lengths of the vectors in Eq. 9 and 46."""

    gradient: Float[Array, "*keys"]
    distance: Float[Array, "*keys"]
    eps: Float[Array, "*keys"]
    cross: Float[Array, "*keys drawn"]


def simulate(x: claims.Instance, key) -> Observed:
    network, inputs = training.silent(x, key), problem.target(x).inputs
    ready = training.pretrained(x, network)
    tuned = training.fine_tuned(x, ready)
    coefficients = problem.solve(problem.source_gram(x), x.source_labels)
    z_source = training.features(*network, problem.source(x).inputs)
    lead = dot(z_source, coefficients)

    def cross(key) -> Float[Array, ""]:
        drawn = training.started(x, key)
        z_p, z_q = (training.features(*drawn, rows) for rows in (problem.source(x).inputs, inputs))
        apart = dot(z_p.T, z_q) - problem.cross_gram(x)
        return jnp.linalg.norm(dot(apart.T, coefficients))

    return Observed(
        jnp.linalg.norm(training.outputs(*ready, inputs) - x.target_labels),
        jnp.linalg.norm(tuned.weights - ready.weights),
        jnp.linalg.norm(training.vec(ready.weights - network.weights) - lead),
        jax.vmap(cross)(jax.random.split(key, DRAWN)),
    )


def _predict(share: float):
    def predict(x: claims.Instance) -> Observed:
        """Without the errors."""
        gradient = share * jnp.linalg.norm(problem.mismatch(x))
        distance = share * jnp.sqrt(problem.form(problem.target_gram(x), problem.mismatch(x)))
        return Observed(gradient, distance, jnp.zeros(()), jnp.zeros(()))

    return predict


def _rate(name: str, what: str, exponent: float, power: int = 1):
    """The error of a power of what is measured."""

    def error(r):
        return getattr(r.sim, what) ** power - getattr(r.theory, what) ** power

    return training.width_rate(name, quantile(error), exponent)


RATES = (
    _rate("Theorem 1: squared gradient", "gradient", -1 / 4, 2),
    _rate("Theorem 2: distance", "distance", -1 / 4),
    _rate("Eq. 48: squared distance", "distance", -1 / 4, 2),
    _rate("Eq. 9: eps", "eps", -1 / 4),
    _rate("Eq. 46", "cross", -1 / 2),
)


def _ended(x: claims.Instance):
    first, second = problem.stable_rates(x)
    slowest = jnp.minimum(
        first * problem.lambda_p(x),
        second * problem.lambda_q(x),
    )
    return jnp.minimum(x.source_steps, x.target_steps) * slowest / ENOUGH - 1


def _wide(x: claims.Instance):
    """On every rung the empirical Gram matrices are near those of infinite width."""
    eigenvalue = jnp.minimum(problem.lambda_p(x), problem.lambda_q(x))
    samples = max(x.p, x.q)
    return training.WIDTHS[0] / ((samples / eigenvalue) ** 2 * jnp.log(2 * samples)) - 1


theorem = claims.Theorem(
    space=problem.problem_space(
        p=claims.Size(2, high=64),
        q=claims.Size(2, high=64),
        width=claims.Size(256, low=2, high=65536),
        source_steps=claims.Size(64, high=100_000),
        target_steps=claims.Size(64, high=100_000),
        kappa=claims.Real(1, 10, log=True),
        rate_share=claims.Real(0.3, 0.9),
        failure=problem.FAILURE,
    ),
    assumes=(problem.REGULAR,),
    hypotheses={"both stages have ended": _ended, "m >= (n / lambda)^2 log(2 n)": _wide},
    simulate=simulate,
    predict=_predict(1.0),
    claims=RATES,
    source=claims.Printed(
        "Eq. 4, 5, 9, 46 and 48",
        "||eps|| = ... + O(n_P^2 / (m^(1/4) lambda_P^(3/2) kappa^(1/2) delta)), ||(H_PQ^T - "
        "Z_Q(0)^T Z_P(0)) H_P^(-1) y_P|| <= O(n_P^(5/2) n_Q / (sqrt(m) lambda_P^2 kappa "
        "delta^(3/2)))",
    ),
    aliases=("eq-46",),
    mutants=(
        claims.Mutant("half of the mismatch", predict=_predict(0.5)),
        claims.Mutant("1 / m", claims=tuple(rate.with_exponent(-1.0) for rate in RATES)),
    ),
    keys=32,
    instances=16,
    mutant_instances=8,
)
