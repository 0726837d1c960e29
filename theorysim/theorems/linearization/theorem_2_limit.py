"""At last, parameters are within 2 Lip(f) ||f_t - y|| / lambda of their start: as printed.

Case 1 of Theorem 2 of Afzal et al. (2025), a constant lambda > 0: lim sup ||theta_t - theta_0|| <=
2 Lip(f) ||f_t - y|| / lambda. The residual at time t, which does not bound the distance on the way
(theorem-2), does bound it at last: where the flow rests, lambda (theta - theta_0) = -2 J^T (f - y).
Left out are pulls below 0.3, which lemma-3 and theorem-2 have: up to their last time, 40 / lambda,
an integrator takes ever more steps.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.linearization import _flow as flow
from theorysim.theorems.linearization import _models as models

TIMES = 24
"""that are kept, the start left out"""
LAST = 40.0
"""the last time, in units of 1 / lambda"""


def simulate(x: claims.Instance, key) -> Float[Array, "2 times"]:
    """Distance from the start, and the residual."""
    times = LAST / x.strength * jnp.linspace(0, 1, TIMES + 1)
    path = flow.pulled_flow(x, models.start(x), x.strength, times)[1:]
    errors = jax.vmap(models.outputs(x))(path) - models.targets(x)
    return jnp.linalg.norm(jnp.stack([path, jnp.pad(errors, ((0, 0), (0, x.n)))]), axis=-1)


def predict(x: claims.Instance) -> Float[Array, ""]:
    """2 Lip(f) / lambda, on the ball that no flow with this pull leaves (energy-bounds)."""
    radius = x.residual_size * jnp.sqrt(2 / x.strength)
    return 2 * models.lipschitz(x, radius).f / x.strength


def _residual_at_last(r) -> Float[Array, ""]:
    """The largest in the later half of the time, which stands for the lim sup."""
    return jnp.max(r.sim[1, TIMES // 2 - 1 :])


def _left_of_the_first_half(r) -> Float[Array, ""]:
    """What e^(-lambda t) has left of the distance in the middle: LAST / 2 of its times later."""
    return jnp.exp(-LAST / 2) * r.sim[0, TIMES // 2 - 1]


AT_LAST = claims.at_most(
    "||theta_t - theta_0|| at last",
    lambda r: r.sim[0, -1],
    lambda r: r.theory * _residual_at_last(r) + _left_of_the_first_half(r),
    statement="lim sup ||theta_t - theta_0|| <= 2 Lip(f) ||f_t - y|| / lambda",
)

theorem = claims.Theorem(
    space=models.model_space(strength=claims.Real(0.3, 100, log=True)),
    simulate=simulate,
    predict=predict,
    claims=(AT_LAST,),
    source=claims.Printed(
        "slides, Section 3, Theorem 2, case 1",
        "limsup_(t -> infinity) ||theta_t - theta_0|| <= 2 Lip(f) ||f_t(x*) - y*|| (1 / lambda)",
    ),
    integrates=True,
    mutants=(claims.Mutant("the factor 2 lost", claims=(AT_LAST.scaled(0.5),)),),
    instances=128,
)
