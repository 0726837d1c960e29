"""A two-layer linear network learns every singular mode along its own logistic curve.

Saxe, McClelland and Ganguli (2014), "The time course of learning": gradient flow of |Sigma - W_2
W_1|^2 / 2 with tau = 1, white inputs and the start W_1 = R diag(a) V^T, W_2 = U diag(a) R^T, Sigma
= U S V^T, stays U diag(u(t)) V^T with u(t) = s e^(2 s t) / (e^(2 s t) - 1 + s / u_0), u_0 = a^2.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.flow import gradient_flow, statement_options


def _times(x: claims.Instance):
    """From the start until the slowest mode is learned to half of it, and as long again."""
    slow = x.strengths[-1]
    return x.horizon * jnp.linspace(0, 1, x.times) * jnp.log(slow / x.small) / slow


def simulate(x: claims.Instance, key):
    """U^T W_2 W_1 V along gradient flow of the matrices."""
    target = x.left @ jnp.diag(x.strengths) @ x.right.T
    first, second = jnp.sqrt(x.small) * x.inner @ x.right.T, jnp.sqrt(x.small) * x.left @ x.inner.T

    def loss(w):
        return jnp.sum((target - w[1] @ w[0]) ** 2) / 2

    start = (first, second)
    path = gradient_flow(loss, start, _times(x), **statement_options(x.tolerance_scale))
    return x.left.T @ (path[1] @ path[0]) @ x.right


def _logistic(x: claims.Instance, speed: float):
    grown = jnp.exp(-speed * x.strengths * _times(x)[:, None])
    return x.strengths / (1 + grown * (x.strengths / x.small - 1))


def predict(x: claims.Instance):
    """u(t) of every mode, divided by e^(2 s t)."""
    return _logistic(x, 2.0)


def _modes(r):
    return jnp.diagonal(r.sim, axis1=1, axis2=2)


def _rest(r):
    off = r.sim - _modes(r)[..., None] * jnp.eye(r.x.d)
    return jnp.linalg.norm(off, axis=(1, 2)) + r.x.strengths[0]


MODES = claims.equal("modes", _modes, lambda r: r.theory)
REST = claims.equal("the modes stay apart", _rest, lambda r: r.x.strengths[0])

theorem = claims.Theorem(
    space=claims.Space(
        d=claims.Size(3, high=8),
        times=claims.Size(6, low=2),
        strengths=claims.Spectrum("d", 0.5, 5),
        small=claims.Real(1e-4, 0.1, log=True),
        horizon=claims.Real(0.5, 2),
        left=claims.Orthogonal("d"),
        inner=claims.Orthogonal("d"),
        right=claims.Orthogonal("d"),
    ),
    simulate=simulate,
    predict=predict,
    claims=(MODES, REST),
    integrates=True,
    source=claims.Printed(
        "Saxe, McClelland and Ganguli 2014, The time course of learning",
        "u(t) = s e^(2 s t / tau) / (e^(2 s t / tau) - 1 + s / u_0)",
    ),
    mutants=(
        claims.Mutant("half the speed", predict=lambda x: _logistic(x, 1.0), breaks=("modes",)),
        claims.Mutant("the modes mix", claims=(REST.against(lambda r: 1.01 * r.x.strengths[0]),)),
    ),
    instances=32,
    mutant_instances=32,
)
