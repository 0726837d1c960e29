"""Few units have a small preactivation on an input: 2 m n_P R / (sqrt(2 pi) kappa delta).

Eq. 20 of Liu et al. (2019), with probability 1 - delta; R = 4 sqrt(n_P) ||y_P - u_P(0)|| / (sqrt(m)
lambda_P) is that of Lemma 1. Its second form, with R inserted, has sqrt(n_P) for n_P^(3/2). The
sum over the inputs that the print mentions has n_Q terms; for one input, no n_P is needed.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training


def simulate(x: claims.Instance, key) -> training.Bounded:
    """The number of units with |<w_r(0), x_i>| <= R, per target input."""
    network = training.started(x, key)
    outputs = training.outputs(network.weights, network.signs, problem.source(x).inputs)
    rest = jnp.linalg.norm(x.source_labels - outputs, keepdims=True)
    values = dot(network.weights, problem.target(x).inputs.T)
    near = jnp.abs(values) <= training.source_reach(x, rest)
    return training.Bounded(jnp.sum(near, axis=0).astype(float), rest)


def _over(r, many):
    return many / (jnp.sqrt(2 * jnp.pi) * r.x.kappa * r.x.failure)


def _bound(r):
    """2 m n_P R / (sqrt(2 pi) kappa delta)."""
    return _over(r, 2 * r.x.width * r.x.p * training.source_reach(r.x, r.sim.rest))


def _inserted(r):
    """8 sqrt(m n_P) ||y_P - u_P(0)|| / (sqrt(2 pi) kappa lambda_P delta)."""
    return _over(r, 8 * jnp.sqrt(r.x.width * r.x.p) * r.sim.rest / problem.lambda_p(r.x))


units = problem.likely("Eq. 20: |S_bar_i|", lambda r: r.sim.value, _bound)
without_delta = units.against(lambda r: _bound(r) * r.x.failure**2)

theorem = claims.Theorem(
    space=training.untrained_space(failure=problem.FAILURE),
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
            claims=(claims.equal("Eq. 20: both forms", _bound, _inserted),),
            note="R has a sqrt(n_P) of its own: n_P^(3/2) for its sqrt(n_P)",
        ),
    ),
    mutants=(claims.Mutant("delta for 1 / delta", claims=(without_delta,)),),
    keys=128,
    instances=16,
    mutant_instances=16,
)
