"""The covariance of a batch of normal vectors is close to the identity.

Lemma A.12 of Springer et al. (2025), cited from Vershynin (2018, Section 4.7): there is a constant
C_1 such that, for m >= d + log(1/delta), |S - I|_op <= C_1 sqrt((d + log(1/delta)) / m) with
probability 1 - delta. Covariances are drawn from their exact law, which takes batches of any size.
Large deviations of the largest eigenvalue at m = d + log(1/delta) need C_1 >= 4.04, and the
Gaussian comparison of extreme singular values shows that 9.2 is enough; 5 withstands the check.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.systems.batch_covariance import wishart
from theorysim.theorems.overtraining._batch_sizes import BATCH_CONSTANT
from theorysim.theorems.overtraining._finetuning import op_norm


def _requirement(x: claims.Instance):
    return x.d + jnp.log(1 / x.failure)


def _batch(x: claims.Instance):
    return jnp.ceil(x.batch_ratio * _requirement(x))


def predict(x: claims.Instance):
    return jnp.sqrt(_requirement(x) / _batch(x))


def _deviation(r: claims.Run):
    return op_norm(r.sim - jnp.eye(r.x.d))


theorem = claims.Theorem(
    space=claims.Space(
        d=claims.Size(3, high=64),
        failure=claims.Real(0.01, 0.5, log=True),
        batch_ratio=claims.Real(1, 1000, log=True),
    ),
    hypotheses={"m >= d + log(1/delta)": lambda x: _batch(x) - _requirement(x)},
    simulate=lambda x, key: wishart(key, x.d, _batch(x)),
    predict=predict,
    source=claims.Printed(
        "Lemma A.12", "|Sigma_k - I|_op <= C_1 sqrt((d + log(1/delta)) / m), m >= d + log(1/delta)"
    ),
    claims=(
        claims.with_probability(
            "C_1 = 5 is enough",
            _deviation,
            lambda r: BATCH_CONSTANT * r.theory,
            at_least=lambda r: 1 - r.x.failure,
        ),
        claims.exists_constant(
            "some C_1 is enough",
            lambda r: jnp.quantile(_deviation(r), 1 - r.x.failure, axis=0),
            lambda r: r.theory,
            over={
                "batch_ratio": (1, 3, 10, 30, 100, 300, 1000),
                "d": (2, 4, 8, 16),
                "failure": (0.5, 0.2, 0.1, 0.05, 0.02),
            },
        ),
    ),
    mutants=(claims.Mutant("without the root", predict=lambda x: _requirement(x) / _batch(x)),),
    keys=1024,
    instances=32,
)
