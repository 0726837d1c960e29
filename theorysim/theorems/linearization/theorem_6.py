"""Adding layers moves every eigenvalue of the tangent kernel by a factor in [1 - eta, 1 + eta].

Theorem 6 of Afzal et al. (2025), with eta = |K^(-1/2) S K^(-1/2)| for the kernel S of the added
layers: (1 - eta) lambda_i(K) <= lambda_i(K + S) <= (1 + eta) lambda_i(K). The slide's commentary
puts the eigenvalues themselves into that interval. Because S is a Gram matrix, no eigenvalue falls.
K^(-1/2) needs at least as many parameters as inputs; with a pseudo-inverse in its place the upper
bound fails where a layer moves outputs that the first parameters do not.
"""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import kernel_ridge
from theorysim.theorems.linearization import _ridge as ridge


def simulate(x: claims.Instance, key) -> tuple:
    """Eigenvalues of K and of K + S, from the squared singular values of the Jacobians."""
    before, added = ridge.jacobian(x), ridge.candidate_jacobian(x)
    together = jnp.concatenate([before, added], axis=1)
    return tuple(jnp.linalg.svd(j, compute_uv=False)[: x.n] ** 2 for j in (before, together))


def _predict(norm: kernel_ridge.Norm) -> Callable:
    """eta."""

    def predict(x: claims.Instance) -> Float[Array, ""]:
        grams = ridge.kernel(ridge.jacobian(x)), ridge.kernel(ridge.candidate_jacobian(x))
        return kernel_ridge.relative_size(*grams, norm)

    return predict


def _predict_pseudo(x: claims.Instance) -> Float[Array, ""]:
    """eta with the pseudo-inverse of K^(1/2)."""
    spectrum = ridge.eigenvalues(x)
    root = jnp.where(spectrum > 0, 1 / jnp.sqrt(jnp.where(spectrum > 0, spectrum, 1)), 0)
    whitened = (x.basis * root).T @ ridge.candidate_jacobian(x)
    return jnp.linalg.norm(whitened, ord=2) ** 2


def _before(r) -> Float[Array, " n"]:
    return r.sim[0]


def _after(r) -> Float[Array, " n"]:
    return r.sim[1]


def _claims(share: float) -> tuple:
    return (
        claims.at_least("lower bound", _after, lambda r: (1 - share * r.theory) * _before(r)),
        claims.at_most("upper bound", _after, lambda r: (1 + share * r.theory) * _before(r)),
    )


SLIDE = "slides, Section 5, Theorem 6"

theorem = claims.Theorem(
    space=ridge.layer_space(),
    simulate=simulate,
    predict=_predict("operator"),
    claims=_claims(1.0),
    source=claims.Printed(
        SLIDE,
        "(1 - eta) lambda_i(K) <= lambda_i(K + S) <= (1 + eta) lambda_i(K)",
    ),
    readings=(
        claims.Reading(
            "Frobenius norm",
            claims.Printed(SLIDE, "eta = |K^(-1/2) S K^(-1/2)|, in a norm that is not named"),
            predict=_predict("frobenius"),
        ),
        claims.Reading(
            "commentary: the eigenvalues lie in [1 - eta, 1 + eta]",
            claims.Printed(SLIDE, "Each eigenvalue of K + S is bounded at most [1 - eta, 1 + eta]"),
            claims=(
                claims.at_least("lower end", _after, lambda r: 1 - r.theory),
                claims.at_most("upper end", _after, lambda r: 1 + r.theory),
            ),
            note="their ratios to the eigenvalues before do",
        ),
        claims.Reading(
            "fewer parameters than inputs, pseudo-inverse",
            claims.Finding("the printed bounds where K is singular"),
            simulate=lambda x, key: simulate(x.replace(few=jnp.ones(())), key),
            predict=lambda x: _predict_pseudo(x.replace(few=jnp.ones(()))),
            note="an eigenvalue that was zero becomes positive, beyond any factor",
        ),
        claims.Reading(
            "sharper: no eigenvalue falls",
            claims.Finding("a better lower bound"),
            claims=(claims.at_least("lower bound", _after, _before),),
            note="S is positive semidefinite",
        ),
    ),
    mutants=(
        claims.Mutant("half of eta", claims=_claims(0.5)),
        claims.Mutant("signs swapped", of=("as printed", "Frobenius norm"), claims=_claims(-1.0)),
    ),
)
