"""A more singular target Gram matrix means larger deviation where similar inputs differ in labels.

Text below Theorem 2 of Liu et al. (2019): for a "fine-grained dataset with many similar images, H_Q
will be more singular than common tasks, resulting in a larger deviation from the pretrained
weight". The deviation^2 is r^T H_Q^(-1) r. Two target inputs approach each other while the mismatch
r stays. Fine-grained are labels that tell similar images apart: the worst r of a given norm, which
needs |r| / sqrt(lambda_Q). Labels that agree need less movement then, not more.
"""

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.kernels import tangent_gram
from theorysim.systems.two_layer_relu_limit import kernel_descent


def simulate(x: claims.Instance, key) -> tuple:
    """At shrinking angles: for the mismatch as it is, and the largest for one of its norm."""
    angles = x.angle * 0.7 ** jnp.arange(8)

    def distance(angle, residual):
        inputs = jnp.array([[1.0, 0.0], [jnp.cos(angle), jnp.sin(angle)]])
        return kernel_descent(tangent_gram(inputs, inputs), residual, 1.0, jnp.inf).distance

    norm = jnp.linalg.norm(x.mismatch) / jnp.sqrt(2)
    several = [norm * jnp.array(signs) for signs in ((1.0, 1.0), (1.0, -1.0))]
    each = jax.vmap(distance, (0, None))
    worst = jnp.max(jnp.stack([each(angles, r) for r in several]), axis=0)
    return each(angles, x.mismatch), worst


DEVIATION = "deviation as H_Q becomes singular"
given = claims.increasing(DEVIATION, lambda r: r.sim[0])
worst = claims.increasing(DEVIATION, lambda r: r.sim[1])
falling = claims.increasing(DEVIATION, lambda r: -r.sim[1])

theorem = claims.Theorem(
    space=claims.Space(angle=claims.Real(0.1, 1.5), mismatch=claims.Real(-1, 1, shape=2)),
    simulate=simulate,
    claims=(given,),
    source=claims.Printed(
        "Section 6.3, below Theorem 2",
        "a fine-grained dataset with many similar images, H_Q will be more singular than common "
        "tasks, resulting in a larger deviation from the pretrained weight",
    ),
    note="similar images with similar labels need less movement, not more",
    readings=(
        claims.corrected(
            "for the labels that need the largest movement of their norm",
            claims=(worst,),
            note="in the worst case over labels of one norm",
        ),
    ),
    mutants=(
        claims.Mutant("of the given mismatch", claims=(given,)),
        claims.Mutant("a smaller deviation", claims=(falling,)),
    ),
)
