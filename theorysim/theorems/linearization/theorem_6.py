"""Adding layers moves every eigenvalue of the tangent kernel by a factor in [1 - eta, 1 + eta].

Theorem 6 of Afzal et al. (2025), with eta = |K^(-1/2) S K^(-1/2)| for the kernel S of the added
layers: (1 - eta) lambda_i(K) <= lambda_i(K + S) <= (1 + eta) lambda_i(K). The slide's commentary
puts the eigenvalues themselves into that interval. Because S is a Gram matrix, no eigenvalue falls.
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import Instance, Mutant, Printed, Reading, Theorem, at_least, at_most
from theorysim.systems import kernel_ridge
from theorysim.theorems.linearization import _ridge as ridge


def simulate(x: Instance, key):
    """Eigenvalues of both kernels, from the squared singular values of the Jacobians."""
    before, added = ridge.jacobian(x), ridge.candidate_jacobian(x)
    together = jnp.concatenate([before, added], axis=1)
    before, after = (jnp.linalg.svd(j, compute_uv=False)[: x.n] ** 2 for j in (before, together))
    return {"before": before, "after": after}


def _predict(norm: kernel_ridge.Norm):
    def predict(x: Instance):
        grams = ridge.kernel(ridge.jacobian(x)), ridge.kernel(ridge.candidate_jacobian(x))
        return kernel_ridge.relative_size(*grams, norm)

    return predict


def _after(r):
    return r.sim["after"]


def _claims(share: float) -> tuple:
    return (
        at_least("lower bound", _after, lambda r: (1 - share * r.theory) * r.sim["before"]),
        at_most("upper bound", _after, lambda r: (1 + share * r.theory) * r.sim["before"]),
    )


theorem = Theorem(
    space=ridge.layer_space(),
    simulate=simulate,
    predict=_predict("operator"),
    claims=_claims(1.0),
    readings=(
        Reading("Frobenius norm", Printed("", ""), predict=_predict("frobenius")),
        Reading(
            "commentary: the eigenvalues lie in [1 - eta, 1 + eta]",
            Printed("", ""),
            claims=(
                at_least("lower end", _after, lambda r: 1 - r.theory),
                at_most("upper end", _after, lambda r: 1 + r.theory),
            ),
            note="their ratios to the eigenvalues before do",
        ),
        Reading(
            "sharper: no eigenvalue falls",
            Printed("", ""),
            claims=(at_least("lower bound", _after, lambda r: r.sim["before"]),),
            note="S is positive semidefinite",
        ),
    ),
    mutants=(Mutant("half of eta", claims=_claims(0.5)),),
)
