"""A frozen network is said to have a constant loss, fine-tuning to need fewer samples than scratch.

Figure 3 of Shachaf et al. (2021): two-layer linear models on the same target task. "Frozen" fixes
the first layer after pretraining, "Vanilla" is trained from scratch on the target, "Finetune"
starts from the pretrained layers. All start from a small initialisation, not exactly 0-balanced,
and take constant gradient steps; the prose says that a larger scale "such as Xavier" would be a
workaround, which is the second scale here. Teachers differ by half of the source's norm; sizes,
scales, rates and numbers of steps are not in the main text. Beside the runs stand Theorem 5.5 (the
best multiple of theta_S on the samples), Eq. 1 from zero and Eq. 5.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems import deep_linear_limit as deep_limit
from theorysim.systems import deep_linear_network as network
from theorysim.systems.deep_linear_network import Layers
from theorysim.systems.linear_regression import project
from theorysim.theorems.linear_teachers import _deep_descent as deep
from theorysim.theorems.linear_teachers import _growing_samples as samples

DEPTH, NOISE, SMALL = 2, 0.5, 1e-3
MODELS = ("Frozen", "Vanilla", "Finetune")
FROZEN, VANILLA, FINETUNE = range(3)
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
RATE, SOURCE_SAMPLES = 0.01, 10


class Risks(NamedTuple):
    """Population risks for inputs N(0, I), by the first scale: small, or Xavier's."""

    risk: Float[Array, "scale model share"]
    predicted: Float[Array, "model share"]


def _scales(x: claims.Instance) -> tuple[float, float]:
    return SMALL, x.d**-0.5


def _trained(
    x: claims.Instance,
    key: Array,
    scales: tuple[float, ...] | None = None,
    frozen: int = 1,
    unrelated: bool = False,
    aligned: bool = False,
) -> Risks:
    for_source, for_noise, for_rows, for_old, for_fresh, for_new = jax.random.split(key, 6)
    source = samples.unit(for_source, x.d)
    noise = NOISE * jax.random.normal(for_noise, (x.d,)) / jnp.sqrt(x.d)
    target = 2 * source if aligned else source + noise
    if unrelated:
        source = samples.unit(jax.random.fold_in(for_source, 1), x.d)
    counts = samples.counts(x, SHARES)
    every = jax.random.normal(for_rows, (counts[-1], x.d))
    seen, spans = samples.padded(every, counts), samples.spans(every, counts)
    old_rows = deep.square(jax.random.normal(for_old, (SOURCE_SAMPLES * x.d, x.d)))

    def run(layers: Layers, rows: Array, teacher: Array, held: int = 0) -> Layers:
        labels = dot(rows, teacher)
        return network.train(layers, rows, labels, RATE, x.steps, frozen=held)

    def ends(layers: Layers, held: int) -> Float[Array, "share"]:
        def risk(rows: Array) -> Float[Array, ""]:
            return deep.risk(network.end_to_end(run(layers, rows, target, held)), target)

        return jax.vmap(risk)(seen)

    def of_scale(scale: Array) -> Float[Array, "model share"]:
        start, fresh = (
            network.gaussian_layers(each, x.d, (x.d,), scale) for each in (for_fresh, for_new)
        )
        ready = run(start, old_rows, source)
        return jnp.stack([ends(ready, frozen), ends(fresh, 0), ends(ready, 0)])

    used = jnp.asarray(_scales(x) if scales is None else scales)
    return Risks(jax.lax.map(of_scale, used), _theory(seen, spans, source, target))


def _theory(
    seen: Float[Array, "share n d"],
    spans: Float[Array, "share d n"],
    source: Float[Array, "d"],
    target: Float[Array, "d"],
) -> Float[Array, "model share"]:
    frozen = jax.vmap(lambda rows: _best_multiple(rows, source, target))(seen)
    others = jax.vmap(lambda span: _trained_limits(span, source, target))(spans)
    return jnp.concatenate([frozen[None], others.T])


def _trained_limits(
    basis: Float[Array, "d n"], source: Float[Array, "d"], target: Float[Array, "d"]
) -> Float[Array, "2"]:
    """Risks of Vanilla, by Eq. 1 from zero, and of Finetune, by Eq. 5."""
    kept, wanted = project(basis, source), project(basis, target)
    parts = jnp.stack([kept.parallel, kept.orthogonal, wanted.parallel])
    lengths = jnp.linalg.norm(parts, axis=1) / jnp.linalg.norm(source)
    stretched = deep_limit.source_coefficient(deep_limit.Alignment(*lengths), DEPTH)
    return jnp.stack(
        [
            deep.risk(wanted.parallel, target),
            deep.risk(stretched * kept.orthogonal + wanted.parallel, target),
        ]
    )


def _best_multiple(
    rows: Float[Array, "n d"], source: Float[Array, "d"], target: Float[Array, "d"]
) -> Float[Array, ""]:
    """The risk of c theta_S with the c that fits the samples best (Theorem 5.5)."""
    fitted = dot(rows, source)
    multiple = jnp.sum(fitted * dot(rows, target)) / jnp.sum(jnp.square(fitted))
    return deep.risk(multiple * source, target)


def simulate(x: claims.Instance, key: Array) -> Risks:
    """All three models on the same samples, for every number of them and either scale."""
    return _trained(x, key)


def without_freezing(x: claims.Instance, key: Array) -> Risks:
    """The null in which the first layer of the frozen model is trained, too."""
    return _trained(x, key, frozen=0)


def of_an_unrelated_source(x: claims.Instance, key: Array) -> Risks:
    """The null in which the source task has nothing to do with the target."""
    return _trained(x, key, unrelated=True)


def of_an_aligned_target(x: claims.Instance, key: Array) -> Risks:
    """The null in which the target is twice the source."""
    return _trained(x, key, aligned=True)


def of_one_scale(x: claims.Instance, key: Array) -> Risks:
    """The null in which both starts have Xavier's scale, in problems of their own."""
    xavier = _scales(x)[1:]
    every = [_trained(x, each, scales=xavier) for each in jax.random.split(key)]
    return every[0]._replace(risk=jnp.concatenate([each.risk for each in every]))


def _small(r: claims.Run, model: int) -> Float[Array, "run share"]:
    return r.sim.risk[:, 0, model]


def _change(r: claims.Run, model: int) -> Float[Array, "run"]:
    """How far the mean loss of the second half of the counts is from that of the first."""
    middle = len(SHARES) // 2
    few, many = (_small(r, model)[:, half].mean(1) for half in (slice(middle), slice(middle, None)))
    return jnp.abs(jnp.log(many / few))


def _follows(model: int, theory: str) -> claims.Claim:
    return claims.on_average(
        f"{MODELS[model]} ends where {theory} says",
        lambda r: jnp.abs(_small(r, model) / r.sim.predicted[:, model] - 1),
        lambda r: samples.TWENTIETH,
        statement="E |R / R(theory) - 1| < 1/20 from the small scale, at every n",
        printed=False,
    )


def _constant(beside: int) -> claims.Claim:
    return claims.on_average(
        f"Frozen is constant beside {MODELS[beside]}",
        lambda r: _change(r, FROZEN),
        lambda r: _change(r, beside),
        statement="E |log of the mean of R over n >= d/2 to that over n < d/2|",
    )


theorem = claims.Experiment(
    space=claims.Space(d=claims.Size(30, low=20), steps=claims.Size(20000, low=1000, high=200000)),
    simulate=simulate,
    claims=(
        claims.on_average(
            "Frozen performs poorly",
            lambda r: _small(r, FINETUNE),
            lambda r: _small(r, FROZEN),
            statement="E R of Finetune below that of Frozen, at every n",
        ),
        claims.on_average(
            "Finetune is better than Vanilla",
            lambda r: _small(r, FINETUNE),
            lambda r: _small(r, VANILLA),
            statement="E R of Finetune below that of Vanilla, at every n",
        ),
        _constant(VANILLA),
        _constant(FINETUNE),
        claims.on_average(
            "Xavier's scale prevents the failure",
            lambda r: r.sim.risk[:, 1, FROZEN].mean(1),
            lambda r: r.sim.risk[:, 0, FROZEN].mean(1),
            statement="the mean over n of R of Frozen: lower from Xavier's scale",
        ),
        _follows(FROZEN, "Theorem 5.5"),
        _follows(VANILLA, "Eq. 1 from zero"),
        _follows(FINETUNE, "Theorem 5.2"),
    ),
    source=claims.Printed(
        "Section 5.3, Figure 3, and Section 5.2",
        "A network whose first layer is fixed has a constant generalization loss [...] As "
        'predicted by theory, the "frozen" model\'s performance is poor, and fine-tuning has '
        "better sample complexity. [...] A possible workaround to this failure of learning would "
        "be to initialize the weights prior to pretraining with a larger scale of initialization "
        "(e.g. with Xavier [38])",
    ),
    note="d = 30; widths, scales, rates and numbers of steps are not in the main text",
    mutants=(
        claims.Mutant("no layer is frozen", simulate=without_freezing),
        claims.Mutant("an unrelated source", simulate=of_an_unrelated_source),
        claims.Mutant("the target is twice the source", simulate=of_an_aligned_target),
        claims.Mutant(
            "both starts have Xavier's scale",
            simulate=of_one_scale,
            breaks=(
                "Xavier's scale prevents the failure",
                "Vanilla ends where Eq. 1 from zero says",
                "Finetune ends where Theorem 5.2 says",
            ),
        ),
    ),
    axes=lambda x: {"scale": _scales(x), "model": MODELS, "share": SHARES},
)
