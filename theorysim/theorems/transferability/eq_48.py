"""What errors of the residual change in the weight distance.

Eq. 48 of Liu et al. (2019), first line. With e = y_Q - y_(P->Q) and r = y_Q - u_Q(P) = e + eps_4:
| r^T H_Q^(-1) r - e^T H_Q^(-1) e | <= (2 |eps_4| |e| + |eps_4|^2) / lambda_Q. The print writes the
squared distance for the first form; that step is transferability/eq-45.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training


def simulate(x: claims.Instance, key):
    """y_Q - u_Q(P) of a real network."""
    ready = training.pretrained(x, training.started(x, key))
    return x.target_labels - training.outputs(ready.weights, ready.signs, problem.target(x).inputs)


def _change(r):
    """r^T H^(-1) r - e^T H^(-1) e as a product."""
    e = problem.mismatch(r.x)
    return jnp.abs(jnp.sum((r.sim - e) * problem.solve(problem.target_gram(r.x), r.sim + e)))


def _bound(r, factor: float = 2.0, eigenvalue=problem.smallest):
    """(factor |eps_4| |e| + |eps_4|^2) / eigenvalue."""
    e = problem.mismatch(r.x)
    error = jnp.linalg.norm(r.sim - e)
    square = factor * error * jnp.linalg.norm(e) + error**2
    return square / eigenvalue(problem.target_gram(r.x))


changed = claims.at_most("Eq. 48: what the errors change", _change, _bound)
one_product = changed.against(lambda r: _bound(r, factor=1.0))
by_largest = changed.against(lambda r: _bound(r, eigenvalue=problem.largest))

theorem = claims.Theorem(
    space=training.training_space(),
    assumes=(problem.REGULAR,),
    simulate=simulate,
    claims=(changed,),
    source=claims.Printed(
        "Appendix C.2, Eq. 48, first line",
        "||W_Q(K) - W(P)||_F^2 = e^T H_Q^(-1) e + 2 ||eps_4|| ||e|| / lambda_Q + ||eps_4||^2 / "
        "lambda_Q + ...",
    ),
    mutants=(
        claims.Mutant("the cross term without its factor 2", claims=(one_product,)),
        claims.Mutant("the largest eigenvalue for the smallest", claims=(by_largest,)),
    ),
    instances=32,
    mutant_instances=32,
)
