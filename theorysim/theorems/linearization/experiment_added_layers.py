"""Adding a layer to the tuned ones: what eta and Theorems 6 and 7 say, and what training does.

Section 5 of Afzal et al. (2025), whose rule for the choice of layers has no figure on the slides.
Here a network with three hidden layers that was pretrained on digits is fine-tuned on another
question about them: in one hidden layer, then together with another layer, which counts 0.03 to 1
times (its kernel by the square). The pull is a twentieth of lambda_max of all weights: what it
leaves to learn is learnt in the steps that are taken. Ratios are those of the roots of the training
losses, with the layer to without; where they or eta range over powers of ten, means are those of
logarithms. The R of Theorem 7 is bounded by Theorem 5, which is about ridge regression and, by its
proof, approximately about the network: ridge regression, the linearised models as trained, and the
networks are judged apart. That eta <= 1 is a hypothesis of the proof, no claim of the slides.
"""

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems import kernel_ridge, linearized
from theorysim.systems.fine_tuning import regularised_descent, squared_loss
from theorysim.theorems.linearization import _condition as condition
from theorysim.theorems.linearization import _digits as digits

SCALES = (0.03, 0.1, 0.3, 1.0)
HIDDEN, LAYERS = condition.HIDDEN_LAYERS, condition.HIDDEN_LAYERS + 1
# The first layer is a hidden one: the output's has fewer parameters than there are examples.
PAIRS = tuple((a, b) for a in range(HIDDEN) for b in range(LAYERS) if a != b)
NAMES = tuple(f"{tuned + 1}+{added + 1}" for tuned, added in PAIRS)
PULL = 1 / 20
STABLE = condition.STABLE


class Added(NamedTuple):
    """For every pair of a tuned and an added layer, and every scale of the added one."""

    eta: Float[Array, "pair scale"]
    growth: Float[Array, "pair scale"]
    """the largest ratio lambda_i(K + S) / lambda_i(K)"""
    worse: Float[Array, "pair scale"]
    """kappa(K + S + sigma I) / kappa(K + sigma I)"""
    lower: Float[Array, "pair scale"]
    """of Theorem 7, with c = kappa(K + sigma I)"""
    upper: Float[Array, "pair scale"]
    ridge: Float[Array, "pair scale"]
    """the ratio for ridge regression, to which the linearised models are trained"""
    linear: Float[Array, "pair scale"]
    """the ratio for the linearised models, trained alike"""
    ratio: Float[Array, "pair scale"]
    """the ratio for the networks"""


class Null(Enum):
    """What is changed."""

    NONE = 0
    KERNELS = 1
    """the pairs' kernels, in an order that is drawn"""
    FROZEN = 2
    """the added layer does not move"""


def _relative_size(before: Float[Array, "n n"], added: Float[Array, "n n"]) -> Float[Array, ""]:
    """eta = |K^(-1/2) S K^(-1/2)|, by singular values: those of kernels are lost to rounding."""
    basis, sizes, _ = jnp.linalg.svd(before)
    return jnp.linalg.norm(dot(basis.T, added) / sizes[:, None], 2) ** 2


def _bounds(
    before: Float[Array, "n n"], after: Float[Array, "n n"], eta: Array, sigma: Array
) -> tuple[Array, Array]:
    """Both sides of Theorem 7."""
    kappa = kernel_ridge.condition_number(before, sigma)
    largest = [jnp.linalg.eigvalsh(gram)[-1] + sigma for gram in (after, before)]
    a, grown = kappa / (1 - eta) ** 2, largest[0] / largest[1]
    return grown / a, grown * a


def _condition(spectrum: Float[Array, "n"]) -> Float[Array, ""]:
    return jnp.max(spectrum) / jnp.min(spectrum)


def _added(x: claims.Instance, key: Array, null: Null = Null.NONE) -> Added:
    task = digits.task(x, key, HIDDEN)
    flat, back = ravel_pytree(task.params)
    masks = digits.layer_masks(task.params)

    def told(params: Float[Array, " parameters"]) -> Float[Array, " n"]:
        return digits.outputs(task.model, back(params), task.train.inputs)

    features, gap = digits.jacobian(told, flat), task.train.targets - told(flat)
    # J = L Q with orthonormal rows of Q: kernels and singular values are those of L, n x n.
    factors = jax.vmap(lambda mask: jnp.linalg.qr((features * mask).T, mode="r").T)(masks)
    sharpest = jnp.linalg.norm(features, 2) ** 2
    strength = PULL * sharpest
    sigma, rate = strength / 2, STABLE / (strength + 2 * sharpest)

    def trained(weights: Float[Array, " parameters"]) -> Float[Array, ""]:
        """The root of the loss of the network, whose parameters count so many times."""
        loss = squared_loss(lambda moved: told(flat + weights * moved), task.train.targets)
        run = regularised_descent(
            loss, jnp.zeros_like(flat), rate, strength, x.steps, record=lambda moved: ()
        )
        return jnp.sqrt(loss(run.params))

    def linear(gram: Float[Array, "n n"]) -> Float[Array, ""]:
        spectrum = linearized.modes(gram, gap)
        gain = linearized.descent_gain(spectrum.curvatures, strength, rate, x.steps)
        return jnp.linalg.norm(linearized.predicted_residual(spectrum, gain))

    def predicted(base: Array, other: Array, scale: Array) -> Added:
        before, added = factors[base], scale * factors[other]
        gram, more = dot(before, before.T), dot(added, added.T)
        eta = _relative_size(before, added)
        lower, upper = _bounds(gram, gram + more, eta, sigma)
        both = jnp.concatenate([before, added], axis=1)
        values = [jnp.linalg.svd(j, compute_uv=False) for j in (before, both)]
        return Added(
            eta=eta,
            growth=jnp.max((values[1] / values[0]) ** 2),
            worse=_condition(values[1] ** 2 + sigma) / _condition(values[0] ** 2 + sigma),
            lower=lower,
            upper=upper,
            ridge=jnp.sqrt(kernel_ridge.risk_ratio(gram, more, gap, sigma)),
            linear=linear(gram + more) / linear(gram),
            ratio=jnp.zeros(()),
        )

    def of_pair(base: Array, other: Array) -> Added:
        return jax.vmap(lambda scale: predicted(base, other, scale))(jnp.asarray(SCALES))

    pairs, scales = jnp.asarray(PAIRS), jnp.asarray(SCALES)
    theory = jax.vmap(of_pair)(*pairs.T)
    if null is Null.KERNELS:
        order = jax.random.permutation(jax.random.fold_in(key, 3), len(PAIRS))
        theory = jax.tree.map(lambda leaf: leaf[order], theory)
    if null is Null.FROZEN:
        scales = jnp.zeros_like(scales)
    weights = masks[pairs[:, 0], None] + scales[:, None] * masks[pairs[:, 1], None]
    together = jax.vmap(jax.vmap(trained))(weights)
    alone = jax.vmap(trained)(masks[:HIDDEN])[pairs[:, 0]]
    return theory._replace(ratio=together / alone[:, None])


def simulate(x: claims.Instance, key: Array) -> Added:
    """Pretraining, and fine-tuning of every layer, alone and with every other one."""
    return _added(x, key)


def any_kernel(x: claims.Instance, key: Array) -> Added:
    """The null in which pairs have each other's kernels."""
    return _added(x, key, Null.KERNELS)


def frozen(x: claims.Instance, key: Array) -> Added:
    """The null in which the added layer is not tuned."""
    return _added(x, key, Null.FROZEN)


def axes(x: claims.Instance) -> dict[str, object]:
    """Pairs as "tuned+added", and how many times the added layer counts."""
    return {"pair": np.asarray(NAMES), "scale": np.asarray(SCALES)}


def _whole(part: Float[Array, "run pair scale"]) -> Float[Array, "run pair"]:
    """Of layers that count once, as they are."""
    return part[..., -1]


def _by_eta(r: claims.Run, what: Float[Array, "run pair scale"]) -> Float[Array, "run scale"]:
    return condition.rank_correlation(*(jnp.swapaxes(p, 1, 2) for p in (r.sim.eta, what)))


def _change(ratio: Array) -> Array:
    return jnp.abs(jnp.log(ratio))


def _worth(r: claims.Run) -> tuple[Float[Array, "run scale"], Float[Array, "run scale"]]:
    """Of two added layers, one with the larger eta that makes kappa grow no more than the other.

    In how many such cases it lowers the loss more, and in how many less.
    """

    def above(part: Float[Array, "run pair scale"]) -> Array:
        return part[:, :, None] > part[:, None]

    is_asked = above(r.sim.eta) & ~above(r.sim.worse)
    lower, higher = above(-r.sim.ratio), above(r.sim.ratio)
    more, less = (jnp.sum(is_asked & so, axis=(1, 2), dtype=float) for so in (lower, higher))
    return more, less


def _outside(sim: Added, ratio: Float[Array, "run pair #scale"]) -> Float[Array, " run"]:
    """How far the worst ratio of a run is beyond its bounds, in logarithms, of those with eta < 1.

    Bounds are grown / a and grown a: the distance of the ratio from grown, less a.
    """
    grown, a = jnp.sqrt(sim.lower * sim.upper), jnp.sqrt(sim.upper / sim.lower)
    beyond = _change(ratio / grown) - jnp.log(a)
    return jnp.max(beyond, axis=(1, 2), where=sim.eta < 1, initial=-jnp.inf)


LOWERS = claims.on_average(
    "an added layer lowers the training loss",
    lambda r: jnp.log(_whole(r.sim.ratio)),
    lambda r: 0.0,
    statement="(R(K + S) / R(K))^(1/2) < 1 for every pair of layers",
)
SMALL = claims.on_average(
    "the smaller eta, the less the loss changes",
    lambda r: 0.0,
    lambda r: _by_eta(r, _change(r.sim.ratio)),
    statement="0 < Spearman's rank correlation of eta and |log ratio|, at every scale",
)
LARGE = claims.on_average(
    "a larger eta that spares kappa is worth more",
    lambda r: _worth(r)[1],
    lambda r: _worth(r)[0],
    statement="of two added layers, the one with the larger eta that makes kappa grow no more than "
    "the other lowers the loss more in most cases, at every scale",
)
SUPPOSED = claims.on_average(
    "eta <= 1 is met, which the proof supposes",
    lambda r: jnp.log(_whole(r.sim.eta)),
    lambda r: 0.0,
    statement="for layers as they are: where it is not met, the proof says nothing of them",
    printed=False,
)


class _Bounds(NamedTuple):
    """The claims about one kind of R."""

    below: claims.Claim
    above: claims.Claim
    where_small: claims.Claim


def _bounds_of(who: str, part: str, ratios: slice, swapped: bool, printed: bool = True) -> _Bounds:
    """Theorem 7 for the ratios of these scales, beside the bounds of all."""

    def ratio(r: claims.Run) -> Float[Array, "run pair #scale"]:
        return getattr(r.sim, part)[..., ratios]

    def sides(r: claims.Run) -> Added:
        return r.sim._replace(lower=r.sim.upper, upper=r.sim.lower) if swapped else r.sim

    def claim(name: str, lhs: Callable, rhs: Callable, statement: str) -> claims.Claim:
        told = f"Theorem 7, {name}: {who}"
        return claims.on_average(told, lhs, rhs, statement=statement, printed=printed)

    return _Bounds(
        claim(
            "below",
            lambda r: jnp.log(sides(r).lower),
            lambda r: jnp.log(ratio(r)),
            "as it is stated, whatever eta is",
        ),
        claim(
            "above",
            lambda r: jnp.log(ratio(r)),
            lambda r: jnp.log(sides(r).upper),
            "as it is stated, whatever eta is",
        ),
        claim(
            "where eta < 1",
            lambda r: _outside(sides(r), ratio(r)),
            lambda r: 0.0,
            "both bounds, at the worst of all pairs and scales of a run",
        ),
    )


def _judged(ratios: slice = slice(None), swapped: bool = False) -> tuple[_Bounds, _Bounds, _Bounds]:
    """For the R of Theorem 5, that of the linearised models as trained, and that of the networks.

    The proof takes the first for the last; the second is a step between them, of which the slides
    say nothing.
    """
    return (
        _bounds_of("ridge regression", "ridge", ratios, swapped),
        _bounds_of("linearised networks", "linear", ratios, swapped, printed=False),
        _bounds_of("networks", "ratio", ratios, swapped),
    )


OF_RIDGE, OF_LINEAR, OF_NETWORKS = _judged()
# Where eta < 1 the bounds are as wide as kappa(K + sigma I): those of other pairs keep the ratios
# of networks, too, and those of other scales the ratios of ridge regression. That they can fail at
# all is told by swapped ones. Every pair's kernel and its own ratio by ridge regression stay
# together in whatever order.
AT_ONE_SCALE = tuple(
    claim
    for bounds in _judged(slice(-1, None))
    for claim in bounds
    if claim.name not in (OF_RIDGE.where_small.name, OF_LINEAR.where_small.name)
)
SWAPPED = tuple(bounds.where_small for bounds in _judged(swapped=True))


RIDGE = claims.on_average(
    "ridge regression tells by how much",
    lambda r: jnp.mean(jnp.abs(jnp.log(_whole(r.sim.ratio) / _whole(r.sim.ridge))), axis=1),
    lambda r: jnp.mean(_change(_whole(r.sim.ratio)), axis=1),
    statement="mean |log ratio - log ridge's| < mean |log ratio|: better than no change",
    printed=False,
)


def _null(
    name: str, simulate: Callable[[claims.Instance, Array], Added], *breaks: claims.Claim
) -> claims.Mutant:
    return claims.Mutant(name, simulate=simulate, breaks=tuple(claim.name for claim in breaks))


theorem = claims.Experiment(
    space=digits.sizes(
        examples=claims.Size(24, low=8, high=400),
        steps=claims.Size(3000, low=10, high=1_000_000),
    ),
    simulate=simulate,
    claims=(LOWERS, SMALL, LARGE, SUPPOSED, *OF_RIDGE, *OF_LINEAR, *OF_NETWORKS, RIDGE),
    source=claims.Printed(
        "slides, Section 5, below Theorem 6, and Theorem 7 with its proof",
        "If eta is small, we don't have to select that layer, since it doesn't affect empirical "
        "risk much. [...] If eta is large enough and doesn't mass up the condition number, it is "
        "worth to tune. [...] If we add more candidate layers, how much fine-tuning risk can be "
        "improved? [...] With theorem 7, we can bound risk improvement [...] suppose that "
        "0 <= eta <= 1",
    ),
    note="a small network on digits; the bounds of Theorem 7 as stated, without eta <= 1",
    mutants=(
        _null(
            "kernels in an order that is drawn",
            any_kernel,
            *(SMALL, LARGE, SUPPOSED, OF_NETWORKS.below, OF_NETWORKS.above, RIDGE),
        ),
        _null(
            "the added layer is not tuned",
            frozen,
            *(LOWERS, SMALL, LARGE, OF_NETWORKS.below, OF_NETWORKS.above, RIDGE),
        ),
        claims.Mutant("trained as if every layer counted once", claims=AT_ONE_SCALE),
        claims.Mutant("lower and upper bound swapped", claims=SWAPPED),
    ),
    data=("digits",),
    axes=axes,
)
