"""Ids come from file names, headers are read without running them, and faults name their line."""

import dataclasses
import re
import sys
import textwrap

import pytest

import theorysim
from theorysim.claims import Citation, Theorem
from theorysim.engine import registry
from theorysim.engine.registry import (
    AmbiguousTheorem,
    RegistryError,
    UnknownTheorem,
    kept_headers,
)
from theorysim.engine.registry.headers import PRINTED, read_headers
from theorysim.engine.registry.index import GROUP
from theorysim.engine.registry.notation import notation_of, print_order
from theorysim.environment import PROGRAMS
from theorysim.store import kept_files

STATEMENT = '''
"""A number is at most twice itself.

Nothing more.
"""

from theorysim.claims import Corrected, Mutant, Printed, Reading, Real, Space, Theorem, at_most

corrected = Reading("corrected", Corrected("twice"), primary=True)

theorem = Theorem(
    space=Space(a=Real(1, 2)),
    simulate=lambda x, key: x.a,
    claims=(at_most("bound", lambda r: r.sim, lambda r: 2 * r.x.a),),
    mutants=(Mutant("half", simulate=lambda x, key: 4 * x.a),),
    aliases=("theorem-b.7",),
    printed="main text",
    readings=(Reading("appendix", Printed("A", "a")), corrected),
)
'''.lstrip()
PLAIN = STATEMENT.replace('    aliases=("theorem-b.7",),\n', "")


def write(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(text))


@pytest.fixture
def pack(tmp_path, monkeypatch):
    """Installs a distribution that announces the package `acme.statements` as paper `acme`."""

    def install(value="acme.statements", name="acme"):
        info = tmp_path / "acme-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{GROUP}]\n{name} = {value}\n")
        monkeypatch.syspath_prepend(tmp_path)
        return tmp_path / "acme" / "statements"

    yield install
    for module in [name for name in sys.modules if name.split(".")[0] == "acme"]:
        del sys.modules[module]


@pytest.mark.parametrize(
    ("stem", "name"),
    [
        ("theorem_4_7", "theorem-4.7"),
        ("lemma_a_28", "lemma-a.28"),
        ("lemma_12", "lemma-12"),
        ("eq_16_17", "eq-16-17"),
        ("equation_7", "equation-7"),
        ("equation_14_15", "equation-14-15"),
        ("definition_5_1", "definition-5.1"),
        ("theorem_4_2_rates", "theorem-4.2-rates"),
        ("theorem_4_2_choice_of_m", "theorem-4.2-choice-of-m"),
        ("setup_relu", "setup-relu"),
        ("Theorem_A_3", "theorem-a.3"),
    ],
)
def test_names_come_from_file_names(stem, name):
    assert registry.statement_name(stem) == name


def test_a_header_is_what_the_file_says(tmp_path):
    write(tmp_path, theorem_1=STATEMENT)
    entry = registry.find("local/theorem-1", [tmp_path / "theorem_1.py"])
    assert (entry.id, entry.paper, entry.kind) == ("local/theorem-1", "local", "theorem")
    assert entry.title == "A number is at most twice itself."
    assert entry.aliases == ("theorem-b.7",)
    assert [(r.name, r.primary) for r in entry.readings] == [
        ("main text", False),
        ("appendix", False),
        ("corrected", True),
    ]
    theorem = registry.load(entry)
    assert [r.name for r in theorem.all_readings()] == [r.name for r in entry.readings]
    assert theorem.primary().name == "corrected"
    assert (theorem.id, theorem.title) == (entry.id, entry.title)


def test_what_is_repeated_without_importing_jax_agrees_with_the_language():
    printed = next(f.default for f in dataclasses.fields(Theorem) if f.name == "printed")
    assert printed == PRINTED


def test_kinds_are_written_out(tmp_path):
    write(tmp_path, eq_3=PLAIN, def_network=PLAIN, lemma_2=PLAIN)
    kinds = [e.kind for e in registry.catalogue(tmp_path.glob("*.py")).of("local")]
    assert kinds == ["definition", "equation", "lemma"]


def test_a_pack_is_listed_in_natural_order_without_running_it(pack):
    folder = pack()
    stems = ("lemma_a_28", "lemma_a_4", "lemma_3", "eq_10", "eq_9", "theorem_4_2_rates")
    write(folder, **dict.fromkeys([*stems, "theorem_4_2", "_helper"], PLAIN))
    write(folder / "other_paper", theorem_1=PLAIN, _paper="citation = None")
    for inner in (folder, folder.parent):
        write(inner, __init__="raise RuntimeError('imported')")
    ours = [e for e in registry.catalogue() if e.module.startswith("acme")]
    assert [e.id for e in ours] == [
        "acme/eq-9",
        "acme/eq-10",
        "acme/lemma-3",
        "acme/lemma-a.4",
        "acme/lemma-a.28",
        "acme/theorem-4.2",
        "acme/theorem-4.2-rates",
        "other-paper/theorem-1",
    ]
    assert {e.problem for e in ours} == {""}


def test_a_pack_is_loaded_and_cited(pack):
    folder = pack()
    paper = 'from theorysim.claims import Citation\ncitation = Citation(title="On twos", '
    paper += 'authors="Acme", year=1999, venue="preprint")\n'
    write(folder, theorem_1=STATEMENT, _paper=paper)
    entry = registry.find("acme/theorem-1")
    assert registry.load(entry).id == "acme/theorem-1"
    assert registry.citation(entry) == Citation("On twos", "Acme", 1999, "preprint")


def test_a_file_of_a_pack_may_state_several(pack):
    other = PLAIN.partition("theorem = ")[2]
    write(pack(), rates=f'{PLAIN}\nheavy_ball = {other}"""Momentum."""\n')
    main, ball = (registry.find(f"acme/{name}") for name in ("rates", "rates-heavy-ball"))
    assert (main.handle, ball.handle) == ("acme/rates", "acme/rates-heavy-ball")
    assert [registry.load(e).title for e in (main, ball)] == [main.title, "Momentum."]
    assert registry.load(main) is not registry.load(ball)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ('title="On twos", year=1999, venue="preprint"', "the citation lacks authors"),
        ('title="On", authors="A", year=1999, venue="v", doi="1"', "a citation has no doi"),
        ('title="On", authors="A", year="1999", venue="v"', "year: expected a literal"),
    ],
)
def test_a_faulty_citation_is_named(pack, arguments, message):
    write(pack(), theorem_1=STATEMENT, _paper=f"citation = Citation({arguments})\n")
    with pytest.raises(RegistryError, match=message):
        registry.citation(registry.find("acme/theorem-1"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[theorem-1", "notation.toml is not TOML"),
        ("theorem-1 = 3", "notation.toml, theorem-1: expected a table"),
        ("[theorem-1]\nproof = ''", "notation.toml, theorem-1: expected a table of claims, "),
    ],
)
def test_a_faulty_notation_is_named(pack, text, message):
    folder = pack()
    write(folder, theorem_1=STATEMENT)
    (folder / "notation.toml").write_text(text)
    with pytest.raises(RegistryError, match=message):
        notation_of(registry.find("acme/theorem-1"))


def test_what_fields_are_is_shared_by_a_paper_and_told_by_its_statements(pack):
    folder = pack()
    write(folder, theorem_1=PLAIN, theorem_2=PLAIN)
    shared, own = "[fields]\na = 'one'\nb = 'two'\n", "[theorem-2.fields]\nb = 'three'\n"
    (folder / "notation.toml").write_text(f"{shared}{own}[theorem-1]\n")
    first, second = (registry.find(f"acme/theorem-{number}") for number in (1, 2))
    found = [notation_of(entry) for entry in (first, second)]
    assert [n.fields for n in found if n] == [{"a": "one", "b": "two"}, {"a": "one", "b": "three"}]
    assert print_order(second) < print_order(first)


@pytest.mark.parametrize(
    ("call", "name"),
    [('corrected("twice")', "corrected"), ('corrected("twice", name="repaired")', "repaired")],
)
def test_a_corrected_reading_is_read_as_it_is_made(pack, call, name):
    folder = pack()
    made = PLAIN.replace("import Corrected,", "import corrected,")
    made = made.replace(", corrected),", f", {call}),")
    write(folder, theorem_1=re.sub("corrected = Reading.*", "", made))
    entry = registry.find("acme/theorem-1")
    loaded = registry.load(entry).all_readings()
    assert [(r.name, r.primary) for r in entry.readings] == [(r.name, r.primary) for r in loaded]
    assert (entry.readings[-1].name, entry.readings[-1].primary) == (name, True)


@pytest.mark.parametrize("value", ["nowhere", "acme.nowhere", "acme.statements.theorem_1"])
def test_a_pack_that_is_no_package_is_named(pack, value):
    write(pack(value), theorem_1=PLAIN)
    with pytest.raises(RegistryError, match=f"acme announces .*'{value}'.* uninstall it"):
        registry.catalogue()


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("x = (\n", 1, "never closed"),
        ("theorem = 3\n", 1, "docstring"),
        ('"""Title."""\n', 1, "theorem = Theorem"),
        ('"""Title."""\n\ntheorem = 3\n', 3, "theorem = Theorem"),
        ('"""Title."""\ntheorem = Theorem(\n    aliases=f(),\n)\n', 3, "literal"),
        ('"""Title."""\ntheorem = Theorem(\n\n    aliases=(1,),\n)\n', 4, "alias: .* literal"),
        ('"""Title."""\ntheorem = Theorem(printed=name)\n', 2, "printed: .* literal"),
        ('"""Title."""\ntheorem = Theorem(readings=(\n    f"x{1}",))\n', 3, "Reading"),
        ('"""Title."""\ntheorem = Theorem(readings=(\n    Reading(name),))\n', 3, "literal"),
        ('"""Title."""\ntheorem = Theorem(readings=[\n    *more])\n', 3, "Reading"),
    ],
)
def test_a_file_that_cannot_be_read_hides_no_other(pack, text, line, reason):
    folder = pack()
    write(folder, theorem_1=PLAIN, theorem_2=text)
    good, bad = (e for e in registry.catalogue() if e.paper == "acme")
    assert not good.problem
    place = f"{folder / 'theorem_2.py'}:{line}: "
    assert bad.problem.startswith(place)
    with pytest.raises(RegistryError, match=reason) as caught:
        registry.load(registry.find("acme/theorem-2"))
    assert str(caught.value) == bad.problem


def test_headers_are_kept_for_another_process_until_a_file_changes(pack, tmp_path, monkeypatch):
    folder = pack()
    write(folder, theorem_1=STATEMENT, theorem_2='"""No statement."""')
    monkeypatch.setenv(PROGRAMS, str(tmp_path / "programs"))
    read = []

    def reading(path):
        read.append(path.name)
        return read_headers(path)

    monkeypatch.setattr(kept_headers, "read_headers", reading)
    parsed = registry.catalogue().of("acme")
    assert {"theorem_1.py", "theorem_2.py"} <= set(read)
    read.clear()
    assert registry.catalogue().of("acme") == parsed
    assert not read
    assert [e.title for e in parsed] == ["A number is at most twice itself.", ""]
    write(folder, theorem_2=PLAIN.replace("twice", "twice or thrice"))
    changed = registry.find("acme/theorem-2")
    assert "thrice" in changed.title and not changed.problem
    for content in (b"no JSON", b"true", b'[[{"readings": []}]]'):
        for kept in (tmp_path / "programs").iterdir():
            kept_files().write(kept.name, content)
        assert registry.find("acme/theorem-2") == changed


def test_a_pack_that_fails_when_imported_names_file_and_line(pack):
    folder = pack()
    write(folder, theorem_1=PLAIN + "\n1 / 0\n")
    write(folder, theorem_2=PLAIN.replace("from", "from acme.statements import _help\nfrom", 1))
    write(folder, _help="import math\n\nmath.nothing\n")
    line = PLAIN.count("\n") + 2
    with pytest.raises(RegistryError, match=rf"theorem_1\.py:{line}: ZeroDivisionError"):
        registry.load(registry.find("acme/theorem-1"))
    with pytest.raises(RegistryError, match=r"_help\.py:3: AttributeError"):
        registry.load(registry.find("acme/theorem-2"))


def test_what_is_called_theorem_must_be_one(pack):
    write(pack(), theorem_1='"""Title."""\n\ndef Theorem():\n    return 3\n\ntheorem = Theorem()\n')
    with pytest.raises(RegistryError, match="expected `theorem` to be a Theorem, but it is 3"):
        registry.load(registry.find("acme/theorem-1"))


def test_an_id_that_two_files_claim_is_refused(pack):
    folder = pack()
    write(folder, theorem_1=PLAIN, Theorem_1=PLAIN)
    with pytest.raises(RegistryError, match=r"acme/theorem-1 is claimed by both .*rename"):
        registry.catalogue()


def test_an_alias_that_is_another_statement_is_refused(pack):
    write(pack(), theorem_1=STATEMENT, theorem_b_7=PLAIN)
    with pytest.raises(RegistryError, match=r"acme/theorem-b\.7 is claimed by both"):
        registry.catalogue()


@pytest.mark.parametrize(
    "query",
    ["acme/theorem-9.1", "theorem-9.1", "Theorem 9.1", "acme/theorem-b.7", "THEOREM-B.7"],
)
def test_a_statement_answers_to_id_name_and_alias(pack, query):
    write(pack(), theorem_9_1=STATEMENT)
    assert registry.find(query).id == "acme/theorem-9.1"


def test_an_unknown_name_gets_suggestions(pack):
    write(pack(), theorem_91_7=PLAIN)
    with pytest.raises(UnknownTheorem, match=r"'theorem-917'; did you mean acme/theorem-91\.7"):
        registry.find("theorem-917")
    with pytest.raises(UnknownTheorem, match="theorysim list"):
        registry.find("xyzzy")


def test_a_name_in_two_papers_is_ambiguous(pack):
    folder = pack()
    write(folder / "one", theorem_91=PLAIN)
    write(folder / "two", theorem_92=STATEMENT.replace("theorem-b.7", "theorem-91"))
    with pytest.raises(AmbiguousTheorem, match=r"one/theorem-91, two/theorem-92"):
        registry.find("theorem-91")
    assert registry.find("two/theorem-91").id == "two/theorem-92"


def test_arrays_of_a_file_are_of_double_precision(tmp_path):
    """What a module computes when it is imported is as exact as what its theorem computes."""
    text = STATEMENT.replace("from theorysim", "import jax.numpy as jnp\nfrom theorysim")
    write(tmp_path, theorem_1=text.replace('"bound"', 'f"bound, {jnp.ones(2).dtype}"'))
    found = theorysim.theorem(str(tmp_path / "theorem_1.py"))
    assert [claim.name for claim in found.claims] == ["bound, float64"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.py", "is not there"),
        ("notes.txt", "is not a Python file"),
        (".", "is not a Python file"),
    ],
)
def test_only_python_files_are_taken(tmp_path, name, message):
    (tmp_path / "notes.txt").touch()
    with pytest.raises(RegistryError, match=message):
        registry.catalogue([tmp_path / name])


def test_the_public_catalogue_is_that_of_the_registry():
    assert theorysim.catalogue() == registry.catalogue()
    assert isinstance(theorysim.catalogue(), theorysim.Catalogue)


@pytest.fixture
def three(pack):
    """A catalogue of three statements of two papers, one of which cannot be read."""
    folder = pack()
    write(folder / "one", theorem_1=STATEMENT, theorem_2="x = (\n")
    write(folder / "two", lemma_3=PLAIN.replace("twice", "<2 times"))
    found = registry.catalogue()
    return registry.Catalogue(tuple(entry for entry in found if entry.module.startswith("acme")))


def test_a_catalogue_is_a_sequence(three):
    assert len(three) == 3
    assert [entry.id for entry in three] == ["one/theorem-1", "one/theorem-2", "two/lemma-3"]
    assert three[0].title == "A number is at most twice itself."
    assert three[1:] == registry.Catalogue((three[1], three[2]))
    assert three.papers() == ("one", "two")
    assert three.of("two") == three[2:]


def test_a_catalogue_prints_one_statement_per_line(three):
    lines = str(three).splitlines()
    assert repr(three) == str(three)
    assert lines[0] == "one/theorem-1  A number is at most twice itself."
    assert lines[1].startswith("one/theorem-2  cannot be read: ")
    assert lines[2] == "two/lemma-3    A number is at most <2 times itself."
    assert str(three[:0]) == "no statements"


def test_a_catalogue_is_a_table_in_a_notebook(three):
    html = three._repr_html_()
    assert html.count("<tr>") == 4
    assert "<td>two/lemma-3</td>" in html
    assert "<td>A number is at most &lt;2 times itself.</td>" in html


def test_a_catalogue_is_a_dataframe(three):
    frame = three.to_dataframe().set_index("statement")
    assert list(frame.index) == ["one/theorem-1", "one/theorem-2", "two/lemma-3"]
    assert frame.loc["one/theorem-1", "readings"] == "main text, appendix, corrected"
    assert frame.loc["one/theorem-1", "aliases"] == "theorem-b.7"
    assert "never closed" in frame.loc["one/theorem-2", "title"]
    assert list(frame[frame["paper"] == "two"].index) == ["two/lemma-3"]
