"""The table of Section 6, run anew: a pretrained network fine-tuned along the ladder of pulls.

Descent on the summed squared error takes turns with the pull, as in Section 2, with one step size
and one number of steps for all pulls; all weights are tuned, or an adapter of low rank (LoRA) on
the first layer. Beside every row stands what the theory says before any training: the distance that
the linearised model goes (in closed form), the gap at the point it goes to, and Theorem 3's bound.
"""

from collections.abc import Callable
from enum import Enum
from math import sqrt
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int

from theorysim import claims
from theorysim.numerics.models import Functional
from theorysim.numerics.products import dot
from theorysim.numerics.tangent_kernels import empirical_ntk
from theorysim.systems import linearized
from theorysim.systems.fine_tuning import regularised_descent, squared_loss
from theorysim.systems.linearized import Modes
from theorysim.theorems.linearization import _digits as digits
from theorysim.theorems.linearization import _flow as flow
from theorysim.theorems.linearization import _models as models
from theorysim.theorems.linearization.table_1 import STRENGTHS

PAIRS = len(STRENGTHS) * (len(STRENGTHS) - 1) // 2
RANK = 2
STABLE = 0.5
"""the step size in units of 1 / (lambda + 2 lambda_max), for the strongest pull and all weights"""

SPACE = digits.sizes(steps=claims.Size(10_000, low=10, high=1_000_000))

Curvature = Callable[[Float[Array, ""]], Float[Array, ""]]


class Rows(NamedTuple):
    """The table's rows on the examples, the accuracy on test images, and what theory says."""

    distance: Float[Array, "strength"]
    gap: Float[Array, "strength"]
    """||f - f_linear|| to the linearised model at the same parameters"""
    shuffled_gap: Float[Array, "strength"]
    """that to a linear model which takes the parameters in an order that is drawn"""
    divergence: Float[Array, "strength"]
    accuracy: Float[Array, "strength"]
    change: Float[Array, "strength"]
    """||f - f_0||"""
    linear_distance: Float[Array, "strength"]
    """that the linearised model goes, trained alike"""
    linear_gap: Float[Array, "strength"]
    """||f - f_linear|| at the parameters of the linearised model"""
    gap_bound: Float[Array, "strength"]
    """of Theorem 3"""


class Null(Enum):
    """What is put into an order that is drawn."""

    NONE = 0
    STRENGTHS = 1
    PARAMETERS = 2
    """of the linearised model alone: its tangents say nothing"""


class Tuning(NamedTuple):
    """What is tuned, as a model of its own, and a bound of Lip(grad f) on balls around it."""

    tuned: Functional
    curvature: Curvature


def all_weights(task: digits.Task, key: Array) -> Tuning:
    """Full fine-tuning."""
    lengths = (
        jnp.linalg.norm(task.train.inputs, axis=1) ** 2 + 1
    )  # a bias is a weight of an input 1
    last = task.params.layers[-1].weight

    def curvature(radius: Array) -> Array:
        """Of f = v . tanh(W x): blocks of v_j and of the weights of unit j alone."""
        bend = models.STEEPEST_BEND * (jnp.max(jnp.abs(last)) + radius) * lengths
        one = (bend + jnp.sqrt(bend**2 + 4 * lengths)) / 2
        return jnp.linalg.norm(one)

    return Tuning(Functional(task.model, task.params), curvature)


def adapter(task: digits.Task, key: Array) -> Tuning:
    """LoRA: W + B A on the first layer, B zero and A drawn."""
    weight, last = task.params.layers[0].weight, task.params.layers[-1].weight
    down = jax.random.normal(key, (RANK, weight.shape[1])) / sqrt(weight.shape[1])
    start = jnp.zeros((len(weight), RANK)), down
    lengths = jnp.linalg.norm(task.train.inputs, axis=1)
    size = jnp.linalg.norm(down, 2)

    def model(parts: tuple[Array, Array], image: Array) -> Array:
        return task.model(digits.with_weight(task.params, 0, weight + dot(*parts)), image)

    def curvature(radius: Array) -> Array:
        """Of v . tanh((W + B A) x), by |v tanh''| |d(B A x)|^2 + |v tanh'| |d^2(B A x)|."""
        reach = (size + radius) ** 2 + radius**2
        bend = models.STEEPEST_BEND * jnp.max(jnp.abs(last)) * reach
        return jnp.linalg.norm(bend * lengths**2 + jnp.linalg.norm(last) * lengths)

    return Tuning(Functional(model, start), curvature)


def ladder(
    tuning: Callable[[digits.Task, Array], Tuning], null: Null = Null.NONE
) -> Callable[[claims.Instance, Array], Rows]:
    """Pretraining, and fine-tuning of what is tuned at every strength."""
    return lambda x, key: _ladder(x, key, tuning, null)


def _ladder(
    x: claims.Instance, key: Array, tuning: Callable[[digits.Task, Array], Tuning], null: Null
) -> Rows:
    task = digits.task(x, key)
    (model, start), curvature = tuning(task, jax.random.fold_in(key, 2))

    def told(params: Any) -> Float[Array, " n"]:
        return digits.outputs(model, params, task.train.inputs)

    flat, back = ravel_pytree(start)
    features, first = digits.jacobian(told, start), told(start)
    spectrum = linearized.modes(dot(features, features.T), task.train.targets - first)
    rate = STABLE / (max(STRENGTHS) + 2 * _sharpest(task))
    loss = squared_loss(told, task.train.targets)
    order, other = orders(flat.size, null, key)

    def straight(
        moved: Float[Array, " parameters"], order: Int[Array, " parameters"] = order
    ) -> Float[Array, " n"]:
        return first + dot(features, moved[order])

    def at(strength: Array) -> Rows:
        end = regularised_descent(loss, start, rate, strength, x.steps, record=lambda p: ()).params
        moved = ravel_pytree(end)[0] - flat
        gain = linearized.descent_gain(spectrum.curvatures, strength, rate, x.steps)
        is_moved = spectrum.curvatures > 0
        weights = dot(spectrum.basis, jnp.where(is_moved, gain * spectrum.gap, 0))
        linear = dot(weights, features)
        return Rows(
            distance=jnp.linalg.norm(moved),
            gap=jnp.linalg.norm(told(end) - straight(moved)),
            shuffled_gap=jnp.linalg.norm(told(end) - straight(moved, other)),
            divergence=divergence(told(end), straight(moved)),
            accuracy=digits.accuracy(
                digits.outputs(model, end, task.test.inputs), task.test.targets
            ),
            change=jnp.linalg.norm(told(end) - first),
            linear_distance=linearized.predicted_distance(spectrum, gain),
            linear_gap=jnp.linalg.norm(told(back(flat + linear)) - first - dot(features, linear)),
            gap_bound=_bound(spectrum, curvature, strength, rate * x.steps),
        )

    return jax.vmap(at)(shuffled(jnp.asarray(STRENGTHS), null, Null.STRENGTHS, key))


def shuffled(values: Array, null: Null, where: Null, key: Array) -> Array:
    """The values in an order that is drawn, if the null is this one."""
    return jax.random.permutation(jax.random.fold_in(key, 4), values) if null is where else values


def orders(size: int, null: Null, key: Array) -> tuple[Int[Array, "size"], Int[Array, "size"]]:
    """Of the parameters: that of the linearised model, and one that is drawn in any case."""
    places = jnp.arange(size)
    drawn = jax.random.permutation(jax.random.fold_in(key, 5), places)
    return shuffled(places, null, Null.PARAMETERS, key), drawn


def _sharpest(task: digits.Task) -> Float[Array, ""]:
    """lambda_max of the kernel of all weights, of which adapters use a part."""
    kernel = empirical_ntk(task.model, task.params, task.train.inputs)
    return jnp.linalg.eigvalsh(kernel)[-1]


def _bound(spectrum: Modes, curvature: Curvature, strength: Array, time: Array) -> Float[Array, ""]:
    """b (t - (1 - e^(-lambda t)) / lambda), on the ball that the flow's energy keeps it in.

    Of b (2 / lambda) the limit at lambda = 0 is finite: both factors are taken together.
    """
    residual = jnp.linalg.norm(spectrum.gap)
    safe = jnp.maximum(strength, 2 / time)  # from where on the pull bounds the distance
    radius = residual * jnp.sqrt(2 / safe)
    bent = curvature(radius)
    steep = jnp.sqrt(jnp.max(spectrum.curvatures)) + bent * radius
    excess = flow.excess_time(strength, time)
    over_strength = jnp.where(
        strength > 0, excess / jnp.where(strength > 0, strength, 1), time**2 / 2
    )
    return 2 * steep**2 * residual * (4 * bent * residual * over_strength + excess)


def divergence(told: Float[Array, " n"], other: Float[Array, " n"]) -> Float[Array, ""]:
    """Mean Kullback-Leibler divergence of the chances sigmoid(f) from those of another model."""

    def part(a: Array, b: Array) -> Array:
        return jax.nn.sigmoid(a) * (jax.nn.log_sigmoid(a) - jax.nn.log_sigmoid(b))

    return jnp.mean(part(told, other) + part(-told, -other))


def axes(x: claims.Instance) -> dict[str, object]:
    """The pulls lambda, as printed."""
    return {"strength": np.asarray(STRENGTHS)}


def _rises(name: str, row: str) -> claims.Claim:
    """Towards weaker pulls, at every step of the ladder."""
    return claims.on_average(
        name,
        lambda r: getattr(r.sim, row)[:, :-1],
        lambda r: getattr(r.sim, row)[:, 1:],
        statement="larger for every weaker pull",
    )


def _mostly_rises(
    name: str, row: Callable[[Any], Float[Array, "run strength"]], printed: bool = True
) -> claims.Claim:
    """As far as the printed rows do so: most pairs are in order."""
    return claims.on_average(
        name,
        lambda r: discordant(row(r.sim)).astype(float),
        lambda r: PAIRS / 2,
        statement="fewer than half of all pairs of pulls have the larger value at the stronger one",
        printed=printed,
    )


def discordant(row: Float[Array, "*lead strength"]) -> Int[Array, "*lead"]:
    """How many pairs of pulls have the larger value at the stronger one."""
    first, second = jnp.triu_indices(len(STRENGTHS), 1)
    return jnp.sum(row[..., first] > row[..., second], axis=-1)


MOVED = _rises("||theta_t - theta_0|| as lambda falls", "distance")
GAPS = (
    _rises("||f - f_linear|| as lambda falls", "gap"),
    _rises("Kullback-Leibler divergence as lambda falls", "divergence"),
    _mostly_rises("||f - f_linear||: most pairs of pulls", lambda rows: rows.gap),
    _mostly_rises("Kullback-Leibler divergence: most pairs", lambda rows: rows.divergence),
)
# Models that move less have smaller gaps, even to tangents that say nothing: whether they are more
# linear is told by how much of that gap the true tangents leave.
SHUFFLED = _mostly_rises(
    "||f - f_linear|| of shuffled tangents, too: most pairs",
    lambda rows: rows.shuffled_gap,
    printed=False,
)
SHARE = _mostly_rises(
    "||f - f_linear|| over that of shuffled tangents: most pairs",
    lambda rows: rows.gap / rows.shuffled_gap,
    printed=False,
)
ACCURACY = claims.on_average(
    "the strongest pull costs accuracy",
    lambda r: r.sim.accuracy[:, :1],
    lambda r: r.sim.accuracy[:, 1:],
    statement="it has the lowest one, as in both rows of the print",
)
LINEAR = claims.on_average(
    "nearer to the linearised model than to the start",
    lambda r: r.sim.gap,
    lambda r: r.sim.change,
    statement="||f - f_linear|| < ||f - f_0|| at every pull",
)
CLAIMS = (MOVED, *GAPS, SHUFFLED, SHARE, ACCURACY, LINEAR)
SOURCE = claims.Printed(
    "slides, Section 6, table, and Section 5, So far",
    "As the regularization strength increases, the model behaves more like a linear model. [...] "
    "Regularized fine-tuning around initial point is approximately a linear model",
)


def nulls(
    of: Callable[[Null], Callable[[claims.Instance, Array], Any]],
) -> tuple[claims.Mutant, ...]:
    """Both, of a training; the order of tangents changes neither the network nor its accuracy.

    Nor need it change how the printed rows of the gap and the divergence go with the pull, which
    fall to tangents that say nothing, too (`SHUFFLED`): these rows do not tell a linear model from
    one that moved less. It should break what does.
    """

    def null(name: str, kind: Null, *breaks: claims.Claim) -> claims.Mutant:
        return claims.Mutant(name, simulate=of(kind), breaks=tuple(c.name for c in breaks))

    return (
        null("pulls in an order that is drawn", Null.STRENGTHS, *CLAIMS[:-1]),
        null("tangents that say nothing", Null.PARAMETERS, SHARE, LINEAR),
    )
