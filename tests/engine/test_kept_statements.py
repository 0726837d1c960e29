"""Kept programs of statements: the same reports, and never those of other code."""

import dataclasses
import os
from pathlib import Path

import jax
import pytest
from drawn import thorough

from theorysim import loaded
from theorysim.claims.theorem import Theorem
from theorysim.engine import registry
from theorysim.engine.confirm import fresh_keys, hypotheses, other_roundings, traced
from theorysim.engine.falsify import examine, objective
from theorysim.engine.falsify.falsify import falsify
from theorysim.engine.measure import batch, draw, making
from theorysim.engine.measure.making import made_of, made_of_margins
from theorysim.engine.registry import origins
from theorysim.engine.verify import verify as verifying
from theorysim.environment import PROGRAMS
from theorysim.store import PREFIX, kept_files

# Both hold beside readings that are violated: one is small, one has sizes and a ladder.
STATEMENT = "low-rank/proposition-9"
SIZED = "linear-teachers/equation-7"


@pytest.fixture(scope="module")
def theorem():
    return registry.theorem(SIZED)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(PROGRAMS, str(tmp_path / "programs"))
    return tmp_path / "programs"


def begin_anew():
    """Forget what this process has traced and compiled, as another process would not know it."""
    for module in (batch, draw, examine, objective, other_roundings, traced):
        for name, value in vars(module).items():
            if hasattr(value, "cache_clear") and name not in ("signature",):
                value.cache_clear()
    batch.compiled.cache_clear()
    from theorysim.chunks import forget

    forget()


def report(id=STATEMENT, **options):
    begin_anew()
    return verifying.verify(id, **options).as_json()


@pytest.mark.parametrize("id", [STATEMENT, thorough(SIZED)])
def test_reports_are_the_same_with_and_without(id, folder, monkeypatch):
    first = report(id)
    kept = sorted(path.name for path in folder.iterdir())
    assert kept
    # Whoever measures again is not traced: what it would run is gone.
    monkeypatch.setattr(batch, "measure", None)
    monkeypatch.setattr(draw, "least", None)
    assert report(id) == first
    assert sorted(path.name for path in folder.iterdir()) == kept
    monkeypatch.undo()
    monkeypatch.setenv(PROGRAMS, "")
    assert report(id) == first


@pytest.mark.parametrize(
    ("id", "options"),
    [
        (STATEMENT, {"budget": 16}),
        thorough(SIZED, {"budget": 16, "settings": {"n": 3}}),
        thorough("overtraining/lemma-a.14", {"budget": 64}),
        thorough("low-rank/geometric-series", {"budget": 64, "settings": {"k": 3}}),
        # of so many dimensions that points are moved uphill
        thorough(
            "transferability/eq-44",
            {
                "budget": 4000,
                "reading": "with constants",
                "claim": "Eq. 41: max of k (1 - s)^(k-1)",
            },
        ),
    ],
)
def test_an_attack_finds_the_same_with_what_it_kept_and_traces_nothing_of_it(
    id, options, folder, monkeypatch
):
    def found():
        begin_anew()
        return falsify(id, **options).as_json()

    first = found()
    for module, part in ((objective, "runs"), (objective, "waits"), (batch, "measure")):
        monkeypatch.setattr(module, part, None)
    assert found() == first
    monkeypatch.undo()
    monkeypatch.setenv(PROGRAMS, "")
    assert found() == first


def test_what_a_search_knows_of_a_program_is_that_of_its_sizes(folder, theorem):
    """Else sizes at which something else is computed would not be searched."""
    begin_anew()
    reading, own = theorem.primary(), theorem.space.default_sizes()
    several = [tuple(sizes.items()) for sizes in (own, dict.fromkeys(own, 1))]
    for _ in ("made", "kept"):
        objective._scoring.cache_clear()
        computed = [
            objective._scoring(theorem, reading, reading.claims, sizes) for sizes in several
        ]
        assert computed[0].computation != computed[1].computation
    for part in ("score", "climb"):
        texts = {getattr(scoring, part)._made_of for scoring in computed}
        assert len(texts) == len(several)
    assert len({examine._decoding_program(theorem, s)._made_of for s in several}) == len(several)


def test_damaged_programs_are_made_anew(folder):
    first = report(instances=8)
    names = sorted(path.name for path in folder.iterdir())
    for place, path in enumerate(sorted(folder.iterdir())):
        path.write_bytes(path.read_bytes()[:-7] if place % 2 else b"")
    assert report(instances=8) == first
    assert sorted(path.name for path in folder.iterdir()) == names
    assert all(kept_files().read(name.removeprefix(PREFIX)) for name in names)


def test_what_is_not_the_registrys_own_is_not_known(theorem):
    readings = theorem.all_readings()
    assert made_of(theorem, readings, ()) is not None
    copied = dataclasses.replace(theorem)
    assert made_of(copied, copied.all_readings(), ()) is None
    assert made_of(theorem, copied.all_readings(), ()) is None
    renamed = theorem.with_id(theorem.id, theorem.title)
    assert made_of(renamed, readings, ()) is None


def test_readings_made_at_run_time_are_not_known(theorem):
    primary = theorem.primary()
    other = dataclasses.replace(primary, simulate=lambda x, key: x)
    assert made_of(theorem, (primary,), ()) is not None
    assert made_of(theorem, (other,), ()) is None
    assert made_of(theorem, (primary, other), ()) is None
    claims = tuple(dataclasses.replace(claim) for claim in primary.claims)
    assert made_of(theorem, (dataclasses.replace(primary, claims=claims),), ()) is None


def test_mutants_and_parts_of_readings_are_known_apart(theorem):
    primary = theorem.primary()
    several = [(primary,), *((variant,) for variant in theorem.variants().values())]
    if len(primary.claims) > 1:
        several += [(primary.only([claim.name]),) for claim in primary.claims]
    texts = {made_of(theorem, dict.fromkeys(one), ()) for one in several}
    assert None not in texts and len(texts) == len({id(one[0]) for one in several})


def test_the_same_statement_of_more_keys_is_known_and_apart(theorem):
    """Averages are taken again of more keys: compiled once for all trials, and kept."""
    several = fresh_keys.with_keys(theorem, 2048)
    assert several is fresh_keys.with_keys(theorem, 2048)
    assert several.all_readings() == theorem.all_readings()
    every = {"": theorem.primary(), **theorem.variants()}
    for name, reading in {"": several.primary(), **several.variants()}.items():
        assert reading is every[name]
        assert made_of(several, (reading,), ()) not in (None, made_of(theorem, (reading,), ()))
    copied = dataclasses.replace(theorem)
    assert made_of(fresh_keys.with_keys(copied, 2048), (copied.primary(),), ()) is None


def test_margins_made_at_run_time_are_not_known():
    theorem = registry.theorem("overtraining/theorem-4.7")
    margins = list(theorem.primary().hypotheses.values())
    assert margins
    assert made_of_margins(theorem, margins, ()) is not None
    assert made_of_margins(theorem, [*margins, lambda x: 1.0], ()) is None
    assert made_of_margins(theorem, margins, ()) != made_of_margins(theorem, margins[1:], ())


def test_programs_that_differ_in_one_thing_are_known_apart():
    """The same readings at the same sizes: each would give the other's numbers."""
    theorem = registry.theorem("overtraining/theorem-4.7")
    reading, sizes = theorem.primary(), tuple(theorem.space.default_sizes().items())
    margins = list(map(hypotheses.Itself, reading.hypotheses.values()))
    assert len(margins) > 1
    several = [
        *(batch._measuring_program(theorem, (reading,), sizes, monte) for monte in (True, False)),
        *(other_roundings.perturbed_sides(theorem, reading, sizes, own) for own in (True, False)),
        *(hypotheses._margin_in_lanes(theorem, margin, sizes) for margin in margins),
        other_roundings._conditions(theorem, reading, sizes),
        *(
            getattr(objective._scoring(theorem, reading, claims, sizes), part)
            for claims in (reading.claims, reading.claims[:1])
            for part in ("score", "climb")
        ),
        examine._decoding_program(theorem, sizes),
    ]
    texts = [program._made_of for program in several]
    assert None not in texts and len(set(texts)) == len(texts)


LOCAL = """\"\"\"Doubling.\"\"\"
from helper import FACTOR
from theorysim.claims import Printed, Real, Space, Theorem, equal

theorem = Theorem(
    Space(a=Real(1, 2)),
    simulate=lambda x, key: FACTOR * x.a,
    predict=lambda x: 2 * x.a,
    claims=(equal("double", lambda r: r.sim, lambda r: r.theory),),
    source=Printed("here", "b = 2 a"),
)
"""


def test_nothing_of_a_users_file_is_kept(folder, tmp_path):
    """What it reads besides its neighbours no one can tell: an edit is always seen."""
    registry.catalogue()
    packages = set(folder.iterdir())
    file, helper = tmp_path / "doubling.py", tmp_path / "helper.py"
    file.write_text(LOCAL)
    for factor, verdict in ((2.0, "holds"), (3.0, "violated"), (2.0, "holds")):
        helper.write_text(f"FACTOR = {factor}\n")
        os.utime(helper, ns=(int(factor), int(factor)))
        theorem = registry.theorem(str(file))
        assert making.sources_of(theorem) is None
        assert str(verifying.verify(theorem).verdict) == verdict
    assert set(folder.iterdir()) == packages


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of a few files, that have been there for long."""
    for name in (
        *("numerics/flow.py", "engine/measure.py", "data/digits.csv", "compiled.py"),
        *("theorems/one/lemma_1.py", "theorems/one/_losses.py", "theorems/two/lemma_1.py"),
        *("scenes/one.py", "records/verdicts.jsonl", "numerics/__pycache__/flow.pyc"),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("first")
    monkeypatch.setattr(origins, "PACKAGE", tmp_path)
    monkeypatch.setattr(origins, "OWN", tmp_path / "theorems")
    monkeypatch.setattr(loaded, "LOADED", 2e10)
    origins._hash_of.cache_clear()
    yield tmp_path
    origins._hash_of.cache_clear()


def sources(package: Path) -> str | None:
    origins._hash_of.cache_clear()
    return origins._hash_of(package / "theorems" / "one")


@pytest.mark.parametrize(
    "name",
    [
        *("numerics/flow.py", "engine/measure.py", "data/digits.csv", "compiled.py"),
        *("theorems/one/lemma_1.py", "theorems/one/_losses.py"),
    ],
)
def test_a_change_of_what_a_statement_rests_on_is_seen(package, name):
    first = sources(package)
    (package / name).write_text("other")
    assert sources(package) != first
    (package / name).write_text("first")
    assert sources(package) == first
    (package / name).rename(package / f"{name}.away.py")
    assert sources(package) != first


@pytest.mark.parametrize(
    "name",
    [
        *("theorems/two/lemma_1.py", "scenes/one.py", "records/verdicts.jsonl"),
        "numerics/__pycache__/flow.pyc",
    ],
)
def test_a_change_elsewhere_is_none(package, name):
    first = sources(package)
    (package / name).write_text("other")
    assert first is not None and sources(package) == first


def test_code_that_was_changed_since_the_process_began_is_not_known(package, monkeypatch):
    path = package / "numerics" / "flow.py"
    assert sources(package) is not None
    monkeypatch.setattr(loaded, "LOADED", path.stat().st_ctime)
    assert sources(package) is None
    os.utime(path, (1, 1))  # an old file that was moved here since
    assert sources(package) is None


@pytest.mark.thorough
def test_double_precision_is_part_of_what_is_kept(folder, theorem):
    """A verification runs in double precision whatever the setting around it."""
    first = report(instances=2)
    kept = len(list(folder.iterdir()))
    with jax.enable_x64(True):
        assert report(instances=2) == first
    assert len(list(folder.iterdir())) == kept
    assert isinstance(theorem, Theorem)
