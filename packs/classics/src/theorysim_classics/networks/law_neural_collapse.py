"""Unconstrained features of one class collapse to a point, and those points are orthogonal.

Tirer and Bruna (2022), Theorem 3.1, for |W H - Y|^2 / 2 + lambda (|W|^2 + |H|^2) / 2 without bias,
K classes of n samples each and lambda < sqrt(n): at every global minimiser H^T H =
(1 / sqrt(n) - lambda / n) Y^T Y, so that features of a class are equal, those of two classes are
orthogonal, and all are as long; W H = (1 - lambda / sqrt(n)) Y. Gradient descent finds it from
random starts: there are no others without a direction of descent.
"""

import jax.numpy as jnp
import optax

from theorysim import claims
from theorysim.numerics.descent import descend_to


def _labels(x: claims.Instance):
    return jnp.repeat(jnp.eye(x.classes), x.samples, axis=1)


def simulate(x: claims.Instance, key):
    """H^T H and W H after so many steps."""

    def loss(w):
        fit = jnp.sum((w[0] @ w[1] - _labels(x)) ** 2)
        return fit / 2 + x.decay * (jnp.sum(w[0] ** 2) + jnp.sum(w[1] ** 2)) / 2

    start = (x.scale * x.weights, x.scale * x.features)
    weights, features = descend_to(loss, start, optax.sgd(0.2), x.steps)
    return features.T @ features, weights @ features


def _minimum(x: claims.Instance, lost: float):
    root, labels = jnp.sqrt(x.samples), _labels(x)
    shrunk = 1 - lost * x.decay / root
    return labels.T @ labels * shrunk / root, shrunk * labels


def predict(x: claims.Instance):
    return _minimum(x, 1.0)


OVER = {"steps": (64, 256, 1024)}
GRAM = claims.tends_to("H^T H", lambda r: r.sim[0], lambda r: r.theory[0], over=OVER)
FIT = claims.tends_to("W H", lambda r: r.sim[1], lambda r: r.theory[1], over=OVER)

theorem = claims.Theorem(
    space=claims.Space(
        classes=claims.Size(2, low=2, high=4),
        samples=claims.Size(2, low=2, high=4),
        width=claims.Size(4, low=4, high=16),
        steps=claims.Integer(1, 1024),
        decay=claims.Real(0.2, 0.6),
        scale=claims.Real(0.3, 0.6),
        weights=claims.Gaussian("classes", "width"),
        features=claims.Gaussian("width", "classes * samples"),
    ),
    simulate=simulate,
    predict=predict,
    claims=(GRAM, FIT),
    source=claims.Printed(
        "Tirer and Bruna 2022, Theorem 3.1",
        "within-class variability 0, orthogonal means of equal length, W parallel to H",
    ),
    mutants=(claims.Mutant("half the decay", predict=lambda x: _minimum(x, 0.5)),),
    instances=32,
)
