"""Which layers are worth tuning: candidates ranked by their tangent kernels, with measured risks.

The rule of the paper: a layer of small eta = |K^(-1/2) S K^(-1/2)| changes the risk little; one of
large eta is worth tuning unless it spoils the condition number of K + S + sigma I.

Source: Afzal et al., "Linearization Explains Fine-Tuning in Large Language Models", NeurIPS 2025.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from theorysim.numerics.tangent_kernels import Model, layer_names, layer_ntks
from theorysim.systems import kernel_ridge as ridge
from theorysim.systems.fine_tuning import regularised_descent, squared_loss
from theorysim.systems.linearized import as_matrix, check_targets

Order: TypeAlias = Literal["eta", "condition_number", "predicted"]


class LayerScore(NamedTuple):
    """What adding one layer to the tuned ones changes; ratios are after / before, below 1 is good.

    `predicted` is the ratio of the ridge risks (the linearised model trained to the end),
    `measured` that of the training losses of the model itself after descent, NaN without one.
    """

    layer: str
    eta: float
    condition_number: float
    largest_eigenvalue_ratio: float
    predicted: float
    measured: float


class Ranking(NamedTuple):
    """Candidate layers, the most promising first; printed as a table."""

    base: tuple[str, ...]
    base_condition_number: float
    scores: tuple[LayerScore, ...]

    def __str__(self) -> str:
        head = ("layer", "eta", "condition", "lambda_max ratio", "predicted", "measured")
        rows = [(s.layer, *(f"{value:.4g}" for value in s[1:])) for s in self.scores]
        widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths)) for row in (head, *rows)]
        tuned = f"tuned: {', '.join(self.base)}; condition {self.base_condition_number:.4g}"
        return "\n".join((tuned, *lines))


def rank_layers(
    model: Model,
    params: PyTree[Array],
    inputs: PyTree[Array],
    targets: Float[Array, "n *k"],
    *,
    sigma: float,
    base: Sequence[str] | None = None,
    by: Order = "eta",
    steps: int = 0,
) -> Ranking:
    """Ranks the layers that are not tuned yet by what their tangent kernel promises.

        print(rank_layers(model, params, inputs, targets, sigma=0.1, steps=300))

    Args:
        model: `model(params, x)` for one input (see `theorysim.numerics.models`).
        params: the parameters at the start.
        inputs, targets: training data, stacked along a leading axis.
        sigma: ridge constant > 0, half the strength of the pull to the start.
        base: names of the layers that are tuned already (as `layer_ntks` names them); the last
            layer unless given.
        by: "eta" puts the largest first, "condition_number" and "predicted" (the risk ratio) the
            smallest.
        steps: steps of regularised descent of the model itself, to measure what is predicted; 0
            measures nothing. All runs have one learning rate, stable for all layers at once.

    Raises:
        ValueError: for sigma <= 0, an unknown order or layer, targets of another shape than the
            outputs, or a singular kernel of the tuned layers.
    """
    ridge.check_sigma(sigma)
    if by not in get_args(Order):
        raise ValueError(f"by={by!r}: expected one of {', '.join(get_args(Order))}")
    start = jax.vmap(lambda x: model(params, x))(inputs)
    check_targets(start, targets)
    grams = {
        name: as_matrix(gram, start.size)
        for name, gram in layer_ntks(model, params, inputs).items()
    }
    tuned = _base(base, list(grams))
    gram = sum((grams[name] for name in tuned), jnp.zeros((start.size,) * 2, start.dtype))
    ridge.check_invertible(gram)
    gap = jnp.ravel(targets - start)

    def loss(names: tuple[str, ...]) -> float:
        if not steps:
            return float("nan")
        return _trained_loss(model, params, inputs, targets, names, sigma, rate, steps)

    rate = 0.5 / (jnp.linalg.eigvalsh(sum(grams.values(), 0 * gram))[-1] + sigma)
    before = loss(tuned)
    scores = [
        _score(name, gram, grams[name], gap, sigma, loss((*tuned, name)) / before)
        for name in grams
        if name not in tuned
    ]
    scores.sort(key=lambda score: -score.eta if by == "eta" else getattr(score, by))
    return Ranking(tuned, float(ridge.condition_number(gram, sigma)), tuple(scores))


def _base(base: Sequence[str] | None, names: list[str]) -> tuple[str, ...]:
    chosen = tuple(names[-1:] if base is None else base)
    unknown = [name for name in chosen if name not in names]
    if unknown or not chosen:
        raise ValueError(f"no layer {unknown}: choose base layers from {', '.join(names)}")
    return chosen


def _score(
    name: str, gram: Array, added: Array, gap: Array, sigma: float, measured: float
) -> LayerScore:
    largest = [jnp.linalg.eigvalsh(k)[-1] + sigma for k in (gram + added, gram)]
    return LayerScore(
        name,
        float(ridge.relative_size(gram, added)),
        float(ridge.condition_number(gram + added, sigma)),
        float(largest[0] / largest[1]),
        float(ridge.risk_ratio(gram, added, gap, sigma)),
        measured,
    )


def _trained_loss(
    model: Model,
    params: Any,
    inputs: Any,
    targets: Array,
    names: tuple[str, ...],
    sigma: float,
    rate: Array,
    steps: int,
) -> float:
    """The summed squared error after descent of the named layers alone."""
    leaves, tree = jax.tree.flatten(params)
    places = [i for i, name in enumerate(layer_names(params)) if name in names]

    def outputs(moved: list) -> Array:
        full = dict(enumerate(leaves)) | dict(zip(places, moved))
        whole = jax.tree.unflatten(tree, [full[i] for i in range(len(leaves))])
        return jax.vmap(lambda x: model(whole, x))(inputs)

    loss = squared_loss(outputs, targets)
    start = [leaves[i] for i in places]
    run = jax.jit(
        lambda rate: regularised_descent(loss, start, rate, 2 * sigma, steps, record=lambda p: ())
    )
    return float(loss(run(rate).params))
