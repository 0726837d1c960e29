"""The risk of least squares on chosen features peaks where there are as many as samples.

Belkin, Hsu and Xu (2020), Theorem 1: y = x beta + sigma noise with Gaussian features, p of which
are fitted by the least-squares solution of minimum norm on n samples. The mean risk is
(b + sigma^2) (1 + p / (n - p - 1)) for p <= n - 2 and a (1 - n / p) + (b + sigma^2)
(1 + n / (p - n - 1)) for p >= n + 2, a and b the squared norms of beta on the fitted features and
on the others. Here p is below n by `gap` in one run and above it in another; law-minimum-norm has
the descent that leads to this solution.
"""

import jax
import jax.numpy as jnp

from theorysim import claims


def _least_squares(data, labels):
    """The solution of minimum norm; rows or columns of Gaussian data are independent."""
    if data.shape[0] >= data.shape[1]:
        return jnp.linalg.solve(data.T @ data, data.T @ labels)
    return data.T @ jnp.linalg.solve(data @ data.T, labels)


def _risk(x: claims.Instance, fitted: int, key):
    """The risk of one fit of so many features; the others act as noise of their own."""
    for_data, for_noise = jax.random.split(key)
    data = jax.random.normal(for_data, (x.n, fitted))
    noise = jax.random.normal(for_noise, (x.n,)) * jnp.sqrt(x.others + x.noise**2)
    beta = jnp.zeros(fitted).at[0].set(jnp.sqrt(x.signal))
    found = _least_squares(data, data @ beta + noise)
    return jnp.sum((found - beta) ** 2) + x.others + x.noise**2


def simulate(x: claims.Instance, key):
    return {"few": _risk(x, x.n - x.gap, key), "many": _risk(x, x.n + x.gap, key)}


def _printed(x: claims.Instance, peak: float):
    """Both branches; `peak` multiplies the terms that grow without bound at p = n."""
    few, many, rest = x.n - x.gap, x.n + x.gap, x.others + x.noise**2
    over = x.signal * (1 - x.n / many) + rest * (1 + peak * x.n / (x.gap - 1))
    return {"few": rest * (1 + peak * few / (x.gap - 1)), "many": over}


FEW = claims.equal("p < n", lambda r: r.mean(r.sim["few"]), lambda r: r.theory["few"])
MANY = claims.equal("p > n", lambda r: r.mean(r.sim["many"]), lambda r: r.theory["many"])

theorem = claims.Theorem(
    space=claims.Space(
        n=claims.Size(16, low=16, high=64),
        gap=claims.Size(8, low=8, high=12),
        signal=claims.Real(0, 4),
        others=claims.Extremal(0, 2),
        noise=claims.Real(0.1, 2),
    ),
    simulate=simulate,
    predict=lambda x: _printed(x, 1.0),
    claims=(FEW, MANY),
    keys=256,
    source=claims.Printed(
        "Belkin, Hsu and Xu 2020, Theorem 1",
        "(b + sigma^2) (1 + p / (n - p - 1)) if p <= n - 2, "
        "a (1 - n / p) + (b + sigma^2) (1 + n / (p - n - 1)) if p >= n + 2",
    ),
    mutants=(claims.Mutant("half the peak", predict=lambda x: _printed(x, 0.5)),),
    instances=8,
    mutant_instances=8,
)
