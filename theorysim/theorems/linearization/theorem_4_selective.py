"""The selective scheme leaves the ball of Theorem 4, however strong its pull is.

Theorems 3 and 4 of Afzal et al. (2025) take the distance from case 1 of Theorem 2, in which the
pull is on at all times. The paper's own scheme pulls where <grad R, theta - theta_0> >= 0: for
models that act entry by entry nowhere along small steps. It goes as far as descent without a pull:
beyond the radius r with lambda >= lambda_0 = 2 r_0 Lip(f) / r. As long as it is in the ball, its
gap has the bound of Theorem 3 at lambda = 0, 4 Lip(f)^2 Lip(grad f) r_0^2 t^2: curvature alone.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems.fine_tuning import regularised_descent, squared_loss
from theorysim.theorems.linearization import _flow as flow
from theorysim.theorems.linearization import _models as models

STEPS = 400
EVERY = 10


class Selected(NamedTuple):
    """Along descent: the distance, and ||f - f_linear|| to the linearised model trained alike."""

    distance: Float[Array, " times"]
    gap: Float[Array, " times"]


def _threshold(x: claims.Instance) -> Float[Array, ""]:
    """lambda_0."""
    return 2 * x.residual_size * models.lipschitz(x, x.radius).f / x.radius


def _rate(x: claims.Instance) -> Float[Array, ""]:
    """A share of 1 / (lambda + curvature), with the curvature on the ball that the run needs."""
    constants = models.lipschitz(x, x.radius)
    curvature = 2 * constants.f**2 + 2 * x.residual_size * constants.jacobian
    return x.step / (x.share * _threshold(x) + curvature)


def simulate(x: claims.Instance, key) -> Selected:
    """The scheme with its condition at theta_t, as printed."""
    f, y, origin = models.outputs(x), models.targets(x), models.start(x)
    jacobian, strength = models.jacobian(x, origin), x.share * _threshold(x)

    def straight(u: Array) -> Array:
        return jnp.matmul(jacobian, u, precision=jax.lax.Precision.HIGHEST)

    def descend(outputs) -> Array:
        loss = squared_loss(outputs, y)
        run = regularised_descent(loss, origin, _rate(x), strength, STEPS, "printed")
        return run.path[EVERY::EVERY]

    path, beside = descend(f), descend(straight)
    gap = jax.vmap(f)(path) - jax.vmap(straight)(beside)
    return Selected(jnp.linalg.norm(path, axis=1), jnp.linalg.norm(gap, axis=1))


def predict(x: claims.Instance) -> Float[Array, " times"]:
    """The times t of the steps that are kept."""
    return _rate(x) * jnp.arange(EVERY, STEPS + 1, EVERY)


def _in_ball(r) -> Float[Array, " times"]:
    """Where the constants of the ball speak of the path."""
    return r.x.radius - jax.lax.cummax(r.sim.distance)


def _theorem_3(r) -> Float[Array, " times"]:
    strength = r.x.share * _threshold(r.x)
    b = flow.gap_factor(r.x, models.lipschitz(r.x, r.x.radius), strength)
    return b * flow.excess_time(strength, r.theory)


def _without_pull(r) -> Float[Array, " times"]:
    c = models.lipschitz(r.x, r.x.radius)
    return 4 * c.f**2 * c.jacobian * (r.x.residual_size * r.theory) ** 2


STAYS = claims.at_most("||theta_t - theta_0|| <= r", lambda r: r.sim.distance, lambda r: r.x.radius)
GAP = claims.at_most("||f - f_linear||", lambda r: r.sim.gap, _without_pull, where=_in_ball)
BESIDE = claims.at_most("gap, by Theorem 3", lambda r: r.sim.gap, _theorem_3, where=_in_ball)

theorem = claims.Theorem(
    space=models.model_space(
        radius=claims.Real(0.03, 1, log=True),
        share=claims.Real(1, 100, log=True),
        step=claims.Real(0.01, 0.3, log=True),
    ),
    simulate=simulate,
    predict=predict,
    claims=(STAYS,),
    printed="lambda >= lambda_0, the selective scheme",
    source=claims.Finding("Theorem 4 for the scheme of the paper"),
    note="the scheme never pulls, and goes as far as without a pull",
    readings=(
        claims.Reading(
            "Theorem 3, the selective scheme",
            claims.Finding("Theorem 3 for the scheme of the paper, in the ball"),
            claims=(BESIDE,),
        ),
        claims.Reading(
            "what is left of Theorem 3",
            claims.Finding("its limit at lambda = 0, for the scheme of the paper"),
            claims=(GAP,),
            primary=True,
            note="no pull, so the gap is curvature alone, of the second order in time",
        ),
    ),
    mutants=(claims.Mutant("half of the bound", claims=(GAP.scaled(0.5),)),),
    mutant_instances=512,
)
