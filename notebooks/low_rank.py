# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # How fast does a low-rank update find its direction?
#
# Dayi and Chen (2024) perturb a frozen network of $k$ unit neurons $w_i$ by $\xi c u^T$. The
# student has random signs $\hat c$ of its own and learns $\hat u$ by online SGD on the sphere. All
# that matters is the overlap $m = \langle \hat u, u\rangle$. Does the time to find $u$ depend on
# the dimension $d$?

# %%
# %matplotlib inline
import jax
import jax.numpy as jnp
from matplotlib.figure import Figure
from rich.console import Console

from theorysim.engine.registry.ledger import errata
from theorysim.numerics.gaussian import hermite, relu
from theorysim.report.errata import render_list
from theorysim.systems import rank_one, rank_one_chain, rank_one_overlap

jax.config.update("jax_enable_x64", True)

K = 4
TEACHER, STUDENT = jnp.array([1.0, 1, 1, -1]), jnp.array([1.0, 1, -1, 1])


def problem(d, scale=1.0, student=STUDENT):
    """Orthonormal features and readouts 1."""
    features = jnp.asarray(rank_one.orthonormal_features(K, d))
    return rank_one.from_signs(features, jnp.ones(K), TEACHER, student, scale)


# %% [markdown]
# ## One number instead of $d$
#
# By rotation invariance $m$ is a Markov chain of its own: a run in $d$ dimensions and the reduced
# chain, whose steps cost the same at every $d$, have one law. The population's flow $\dot m =
# h(m)(1 - m^2)$ leaves out the noise of the steps; the limit of many dimensions keeps it: with
# $\eta = \kappa/d$ it is $\dot m = \kappa h(m)(1-m^2) - \tfrac{\kappa^2}{2} m E[a^2]$.

# %%
d, rate, start, runs, every = 100, 0.4, 0.1, 64, 100
steps = 30 * d
given, u = problem(d), jnp.eye(d)[K]
begin = start * u + jnp.sqrt(1 - start**2) * jnp.eye(d)[K + 1]


def full(key):
    """Overlaps along SGD in d dimensions."""
    path, _ = rank_one.train(given, jax.nn.relu, u, begin, rate / d, steps, key, every=every)
    return path @ u


def reduced(key):
    """Overlaps along the chain."""
    small = rank_one_chain.reduce_features(given)
    first = rank_one_chain.begin(small, start)
    return rank_one_chain.run(
        small, jax.nn.relu, first, d, rate / d, steps, key, every=every
    ).overlap


keys = jax.random.split(jax.random.key(0), runs)
in_full, in_chain = jax.jit(jax.vmap(full))(keys), jax.jit(jax.vmap(reduced))(keys)
times = jnp.arange(steps // every + 1) * every / d
population = jnp.tanh(
    rank_one_overlap.overlap_flow(given, relu(), jnp.arctanh(start), rate * times)
)
limit = rank_one_chain.high_dimensional_flow(
    rank_one_chain.reduce_features(given), relu(), start, rate, times, jax.random.key(1)
)

picture = Figure(figsize=(7, 3.5), dpi=200, layout="constrained")
axis = picture.subplots()
axis.plot(times, jnp.mean(in_full, axis=0), "o", label="mean of SGD in d dimensions")
axis.plot(times, jnp.mean(in_chain, axis=0), "x", label="mean of the reduced chain")
axis.plot(times, limit, label="limit of many dimensions")
axis.plot(times, population, "--", label="population's flow")
axis.set(xlabel="steps / d", ylabel="overlap m")
axis.legend()
gap = float(jnp.abs(jnp.mean(in_full, axis=0) - jnp.mean(in_chain, axis=0)).max())
print(f"largest distance of the means {gap:.3f}; plateau at 1 - m = {1 - float(limit[-1]):.3f}")
picture

# %% [markdown]
# ## Linear in $d$, whatever the information exponent
#
# From scratch, a Hermite polynomial of order $p$ starts with a speed of $d^{-(p-1)/2}$. Fine-tuning
# starts with $h(0)$, which does not depend on $d$: the time grows like $\log d$ only, and SGD at
# steps of size $1/d$ needs of the order of $d \log d$ samples. At large $\xi$ the features are
# forgotten and the start becomes as slow as from scratch.

# %%
dimensions = jnp.array([1e2, 1e3, 1e4, 1e5, 1e6])
picture = Figure(figsize=(7, 3.5), dpi=200, layout="constrained")
axis = picture.subplots()
for scale in (1.0, 4.0, 16.0, 64.0):
    same = problem(K, scale, TEACHER)
    taken = jax.vmap(
        lambda size, same=same: rank_one_overlap.hitting_time(same, hermite(3), size**-0.5, 0.5)
    )(dimensions)
    axis.loglog(dimensions, taken * scale**2 * 6 / rank_one.square_length(same) ** 3,
                label=f"xi = {scale:g}")  # fmt: skip
axis.set(xlabel="d", ylabel="time to m = 1/2, in units of 1/h(0)")
axis.legend()
picture

# %% [markdown]
# ## What is wrong in print
#
# `theorysim errata ID` shows the words and a minimal counterexample of each.

# %%
found = [line for line in errata() if line["theorem"].startswith("low-rank/")]
render_list(found, Console(width=100, color_system=None, force_jupyter=False))

# %% [markdown]
# ## The answer
#
# Hardly: the number of steps is $d$ times a time that grows like $\log d$, whatever the activation,
# as long as $\xi$ is not large. Training from scratch can be far slower, as the [diagram over scale
# and width](../docs/papers/low_rank.md) shows. The noise of the steps leaves a plateau below $m =
# 1$, which the population's flow does not see.
