"""Networks of growing width come to what Theorem 6.1 is checked with, networks of infinite width.

Section 6 of Shachaf et al. (2021), below Theorem 6.1: "the weights do not move too far away from
the weights at random initialization", also where pretraining comes first. Networks of finite width
are trained on the source and then on the target by gradient descent, and compared at all inputs
with the linear recursion of the infinite-width kernel. They start with outputs zero (units in
pairs).
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import two_layer_relu as relu
from theorysim.theorems.linear_teachers import _kernel_regime as regime

STEPS = 100
WIDTHS = (64, 256, 1024)


class Outputs(NamedTuple):
    """On D after both stages: of the network, and of the kernel from the same samples."""

    network: Float[Array, " points"]
    kernel: Float[Array, " points"]


def _train(network: relu.Network, seen, labels) -> relu.Network:
    task = relu.Task(seen, labels)
    return relu.train_to(
        network, task, regime.LEARNING_RATE, STEPS, normalisation=regime.NORMALISATION
    )


def simulate(x: claims.Instance, key) -> Outputs:
    for_data, for_weights = jax.random.split(key)
    data = regime.inputs(x, for_data)
    source, target = regime.labellings(x, data)
    network = relu.initialise_silent(for_weights, x.width, x.d, 1.0, data.drawn.dtype)
    network = _train(network, data.source, source[: x.n_source])
    network = _train(network, data.target, target[-x.n :])
    before = regime.pretrained(data, source[: x.n_source], STEPS)
    start = regime.fine_tuning((target - before)[-x.n :], data.target)
    kernel = regime.fine_tuned(data, before, start, STEPS)
    return Outputs(relu.outputs(network, data.drawn), kernel)


def _claims(power: float) -> tuple:
    def distance(r):
        """Root mean square over D and the keys, times a power of the width."""
        apart = jnp.sqrt(jnp.mean(jnp.square(r.sim.network - r.sim.kernel)))
        return r.x.width**power * apart

    return (claims.tends_to("outputs on D", distance, lambda r: 0.0, over={"width": WIDTHS}),)


theorem = claims.Theorem(
    space=claims.Space(
        d=claims.Size(6, high=64),
        n=claims.Size(4, high=64),
        n_source=claims.Size(5, high=64),
        unseen=claims.Size(8, high=256),
        width=claims.Size(64, low=2, high=4096),
        spread=claims.Real(0.3, 30, log=True),
        **regime.labelling_fields(),
    ),
    simulate=simulate,
    claims=_claims(0.0),
    source=claims.Finding(
        "that wide networks come to the infinite ones with which Theorem 6.1 is checked"
    ),
    mutants=(claims.Mutant("faster than 1 / m", claims=_claims(1.0)),),
    keys=8,
    instances=8,
    mutant_instances=8,
)
