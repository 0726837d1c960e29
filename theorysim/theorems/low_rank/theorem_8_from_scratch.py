"""Fine-tuning is said to take fewer samples than training from scratch, the more so in large d.

Theorems 3 and 8 of Dayi and Chen (2024), p = 3, on the features of Claim 2, which the teacher makes
orthonormal: fine-tuning needs O~(d) samples, training from scratch by correlational queries
d^(3/2) of them or a tolerance of d^(-3/4). Online SGD is run for both, on labels of the same
teacher: joint training of u^ and c^ from the base network, and training of all rows of a network of
the same kind from a random start, which is one such algorithm, not all of them: how its samples
grow is ours. The network counts as learnt when E (f* - f^)^2, in closed form, stays below a quarter
of E f*^2. Learning rates are not printed: each has one of a ladder, each run the one at which the
other half of the runs are fastest. Samples from scratch count up to a limit that grows as d^(3/2):
where nothing is learnt they grow as fast as that, not faster. A run of fine-tuning that does not
get there counts with all samples of training from scratch, which are more than the limit but for
the least d; there all of its runs get there. Beside fine-tuning is its chain, exact in law.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.random import normal
from theorysim.theorems.low_rank import _online as online
from theorysim.theorems.low_rank import _orthogonal as orthogonal
from theorysim.theorems.low_rank import _span_chain as chain
from theorysim.theorems.low_rank._curves import at_rate, best_rate, steps_until
from theorysim.theorems.low_rank._problem import sign
from theorysim.theorems.low_rank.claim_2 import features

LARGEST, RATES = 0.25, 6
TUNING = 1000  # steps of fine-tuning over d
LEARNT = 0.75  # share of E f*^2 that is told
TUNED, SCRATCH = 0, 1
POWER = 1.5  # p / 2
HALF = 0.5


class Kind(NamedTuple):
    """An activation, E[s'^2], and E s(<a, x>) s(<b, x>) by |a|, |b| and <a, b>."""

    value: Callable
    slope: float
    product: Callable


def _third_product(left: Array, right: Array, inner: Array) -> Array:
    """He_3(a g) = a^3 He_3(g) + 3 a (a^2 - 1) g."""
    return inner**3 + 1.5 * (left**2 - 1) * (right**2 - 1) * inner


THIRD = Kind(lambda a: (a**3 - 3 * a) / 6**0.5, 3.0, _third_product)
LINEAR = Kind(lambda a: a, 1.0, lambda left, right, inner: inner)


class Learnt(NamedTuple):
    """Samples until it is learnt, of fine-tuning, its chain and training from scratch."""

    tuned: Float[Array, "dimension rate"]
    chain: Float[Array, "dimension rate"]
    scratch: Float[Array, "dimension rate"]


def dimensions(x: claims.Instance) -> list[int]:
    """d: twice what Claim 2 needs, and twice as many from one to the next."""
    least = x.k * (x.k + 1) // 2 + 2
    return [2 * least * 2**rung for rung in range(x.rungs)]


def _tuning_steps(d: int) -> int:
    return TUNING * d


def _scratch_steps(x: claims.Instance, d: int) -> int:
    """So many d^2, which is what the third Hermite polynomial takes, up to logarithms."""
    return x.budget * d**2


def told(kind: Kind, teacher: Float[Array, "k r"], student: Float[Array, "k r"]) -> Array:
    """1 - E (f* - f^)^2 / E f*^2 for two networks with readouts of 1, or 0 where that is less."""

    def mean(left: Array, right: Array) -> Array:
        lengths = (jnp.linalg.norm(rows, axis=1) for rows in (left, right))
        a, b = jnp.meshgrid(*lengths, indexing="ij")
        return jnp.sum(kind.product(a, b, left @ right.T))

    whole = mean(teacher, teacher)
    gap = whole + mean(student, student) - 2 * mean(teacher, student)
    return jnp.maximum(1 - gap / whole, 0.0)


def _rows(task: online.Task, coefficients: Array, direction: Array) -> Float[Array, "k r"]:
    root = jnp.sqrt(1 + task.scale**2 / task.readout.shape[0])
    return (task.features + task.scale * jnp.outer(coefficients, direction)) / root


def _problem(k: int, d: int, key: Array) -> tuple[online.Task, online.Student]:
    """The features of Claim 2 for random signs, xi = 1, and a start with random signs."""
    first, second = jax.random.split(key)
    signs = sign(jax.random.normal(first, (2, k)))
    rows = features(signs[0], spare=d - k * (k + 1) // 2)
    truth = jnp.zeros(d).at[-1].set(1.0)
    task = online.Task(rows, jnp.ones(k), truth, signs[0] / k**0.5, jnp.ones(()))
    return task, online.Student(online.on_sphere(second, d), signs[1] / k**0.5)


def _from_scratch(
    kind: Kind, teacher: Float[Array, "k d"], rates: Float[Array, " rate"], steps: int, key: Array
) -> Float[Array, "rate time"]:
    """Online SGD of all rows on their spheres, from random ones."""
    begin, samples = jax.random.split(key)
    start = online.on_sphere(begin, *teacher.shape)

    def loss(rows: Array, x: Array) -> Array:
        return jnp.square(jnp.sum(kind.value(teacher @ x)) - jnp.sum(kind.value(rows @ x)))

    def move(rows: Array, rate: Array, x: Array) -> Array:
        slope = jax.grad(loss)(rows, x)
        tangent = slope - rows * jnp.sum(rows * slope, axis=1, keepdims=True)
        moved = rows - rate * tangent
        return moved / jnp.linalg.norm(moved, axis=1, keepdims=True)

    def step(rows: Array, x: Array) -> tuple[Array, None]:
        return jax.vmap(move, (0, 0, None))(rows, rates, x), None

    def block(rows: Array, number: Array) -> Array:
        drawn = jax.random.fold_in(samples, number)
        inputs = normal(drawn, (online.BLOCK, teacher.shape[1]))
        return jax.lax.scan(step, rows, inputs)[0]

    begin = jnp.broadcast_to(start, (len(rates), *start.shape))
    return online.along(begin, block, jax.vmap(lambda rows: told(kind, teacher, rows)), steps).T


class _Drawn(NamedTuple):
    task: online.Task
    start: online.Student
    samples: Array
    walk: Array
    alone: Array
    other: Array


def _drawn(k: int, d: int, key: Array) -> _Drawn:
    problem, *keys = jax.random.split(key, 5)
    return _Drawn(*_problem(k, d, problem), *keys)


def _itself(given: Any) -> Any:
    return given


def _another_problem(given: _Drawn) -> _Drawn:
    k, d = given.task.features.shape
    return _drawn(k, d, given.other)


def _another_u(given: _Drawn) -> _Drawn:
    truth = online.on_sphere(given.other, *given.task.truth.shape)
    return given._replace(task=given.task._replace(truth=truth))


def _tuned(kind: Kind, given: _Drawn, taught: _Drawn) -> Float[Array, "rate time"]:
    """Joint fine-tuning on labels of what is taught."""
    task = given.task
    teacher = _rows(task, task.teacher, task.truth)
    rates = online.ladder(task, RATES, LARGEST, kind.slope)
    return online.train(
        taught.task,
        kind.value,
        given.start,
        online.Rates(rates, rates),
        _tuning_steps(task.truth.shape[0]),
        given.samples,
        orthogonal=False,
        record=lambda s: told(kind, teacher, _rows(task, s.coefficients, s.direction)),
    ).T


def _walked(kind: Kind, given: _Drawn, walk: Array) -> Float[Array, "rate time"]:
    """The same along the chain; its coordinates are those of the basis and of e."""
    reduced = chain.reduce(given.task)
    inner = reduced.task._replace(
        features=jnp.pad(reduced.task.features, ((0, 0), (0, 1))),
        truth=jnp.append(reduced.task.truth, 0.0),
    )
    teacher = _rows(inner, inner.teacher, inner.truth)
    rates = online.ladder(given.task, RATES, LARGEST, kind.slope)

    def record(state: chain.State) -> Array:
        direction = jnp.append(state.inside, state.rest)
        return told(kind, teacher, _rows(inner, state.coefficients, direction))

    return chain.run(
        reduced,
        kind.value,
        chain.begin(given.task, given.start),
        online.Rates(rates, rates),
        _tuning_steps(given.task.truth.shape[0]),
        walk,
        record=record,
    ).T


def _run(
    x: claims.Instance,
    key: Array,
    kind: Kind = THIRD,
    taught: Callable = _itself,
    predicted: Callable = _itself,
    alone: Callable = _itself,
) -> Learnt:
    """In every number of dimensions, on labels of what is taught, beside what is predicted.

    Training from scratch has what `alone` makes of the rates of the ladder.
    """

    def at(d: int) -> Learnt:
        given = _drawn(x.k, d, jax.random.fold_in(key, d))
        task = given.task
        rates = online.ladder(task, RATES, LARGEST, kind.slope)
        teacher = _rows(task, task.teacher, task.truth)
        few, many = (online.times(n) for n in (_tuning_steps(d), _scratch_steps(x, d)))

        def samples(values: Array, at: Array) -> Float[Array, " rate"]:
            taken = steps_until(values, at, LEARNT)
            return jnp.where(taken < at[-1], taken, many[-1])

        return Learnt(
            samples(_tuned(kind, given, taught(given)), few),
            samples(_walked(kind, predicted(given), given.walk), few),
            samples(
                _from_scratch(kind, teacher, alone(rates), _scratch_steps(x, d), given.alone), many
            ),
        )

    return jax.tree.map(lambda *every: jnp.stack(every), *[at(d) for d in dimensions(x)])


def simulate(x: claims.Instance, key: Array) -> Learnt:
    """Both at all rates in every number of dimensions, and the chain."""
    return _run(x, key)


def of_another_teacher(x: claims.Instance, key: Array) -> Learnt:
    """The null in which fine-tuning sees labels with another u."""
    return _run(x, key, taught=_another_u)


def linear(x: claims.Instance, key: Array) -> Learnt:
    """The null of a linear activation, which costs d samples from scratch, too."""
    return _run(x, key, kind=LINEAR)


def nothing_from_scratch(x: claims.Instance, key: Array) -> Learnt:
    """The null in which training from scratch makes no step."""
    return _run(x, key, alone=jnp.zeros_like)


def beside_another_problem(x: claims.Instance, key: Array) -> Learnt:
    """The null in which the chain is of another problem."""
    return _run(x, key, predicted=_another_problem)


def limits(x: claims.Instance) -> Float[Array, " dimension"]:
    """How many samples from scratch count: all of them in the least d, then as d^(3/2)."""
    d = jnp.asarray(dimensions(x), float)
    return _scratch_steps(x, dimensions(x)[0]) * (d / d[0]) ** POWER


def _log_samples(r: claims.Run) -> Float[Array, "run training dimension"]:
    """log2 of the samples of fine-tuning and from scratch, at the rate best for the other half."""
    scratch = jnp.minimum(r.sim.scratch, limits(r.x)[:, None])
    each = (jnp.log2(at_rate(taken, best_rate(taken))) for taken in (r.sim.tuned, scratch))
    return jnp.stack(list(each), axis=1)


def _is_learnt(r: claims.Run) -> Float[Array, "run dimension"]:
    """1 where training from scratch gets there within the samples that count."""
    below = _log_samples(r)[:, SCRATCH] < jnp.log2(limits(r.x))
    return below.astype(float)


def _slope(r: claims.Run, training: int) -> Float[Array, " run"]:
    """Of log samples over log d, by least squares."""
    at = jnp.log2(jnp.asarray(dimensions(r.x), float))
    apart = at - jnp.mean(at)
    return _log_samples(r)[:, training] @ apart / jnp.sum(apart**2)


theorem = claims.Experiment(
    space=claims.Space(
        k=claims.Size(3, low=2, high=5),
        rungs=claims.Size(3, low=2, high=6),
        budget=claims.Size(40, low=10, high=1000),
    ),
    simulate=simulate,
    claims=(
        claims.on_average(
            "fine-tuning takes fewer samples",
            lambda r: _log_samples(r)[:, TUNED],
            lambda r: _log_samples(r)[:, SCRATCH],
        ),
        claims.on_average(
            "its samples grow slower with d",
            lambda r: _slope(r, TUNED),
            lambda r: _slope(r, SCRATCH),
        ),
        claims.on_average(
            "its samples grow slower than d^(3/2)", lambda r: _slope(r, TUNED), lambda r: POWER
        ),
        claims.on_average(
            "those from scratch grow faster than d^(3/2)",
            lambda r: POWER,
            lambda r: _slope(r, SCRATCH),
            statement="of one algorithm; where the limit is met, as it grows",
            printed=False,
        ),
        claims.on_average(
            "most runs from scratch get there within the limit",
            lambda r: HALF,
            _is_learnt,
            statement="in every number of dimensions",
            printed=False,
        ),
        orthogonal.own_is_nearer(
            "the chain tells fine-tuning",
            lambda r: jnp.log2(r.sim.tuned),
            lambda r: jnp.log2(r.sim.chain),
        ),
    ),
    source=claims.Printed(
        "Theorem 3, Section 1.2.3, and Theorem 8, Section 3.5",
        "learning the teacher model from scratch using any correlational statistical query "
        "algorithm requires either n = d^(p/2) queries or tau = d^(-p/4) tolerance. However, "
        "fine-tuning the base network using Gaussian examples labeled by the teacher only requires "
        "O~(d) online SGD iterations.",
    ),
    note="k = 3, d = 16 to 64; one algorithm from scratch, online SGD, stands for all",
    mutants=(
        claims.Mutant("labels are made with another u", simulate=of_another_teacher),
        claims.Mutant("a linear activation", simulate=linear),
        # Fine-tuning is faster than what learns nothing, and slower growth than its limit stays so.
        claims.Mutant(
            "training from scratch makes no step",
            simulate=nothing_from_scratch,
            breaks=(
                "those from scratch grow faster than d^(3/2)",
                "most runs from scratch get there within the limit",
            ),
        ),
        claims.Mutant(
            "the chain is of another problem",
            simulate=beside_another_problem,
            breaks=("the chain tells fine-tuning",),
        ),
    ),
    keys=12,
    axes=lambda x: {
        "dimension": np.asarray(dimensions(x)),
        "rate": online.shares(RATES, LARGEST),
    },
)
