"""A strong enough pull keeps fine-tuning in a ball for ever, a weaker one up to a given time.

Theorem 4 of Afzal et al. (2025), lambda_0 = 2 r_0 Lip(f) / r with r_0 the residual at the start.
What holds for all t if lambda >= lambda_0, and for t <= ln(1 / (1 - lambda / lambda_0)) / lambda
else, is left blank in the statement: the explanation has ||theta_t - theta_0|| <= r. The simplified
bound of Theorem 3 has R(theta_0) = r_0^2 in the statement, where the appendix has r_0.
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import Instance, Mutant, Printed, Reading, Real, Theorem, at_most
from theorysim.theorems.linearization import _flow as flow
from theorysim.theorems.linearization import _models as models


def _threshold(x: Instance):
    """lambda_0."""
    return 2 * x.residual_size * models.lipschitz(x, x.radius).f / x.radius


def _times(x: Instance):
    """Up to the printed limit where the pull is weak."""
    strength, share = x.share * _threshold(x), jnp.minimum(x.share, 1)
    limit = jnp.where(x.share < 1, -jnp.log1p(-share) / strength, jnp.inf)
    end = jnp.minimum(limit, x.horizon * flow.time_scale(x, strength))
    return end * jnp.array(flow.GRID[1:])


def simulate(x: Instance, key):
    path = flow.run(x, x.share * _threshold(x), _times(x)[-1])
    return {**path.straight, "outputs": path.outputs, "distance": path.distance}


def predict(x: Instance):
    c = models.lipschitz(x, x.radius)
    rate = 2 * c.f * (2 * x.radius * c.jacobian + c.f)
    return {"slope": x.residual_size * rate * _times(x), "straight": c.f**2 * _times(x)}


def _strong(r):
    return r.x.share - 1


def _weak(r):
    return -_strong(r)


def _claims(factor, straying: float = 1.0) -> tuple:
    """`factor` on r_0 in the linear bound; distances are at most `straying` times r."""
    stays = [
        at_most(
            name,
            lambda r: r.sim["distance"],
            lambda r: straying * r.x.radius,
            where=given,
            statement="||theta_t - theta_0|| <= r",
        )
        for name, given in (
            ("lambda >= lambda_0: stays in the ball", _strong),
            ("lambda < lambda_0: stays in the ball", _weak),
        )
    ]
    gaps = [
        at_most(
            f"gap to {name}",
            lambda r, name=name: flow.gap(r, name),
            lambda r: factor(r) * r.theory["slope"],
            where=_strong,
        )
        for name in flow.READINGS
    ]
    return (*stays, *gaps)


theorem = Theorem(
    space=models.model_space(
        radius=Real(0.1, 2, log=True),
        share=Real(0.1, 10, log=True),
        horizon=Real(0.1, 20, log=True),
    ),
    simulate=simulate,
    predict=predict,
    claims=_claims(lambda r: r.x.residual_size),
    integrates=True,
    readings=(
        Reading(
            "appendix",
            Printed("", ""),
            claims=_claims(lambda r: 1.0),
            primary=True,
            note="r_0, not R(theta_0) = r_0^2, which is smaller where r_0 < 1",
        ),
    ),
    mutants=(
        Mutant(
            "half of the ball, an eighth of the slope",
            claims=_claims(lambda r: 1 / 8, straying=0.5),
        ),
    ),
    instances=256,
)
