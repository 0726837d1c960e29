"""Networks of finite width that were pretrained on a source, beside what Eq. 11 says of them.

Section 6 of Shachaf et al. (2021). No run can have the width that Theorem 6.1 asks for; here are
ReLU networks of 128, 512 and 2048 units, initialised as in print (signs at random, weights of scale
kappa = 0.3), pretrained by gradient descent on a wave g_S, then fine-tuned on n samples of a wave
g_T whose phase is 1/4 or 1 away. Inputs are unit vectors around one of them. The loss is min(1,
|error|) on inputs that neither stage has seen. y~ is what the pretrained network leaves; the
weights' distance sqrt(y~^T H^(-1) y~) and the outputs at infinite width are computed from the same
data and the same outputs before training (theorem-6.1-finite-width).
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from theorysim import claims
from theorysim.numerics.copies import copies
from theorysim.numerics.kernels import tangent_gram
from theorysim.numerics.products import dot
from theorysim.systems import two_layer_relu as relu
from theorysim.systems import two_layer_relu_limit as relu_limit
from theorysim.theorems.linear_teachers import _growing_samples as samples
from theorysim.theorems.linear_teachers import _kernel_regime as regime

WIDTHS, SHARES, DISTANCES = (1 / 16, 1 / 4, 1.0), (0.25, 0.5, 1.0), (0.25, 1.0)
KAPPA, SPREAD, RATE = 0.3, 0.5, 1.0
NEAR, NARROWEST, WIDEST = 0, 0, -1


class Stages(NamedTuple):
    """Losses on unseen inputs, the first term of Eq. 11, and what the kernel says of both."""

    risk: Float[Array, "width distance n"]
    bound: Float[Array, "width distance n"]
    kernel_risk: Float[Array, "width distance n"]
    moved: Float[Array, "width distance n"]
    kernel_moved: Float[Array, "width distance n"]
    gram_error: Float[Array, "width distance n"]
    """|H(t) - H^inf| / |H^inf| in operator norms, after fine-tuning"""
    scratch: Float[Array, "distance n"]
    """losses of the widest network without pretraining"""


class _Task(NamedTuple):
    """Inputs of both stages and those that stay unseen, and their labels under g_T."""

    source: relu.Task
    target: relu.Task
    unseen: relu.Task


class _Outputs(NamedTuple):
    """Of one network at the inputs of a task."""

    source: Float[Array, "n_source"]
    target: Float[Array, "most"]
    unseen: Float[Array, "unseen"]


def _units(x: claims.Instance, share: float) -> int:
    return max(round(share * x.width), 2)


def _wave(x: claims.Instance, field: Array, phase: Array, inputs: Array) -> Float[Array, "*n"]:
    return jnp.sin(jnp.sqrt(x.d) / 3 * dot(inputs, field) + phase)


def _task(x: claims.Instance, key: PRNGKeyArray, distance: Array, unrelated: bool) -> _Task:
    for_rows, for_field, for_phase, for_other = jax.random.split(key, 4)
    rows = regime.rows(for_rows, x.n_source + x.unseen + x.d, x.d, jnp.asarray(SPREAD))
    field = samples.unit(for_field, x.d)
    phase, other = (jax.random.uniform(k, maxval=2 * jnp.pi) for k in (for_phase, for_other))
    source, unseen, target = jnp.split(rows, [x.n_source, x.n_source + x.unseen])
    before = other if unrelated else phase
    after = phase + distance
    return _Task(
        relu.Task(source, _wave(x, field, before, source)),
        relu.Task(target, _wave(x, field, after, target)),
        relu.Task(unseen, _wave(x, field, after, unseen)),
    )


def _loss(task: relu.Task, outputs: Float[Array, "n"]) -> Float[Array, ""]:
    return jnp.mean(jnp.minimum(jnp.abs(outputs - task.labels), 1))


def _descended(network: relu.Network, task: relu.Task, steps: int) -> relu.Network:
    return relu.train_to(network, task, RATE, steps, normalisation=regime.NORMALISATION)


def _stages(
    x: claims.Instance,
    key: Array,
    widths: tuple[float, ...] = WIDTHS,
    unrelated: bool = False,
    tuning: bool = True,
) -> Stages:
    for_data, for_weights = jax.random.split(key)
    distances = jnp.asarray(DISTANCES)
    tasks = jax.vmap(lambda each: _task(x, for_data, each, unrelated))(distances)
    source = jax.tree.map(lambda each: each[0], tasks.source)
    counts = samples.counts(x, SHARES)
    steps = x.steps if tuning else 0

    def tuned(ready: relu.Network, task: _Task, count: int) -> Stages:
        seen = jax.tree.map(lambda each: each[:count], task.target)
        residual = seen.labels - relu.outputs(ready, seen.inputs)
        gram = tangent_gram(seen.inputs, seen.inputs)
        complexity = relu_limit.complexity(gram, residual)
        network = _descended(ready, seen, steps)
        reached = relu.empirical_gram(network, seen.inputs, network, seen.inputs)
        return Stages(
            _loss(task.unseen, relu.outputs(network, task.unseen.inputs)),
            2 * complexity,
            jnp.zeros(()),
            jnp.linalg.norm(network.weights - ready.weights),
            jnp.sqrt(float(count)) * complexity,
            jnp.linalg.norm(reached - gram, ord=2) / jnp.linalg.norm(gram, ord=2),
            jnp.zeros(()),
        )

    def of_network(fresh: relu.Network) -> Stages:
        """By the distance and the number of samples."""
        starts = _stack([_descended(fresh, source, x.steps), fresh])

        def at(start: relu.Network) -> Stages:
            return jax.lax.map(lambda task: _stack([tuned(start, task, n) for n in counts]), tasks)

        both = jax.lax.map(at, starts)
        pretrained = jax.tree.map(lambda each: each[0], both)
        return pretrained._replace(scratch=both.risk[1])

    def kernel(untrained: _Outputs) -> Float[Array, "distance n"]:
        return jax.lax.map(
            lambda task: jnp.stack(
                [_at_infinite_width(x, untrained, task, n, steps) for n in counts]
            ),
            tasks,
        )

    networks = [relu.initialise(for_weights, _units(x, each), x.d, KAPPA) for each in widths]
    untrained = _stack([_outputs(each, tasks) for each in networks])
    found = _stack([of_network(each) for each in networks])
    return found._replace(kernel_risk=jax.lax.map(kernel, untrained), scratch=found.scratch[WIDEST])


def _stack(found: list) -> Any:
    return jax.tree.map(lambda *each: jnp.stack(each), *found)


def _outputs(network: relu.Network, tasks: _Task) -> _Outputs:
    """Of tasks that have the same inputs."""
    return _Outputs(*(relu.outputs(network, each.inputs[0]) for each in tasks))


def _at_infinite_width(
    x: claims.Instance, untrained: _Outputs, task: _Task, count: int, steps: int
) -> Float[Array, ""]:
    """The loss of both stages in the kernel regime, from these outputs."""
    seen = jax.tree.map(lambda each: each[:count], task.target)

    def learned(stage: relu.Task, misfit: Array, steps: int):
        rate = RATE * relu.curvature(regime.NORMALISATION, len(misfit))
        gram = tangent_gram(stage.inputs, stage.inputs)
        end = relu_limit.kernel_descent(gram, misfit, rate, steps)
        return lambda points: dot(tangent_gram(points, stage.inputs), end.coefficients)

    pretraining = learned(task.source, task.source.labels - untrained.source, x.steps)
    ready = untrained.target[:count] + pretraining(seen.inputs)
    fine_tuning = learned(seen, seen.labels - ready, steps)
    points = task.unseen.inputs
    return _loss(task.unseen, untrained.unseen + pretraining(points) + fine_tuning(points))


def simulate(x: claims.Instance, key: Array) -> Stages:
    """Networks of all widths, pretrained once, fine-tuned at both distances for every n."""
    return _stages(x, key)


def without_fine_tuning(x: claims.Instance, key: Array) -> Stages:
    """The null in which fine-tuning takes no step."""
    return _stages(x, key, tuning=False)


def of_an_unrelated_source(x: claims.Instance, key: Array) -> Stages:
    """The null in which the source wave has a phase of its own."""
    return _stages(x, key, unrelated=True)


def of_one_width(x: claims.Instance, key: Array) -> Stages:
    """The null in which all networks have the least width, on tasks of their own."""

    def one(key: Array) -> Stages:
        found = _stages(x, key, widths=WIDTHS[:1])
        return found._replace(scratch=found.scratch[None])

    found = copies(one, key, len(WIDTHS), axis=0)
    return found._replace(scratch=found.scratch[WIDEST])


def _wider_is_closer(name: str, error, statement: str, printed: bool = True) -> claims.Claim:
    return claims.on_average(
        name,
        lambda r: error(r.sim)[:, WIDEST],
        lambda r: error(r.sim)[:, NARROWEST],
        statement=f"{statement}: lower at the largest width than at the least, everywhere",
        printed=printed,
    )


theorem = claims.Experiment(
    space=claims.Space(
        d=claims.Size(32, low=8, high=256),
        n_source=claims.Size(128, low=16, high=4096),
        unseen=claims.Size(512, low=32, high=8192),
        width=claims.Size(2048, low=32, high=16384),
        steps=claims.Size(600, low=50, high=20000),
    ),
    simulate=simulate,
    claims=(
        claims.on_average(
            "Eq. 11, nothing under O",
            lambda r: r.sim.risk,
            lambda r: r.sim.bound,
            statement="E R below E of its first term, at every width, distance and n",
        ),
        claims.on_average(
            "closer tasks are learned better",
            lambda r: r.sim.risk[:, :, NEAR],
            lambda r: r.sim.risk[:, :, -1],
            statement="E R at distance 1/4 below that at 1, at every width and n",
        ),
        claims.on_average(
            "pretraining on a close task helps",
            lambda r: r.sim.risk[:, WIDEST, NEAR],
            lambda r: r.sim.scratch[:, NEAR],
            statement="E R at distance 1/4 below that without pretraining, at every n",
            printed=False,
        ),
        _wider_is_closer(
            "the Gram matrix stays close to that of infinite width",
            lambda sim: sim.gram_error,
            "E |H(t) - H^inf| / |H^inf|",
        ),
        _wider_is_closer(
            "weights move as far as the kernel says",
            lambda sim: jnp.abs(sim.moved / sim.kernel_moved - 1),
            "E | |W(t) - W(0)| / sqrt(y~^T H^(-1) y~) - 1 |",
        ),
        _wider_is_closer(
            "the loss is that of infinite width",
            lambda sim: jnp.abs(sim.risk - sim.kernel_risk),
            "E |R - R of infinite width|",
            printed=False,
        ),
    ),
    source=claims.Printed(
        "Section 6, Theorem 6.1, Eq. 11, and the text below it and below Corollary 6.3",
        "the true risk of the fine-tuned model is related to the distance of learned outputs y "
        "from the outputs after pretraining [...] the weights of the fine-tuned model do not "
        '"move" too far away [...] H(t) is close to H at random initialization, even when '
        "considering the pretraining phase [...] fine-tuning is improved as the distance between "
        "source and target decreases",
    ),
    note="widths up to 2048, far below what the theorem asks for; n from 8 to 32",
    mutants=(
        claims.Mutant("no step of fine-tuning", simulate=without_fine_tuning),
        claims.Mutant("an unrelated source", simulate=of_an_unrelated_source),
        claims.Mutant(
            "all networks of the least width",
            simulate=of_one_width,
            breaks=(
                "the Gram matrix stays close to that of infinite width",
                "weights move as far as the kernel says",
                "the loss is that of infinite width",
            ),
        ),
    ),
    axes=lambda x: {
        "width": [_units(x, share) for share in WIDTHS],
        "distance": DISTANCES,
        "n": samples.counts(x, SHARES),
    },
)
