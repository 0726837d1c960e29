"""Contracts that every registered theorem keeps, whatever it says."""

import ast
import dataclasses
import functools
import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import is_drawn, is_quick, marks_of

from theorysim.chunks import forget
from theorysim.claims import Theorem
from theorysim.engine import registry
from theorysim.engine.check.agreement import alone, disagreements, together
from theorysim.engine.measure.errors import runs, simulation_keys
from theorysim.engine.registry.records import is_fresh, own_statements, verdicts
from theorysim.engine.verify.verify import verify
from theorysim.precision import in_precision
from theorysim.testing import assert_mutants_are_refuted
from validation.catalogue import catalogue
from validation.mutants import readings_to_try

ENTRIES = {entry.id: entry for entry in registry.catalogue() if not entry.is_experiment}
SEEDS = (0, pytest.param(1, marks=pytest.mark.thorough))

# Theorems whose instances single precision cannot hold, with the reason.
SINGLE_PRECISION_CANNOT = {
    "linearization/linearised-model": "a model less its linearisation: seven digits cancel",
    "low-rank/lemma-5": "differences of distribution functions near 1/2, with logarithms of "
    "factorials of 1024 behind them",
    "overtraining/lemma-a.11-proof": "distances of 1e-15 after thousands of steps; of what single "
    "precision makes of them jittered runs show three quarters",
    "overtraining/lemma-a.27-proof": "losses of 1e-19 after thousands of steps, in the same way",
    "transferability/eq-36-48": "widths above 1e38, which single precision has no numbers for",
    "transferability/remark-singular-gram": "it takes angles of 1e-2 from unit vectors, "
    "whose rounding is 1e-5 of them",
    "transferability/theorem-3-choices": "widths above 1e38, as in eq-36-48",
}


@pytest.fixture(autouse=True)
def _forget_other_theorems(request, seen=[]):  # noqa: B006  (remembers the theorem before)
    """Drop the compiled programs of a theorem when the next one's turn comes."""
    id = request.node.callspec.params.get("id") if hasattr(request.node, "callspec") else None
    if seen[-1:] != [id]:
        forget()
    seen[:] = [id]


@functools.cache
def load(id: str) -> Theorem:
    return registry.load(ENTRIES[id])


@functools.cache
def report(id: str):
    return verify(load(id))


def over(ids, in_default_run=lambda id: True):
    """A test of every theorem, `thorough` for those that a default run leaves out.

    The contracts of all take two hours of a processor: a default run takes those that compile of
    the quick ones. One worker runs all contracts of a theorem, so that its programs are compiled
    once.
    """

    def param(id: str):
        marks = marks_of(in_default_run(id))
        return pytest.param(id, marks=[pytest.mark.xdist_group(id), *marks])

    return pytest.mark.parametrize("id", [param(id) for id in ids])


def is_traced(id: str) -> bool:
    """Whether a default run traces its readings, which takes less than to verify them."""
    return is_quick(id) or is_drawn(id, 2)


each, verified, traced = over(ENTRIES), over(ENTRIES, is_quick), over(ENTRIES, is_traced)
# Statements of installed packs keep all contracts but those of the records of this package.
RECORDED = [entry.id for entry in own_statements()]


def test_there_are_theorems():
    assert len(ENTRIES) >= 29


def test_a_default_run_has_statements_of_every_paper():
    papers = {ENTRIES[id].paper for id in RECORDED}
    assert {ENTRIES[id].paper for id in RECORDED if is_traced(id)} == papers


@each
def test_the_citation_is_complete(id):
    citation = registry.citation(ENTRIES[id])
    assert citation is not None
    assert citation.title and citation.authors and citation.venue
    assert 1900 < citation.year < 2100
    assert ENTRIES[id].title.endswith(".")


@each
def test_what_the_registry_read_is_what_the_module_says(id):
    theorem, entry = load(id), ENTRIES[id]
    assert theorem.id == id
    assert [r.name for r in theorem.all_readings()] == [reading.name for reading in entry.readings]
    assert [theorem.primary().name] == [r.name for r in entry.readings if r.primary]
    assert theorem.aliases == entry.aliases


@over(RECORDED)
def test_the_recorded_verdicts_are_of_the_statement_as_it_stands(id):
    line = verdicts().get(id)
    assert is_fresh(line, ENTRIES[id]), f"python -m validation.catalogue --only {id}"
    words = {r.name: (r.note, *dataclasses.astuple(r.source)) for r in load(id).all_readings()}
    for reading in line["readings"]:
        of, note = dict(reading["source"]), reading["note"]
        assert words[reading["name"]] == (note, *(of[name] for name in of if name != "kind"))


@over(RECORDED, is_quick)
def test_verdicts_equal_the_recorded_ones(id):
    found = {reading.name: str(reading.verdict) for reading in report(id).readings}
    assert id in catalogue(), f"record it: python -m validation.catalogue --only {id}"
    assert found == catalogue()[id]


@over(ENTRIES, lambda id: is_quick(id) and is_drawn(id, 8))
@pytest.mark.parametrize("seed", SEEDS)
def test_every_claim_refutes_a_mutant(id, seed):
    """Of the primary reading, and of the printed ones that are recorded to hold."""
    for reading in readings_to_try(load(id)):
        assert_mutants_are_refuted(load(id), reading=reading.name, seed=seed)


@traced
def test_all_readings_are_traced_in_single_precision(id):
    """The same code takes both precisions: a constant of NumPy's is no double among floats."""
    theorem = load(id)

    def formulas(key):
        x = theorem.space.sample(key, theorem.space.default_sizes())
        readings = theorem.all_readings()
        made = runs(readings, x, simulation_keys(key, theorem.keys))
        margins = [reading.margin(x) for reading in readings]
        return margins, [values_of(claim, made[r.name]) for r in readings for claim in r.claims]

    def values_of(claim, run):
        sides = claim.sides(run)
        applies = claim.applies(run, jnp.shape(sides[0]))
        return sides, applies, claim.printed_probability(run)

    with in_precision(double=False):
        found = jax.eval_shape(formulas, jax.random.key(0))
    assert {jnp.dtype(jnp.float64)}.isdisjoint(leaf.dtype for leaf in jax.tree.leaves(found))


@traced
def test_simulations_of_one_program_are_one_function(id):
    """Readings share the runs of a function: what makes functions makes each of them once."""
    theorem = load(id)
    simulations = dict.fromkeys(reading.simulate for reading in theorem.all_readings())
    if len(simulations) > 1:
        key, sizes = jax.random.key(0), theorem.space.default_sizes()
        x = jax.eval_shape(lambda key: theorem.space.sample(key, sizes), key)
        programs = [jax.make_jaxpr(simulate)(x, key) for simulate in simulations]
        texts = {f"{p} {[np.asarray(c).tolist() for c in p.consts]}" for p in programs}
        assert len(texts) == len(programs)


@each
def test_every_reading_says_where_it_comes_from(id):
    """And what is refuted in print says what is wrong with it."""
    for reading in load(id).all_readings():
        assert all(getattr(reading.source, f.name) for f in dataclasses.fields(reading.source))
        recorded = catalogue().get(id, {}).get(reading.name)
        if reading.source.kind == "printed" and recorded == "violated":
            assert reading.note, reading.name


def decisive(id: str) -> dict:
    """An instance of the primary reading, as the report gives it."""
    claims = report(id).reading(load(id).primary().name).claims
    return next(c.worst_instance for c in claims if c.worst_instance is not None)


@verified
def test_an_instance_survives_json(id):
    theorem, data = load(id), decisive(id)
    data = {part: data[part] for part in ("sizes", "values")}
    with jax.enable_x64(True):
        again = theorem.space.to_json(theorem.space.from_json(json.loads(json.dumps(data))))
    assert {part: again[part] for part in data} == data


@functools.cache
def replay(id: str):
    """The decisive instance measured alone by the engine: the same program, a batch of one."""
    return together(load(id), *stacked(id))


def stacked(id: str):
    theorem, data = load(id), decisive(id)
    with jax.enable_x64(True):
        x = theorem.space.from_json({k: data[k] for k in ("sizes", "values")})
        return jax.tree.map(lambda leaf: np.asarray(leaf)[None], x), np.asarray(
            [data["key"]], np.uint32
        )


@verified
def test_a_decisive_instance_replays(id):
    """Alone it measures what it measured among the others, to within the numerical errors."""
    primary = report(id).reading(load(id).primary().name)
    pointwise = ("equal", "at_most", "at_least", "increasing", "decreasing")
    instance = decisive(id)
    claims = [c for c in primary.claims if c.kind in pointwise and c.worst_instance == instance]
    again = replay(id)[primary.name]
    for claim in claims:
        m = again[claim.name]
        near = np.abs(np.asarray(m.lhs) - claim.lhs) <= 2 * claim.error + 1e-15 * abs(claim.lhs)
        assert np.any(near), claim.name


@verified
def test_jit_and_vmap_agree(id):
    assert disagreements(alone(load(id), *stacked(id)), replay(id)) == {}


@verified
def test_single_precision_agrees_within_its_budget(id):
    if disagreements(alone(load(id), *stacked(id), other_key=1), replay(id)):
        pytest.skip("its simulation draws numbers, which differ between precisions")
    apart = disagreements(alone(load(id), *stacked(id), double=False), replay(id))
    # An excuse that is no longer needed must go.
    assert bool(apart) == (id in SINGLE_PRECISION_CANNOT), apart


@each
def test_a_theorem_declares_its_integrator(id):
    source = ast.parse(Path(ENTRIES[id].path).read_text())
    uses = any(
        isinstance(n, ast.Attribute) and n.attr == "tolerance_scale" for n in ast.walk(source)
    )
    if uses:
        assert load(id).integrates
