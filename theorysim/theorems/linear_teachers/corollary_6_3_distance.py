"""Closer teachers are learned better: networks of finite width, trained by gradient descent.

Prose below Corollary 6.3 of Shachaf et al. (2021): fine-tuning is improved as the distance between
source and target decreases. At infinite width errors are linear in the labels that are left, which
makes it certain; here a ReLU network of 64 pairs of units is pretrained on the source, then
fine-tuned towards theta_S + a (theta_T - theta_S) for a growing part a of the distance.

The sentence stands under the conditions of Theorem 6.1, m >= kappa^(-2) poly(n, n_S, ...), and of
Corollary 6.2, where pretraining has learned the source exactly (Assumption 3.2). Of the polynomial
the product n n_S is asked for here; and what the network has learned is taken as the source, to
which (theta_T - theta_S) x is added. Without the assumption the source is theta_S itself, of which
pretraining has left an error.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems import two_layer_relu as relu
from theorysim.theorems.linear_teachers import _kernel_regime as regime

STEPS = 100
SHARES = (0.25, 0.5, 1.0, 2.0)


def _train(network: relu.Network, seen, labels) -> relu.Network:
    task = relu.Task(seen, labels)
    return relu.train_to(
        network, task, regime.LEARNING_RATE, STEPS, normalisation=regime.NORMALISATION
    )


def _simulate(x: claims.Instance, key, is_exact: bool) -> Float[Array, " shares"]:
    """Population values of |error| after fine-tuning, for every share of the distance.

    The source is what pretraining has learned where `is_exact`, else its teacher.
    """
    for_data, for_weights = jax.random.split(key)
    data = regime.inputs(x, for_data)
    start = relu.initialise_silent(for_weights, x.width, x.d, 1.0, data.drawn.dtype)
    pretrained = _train(start, data.source, dot(data.source, x.source_direction))

    learned = relu.outputs(pretrained, data.drawn)
    source = learned if is_exact else dot(data.drawn, x.source_direction)

    def loss(share: Float[Array, ""]) -> Float[Array, ""]:
        labels = source + share * x.distance * dot(data.drawn, x.difference)
        network = _train(pretrained, data.target, labels[-x.n :])
        return regime.population_mean(x, jnp.abs(labels - relu.outputs(network, data.drawn)))

    return jax.lax.map(loss, jnp.asarray(SHARES))


def simulate(x: claims.Instance, key) -> Float[Array, " shares"]:
    """With Assumption 3.2."""
    return _simulate(x, key, True)


def without_assumption(x: claims.Instance, key) -> Float[Array, " shares"]:
    """Without Assumption 3.2."""
    return _simulate(x, key, False)


def _means(r) -> Float[Array, " shares"]:
    return r.mean(r.sim)


RISING = claims.increasing("R in the distance", _means)

theorem = claims.Theorem(
    space=claims.Space(
        d=claims.Size(6, high=64),
        n=claims.Size(4, high=64),
        n_source=claims.Size(24, high=64),
        unseen=claims.Size(32, high=256),
        width=claims.Size(128, low=2, high=4096),
        spread=claims.Real(0.3, 30, log=True),
        source_direction=claims.UnitVector("d"),
        difference=claims.UnitVector("d"),
        distance=claims.Real(0.1, 1, log=True),
    ),
    hypotheses={"m >= n n_S": lambda x: jnp.asarray(x.width - x.n * x.n_source, float)},
    simulate=simulate,
    claims=(RISING,),
    source=claims.Printed(
        "Section 6, below Corollary 6.3",
        "fine-tuning is improved as the distance between source and target decreases",
    ),
    note="along every direction of theta_T - theta_S, in the mean over samples and initialisations",
    readings=(
        claims.Reading(
            "without Assumption 3.2",
            claims.Finding("the same where pretraining has left an error of the source"),
            simulate=without_assumption,
            note="the search refutes it: a step to the target may undo an error of pretraining",
        ),
    ),
    mutants=(claims.Mutant("closer teachers are learned worse", claims=(RISING.reversed(),)),),
    keys=64,
    instances=8,
    mutant_instances=8,
)
