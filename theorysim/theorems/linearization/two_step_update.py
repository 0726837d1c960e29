"""The two-step update finds the minimum of an objective with the pull lambda / (1 - lambda eta).

Section 2 of Afzal et al. (2025) splits the objective R(theta) + (lambda / 2) ||theta - theta_0||^2
into a gradient step on R and one on the pull, evaluated after it. Its limit, as the step size eta
goes to zero, is the minimiser of that objective. For any one step size it is that of a stronger
pull, lambda / (1 - lambda eta). Linear models, whose minimiser is known.
"""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.claims.hypotheses import Margin
from theorysim.numerics.descent import iterate_to
from theorysim.numerics.products import dot
from theorysim.systems.fine_tuning import regularised_descent, regularised_step, squared_loss
from theorysim.theorems.linearization import _ridge as ridge

RUNGS = (0.4, 0.1, 0.025, 0.00625)
STEPS = 1500
EVERY = 50
TIMES = 40.0
"""units of the slowest time"""

# With smaller steps the path of so many is too short to show its limit.
NOT_SMALL: dict[str, Margin] = {"eta at least 0.05 of the largest": lambda x: x.share - 0.05}


def _rate(x: claims.Instance) -> Float[Array, ""]:
    return x.share / (2 * x.spectrum[0] + x.strength)


def _loss(x: claims.Instance) -> Callable:
    jacobian = ridge.jacobian(x)
    return squared_loss(lambda w: dot(jacobian, w), x.targets)


def simulate(x: claims.Instance, key) -> Float[Array, " p"]:
    """Parameters after as many steps as bring them to rest."""

    def step(w: Array) -> Array:
        return regularised_step(_loss(x), jnp.zeros(x.n), w, _rate(x), x.strength).params

    steps = jnp.ceil(TIMES / (x.strength * _rate(x))).astype(int)
    return iterate_to(step, jnp.zeros(x.n), steps)


def simulate_path(x: claims.Instance, key) -> Float[Array, "p times"]:
    """Parameters along descent, times last."""
    run = regularised_descent(_loss(x), jnp.zeros(x.n), _rate(x), x.strength, STEPS)
    return run.path[::EVERY].T


def _predict(shifted: bool) -> Callable:
    """The minimiser of the objective, with the pull of the theorem or a `shifted` one."""

    def predict(x: claims.Instance) -> Float[Array, " p"]:
        strength = x.strength / (1 - x.strength * _rate(x)) if shifted else x.strength
        loss = _loss(x)
        return ridge.minimiser(lambda w: loss(w) + strength / 2 * jnp.sum(w**2), x.n)

    return predict


TO_MINIMUM = claims.tends_to(
    "theta_t to theta*", lambda r: r.sim, lambda r: r.theory, over={"share": RUNGS}
)
AT_LAST = claims.equal("theta_t at last", lambda r: r.limit(r.sim), lambda r: r.theory)

theorem = claims.Theorem(
    space=ridge.ridge_space(
        spectrum=claims.Spectrum("n", 0.1, 10),
        strength=claims.Real(0.5, 20, log=True),
        share=claims.Real(0.005, 0.9),
        n=claims.Size(3, low=1, high=8),
    ),
    simulate=simulate,
    predict=_predict(shifted=False),
    claims=(TO_MINIMUM,),
    source=claims.Printed(
        "slides, Section 2",
        "theta* = min_theta [R(theta) + (lambda / 2) ||theta - theta_0||^2]; theta~_t = "
        "theta_(t-1) - eta grad R(theta_(t-1))^T, theta_t = theta~_t - lambda eta (theta~_t - "
        "theta_0)",
    ),
    note="as the step size goes to zero",
    readings=(
        claims.Reading(
            "at one step size",
            claims.Finding("the printed objective where the step size does not go to zero"),
            simulate=simulate_path,
            hypotheses=NOT_SMALL,
            claims=(AT_LAST,),
            note="the pull comes after the step, and is felt 1 / (1 - lambda eta) times",
        ),
        claims.Reading(
            "at one step size, exactly",
            claims.Finding("the objective that the update minimises"),
            simulate=simulate_path,
            hypotheses=NOT_SMALL,
            predict=_predict(shifted=True),
            claims=(AT_LAST,),
            note="lambda / (1 - lambda eta) for lambda",
        ),
    ),
    mutants=(
        claims.Mutant(
            "lambda for lambda / 2",
            predict=lambda x: _predict(shifted=False)(x.replace(strength=2 * x.strength)),
        ),
        claims.Mutant(
            "lambda (1 - lambda eta)",
            of=("at one step size, exactly",),
            predict=lambda x: _predict(shifted=False)(
                x.replace(strength=x.strength * (1 - x.strength * _rate(x)))
            ),
        ),
    ),
    instances=64,
)
