"""Few units have a small preactivation on an input: 2 m n_P R / (sqrt(2 pi) kappa delta).

Eq. 20 of Liu et al. (2019), with probability 1 - delta; R = 4 sqrt(n_P) ||y_P - u_P(0)|| / (sqrt(m)
lambda_P) is that of Lemma 1. Its second form, with R inserted, has sqrt(n_P) for n_P^(3/2). The
inequality of Markov gives it for one input, at any delta, without n_P, if R is taken for a constant
as in print (it holds u_P(0), of the same weights); eq-20-all-inputs is about all inputs at once.
Judged where the bound is below m, what any count is.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._generic import LABELLED


def simulate(x: claims.Instance, key) -> training.Bounded:
    """The number of units with |<w_r(0), x_i>| <= R, per target input."""
    network = training.started(x, key)
    outputs = training.outputs(network.weights, network.signs, problem.source(x).inputs)
    rest = jnp.linalg.norm(x.source_labels - outputs, keepdims=True)
    reach = training.source_reach(x, rest)

    def near(row: Float[Array, " d"]) -> Float[Array, ""]:
        return jnp.sum(jnp.abs(dot(network.weights, row)) <= reach).astype(float)

    # One input after the other: all at once, wide networks do not fit into memory.
    return training.Bounded(jax.lax.map(near, problem.target(x).inputs), rest)


def _over(r, many):
    return many / (jnp.sqrt(2 * jnp.pi) * r.x.kappa * r.x.failure)


def bound(r):
    """2 m n_P R / (sqrt(2 pi) kappa delta)."""
    return _over(r, 2 * r.x.width * r.x.p * training.source_reach(r.x, r.sim.rest))


def _inserted(r):
    """8 sqrt(m n_P) ||y_P - u_P(0)|| / (sqrt(2 pi) kappa lambda_P delta)."""
    return _over(r, 8 * jnp.sqrt(r.x.width * r.x.p) * r.sim.rest / problem.lambda_p(r.x))


def likely(name: str, counts: Callable, most: Callable) -> claims.Claim:
    """At most `most` with probability 1 - delta, where that says something."""
    return claims.with_probability(
        name,
        counts,
        most,
        at_least=lambda r: 1 - r.x.failure,
        where=lambda r: r.x.width - most(r),
    )


units = likely("Eq. 20: |S_bar_i|", lambda r: r.sim.value, bound)
without_n_p = likely("Eq. 20 without n_P", lambda r: r.sim.value, lambda r: bound(r) / r.x.p)


def _without_delta(claim: claims.Claim) -> claims.Claim:
    return claim.against(lambda r: bound(r) * r.x.failure**2 / r.x.p)


theorem = claims.Theorem(
    space=problem.problem_space(
        p=claims.Size(2, high=64),
        q=claims.Size(16, high=512),
        width=claims.Size(8192, low=2, high=65536),
        kappa=training.KAPPA,
        failure=claims.Real(0.05, 0.95),
    ),
    assumes=(problem.REGULAR_SOURCE,),
    simulate=simulate,
    claims=(units,),
    source=claims.Printed(
        "Appendix C.1, Eq. 20", "|S_bar_i| <= 2 m n_P R / (sqrt(2 pi) kappa delta)"
    ),
    readings=(
        claims.Reading(
            "with R inserted",
            claims.Printed(
                "Eq. 20, second form",
                "8 sqrt(m n_P) ||y_P - u_P(0)|| / (sqrt(2 pi) kappa lambda_P delta)",
            ),
            claims=(claims.equal("Eq. 20: both forms", bound, _inserted),),
            hypotheses=LABELLED,
            note="R has a sqrt(n_P) of its own: n_P^(3/2) for its sqrt(n_P)",
        ),
        claims.Reading(
            "without n_P",
            claims.Finding("whether one target input needs the n_P"),
            claims=(without_n_p,),
        ),
    ),
    mutants=(
        claims.Mutant(
            "delta for n_P / delta",
            claims=(_without_delta(units),),
        ),
    ),
    keys=128,
    instances=16,
    mutant_instances=16,
)
