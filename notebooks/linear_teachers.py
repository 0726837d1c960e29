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
# # Fine-tuning with linear teachers
#
# The main results of Shachaf et al. (2021). A model knows the teacher $\theta_S$ and is fine-tuned
# on fewer samples of $\theta_T$ than there are dimensions. What happens outside of the data?

# %%
# %matplotlib inline
import jax
import jax.numpy as jnp
from matplotlib.figure import Figure

from theorysim.engine.registry.ledger import errata
from theorysim.numerics.kernels import tangent_gram
from theorysim.systems import deep_linear_limit as deep_limit
from theorysim.systems import deep_linear_network as network
from theorysim.systems import linear_regression as regression
from theorysim.systems import two_layer_relu as relu
from theorysim.systems import two_layer_relu_limit as relu_limit

jax.config.update("jax_enable_x64", True)

# %% [markdown]
# ## Depth interpolates (Theorem 5.2)
#
# A 0-balanced network of depth $L$ ends at $k_L P_\perp\theta_S + P_\parallel\theta_T$: one layer
# keeps the source ($k_1 = 1$), infinitely many rescale it by
# $\|P_\parallel\theta_T\| / \|P_\parallel\theta_S\|$. Dots are gradient descent of all matrices.

# %%
DIMENSION, SAMPLES, DEPTHS = 10, 4, (1, 2, 3, 5)
for_data, for_source, for_noise, for_layers = jax.random.split(jax.random.key(0), 4)
data = jax.random.normal(for_data, (SAMPLES, DIMENSION))
source = jax.random.normal(for_source, (DIMENSION,))
source /= jnp.linalg.norm(source)
noise = jax.random.normal(for_noise, (DIMENSION,))
noise *= 0.5 / jnp.linalg.norm(noise)
basis = regression.row_space(data)
kept = regression.project(basis, source).orthogonal


def trained(target, depth, steps=20_000):
    """The end of gradient descent, at a tenth of the largest stable rate."""
    layers = network.balanced_layers(for_layers, source, (DIMENSION,) * (depth - 1))
    limit = deep_limit.limit(data, source, target, depth)
    longest = jnp.maximum(1, jnp.linalg.norm(limit))
    rate = 0.1 * network.critical_learning_rate(data, depth, longest)
    return network.end_to_end(network.train(layers, data, data @ target, rate, steps))


depths = jnp.geomspace(1, 1000, 60)
picture = Figure(figsize=(7, 3.5), layout="constrained")
axis = picture.subplots()
for number, scale in enumerate((0.5, 2.0, 4.0)):
    target = scale * source + noise
    lengths = deep_limit.alignment(data, source, target)
    factors = jax.vmap(deep_limit.source_coefficient, (None, 0))(lengths, depths)
    axis.semilogx(depths, factors, color=f"C{number}", label=f"{scale:g} times the source")
    axis.axhline(deep_limit.infinite_depth_coefficient(lengths), color=f"C{number}", ls=":")
    for depth in DEPTHS:
        end = jax.jit(trained, static_argnums=1)(target, depth)
        axis.plot(depth, end @ kept / (kept @ kept), "o", color=f"C{number}")
axis.set(xlabel="depth L", ylabel="$k_L$", title="exact (lines), gradient descent (dots)")
axis.legend()
picture

# %% [markdown]
# ## When depth helps (Figure 2a)
#
# Targets $\alpha\theta_S$ plus noise of norm 1/2, with $n = d/10$ samples. Where the target has the
# source's norm, depth changes nothing; for longer targets it helps.

# %%
LARGE, FEW, REPEATS = 100, 10, 50


def risk(key, scale, depth):
    """Squared distance from the target of the limit of training (inputs are standard normal)."""
    for_data, for_source, for_noise = jax.random.split(key, 3)
    data = jax.random.normal(for_data, (FEW, LARGE))
    source = jax.random.normal(for_source, (LARGE,))
    noise = jax.random.normal(for_noise, (LARGE,))
    source /= jnp.linalg.norm(source)
    target = scale * source + 0.5 * noise / jnp.linalg.norm(noise)
    return jnp.sum((deep_limit.limit(data, source, target, depth) - target) ** 2)


scales = jnp.array([0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0])
over_scales = jax.vmap(jax.vmap(risk, (0, None, None)), (None, 0, None))
keys = jax.random.split(jax.random.key(1), REPEATS)
picture = Figure(figsize=(7, 3.5), layout="constrained")
axis = picture.subplots()
for depth in (1.0, 2.0, 3.0, 7.0, 100.0):
    mean = jnp.mean(jax.jit(over_scales)(keys, scales, depth), axis=1)
    axis.loglog(scales, mean, "o-", label=f"L = {depth:g}")
axis.set(xlabel=r"$\alpha$", ylabel="risk", title="d = 100, n = 10, exact limits")
axis.legend()
picture

# %% [markdown]
# ## ReLU networks in the kernel regime (Corollary 6.3)
#
# A network of infinite width knows $\theta_S$ and is fine-tuned to $\theta_T$ on $n$ samples. Its
# loss is at most $6\|\theta_T - \theta_S\| / \sqrt n$ plus a sampling term, and really far less.
# Dots are networks of width 1024 that start at the source exactly (here at zero).

# %%
INPUTS, WIDTH, STEPS = 16, 1024, 400
population = jax.random.normal(jax.random.key(2), (256, INPUTS))
population /= jnp.linalg.norm(population, axis=1, keepdims=True)
difference = jax.random.normal(jax.random.key(3), (INPUTS,))
difference /= jnp.linalg.norm(difference)


@jax.jit
def losses(distance):
    """Mean error on all inputs after training on the first 16: infinite and finite width."""
    samples, change = population[:INPUTS], distance * difference
    gram, cross = tangent_gram(samples, samples), tangent_gram(population, samples)
    rate = 0.5 * relu_limit.largest_learning_rate(gram, "mean")
    flow = relu_limit.kernel_descent(gram, samples @ change, 2 / INPUTS * rate, STEPS)
    infinite = population @ change - cross @ flow.coefficients
    start = relu.initialise_linear(jax.random.key(4), WIDTH, jnp.zeros(INPUTS), 1.0)
    task = relu.Task(samples, samples @ change)
    end = relu.train_to(start, task, rate, STEPS, normalisation="mean")
    finite = population @ change - relu.outputs(end, population)
    return jnp.mean(jnp.abs(infinite)), jnp.mean(jnp.abs(finite))


distances = jnp.array([0.1, 0.2, 0.4, 0.7, 1.0])
infinite, finite = jnp.array([losses(distance) for distance in distances]).T
picture = Figure(figsize=(7, 3.5), layout="constrained")
axis = picture.subplots()
axis.plot(distances, infinite, label="infinite width")
axis.plot(distances, finite, "o", label=f"width {WIDTH}")
axis.plot(distances, 6 * distances / INPUTS**0.5, "--", label=r"$6\|\theta_T-\theta_S\|/\sqrt{n}$")
axis.plot(distances, 4 * distances / INPUTS**0.5, ":", label="with the best factor, 4")
axis.set(xlabel=r"$\|\theta_T-\theta_S\|$", ylabel="loss", yscale="log")
axis.legend()
picture

# %% [markdown]
# ## What was found in print

# %%
seen = {}
for line in errata():
    if line["theorem"].startswith("linear-teachers/"):
        seen[line["theorem"], line["reading"]] = line["correction"] or ""
for (theorem, reading), correction in seen.items():
    print(f"{theorem.removeprefix('linear-teachers/'):<24} {reading:<40} {correction}")
