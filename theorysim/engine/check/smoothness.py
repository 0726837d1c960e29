"""Whether the simulation differentiates at kinks, where its gradient is one choice of many."""

from __future__ import annotations

import jax
import numpy as np
from jaxtyping import Array, Bool

from theorysim.claims.instance import Instance
from theorysim.engine.check.step import Step, Subject
from theorysim.engine.measure.errors import replace_tolerance_scale, simulation_keys
from theorysim.jaxprs.kinks import Kink, kinks, kinks_met, line_of
from theorysim.precision import in_precision

NAME = "smoothness"
# Draws, and of their coordinates the share that is put on an end of its range, where `falsify`
# looks, too: ties are events of chance nought elsewhere.
DRAWS = 64
ENDS = 0.25


def smoothness(subject: Subject) -> Step:
    """Look for kinks that are differentiated, and for runs that come upon them."""
    with in_precision(double=True):
        simulate = subject.primary.simulate
        x = _instances(subject)
        data = jax.random.key_data(jax.random.split(jax.random.key(subject.seed), DRAWS))
        first = jax.tree.map(lambda leaf: leaf[0], (x, data))

        def run(x: Instance, data: Array) -> object:
            x = replace_tolerance_scale(x, 1.0)
            return simulate(x, simulation_keys(jax.random.wrap_key_data(data), 1)[0])

        program = jax.make_jaxpr(run)(*first)
        sites = kinks(program.jaxpr)
        if not sites:
            return Step(NAME, "the simulation differentiates no kink")

        def met(x: Instance, data: Array) -> Bool[Array, " kinks"]:
            return kinks_met(program, jax.tree.leaves((x, data)), sites)

        counts = np.sum(np.asarray(jax.jit(jax.vmap(met))(x, data)), axis=0)
    hit = [(site, int(count)) for site, count in zip(sites, counts, strict=True) if count]
    told = "the simulation differentiates " + ", ".join(sorted({site.name for site in sites}))
    if not hit:
        return Step(NAME, f"{told}, and no run of {DRAWS} comes upon a kink")
    file = str(subject.entry.path)
    return Step(NAME, told, tuple(_warning(site, count, file) for site, count in hit))


def _instances(subject: Subject) -> Instance:
    """Draws of which some coordinates lie on the ends of their ranges, stacked."""
    space, sizes = subject.theorem.space, subject.theorem.space.default_sizes()
    rng = np.random.default_rng(subject.seed)
    points = rng.uniform(size=(DRAWS, space.dimension(sizes)))
    ends = np.where(rng.uniform(size=points.shape) < 0.5, 0.0, 1.0)
    points = np.where(rng.uniform(size=points.shape) < ENDS, ends, points)
    return jax.vmap(lambda u: space.decode(u, sizes))(jax.numpy.asarray(points))


def _warning(site: Kink, count: int, file: str) -> str:
    place = line_of(site, file)
    return (
        f"{place}: "
        * bool(place)
        + f"{count} of {DRAWS} runs differentiate {site.name} at its kink, where autodiff need not "
        "give a subgradient: write the step out, or keep ties out of the space"
    )
