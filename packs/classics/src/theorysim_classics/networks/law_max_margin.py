"""Descent of the logistic loss turns towards the maximum margin, as slowly as 1 / log t.

Soudry, Hoffer, Nacson, Gunasekar and Srebro (2018), Theorem 3 and Section 3.2: on separable data
w(t) = w^ log t + O(1) with w^ the hard-margin solution, so that the margin of w / |w| is within
O(1 / log t) of the largest. Here two support vectors on either side of w^ = (1, 0) in the plane,
and further points beyond the margin, make w^ known.
"""

import jax.numpy as jnp
import optax

from theorysim import claims
from theorysim.numerics.descent import descend_to

STEPS = (80, 400, 2000, 10000)


def _points(x: claims.Instance):
    """Inputs times labels; the support vectors have first coordinate 1, all others more."""
    support = jnp.stack([jnp.ones(2), jnp.stack([x.above, -x.below])], axis=1)
    return jnp.concatenate([support, jnp.stack([1.5 + x.beyond, x.aside], axis=1)])


def simulate(x: claims.Instance, key):
    """The weights after so many steps."""
    points = _points(x)
    rate = 1 / jnp.sum(points**2)

    def loss(w):
        return jnp.sum(jnp.logaddexp(0, -points @ w))

    return descend_to(loss, jnp.zeros(2), optax.sgd(rate), x.steps)


def _rest(r):
    """|w(t) - w^ log t|."""
    return jnp.linalg.norm(r.sim - jnp.log(r.x.steps) * jnp.eye(2)[0])


def _margin(r):
    return 1 - jnp.min(_points(r.x) @ r.sim) / jnp.linalg.norm(r.sim)


def _slowly(r):
    return 1 / jnp.log(r.x.steps)


OVER = {"steps": STEPS}
REST = claims.exists_constant("rest", _rest, lambda r: 1.0, over=OVER)
MARGIN = claims.exists_constant("margin", _margin, _slowly, over=OVER)

theorem = claims.Theorem(
    space=claims.Space(
        others=claims.Size(2, high=16),
        steps=claims.Integer(10, 10000),
        above=claims.Real(0.1, 1),
        below=claims.Real(0.1, 1),
        beyond=claims.Real(0, 2, shape="others"),
        aside=claims.Real(-1, 1, shape="others"),
    ),
    simulate=simulate,
    claims=(REST, MARGIN),
    source=claims.Printed(
        "Soudry, Hoffer, Nacson, Gunasekar and Srebro 2018, Theorem 3",
        "w(t) = w^ log t + rho(t) with a bounded rho; the margin is within O(1 / log t)",
    ),
    mutants=(
        claims.Mutant("a rest that vanishes", claims=(REST.against(lambda r: 1 / r.x.steps),)),
        claims.Mutant("as fast as 1 / t", claims=(MARGIN.against(lambda r: 1 / r.x.steps),)),
    ),
    instances=16,
    mutant_instances=16,
)
