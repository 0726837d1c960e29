"""The linearised model at the parameters of the model is off by at most Lip(grad f) ||u||^2 / 2.

Section 3 of Afzal et al. (2025), before Lemma 3: f(x) ~ f_0(x) + <grad f_0(x), theta - theta_0> "is
a good approximation" where fine-tuning remains near theta_0. How good it is, the paper says through
the time of training (Theorem 3); Taylor's theorem says it through the distance alone, at any time
and for any training. Where the pull is strong, the distance is what it bounds (energy-bounds).
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.linearization import _models as models


def simulate(x: claims.Instance, key) -> Float[Array, ""]:
    """||f - f_linear|| at a point of the sphere."""
    delta = models.point(x)
    straight = models.jacobian(x, models.start(x)) @ delta
    return jnp.linalg.norm(models.outputs(x)(delta) - straight)


def predict(x: claims.Instance) -> Float[Array, ""]:
    """Lip(grad f) on the ball."""
    return models.lipschitz(x, x.radius).jacobian


TAYLOR = claims.at_most(
    "||f - f_linear||",
    lambda r: r.sim,
    lambda r: r.theory * r.x.radius**2 / 2,
    statement="||f - f_linear|| <= (1/2) Lip(grad f) ||theta - theta_0||^2",
)

theorem = claims.Theorem(
    space=models.model_space(
        radius=claims.Real(1e-3, 3, log=True), way=claims.Gaussian("n", models.HIDDEN)
    ),
    simulate=simulate,
    predict=predict,
    claims=(TAYLOR,),
    printed="by Taylor's theorem",
    source=claims.Finding("how good the approximation of Section 3 is at a distance"),
    mutants=(
        claims.Mutant("a quarter for a half", claims=(TAYLOR.scaled(0.5),)),
        claims.Mutant(
            "the distance for its square",
            claims=(TAYLOR.against(lambda r: r.theory * r.x.radius**3 / 2),),
        ),
    ),
)
