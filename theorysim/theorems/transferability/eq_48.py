"""What errors of the residual change in the weight distance.

Eq. 48 of Liu et al. (2019), first line. With e = y_Q - y_(P->Q) and r = y_Q - u_Q(P) = e + eps_4:
| r^T H_Q^(-1) r - e^T H_Q^(-1) e | <= (2 |eps_4| |e| + |eps_4|^2) / lambda_Q.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._problem import (
    REGULAR,
    mismatch,
    problem_space,
    smallest,
    solve,
    target,
    target_gram,
)


def simulate(x: claims.Instance, key):
    """y_Q - u_Q(P) of a real network."""
    ready = training.pretrained(x, training.started(x, key))
    return x.target_labels - training.outputs(ready.weights, ready.signs, target(x).inputs)


def _change(r):
    """r^T H^(-1) r - e^T H^(-1) e as a product."""
    e = mismatch(r.x)
    return jnp.abs(jnp.sum((r.sim - e) * solve(target_gram(r.x), r.sim + e)))


def _bound(factor: float, eigenvalue=smallest):
    """(factor |eps_4| |e| + |eps_4|^2) / eigenvalue."""

    def bound(r):
        e = mismatch(r.x)
        error = jnp.linalg.norm(r.sim - e)
        return (factor * error * jnp.linalg.norm(e) + error**2) / eigenvalue(target_gram(r.x))

    return bound


def _largest(gram):
    return jnp.linalg.eigvalsh(gram)[-1]


changed = claims.at_most("Eq. 48: what the errors change", _change, _bound(2.0))

theorem = claims.Theorem(
    space=problem_space(**training.SIZES, kappa=training.KAPPA, rate_share=claims.Real(0.05, 0.95)),
    assumes=(REGULAR,),
    simulate=simulate,
    claims=(changed,),
    source=claims.Printed(
        "Appendix C.3, Eq. 48, first line",
        "||W_Q(K) - W(P)||_F^2 = e^T H_Q^(-1) e + 2 ||eps_4|| ||e|| / lambda_Q + ||eps_4||^2 / "
        "lambda_Q + ...",
    ),
    mutants=(
        claims.Mutant(
            "the cross term without its factor 2", claims=(changed.against(_bound(1.0)),)
        ),
        claims.Mutant(
            "the largest eigenvalue for the smallest",
            claims=(changed.against(_bound(2.0, _largest)),),
        ),
    ),
    instances=32,
    mutant_instances=32,
)
