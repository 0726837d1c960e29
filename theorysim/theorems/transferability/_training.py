"""Real gradient descent of finite networks over both stages, and the paper's matrices along it.

Liu et al. (2019), Section 6.1 and Eq. 6. Paths lead with steps + 1 states.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from theorysim import claims
from theorysim.claims.kinds import PowerLaw
from theorysim.systems import two_layer_relu as relu
from theorysim.theorems.transferability._problem import (
    FAILURE,
    HIGHEST,
    NORMALISATION,
    lambda_p,
    lambda_q,
    problem_space,
    source,
    stable_rates,
    target,
)

SIZES = {
    "width": claims.Size(32, low=2, high=65536),
    "source_steps": claims.Size(12, high=100_000),
    "target_steps": claims.Size(12, high=100_000),
}
KAPPA = claims.Real(1e-2, 10, log=True)
RATE_SHARE = claims.Real(0.05, 0.95)
WIDTHS = (256, 1024, 4096)


def untrained_space(**parts: claims.Size | claims.Field) -> claims.Space:
    """Random networks; `parts` add to the fields."""
    return problem_space(width=SIZES["width"], kappa=KAPPA, **parts)


def training_space(**parts: claims.Size | claims.Field) -> claims.Space:
    """Networks that are trained in both stages; `parts` add to the fields."""
    return problem_space(**SIZES, kappa=KAPPA, rate_share=RATE_SHARE, **parts)


def pretraining_space(**parts: claims.Size | claims.Field) -> claims.Space:
    """Networks that are pretrained, over many scales."""
    return problem_space(
        width=claims.Size(128, high=65536),
        source_steps=claims.Size(32, high=100_000),
        kappa=claims.Real(0.1, 1000, log=True),
        **parts,
        rate_share=RATE_SHARE,
    )


def lemma_1_rate(x: claims.Instance) -> Float[Array, ""]:
    """eta of Lemma 1 for pretraining: a share of lambda_P / n_P^2."""
    return x.rate_share * lambda_p(x) / x.p**2


def lemma_1_width(x: claims.Instance) -> Float[Array, ""]:
    """m of Lemma 1, with the constant one: n_P^6 / (lambda_P^4 kappa^2 delta^3)."""
    return x.p**6 / (lambda_p(x) ** 4 * x.kappa**2 * x.failure**3)


LEMMA_1 = {"width": lambda x: x.width / lemma_1_width(x) - 1}
"""The condition on the width; kappa has no upper bound there."""


def lemma_1_space(**parts: claims.Size | claims.Field) -> claims.Space:
    """Pretraining under the conditions of Lemma 1, which small networks of large scale meet."""
    return problem_space(
        p=claims.Size(2, high=64),
        width=claims.Size(512, high=65536),
        source_steps=claims.Size(64, high=100_000),
        kappa=claims.Real(0.1, 1e5, log=True),
        failure=FAILURE,
        rate_share=claims.Real(0.05, 1, log=True),
        **parts,
    )


def lemma_4_space(target_steps: int, **parts: claims.Size | claims.Field) -> claims.Space:
    """Both stages from any scale of weights; the second one so long that it ends."""
    return problem_space(
        p=claims.Size(2, high=64),
        q=claims.Size(2, high=64),
        width=claims.Size(128, high=65536),
        source_steps=claims.Size(12, high=100_000),
        target_steps=claims.Size(target_steps, high=100_000),
        kappa=claims.Real(1e-4, 10, log=True),
        rate_share=RATE_SHARE,
        **parts,
    )


class Paths(NamedTuple):
    """Weights of both stages; the second starts where the first ends."""

    signs: Float[Array, " m"]
    source: Float[Array, "times m d"]
    target: Float[Array, "times m d"]


class Bounded(NamedTuple):
    """What a bound in ||y_P - u_P(0)|| is about, and that norm."""

    value: Any
    rest: Float[Array, "..."]


def width_rate(name: str, sizes: Callable, exponent: float) -> PowerLaw:
    """The root mean square of sizes over keys falls at least as a power of the width."""
    return claims.scales_as(
        name,
        lambda r: jnp.sqrt(jnp.mean(jnp.square(sizes(r)))),
        over={"width": WIDTHS},
        exponent=exponent,
        relation="at_most",
    )


def started(x: claims.Instance, key: PRNGKeyArray) -> relu.Network:
    """w_r ~ N(0, kappa^2 I), signs +-1 with equal chances."""
    return relu.initialise(key, x.width, x.d, x.kappa)


def silent(x: claims.Instance, key: PRNGKeyArray) -> relu.Network:
    """Pairs of opposite signs: the outputs vanish at the start."""
    return relu.initialise_silent(key, x.width, x.d, x.kappa)


def paths(x: claims.Instance, network: relu.Network, rates: tuple | None = None) -> Paths:
    """All weights of pretraining and fine-tuning, at the stable learning rates unless given."""
    first, second = stable_rates(x) if rates is None else rates
    before = relu.train(network, source(x), first, x.source_steps, normalisation=NORMALISATION)
    ready = network._replace(weights=before[-1])
    after = relu.train(ready, target(x), second, x.target_steps, normalisation=NORMALISATION)
    return Paths(network.signs, before, after)


def pretrained(
    x: claims.Instance, network: relu.Network, rate: Float[Array, ""] | None = None
) -> relu.Network:
    """The network after pretraining on the source task, at the stable rate unless given."""
    rate = stable_rates(x)[0] if rate is None else rate
    return relu.train_to(network, source(x), rate, x.source_steps, normalisation=NORMALISATION)


def fine_tuned(x: claims.Instance, network: relu.Network) -> relu.Network:
    """The network after fine-tuning on the target task, at the stable learning rate."""
    rate = stable_rates(x)[1]
    return relu.train_to(network, target(x), rate, x.target_steps, normalisation=NORMALISATION)


def fine_tuning(
    x: claims.Instance,
    network: relu.Network,
    record: Callable[[relu.Network], Any],
    *,
    every: int = 1,
    rate: Float[Array, ""] | None = None,
) -> Any:
    """What `record` sees at the start and after every so many steps of fine-tuning."""
    return relu.train(
        network,
        target(x),
        stable_rates(x)[1] if rate is None else rate,
        x.target_steps,
        normalisation=NORMALISATION,
        record=record,
        every=every,
    )


def theorem_3_rate(x: claims.Instance) -> Float[Array, ""]:
    """eta of Theorem 3 for fine-tuning: a share of lambda_Q / n_Q^2."""
    return x.rate_share * lambda_q(x) / x.q**2


def theorem_3_scale(x: claims.Instance) -> Float[Array, ""]:
    """The largest kappa of Theorems 1 and 3: lambda_P^2 delta / (n_P^2 sqrt(n_Q))."""
    return lambda_p(x) ** 2 * x.failure / (x.p**2 * jnp.sqrt(x.q))


def log_theorem_3_width(x: claims.Instance) -> Float[Array, ""]:
    """log10 of n_P^8 n_Q^6 / (lambda_P^16 lambda_P^4 kappa^2 delta^10)."""
    rest = lambda_p(x) ** 20 * x.kappa**2 * x.failure**10
    return jnp.log10(x.p**8 * x.q**6) - jnp.log10(rest)


def source_reach(x: claims.Instance, rest: Float[Array, "..."]) -> Float[Array, "..."]:
    """R of Lemma 1: 4 sqrt(n_P) ||y_P - u_P(0)|| / (sqrt(m) lambda_P)."""
    root = jnp.sqrt(x.width) * lambda_p(x)
    return 4 * jnp.sqrt(x.p) * rest / root


def target_reach(x: claims.Instance, rest: Float[Array, "..."]) -> Float[Array, "..."]:
    """What Lemma 4 adds: 4 sqrt(n_Q) ||y_Q - u_Q(P)|| / (sqrt(m) lambda_Q)."""
    root = jnp.sqrt(x.width) * lambda_q(x)
    return 4 * jnp.sqrt(x.q) * rest / root


def observe(network: relu.Network, start: relu.Network, task: relu.Task) -> relu.Observed:
    """What a network that started elsewhere does on a task."""
    return relu.observe(network, start, task, NORMALISATION)


def active(
    weights: Float[Array, "*times m d"], inputs: Float[Array, "n d"]
) -> Float[Array, "*times m n"]:
    """The indicators I_(r,i) of <w_r, x_i> >= 0, as numbers."""
    values = jnp.matmul(weights, inputs.T, precision=HIGHEST)
    return (values >= 0).astype(weights.dtype)


def outputs(
    weights: Float[Array, "*times m d"], signs: Float[Array, " m"], inputs: Float[Array, "n d"]
) -> Float[Array, "*times n"]:
    """u = f(x_i)."""
    values = jnp.maximum(jnp.matmul(weights, inputs.T, precision=HIGHEST), 0)
    return jnp.einsum("...mn,m->...n", values, signs, precision=HIGHEST) / jnp.sqrt(signs.size)


def rest(network: relu.Network, task: relu.Task) -> Float[Array, ""]:
    """||y - u||: what is left to learn."""
    return jnp.linalg.norm(task.labels - outputs(network.weights, network.signs, task.inputs))


def features(
    weights: Float[Array, "*times m d"], signs: Float[Array, " m"], inputs: Float[Array, "n d"]
) -> Float[Array, "*times md n"]:
    """Z of Eq. 6: block (r, i) is I_(r,i) a_r x_i / sqrt(m)."""
    pattern = active(weights, inputs) * signs[:, None] / jnp.sqrt(signs.size)
    blocks = pattern[..., :, None, :] * inputs.T
    return blocks.reshape(*weights.shape[:-2], -1, inputs.shape[0])


def vec(weights: Float[Array, "*times m d"]) -> Float[Array, "*times md"]:
    """The weights as one vector, unit after unit."""
    return weights.reshape(*weights.shape[:-2], -1)
