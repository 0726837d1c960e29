"""Gradient descent from zero finds the least-squares solution of minimum norm.

As in textbooks (Zhang et al. 2017, Section 5): with fewer samples than parameters and independent
rows, descent of |X w - y|^2 / 2 from w_0 = 0 tends to X^T (X X^T)^(-1) y; from another start it
keeps the part of w_0 that X does not see.
"""

import jax.numpy as jnp
import optax

from theorysim import claims
from theorysim.numerics.descent import descend_to


def _data(x: claims.Instance):
    """Rows with singular values in [0.5, 0.9], so that descent converges in sight."""
    return x.left @ (x.singular[:, None] * x.right[: x.n])


def simulate(x: claims.Instance, key):
    data, start = _data(x), x.scale * x.start

    def loss(w):
        return jnp.sum((data @ w - x.labels) ** 2) / 2

    return descend_to(loss, start, optax.sgd(x.rate), x.steps)


def _limit(x: claims.Instance, kept):
    data, start = _data(x), x.scale * x.start
    gram = data @ data.T
    seen = data.T @ jnp.linalg.solve(gram, data @ start)
    return data.T @ jnp.linalg.solve(gram, x.labels) + kept * (start - seen)


def predict(x: claims.Instance):
    return _limit(x, 1.0)


LIMIT = claims.tends_to("limit", lambda r: r.sim, lambda r: r.theory, over={"steps": (16, 64, 256)})

theorem = claims.Theorem(
    space=claims.Space(
        n=claims.Size(2, high=4),
        d=claims.Size(5, low=4, high=16),
        steps=claims.Integer(1, 256),
        left=claims.Orthogonal("n"),
        right=claims.Orthogonal("d"),
        singular=claims.Real(0.5, 0.9, shape="n"),
        labels=claims.Gaussian("n"),
        start=claims.Gaussian("d"),
        scale=claims.Extremal(0, 1),
        rate=claims.Real(0.5, 0.9),
    ),
    simulate=simulate,
    predict=predict,
    claims=(LIMIT,),
    source=claims.Printed(
        "Zhang, Bengio, Hardt, Recht and Vinyals 2017, Section 5",
        "w = X^T (X X^T)^(-1) y, started from zero",
    ),
    mutants=(claims.Mutant("what X does not see is lost", predict=lambda x: _limit(x, 0.0)),),
)
