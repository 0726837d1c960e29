"""A strong enough pull keeps fine-tuning in a ball for ever, a weaker one up to a given time.

Theorem 4 of Afzal et al. (2025), lambda_0 = 2 r_0 Lip(f) / r with r_0 the residual at the start.
What holds for all t if lambda >= lambda_0, and for t <= ln(1 / (1 - lambda / lambda_0)) / lambda
else, is left blank in the statement: the explanation has ||theta_t - theta_0|| <= r. The simplified
bound of Theorem 3 has R(theta_0) = r_0^2 in the statement, where the appendix has r_0; "if lambda
is small, the bound holds", too, up to that time.
"""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.linearization import _flow as flow
from theorysim.theorems.linearization import _models as models


def _threshold(x: claims.Instance):
    """lambda_0."""
    return 2 * x.residual_size * models.lipschitz(x, x.radius).f / x.radius


def _times(x: claims.Instance):
    """Up to the printed limit where the pull is weak."""
    strength, share = x.share * _threshold(x), jnp.minimum(x.share, 1)
    limit = jnp.where(x.share < 1, -jnp.log1p(-share) / strength, jnp.inf)
    end = jnp.minimum(limit, x.horizon * flow.time_scale(x, strength))
    return end * jnp.array(flow.GRID[1:])


def simulate(x: claims.Instance, key) -> flow.Path:
    return flow.run(x, x.share * _threshold(x), _times(x)[-1])


def predict(x: claims.Instance) -> Float[Array, " times"]:
    """2 Lip(f) (2 r Lip(grad f) + Lip(f)) t."""
    c = models.lipschitz(x, x.radius)
    return 2 * c.f * (2 * x.radius * c.jacobian + c.f) * _times(x)


def _strong(r):
    return r.x.share - 1


def _weak(r):
    return -_strong(r)


def _stays(name: str, where: Callable):
    return claims.at_most(
        name,
        lambda r: r.sim.distance,
        lambda r: r.x.radius,
        where=where,
        statement="||theta_t - theta_0|| <= r",
    )


def _gaps(power: int, where: Callable = _strong, prefix: str = "") -> tuple:
    """The simplified bound with this power of the residual at the start."""
    return tuple(
        claims.at_most(
            f"{prefix}gap to {name}",
            lambda r, name=name: flow.gap(r, name),
            lambda r: r.x.residual_size**power * r.theory,
            where=where,
            statement=f"||f - f_linear|| <= 2 Lip(f) r_0^{power} (2 r Lip(grad f) + Lip(f)) t",
        )
        for name in flow.READINGS
    )


STAYS = (
    _stays("lambda >= lambda_0: stays in the ball", _strong),
    _stays("lambda < lambda_0: stays in the ball", _weak),
)


def _theorem_3(r) -> Float[Array, " times"]:
    """The bound of Theorem 3, with the constants of the r-ball."""
    strength = r.x.share * _threshold(r.x)
    b = flow.gap_factor(r.x, models.lipschitz(r.x, r.x.radius), strength)
    return b * flow.excess_time(strength, _times(r.x))


def _simplifies(power: int):
    return claims.at_most(
        "the bound of Theorem 3 simplifies",
        _theorem_3,
        lambda r: r.x.residual_size**power * r.theory,
        where=_strong,
    )


def _bounds(power: int) -> tuple:
    return *_gaps(power), _simplifies(power)


def _weak_bounds(power: int) -> tuple:
    """Of weak pulls, up to the printed limit."""
    return _gaps(power, _weak, "lambda < lambda_0: ")


theorem = claims.Theorem(
    space=models.model_space(
        radius=claims.Real(0.1, 2, log=True),
        share=claims.Real(0.1, 10, log=True),
        horizon=claims.Real(0.1, 20, log=True),
        # Flat models with small residuals: where R(theta_0) stands for its root, all gaps show it.
        n=claims.Size(2, low=2, high=16),
        slope=claims.Real(1e-4, 3, log=True, shape="n"),
        residual_size=claims.Real(1e-4, 100, log=True),
    ),
    simulate=simulate,
    predict=predict,
    claims=(*STAYS, *_bounds(2), *_weak_bounds(2)),
    source=claims.Printed(
        "slides, Section 3, Theorem 4, and its explanation in the appendix",
        "if lambda >= lambda_0 then for all t, else for t <= (1/lambda) ln(1 / (1 - lambda / "
        "lambda_0)): theta_t remains in the r-ball; for lambda >= lambda_0 ||f_t(x*) - "
        "f_linear(x*)|| <= 2 Lip(f) R(theta_0) (2 r Lip(grad f) + Lip(f)) t, to which the bound of "
        "theorem 3 simplifies; if lambda is small, the bound holds when the time step is smaller "
        "than a certain value",
    ),
    note='R(theta_0) = r_0^2 is smaller than r_0 where r_0 < 1; for small lambda the "certain '
    'value" is read as the limit of t that is printed for lambda < lambda_0',
    integrates=True,
    readings=(
        claims.Reading(
            "appendix",
            claims.Printed(
                "slides, appendix, Theorem 4",
                "Delta(t) grows linearly, with coefficient 2 Lip(f) ||y(0) - y*|| (2 r Lip(grad f) "
                "+ Lip(f))",
            ),
            claims=(*STAYS, *_bounds(1)),
            primary=True,
            note="r_0, not R(theta_0) = r_0^2, which is smaller where r_0 < 1",
        ),
        claims.Reading(
            "lambda < lambda_0, corrected",
            claims.Corrected("||y(0) - y*|| for R(theta_0), as in the appendix for strong pulls"),
            claims=_weak_bounds(1),
            note="up to the printed time the bound holds for weak pulls, too",
        ),
    ),
    mutants=(
        claims.Mutant("half of the ball", claims=tuple(claim.scaled(0.5) for claim in STAYS)),
        claims.Mutant("R(theta_0) for its root", claims=_bounds(2)),
        claims.Mutant(
            "R(theta_0) for its root, lambda < lambda_0",
            of=("lambda < lambda_0, corrected",),
            claims=_weak_bounds(2),
        ),
    ),
    instances=256,
    mutant_instances=1024,
)
