"""Recorded verifications: they come back as reports, and are stale once their code changes."""

import argparse
import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from theorysim.engine import registry
from theorysim.engine.registry import sources
from theorysim.engine.registry.records import lines_of, own_statements, verdicts
from theorysim.engine.registry.words import without_words
from theorysim.engine.verify.recorded import from_record, to_record
from theorysim.engine.verify.verify import verify
from theorysim.report.answer import answer
from validation import lines

ID = "low-rank/proposition-9"


@pytest.fixture(scope="module")
def report():
    return verify(ID, instances=20)


def test_a_record_comes_back_as_the_report_without_instances(report):
    line = json.loads(json.dumps(to_record(report, "hash"), allow_nan=False))
    again = from_record(line, registry.theorem(ID))
    assert to_record(again, "hash") == line
    assert again.verdict is report.verdict
    assert "worst_instance" not in json.dumps(line)


def test_the_answer_of_a_record_is_that_of_its_report(report):
    again = from_record(to_record(report, ""), registry.theorem(ID))
    assert answer(again) == answer(report)


def test_what_is_left_out_of_a_tightness_is_recorded(report):
    """Pages and screens say that ties were left out only if their number comes back."""
    first, *others = report.readings[0].claims
    tied = replace(report.readings[0], claims=(replace(first, ties=3), *others))
    again = from_record(to_record(replace(report, readings=(tied,)), ""), registry.theorem(ID))
    assert again.readings[0].claims[0].ties == 3


def test_every_statement_has_a_record():
    assert list(verdicts()) == [entry.id for entry in own_statements()]


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with one statement that imports a system, which imports numerics."""
    files = {
        "theorems/__init__.py": "",
        "theorems/one/__init__.py": "",
        "theorems/one/lemma_1.py": "from theorysim import claims\nfrom ..one import _parts\n",
        "theorems/one/_parts.py": "def f():\n    from theorysim.systems.flow import run\n",
        "theorems/one/lemma_2.py": "",
        "systems/__init__.py": "",
        "systems/flow.py": "import theorysim.numerics.sums\nimport numpy\n",
        "numerics/__init__.py": "",
        "numerics/sums.py": "total = sum\n",
        "claims/__init__.py": "",
    }
    root = tmp_path / "theorysim"
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    monkeypatch.setattr(sources, "PACKAGE", root)
    sources._imports.cache_clear()
    yield root
    sources._imports.cache_clear()


def test_the_hash_is_of_everything_that_is_imported(package):
    def now() -> str:
        sources._imports.cache_clear()
        return sources.source_hash(SimpleNamespace(module="theorysim.theorems.one.lemma_1"))

    before = now()
    assert now() == before
    for name in ("theorems/one/lemma_2.py", "claims/__init__.py"):  # it rests on neither
        (package / name).write_text("x = 1\n")
        assert now() == before, name
    for name in ("numerics/sums.py", "systems/__init__.py", "theorems/one/lemma_1.py"):
        text = (package / name).read_text()
        (package / name).write_text(text + "changed = 1\n")
        assert now() != before, name
        (package / name).write_text(text + "# a remark\n")
        assert now() == before, name
        (package / name).write_text(text)


STATEMENT = """
def simulate(x):
    '''What it does.'''
    return x.a  # a remark

claim = at_most("a", sides, statement="a <= b")
theorem = Theorem(
    claims=(claim,), source=claims.Printed("Section 1", "the words"), note="so it is",
    readings=(claims.corrected("b for a", name="mended"), Reading("ours", Finding("why"))),
)
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("What it does.", "Was es tut: \u00e4 # no remark"),
        ("  # a remark", ""),
        ("a <= b", "a < b"),
        ("Section 1", "Section 2"),
        ('"the words"', '"the "\n        "words"'),
        ("so it is", "so it was"),
        ("b for a", "a for b"),
        ("why", "because"),
    ],
)
def test_words_are_no_code(old, new):
    assert old in STATEMENT
    changed = STATEMENT.replace(old, new)
    assert without_words(changed.encode()) == without_words(STATEMENT.encode())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('at_most("a"', 'at_most("b"'),
        ('name="mended"', 'name="other"'),
        ('"ours"', '"theirs"'),
        ("Finding(", "Printed("),
        ("return x.a", "return x.b"),
        ("claims=(claim,)", "claims=()"),
    ],
)
def test_names_and_code_are_no_words(old, new):
    assert old in STATEMENT
    changed = STATEMENT.replace(old, new)
    assert without_words(changed.encode()) != without_words(STATEMENT.encode())


def test_indentation_is_code():
    loop, after = "for i in j:\n    f()\n    g()\n", "for i in j:\n    f()\ng()\n"
    assert without_words(loop.encode()) != without_words(after.encode())


def test_a_campaign_keeps_what_another_one_wrote(tmp_path):
    record = tmp_path / "verdicts.jsonl"
    record.write_text('{"theorem": "a"}\n{"theorem": "gone"}\n')
    lines.replace(record, {"theorem": "c"}, ["a", "b", "c"])
    lines.replace(record, {"theorem": "b", "new": 1}, ["a", "b", "c"])
    assert list(lines_of(record)) == ["a", "b", "c"]
    assert lines_of(record)["b"] == {"theorem": "b", "new": 1}


@pytest.mark.parametrize(("text", "part"), [("0/2", (0, 2)), ("1/2", (1, 2))])
def test_parts_of_a_campaign(text, part):
    assert lines.part(text) == part


def test_parts_that_are_not_there_are_refused():
    with pytest.raises(Exception, match="expected 0/2 to 1/2"):
        lines.part("2/2")


def test_the_parts_of_a_campaign_share_all_statements():
    parser = argparse.ArgumentParser()
    lines.add_choice(parser)
    halves = [lines.chosen(parser.parse_args(["--part", f"{part}/2"])) for part in (0, 1)]
    assert sorted(entry.id for half in halves for entry in half) == sorted(
        entry.id for entry in own_statements()
    )
    (one,) = lines.chosen(parser.parse_args(["--only", ID]))
    assert one.id == ID
