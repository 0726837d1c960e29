"""What the statements on Theorem 7 share: models without and with a candidate layer, and eta."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from theorysim import claims
from theorysim.systems import kernel_ridge
from theorysim.theorems.linearization import _ridge as ridge


class Tuned(NamedTuple):
    """Outputs of the models trained to their optimum, without and with the layers."""

    before: Float[Array, " n"]
    after: Float[Array, " n"]


class Spectra(NamedTuple):
    """What the bounds consist of."""

    eta: Float[Array, ""]
    kappa: Float[Array, ""]
    q: Float[Array, ""]
    largest: Float[Array, ""]
    """lambda_max(K + sigma I)"""
    length: Float[Array, ""]
    """sigma ||y||"""
    smallest: Float[Array, ""]
    """lambda_min(K + S + sigma I) / lambda_min(K + sigma I)"""


def space(**parts: claims.Field) -> claims.Space:
    """With a c in kappa(K + sigma I) <= c; `parts` add to the fields."""
    return ridge.layer_space(looseness=claims.Real(1, 10, log=True), **parts)


def _jacobians(x: claims.Instance) -> tuple[Array, Array, Array]:
    before, added = ridge.jacobian(x), ridge.candidate_jacobian(x)
    return before, added, jnp.concatenate([before, added], axis=1)


def tuned(x: claims.Instance, key: PRNGKeyArray) -> Tuned:
    """Both models, trained."""
    before, _, together = _jacobians(x)
    return Tuned(*(ridge.tuned_outputs(j, x.targets, x.sigma) for j in (before, together)))


def spectra(x: claims.Instance) -> Spectra:
    """Of K and of K + S, by the singular values of the Jacobians."""
    before, added, together = _jacobians(x)
    gram = ridge.kernel(before)
    ends = [jnp.linalg.svd(j, compute_uv=False)[: x.n] ** 2 + x.sigma for j in (before, together)]
    largest, both = (end[0] for end in ends)
    return Spectra(
        kernel_ridge.relative_size(gram, ridge.kernel(added)),
        kernel_ridge.condition_number(gram, x.sigma),
        both / largest,
        largest,
        x.sigma * jnp.linalg.norm(x.targets),
        ends[1][-1] / ends[0][-1],
    )


def negative(x: claims.Instance) -> Spectra:
    """A mutant's: 1 + eta for 1 - eta and 1 - eta for 1 + eta."""
    found = spectra(x)
    return found._replace(eta=-found.eta)


AT_MOST_ONE = {"eta <= 1": lambda x: 1 - spectra(x).eta}


def risk_roots(r: claims.Run) -> list[Float[Array, ""]]:
    """The roots of R(K) and R(K + S)."""
    return [jnp.linalg.norm(outputs - r.x.targets, axis=-1) for outputs in r.sim]


def ratio(r: claims.Run) -> Float[Array, ""]:
    """(R(K + S) / R(K))^(1/2)."""
    before, after = risk_roots(r)
    return after / before
