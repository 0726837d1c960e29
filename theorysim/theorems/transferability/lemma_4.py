"""Over both stages no unit moves far from its random start.

Lemma 4 (Eq. 36) and Corollary 1 of Liu et al. (2019): with probability 1 - delta, for all r and k,
||w_(Q,r)(k) - w_r(0)|| <= 4 sqrt(n_P) ||y_P - u_P(0)|| / (sqrt(m) lambda_P) + 4 sqrt(n_Q)
||y_Q - u_Q(P)|| / (sqrt(m) lambda_Q). transferability/lemma-4-steps has the proof.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training


def simulate(x: claims.Instance, key) -> tuple:
    """The largest distance from the start, ||y_P - u_P(0)||, and ||y_Q - u_Q(P)||."""
    network = training.started(x, key)
    ready = training.pretrained(x, network)

    def record(now):
        return jnp.max(jnp.linalg.norm(now.weights - network.weights, axis=1))

    rate = training.theorem_3_rate(x)
    moved = training.fine_tuning(x, ready, record, every=32, rate=rate)
    rests = training.rest(network, problem.source(x)), training.rest(ready, problem.target(x))
    return moved, *rests


def _source_term(r):
    return training.source_reach(r.x, r.sim[1][:, None])


def _bound(r):
    return _source_term(r) + training.target_reach(r.x, r.sim[2][:, None])


movement = problem.likely("Eq. 36", lambda r: r.sim[0], _bound)
lost_root = movement.against(lambda r: _bound(r) / jnp.sqrt(r.x.width))

theorem = claims.Theorem(
    space=training.lemma_4_space(512, failure=claims.Real(0.15, 0.5, log=True)),
    assumes=(problem.REGULAR,),
    simulate=simulate,
    claims=(movement,),
    source=claims.Printed(
        "Appendix C.2, Lemma 4 (Eq. 36)",
        "4 sqrt(n_P) ||y_P - u_P(0)|| / (sqrt(m) lambda_P) + "
        "4 sqrt(n_Q) ||y_Q - u_Q(P)|| / (sqrt(m) lambda_Q)",
    ),
    aliases=("corollary-1", "eq-36"),
    mutants=(
        claims.Mutant("1 / m for 1 / sqrt(m)", claims=(lost_root,)),
        claims.Mutant("without the term of fine-tuning", claims=(movement.against(_source_term),)),
    ),
    keys=64,
    instances=32,
    mutant_instances=32,
)
