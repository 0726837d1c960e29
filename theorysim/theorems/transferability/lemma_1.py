"""During pretraining no unit moves far from its start.

Lemma 1 (Eq. 10) of Liu et al. (2019), from Du et al. (2019): with m = Omega(n_P^6 / (lambda_P^4
kappa^2 delta^3)) and eta = O(lambda_P / n_P^2), probability 1 - delta,
||w_r(k) - w_r(0)|| <= 4 sqrt(n_P) ||y_P - u_P(0)|| / (sqrt(m) lambda_P) for all r and k. Both
orders are read with the constant one; the scale kappa has no upper bound. Runs are so long that
the largest admissible rate nearly ends them: 512 steps.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.systems import two_layer_relu as relu
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training


def simulate(x: claims.Instance, key) -> training.Bounded:
    """The largest movement of a unit, along pretraining."""
    network, task = training.started(x, key), problem.source(x)
    rate, half = training.lemma_1_rate(x), problem.NORMALISATION

    def record(now):
        return training.observe(now, network, task).movement

    steps = x.source_steps
    moved = relu.train(network, task, rate, steps, normalisation=half, record=record, every=64)
    rest = jnp.linalg.norm(task.labels - relu.outputs(network, task.inputs))
    return training.Bounded(moved, rest)


movement = problem.likely(
    "movement of every unit",
    lambda r: r.sim.value,
    lambda r: training.source_reach(r.x, r.sim.rest[:, None]),
)
lost_root = movement.against(lambda r: movement.rhs(r) / jnp.sqrt(r.x.width))
one_eighth = movement.scaled(1 / 8)

theorem = claims.Theorem(
    space=problem.problem_space(
        p=claims.Size(2, high=64),
        width=claims.Size(256, high=65536),
        source_steps=claims.Size(512, high=100_000),
        kappa=claims.Real(1e-2, 100, log=True),
        failure=problem.FAILURE,
        rate_share=claims.Real(0.05, 1, log=True),
    ),
    assumes=(problem.REGULAR_SOURCE,),
    hypotheses=training.LEMMA_1,
    requirements={"log10 of the width": lambda x: jnp.log10(training.lemma_1_width(x))},
    simulate=simulate,
    claims=(movement,),
    source=claims.Printed("Lemma 1 (Eq. 10)", "m = Omega(n_P^6 / (lambda_P^4 kappa^2 delta^3))"),
    readings=(
        claims.Reading(
            "any width",
            claims.Finding("outside of the hypotheses, whatever the width and the scale"),
            assumes=(problem.REGULAR_SOURCE,),
            hypotheses={},
            note="the bound holds for every width and scale that was drawn",
        ),
    ),
    mutants=(
        claims.Mutant("1 / m for 1 / sqrt(m)", claims=(lost_root,)),
        claims.Mutant("1/2 for the factor 4", claims=(one_eighth,)),
    ),
    keys=128,
    instances=16,
    mutant_instances=16,
)
