"""A claim as one program, from the values of the fields to both sides, and what it consists of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from theorysim.claims.instance import Instance, SizeItems
from theorysim.claims.kinds import Probable
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.run import Run
from theorysim.enclosures import Formula, trace
from theorysim.enclosures.interpreter import RULES
from theorysim.engine.confirm.suspect import Case
from theorysim.engine.measure.errors import runs, simulation_keys
from theorysim.engine.measure.making import made_of, no_key, shapes_of
from theorysim.jaxprs.overflow import grows_integers, multiplies_integers
from theorysim.jaxprs.structure import CALLS, every_operation
from theorysim.jaxprs.work import work
from theorysim.kept import kept_value
from theorysim.precision import remembers_traces


class Facts(NamedTuple):
    """What is asked of the program of a claim without running it.

    `obstacle` says why ball arithmetic cannot run it ("" where it can), `narrow` which of its
    computations is not in double precision; `multiplies_integers` whether it does so,
    `grows_integers` whether they may leave the range of their type; `largest` is its largest
    constant, `work` what ball arithmetic has with it; `estimates` whether its sides hold means over
    keys or limits of paths, which are known up to errors that were measured in double precision.
    """

    obstacle: str
    narrow: str
    multiplies_integers: bool
    grows_integers: bool
    largest: float
    operations: int
    work: int
    estimates: bool


@lru_cache(maxsize=256)
def traced(case: Case, sizes: SizeItems) -> Facts:
    """What the program of a claim is like at the sizes of its instances; kept, where it can be."""
    known_by = None
    if any(claim is case.claim for claim in case.reading.claims):
        known_by = made_of(case.theorem, (case.reading,), sizes, case.claim.name)
    return Facts(*kept_value(known_by, "facts of a program", lambda: _count(case, sizes)))


def formula_of(case: Case, sizes: SizeItems) -> Formula:
    """The program of a claim: of the fields' values, the tolerance scale and the key's data.

    A printed probability is its only margin.
    """
    return _formula_and_sources(case, sizes)[0]


def probability_of(case: Case, sizes: SizeItems) -> Formula | None:
    """The same of the printed probability alone; None where it holds means or limits."""

    def printed(run: Run) -> tuple:
        return 0.0, 0.0, None, [case.claim.printed_probability(run)]

    formula, sources = _formula_of_part(case, sizes, printed)
    return None if sources else formula


def condition_of(case: Case, sizes: SizeItems, points: int) -> Formula | None:
    """The condition of a claim alone, at its points; None where it holds means or limits."""
    where = case.claim.where
    assert where is not None
    estimated: set[str] = set()

    def alone(run: Run) -> tuple:
        condition = jnp.asarray(where(run), float)
        estimated.update(run.sources)
        if condition.size in (1, points):  # the sides, which tell of shapes, need not be traced
            return 0.0, 0.0, None, [jnp.broadcast_to(jnp.ravel(condition), points)]
        return 0.0, 0.0, None, [jnp.broadcast_to(condition, jnp.shape(case.claim.sides(run)[0]))]

    formula, _ = _formula_of_part(case, sizes, alone)
    return None if estimated else formula


@remembers_traces
def _formula_and_sources(case: Case, sizes: SizeItems) -> tuple[Formula, set[str]]:
    claim = case.claim

    def sides(run: Run) -> tuple:
        given = None if claim.where is None else claim.where(run)
        printed = [claim.printed_probability(run)] if isinstance(claim, Probable) else []
        return *claim.sides(run), given, printed

    return _formula_of_run(case, sizes, sides)


class _NotRun(Run):
    """A run without a prediction and a simulation; it notes whether a formula asks for one."""

    asked: bool

    def __init__(self, x: Instance, keys: int):
        super().__init__(x, None, None, keys)
        del vars(self)["theory"], vars(self)["sim"]
        vars(self)["asked"] = False

    def __getattr__(self, name: str) -> Any:
        vars(self)["asked"] = self.asked or name in ("theory", "sim")
        raise AttributeError(f"this run has no {name}")


def _formula_of_part(
    case: Case, sizes: SizeItems, relation: Callable[[Run], tuple]
) -> tuple[Formula, set[str]]:
    """The same of what seldom looks at the run: to trace a simulation may take seconds."""
    attempts: list[_NotRun] = []

    def not_run(reading: ResolvedReading, x: Instance, keys: Array) -> Run:
        del reading
        attempts.append(_NotRun(x, keys.shape[0]))
        return attempts[-1]

    found = None
    try:
        found = _formula_of_run(case, sizes, relation, not_run)
    except Exception:
        if not any(run.asked for run in attempts):
            raise
    if found is None or any(run.asked for run in attempts):
        return _formula_of_run(case, sizes, relation)
    return found


def _run(reading: ResolvedReading, x: Instance, keys: Array) -> Run:
    return runs((reading,), x, keys)[reading.name]


def _formula_of_run(
    case: Case,
    sizes: SizeItems,
    relation: Callable[[Run], tuple],
    run_of: Callable[[ResolvedReading, Instance, Array], Run] = _run,
) -> tuple[Formula, set[str]]:
    """`relation(run) -> (lhs, rhs, condition or None, margins)` as a program, and which estimates
    it holds ("sampling", "limit")."""
    sources: set[str] = set()
    theorem, reading, claim = case.theorem, case.reading, case.claim
    names = list(theorem.space.fields)

    def of_inputs(*inputs: Any) -> tuple:
        *values, tolerance_scale, key = inputs
        x = Instance(dict(zip(names, values)), sizes, tolerance_scale)
        keys = simulation_keys(jax.random.wrap_key_data(key), theorem.keys)
        run = run_of(reading, x, keys)
        found = relation(run)
        sources.update(run.sources)
        return *found, []

    inputs = [*shapes_of(theorem, sizes), np.float64(1), no_key()]
    formula = trace(of_inputs, inputs, claim.relation or "at_most", False, claim.name)
    return formula, sources


def _count(case: Case, sizes: SizeItems) -> Facts:
    formula, sources = _formula_and_sources(case, sizes)
    program = formula.program
    operations = list(every_operation(program.jaxpr))
    return Facts(
        _obstacle(formula, operations),
        _narrow(operations),
        any(map(multiplies_integers, operations)),
        grows_integers(program.jaxpr),
        max(map(_magnitude, _constants(program, operations)), default=0.0),
        len(operations),
        work(program),
        bool(sources),
    )


def _obstacle(formula: Formula, operations: list[Any]) -> str:
    if formula.needs[-2]:
        return "it integrates an ODE"
    dtypes = {variable.aval.dtype for one in operations for variable in one.outvars}
    if any(jnp.issubdtype(dtype, jnp.complexfloating) for dtype in dtypes):
        return "it has complex numbers"
    unknown = [
        one.primitive.name
        for one in operations
        if one.primitive.name not in CALLS and RULES.find(one) is None
    ]
    return f"no enclosure of {unknown[0]} is known" if unknown else ""


def _narrow(operations: list[Any]) -> str:
    """The first operation whose result is less precise than a double."""
    for one in operations:
        for variable in one.outvars:
            dtype = variable.aval.dtype
            if jnp.issubdtype(dtype, jnp.floating) and jnp.finfo(dtype).bits < 64:
                return f"{one.primitive.name} in {dtype}"
    return ""


def _constants(program: Any, operations: list[Any]) -> Iterator[Any]:
    yield from program.consts
    for one in operations:
        yield from (atom.val for atom in one.invars if hasattr(atom, "val"))
        for inner in jax.tree.leaves(list(one.params.values()), is_leaf=_has_constants):
            yield from getattr(inner, "consts", ())


def _has_constants(value: Any) -> bool:
    return hasattr(value, "consts")


def _magnitude(value: Any) -> float:
    """The largest finite absolute value of numbers; 0 of what is none (integers count places)."""
    if not jnp.issubdtype(jnp.result_type(value), jnp.floating):
        return 0.0
    sizes = np.abs(np.asarray(value, float))
    return float(np.max(sizes, where=np.isfinite(sizes), initial=0.0))
