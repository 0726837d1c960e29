"""Several theorems in a file, and files that import their neighbours."""

import json
import sys

import pytest

from theorysim import cli
from theorysim.engine import registry
from theorysim.engine.check.watching import changes
from theorysim.engine.registry import RegistryError, fault_in_a_file
from theorysim.engine.registry.headers import docstring
from theorysim.engine.review.kept import fingerprint

IMPORTS = (
    "from theorysim import claims\nfrom theorysim.claims import Mutant, Real, Space, at_most\n"
)
CALL = """claims.Theorem(
    space=Space(a=Real(1, 2)),
    simulate=lambda x, key: x.a,
    claims=(at_most("{name}", lambda r: r.sim, lambda r: {factor} * r.x.a),),
    mutants=(Mutant("large", simulate=lambda x, key: 9 * x.a),),
)
"""


def stated(attribute, title="", factor="2"):
    """The lines that state one theorem, whose only claim is named after it."""
    text = f"{attribute} = {CALL.format(name=attribute, factor=factor)}"
    return text + f'"""{title}\n\nMore of it.\n"""\n' * bool(title)


def rates(folder, *statements, above="", name="rates"):
    """A file of theorems."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.py"
    path.write_text('"""Rates.\n\nOf methods.\n"""\n\n' + IMPORTS + above + "\n".join(statements))
    return path


@pytest.fixture
def several(tmp_path):
    """A file with a theorem of the usual name and another one."""
    return rates(tmp_path, stated("theorem"), stated("heavy_ball", "Momentum.", "0.5"))


def names(theorem):
    return [claim.name for claim in theorem.claims]


def test_each_statement_has_an_id_and_a_title(several):
    entries = {e.attribute: e for e in registry.catalogue([several]).of("local")}
    assert list(entries) == ["theorem", "heavy_ball"]
    main, other = entries.values()
    assert (main.id, main.title) == ("local/rates", "Rates.")
    assert (other.id, other.title) == ("local/rates-heavy-ball", "Momentum.")
    assert docstring(several, "heavy_ball") == "Momentum.\n\nMore of it."
    assert docstring(several) == "Rates.\n\nOf methods."
    loaded = registry.load(other)
    assert (loaded.id, loaded.title, names(loaded)) == (other.id, "Momentum.", ["heavy_ball"])
    assert names(registry.load(main)) == ["theorem"]


def test_one_of_a_file_is_picked_as_pytest_writes_it(several, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    picked = registry.find("rates.py::heavy_ball")
    assert (picked.id, picked.handle) == ("local/rates-heavy-ball", "rates.py::heavy_ball")
    assert registry.find("rates.py").handle == "rates.py"
    assert registry.find("rates.py::theorem") == registry.find("rates.py")
    several.rename(tmp_path / "my rates.py")
    assert registry.find("my rates.py::heavy_ball").handle == "'my rates.py::heavy_ball'"


def test_a_file_without_a_usual_name_is_asked_for_one(tmp_path):
    path = rates(tmp_path, stated("a", "One."), stated("b", "Two."))
    with pytest.raises(RegistryError, match=rf"states 2 theorems: name one, {path}::a, {path}::b$"):
        registry.find(str(path))
    with pytest.raises(RegistryError, match=rf"no statement 'c': name one, {path}::a, {path}::b$"):
        registry.find(f"{path}::c")
    path = rates(tmp_path, stated("a", "One."))
    assert registry.find(str(path)).id == "local/rates-a"


def test_a_file_that_is_not_python_says_so_whichever_is_picked(tmp_path):
    path = rates(tmp_path, stated("theorem"), stated("a", "One."), "x = (\n")
    with pytest.raises(RegistryError, match=r"rates\.py:\d+: '\(' was never closed"):
        registry.theorem(f"{path}::a")


def test_a_statement_without_a_title_hides_no_other(tmp_path):
    path = rates(tmp_path, stated("theorem"), stated("a"), stated("b", "Two."))
    main, a, b = registry.catalogue([path]).of("local")
    line = path.read_text().splitlines().index("a = claims.Theorem(") + 1
    assert (main.problem, b.problem) == ("", "")
    assert a.problem.startswith(f"{path}:{line}: expected a string right below `a = ...` ")
    with pytest.raises(RegistryError, match="right below"):
        registry.load(a)


def test_annotated_experiments_count_and_private_names_do_not(tmp_path):
    measured = "measured: object = claims.Experiment()\n'Measured.'\n"
    path = rates(tmp_path, stated("_helper"), measured, "count = 3\n'Not one.'\n")
    (entry,) = registry.catalogue([path]).of("local")
    assert (entry.attribute, entry.kind, entry.title) == ("measured", "experiment", "Measured.")


def test_a_name_is_stated_once(tmp_path):
    path = rates(tmp_path, stated("theorem"), stated("theorem"))
    with pytest.raises(RegistryError, match="`theorem` is stated in lines 8 and 15: give each"):
        registry.load(registry.find(str(path)))


def test_an_id_of_another_file_is_refused(several, tmp_path):
    other = rates(tmp_path, stated("theorem"), name="rates_heavy_ball")
    with pytest.raises(
        RegistryError, match=r"claimed by both .*rates\.py::heavy_ball and .*ball.py"
    ):
        registry.catalogue([several, other])


@pytest.mark.usefixtures("several")
def test_the_command_picks_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["theorysim", *arguments])
        with pytest.raises(SystemExit) as done:
            cli.main()
        return done.value.code, capsys.readouterr().out

    code, text = run("list", "--paper", "local", "--theorems", "rates.py", "--json")
    assert [row["id"] for row in json.loads(text)] == ["local/rates", "local/rates-heavy-ball"]
    few = ("--instances", "4", "--json")
    code, text = run("verify", "rates.py::heavy_ball", *few)
    assert (code, json.loads(text)["theorem"]) == (3, "local/rates-heavy-ball")
    assert run("verify", "rates.py", *few)[0] == 0
    code, text = run("check", "rates.py::heavy_ball")
    assert code == 3 and "local/rates-heavy-ball, 1 reading" in text
    assert "theorysim verify rates.py::heavy_ball --plot" in text


def importing(folder, factor, above="import helpers\n"):
    """A file whose claim has a factor that its neighbour says, by way of another neighbour."""
    above += "FACTOR = helpers.two()\n\n"
    path = rates(folder, stated("theorem", factor="FACTOR"), above=above)
    (folder / "helpers.py").write_text(
        "from _numbers import FACTOR\n\ndef two():\n    return FACTOR"
    )
    (folder / "_numbers.py").write_text(f"FACTOR = {factor}\n")
    path.write_text(path.read_text().replace('"theorem"', 'f"at most {FACTOR}"'))
    return path


def test_a_file_imports_its_neighbours_and_leaves_nothing(tmp_path):
    path = importing(tmp_path, 2)
    before, finders = list(sys.path), list(sys.meta_path)
    assert names(registry.theorem(str(path))) == ["at most 2"]
    assert (sys.path, sys.meta_path) == (before, finders)
    assert not {"helpers", "_numbers"} & set(sys.modules)
    assert not (tmp_path / "__pycache__").exists()


def test_a_neighbour_that_changed_is_read_anew(tmp_path):
    path = importing(tmp_path, 2)
    first = registry.theorem(str(path))
    assert registry.theorem(str(path)) is first
    (tmp_path / "_numbers.py").write_text("FACTOR = 3\n")
    assert names(registry.theorem(str(path))) == ["at most 3"]


def test_neighbours_of_the_same_name_are_those_of_the_folder(tmp_path, monkeypatch):
    one, two = (importing(tmp_path / str(n), n) for n in (2, 3))
    monkeypatch.syspath_prepend(tmp_path / "2")  # as where a command is started in that folder
    import helpers  # pyright: ignore[reportMissingImports]

    try:
        assert names(registry.theorem(str(two))) == ["at most 3"]
        assert names(registry.theorem(str(one))) == ["at most 2"]
        assert sys.modules["helpers"] is helpers
    finally:
        del sys.modules["helpers"], sys.modules["_numbers"]


def test_a_neighbour_does_not_replace_what_theorysim_needs(tmp_path):
    for name in ("theorysim", "json"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('imported')\n")
    path = importing(tmp_path, 2, above="import json\nimport helpers\n")
    assert names(registry.theorem(str(path))) == ["at most 2"]


def test_a_fault_of_a_neighbour_is_placed_there_and_mended(tmp_path):
    path = importing(tmp_path, "1 / 0")
    with pytest.raises(RegistryError, match=r"_numbers\.py:1: ZeroDivisionError"):
        registry.theorem(str(path))
    assert "helpers" not in sys.modules
    (tmp_path / "_numbers.py").write_text("FACTOR = 2\n")
    assert names(registry.theorem(str(path))) == ["at most 2"]


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        (
            "import helper",
            "where it is the file helper.py in the same folder, import it at the top",
        ),
        ("from . import helpers", "is imported by its name: from helpers import x"),
    ],
)
def test_an_import_that_fails_says_how_neighbours_are_imported(tmp_path, line, remedy):
    path = importing(tmp_path, 2, above=f"{line}\n")
    with pytest.raises(RegistryError, match=rf"rates\.py:8: .*{remedy}"):
        registry.theorem(str(path))


def test_what_a_neighbour_defines_is_known_later_on(tmp_path):
    path = importing(tmp_path, 2)
    helpers = tmp_path / "helpers.py"
    helpers.write_text(
        helpers.read_text() + "\n\nclass Pair:\n    pass\n\n\ndef fail():\n    1 / 0\n"
    )
    registry.theorem(str(path))
    loaded = sys.modules["_theorysim_local_rates"].helpers
    assert sys.modules[loaded.Pair.__module__].Pair is loaded.Pair
    with pytest.raises(ZeroDivisionError) as caught:
        loaded.fail()
    assert (fault_in_a_file(caught.value) or "").startswith(f"{helpers}:11: ZeroDivisionError")


def test_kept_stages_are_of_the_neighbours_too(tmp_path):
    path = importing(tmp_path, 2)
    (tmp_path / "other.py").write_text("1\n")
    entry = registry.find(str(path))
    first = fingerprint(entry)
    (tmp_path / "other.py").write_text("2\n")
    assert fingerprint(entry) == first
    (tmp_path / "_numbers.py").write_text("FACTOR = 3\n")
    assert fingerprint(entry) != first


def test_a_change_of_a_neighbour_is_a_change(tmp_path):
    path = importing(tmp_path, 2)
    looks = []

    def edit(_):
        looks.append(None)
        if len(looks) == 2:
            (tmp_path / "_numbers.py").write_text("FACTOR = 33\n")
        if len(looks) == 4:
            raise KeyboardInterrupt

    seen = []
    with pytest.raises(KeyboardInterrupt):
        for _ in changes(path, edit):
            seen.append(len(looks))
    assert seen == [0, 2]
