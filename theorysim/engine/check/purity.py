"""Whether a simulation and a prediction are functions of their arguments alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from theorysim.claims.margins import place_of
from theorysim.claims.reading import ResolvedReading
from theorysim.engine.check.step import MISTAKE, Step, Subject
from theorysim.engine.measure.errors import compiled, replace_tolerance_scale, simulation_keys
from theorysim.jaxprs.dependence import used_inputs
from theorysim.jaxprs.fingerprint import fingerprint
from theorysim.jaxprs.structure import contains
from theorysim.precision import in_precision

NAME = "purity"
# Operations that draw random numbers.
DRAWING = frozenset({"random_bits", "random_seed", "threefry2x32", "rng_bit_generator"})


def purity(subject: Subject) -> Step:
    """Trace twice, run twice: the same key must give the same program and the same numbers."""
    with in_precision(double=True):
        for reading in subject.theorem.all_readings():
            for fault in _faults(subject, reading):
                return Step(NAME, mend=fault, code=MISTAKE)
    return Step(NAME, "the same key gives the same numbers, whatever ran before")


def _faults(subject: Subject, reading: ResolvedReading) -> Iterator[str]:
    theorem, sizes = subject.theorem, subject.theorem.space.default_sizes()
    x = replace_tolerance_scale(theorem.space.sample(jax.random.key(subject.seed), sizes), 1.0)
    key = simulation_keys(jax.random.key(subject.seed), 1)[0]
    calls = {"simulate": (reading.simulate, (x, key)), "predict": (reading.predict, (x,))}
    if _calls(reading.predict, reading.simulate):
        yield _said("predict", reading.predict, PREDICT_SIMULATES)
    traced = {name: _trace(*call) for name, call in calls.items()}
    for name, (function, arguments) in calls.items():
        if fingerprint(_trace(function, arguments)) != fingerprint(traced[name]):
            yield _said(name, function, CHANGES)
        if not _repeats(function, arguments):
            yield _said(name, function, UNREPEATABLE)
    key_is_used = used_inputs(traced["simulate"])[-1]
    if not key_is_used and contains(traced["simulate"].jaxpr, DRAWING):
        yield _said("simulate", reading.simulate, OWN_KEY)
    if not key_is_used and theorem.keys > 1:
        yield _said("simulate", reading.simulate, UNUSED_KEY.format(keys=theorem.keys))


PREDICT_SIMULATES = "calls the simulation, so that no comparison can fail: predict by the theory"
CHANGES = (
    "computes something else when it is called again: it reads a state or random numbers of Python "
    "or NumPy; draw with jax.random from `key`, keep nothing in globals"
)
UNREPEATABLE = "gives other numbers for the same arguments: a callback that has a state? Remove it"
OWN_KEY = "draws from a key of its own, so that all runs see the same numbers: draw from `key`"
UNUSED_KEY = (
    "does not use its key, so that its {keys} runs are one: draw from `key`, or leave out keys="
)


def _said(name: str, function: Callable, text: str) -> str:
    place = place_of(function)
    return f"{place}: " * bool(place) + f"{name} {text}"


def _trace(function: Callable, arguments: tuple) -> Any:
    """The program, traced anew: JAX remembers functions that it has seen."""
    return jax.make_jaxpr(lambda *given: function(*given))(*arguments)


def _repeats(function: Callable, arguments: tuple) -> bool:
    """Whether the compiled function gives the same bits twice."""
    one, other = (jax.tree.leaves(compiled(function)(*arguments)) for _ in range(2))
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))


def _calls(predict: Callable, simulate: Callable) -> bool:
    """Whether a prediction is the simulation, or names it."""
    code = getattr(predict, "__code__", None)
    if code is None:
        return predict is simulate
    if code is getattr(simulate, "__code__", None):
        return True
    known = getattr(predict, "__globals__", {})
    return any(known.get(name) is simulate for name in code.co_names)
