"""Tuning more layers can raise the root of the risk by (kappa + 1) / (2 sqrt(kappa)) at most.

"If we add more candidate layers, how much fine-tuning risk can be improved?", asks Section 5 of
Afzal et al. (2025), and answers with Theorem 7, whose bounds lie on both sides of 1. What cannot
rise is the objective, risk and pull together, nor the risk where S has the eigenvectors of K. The
risk itself can: with kappa = kappa(K + sigma I), (R(K + S) / R(K))^(1/2) <= (kappa + 1) /
(2 sqrt(kappa)), which a strong layer along one direction attains.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from theorysim import claims
from theorysim.systems import kernel_ridge
from theorysim.theorems.linearization import _layers as layers
from theorysim.theorems.linearization import _ridge as ridge

STRONG = 1e6
"""the worst layer, in units of lambda_max(K + sigma I)"""


class Errors(NamedTuple):
    """Roots of the risk, and the objectives ||J w - y||^2 + sigma ||w||^2 at the optimum."""

    before: Float[Array, ""]
    after: Float[Array, ""]
    objective_before: Float[Array, ""]
    objective_after: Float[Array, ""]


def _trained(jacobian: Array, targets: Array, sigma: Array) -> tuple[Array, Array]:
    """Root of the risk, and the objective."""

    def loss(w: Array) -> Array:
        return jnp.sum((jacobian @ w - targets) ** 2) + sigma * jnp.sum(w**2)

    w = ridge.minimiser(loss, jacobian.shape[1])
    return jnp.linalg.norm(jacobian @ w - targets), loss(w)


def _errors(x: claims.Instance, added: Array, targets: Array) -> Errors:
    before = ridge.jacobian(x)
    one = _trained(before, targets, x.sigma)
    both = _trained(jnp.concatenate([before, added], axis=1), targets, x.sigma)
    return Errors(one[0], both[0], one[1], both[1])


def simulate(x: claims.Instance, key: PRNGKeyArray) -> Errors:
    return _errors(x, ridge.candidate_jacobian(x), x.targets)


def simulate_worst(x: claims.Instance, key: PRNGKeyArray) -> Errors:
    """One strong direction v between the extreme eigenvectors, and the target that it harms most.

    (K + S + sigma I)^(-1) tends to a skew projection, along (K + sigma I)^(-1) v, of
    (K + sigma I)^(-1), and the target's image z is orthogonal to what is projected out.
    """
    most, least = x.spectrum[0] + x.sigma, x.spectrum[-1] + x.sigma
    top, bottom = x.basis[:, 0], x.basis[:, -1]
    v = jnp.sqrt(most) * top + jnp.sqrt(least) * bottom
    v = v / jnp.linalg.norm(v)
    image = jnp.sqrt(1 / most) * top + jnp.sqrt(1 / least) * bottom  # of v, but for a factor
    z = jnp.vdot(image, bottom) * top - jnp.vdot(image, top) * bottom
    targets = most * jnp.vdot(z, top) * top + least * jnp.vdot(z, bottom) * bottom
    strong = jnp.sqrt(STRONG * most) * v[:, None]
    return _errors(x, strong, targets / jnp.linalg.norm(targets))


def predict(x: claims.Instance) -> Float[Array, ""]:
    """(kappa + 1) / (2 sqrt(kappa))."""
    kappa = kernel_ridge.condition_number(ridge.kernel(ridge.jacobian(x)), x.sigma)
    return (kappa + 1) / (2 * jnp.sqrt(kappa))


def _ratio(r) -> Float[Array, ""]:
    return r.sim.after / r.sim.before


RISES_AT_MOST = claims.at_most("(R(K + S) / R(K))^(1/2)", _ratio, lambda r: r.theory)
FALLS = RISES_AT_MOST.against(lambda r: 1.0)
OBJECTIVE = claims.at_most(
    "the objective does not rise", lambda r: r.sim.objective_after, lambda r: r.sim.objective_before
)
ATTAINED = claims.at_least("it is attained", _ratio, lambda r: 0.999 * r.theory)

theorem = claims.Theorem(
    space=layers.space(),
    simulate=simulate,
    predict=predict,
    claims=(RISES_AT_MOST, OBJECTIVE),
    printed="by how much",
    source=claims.Finding("how much added layers can raise the training risk, and the objective"),
    readings=(
        claims.Reading(
            "the risk improves",
            claims.Finding("what 'how much can the risk be improved' takes for granted"),
            simulate=simulate_worst,
            claims=(FALLS,),
            note="the pull on more parameters costs the fit of some targets",
        ),
        claims.Reading(
            "the risk improves where S has the eigenvectors of K",
            claims.Finding("a case in which it does"),
            claims=(FALLS,),
            hypotheses={"S has the eigenvectors of K": lambda x: x.aligned - 0.5},
        ),
        claims.Reading(
            "the worst layer",
            claims.Finding("that the bound cannot be lowered"),
            simulate=simulate_worst,
            claims=(ATTAINED,),
            note="a strong layer along one direction between the extreme eigenvectors",
        ),
    ),
    mutants=(
        claims.Mutant(
            "three quarters of the bound, where it is attained",
            simulate=simulate_worst,
            claims=(RISES_AT_MOST.scaled(0.75), OBJECTIVE),
        ),
        claims.Mutant("the objective rises", claims=(OBJECTIVE.reversed(),)),
        claims.Mutant(
            "twice the bound is attained", of=("the worst layer",), claims=(ATTAINED.scaled(2.0),)
        ),
    ),
)
