"""What goes wrong around a statement ends in one line, and never in the code of a verdict."""

import json
import math
import subprocess
import sys

import pytest

from theorysim import cli
from theorysim.claims import Finding, at_most
from theorysim.claims.verdict import Verdict
from theorysim.engine.falsify.report import Attack, FalsifyReport
from theorysim.engine.verify.report import ClaimReport, ReadingReport, Report

STATEMENT = """'''A number is at most a half.'''
from theorysim.claims import Real, Space, Theorem, at_most, equal

theorem = Theorem(
    space=Space(x=Real(0, 1)),
    simulate=lambda x, key: SIMULATION,
    claims=(CLAIM,),
)
"""
CLAIM = 'at_most("half", lambda r: r.sim, lambda r: 0.5)'


@pytest.fixture
def theorysim(monkeypatch, capsys, tmp_path):
    """Runs a verb on the statement: (exit code, standard output, standard error)."""
    path = tmp_path / "lemma_1.py"

    def run(verb, *arguments, simulation="x.x", claim=CLAIM, end=""):
        text = STATEMENT.replace("SIMULATION", simulation).replace("CLAIM", claim)
        path.write_text(text + end)
        line = ["theorysim", verb, "local/lemma-1", "--theorems", str(path), *map(str, arguments)]
        monkeypatch.setattr(sys, "argv", line)
        with pytest.raises(SystemExit) as done:
            cli.main()
        output = capsys.readouterr()
        return done.value.code, output.out, output.err

    return run


def assert_one_message(found, words):
    code, _, errors = found
    assert code == 2
    assert errors.startswith("theorysim: ") and errors.count("\n") == 1
    assert words in errors


@pytest.mark.parametrize("end", ["exit(3)", "raise SystemExit(3)", "raise GeneratorExit"])
@pytest.mark.parametrize("verb", ["verify", "falsify", "certify", "show", "sweep"])
def test_a_file_that_ends_the_process_decides_nothing(theorysim, verb, end):
    assert_one_message(theorysim(verb, end=end), "lemma_1.py:9: ")


@pytest.mark.parametrize("verb", ["verify", "falsify"])
def test_a_simulation_that_ends_the_process_decides_nothing(theorysim, verb):
    assert_one_message(theorysim(verb, simulation="exit(3)"), "lemma_1.py:6: SystemExit: 3")


@pytest.mark.parametrize("verb", ["verify", "falsify"])
def test_a_simulation_returns_arrays(theorysim, verb):
    found = theorysim(verb, simulation="{'a': 'text'}")
    assert_one_message(found, "returned 'text'; expected an array, or a tree of arrays")


@pytest.mark.parametrize("verb", ["verify", "falsify"])
def test_complex_sides_are_refused(theorysim, verb):
    claim = 'equal("same", lambda r: r.sim + 5j, lambda r: r.sim)'
    assert_one_message(theorysim(verb, claim=claim), "a side is complex")


@pytest.mark.parametrize("count", ["9999999999999", "99999999999999999999"])
def test_more_instances_than_fit_are_refused(theorysim, count):
    found = theorysim("verify", "--instances", count)
    assert_one_message(found, "GiB of memory, but this machine has")


@pytest.mark.parametrize("verb", ["verify", "certify"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"values": {"x": ' + "[" * 100_000 + "]" * 100_000 + "}}", "nested too deeply"),
        ('{"values": {"x": true}}', "true or false, not a number"),
        ('{"values": {"x": 0.5}, "key": [true, 1]}', "expected two integers below 2^32"),
    ],
)
def test_instances_that_are_none(theorysim, tmp_path, verb, text, words):
    (tmp_path / "instance.json").write_text(text)
    assert_one_message(theorysim(verb, "--instance", tmp_path / "instance.json"), words)


def test_a_value_that_is_nested_without_end(theorysim):
    assert_one_message(theorysim("verify", "--set", "x=" + "[" * 100_000), "expected NAME=VALUE")


def test_a_counterexample_that_cannot_be_written_is_printed(theorysim):
    for place in ("/proc/instance.json", "/dev/full"):
        code, output, errors = theorysim("falsify", "--out", place)
        assert code == 2
        assert f"cannot write {place}" in errors
        assert json.loads(output.splitlines()[-1])["values"] == {"x": 1.0}


def test_a_picture_that_cannot_be_written(theorysim, tmp_path):
    (tmp_path / "full.png").symlink_to("/dev/full")
    for place in ("/proc/picture.png", tmp_path / "full.png"):
        code, output, errors = theorysim("verify", "--instances", "4", "--plot", place)
        assert code == 2
        assert "✗ violated" in output
        assert f"theorysim: cannot write the picture {place}" in errors


@pytest.mark.parametrize(
    ("number", "spelled"),
    [(math.nan, None), (math.inf, "inf"), (-math.inf, "-inf"), (0.1, 0.1)],
)
def test_numbers_are_spelled_alike_in_all_reports(number, spelled):
    claim = ClaimReport(at_most("a", lambda r: r.sim, lambda r: 1.0), Verdict.HOLDS, lhs=number)
    reading = ReadingReport("a", Finding("a"), True, "", (), (claim,))
    verified = Report("a", "a", 0, 1, {}, {}, (reading,)).as_json()
    assert verified["readings"][0]["claims"][0]["lhs"] == spelled
    attack = Attack("a", "a", "at_most", 1, 1, refuted=False, lhs=number)
    attacked = FalsifyReport("a", "a", 0, 1, (attack,), "a").as_json()
    assert attacked["attacks"][0]["lhs"] == spelled


@pytest.mark.parametrize(
    "claim",
    [
        'at_most("a", lambda r: "text", lambda r: 0.5)',
        'at_most("a", lambda r: None, lambda r: 0.5)',
        'at_most("a", lambda r: [r.sim] * 3, lambda r: [r.sim] * 2)',
    ],
)
@pytest.mark.parametrize("verb", ["verify", "certify"])
def test_sides_that_are_no_arrays_of_one_shape(theorysim, verb, claim):
    found = theorysim(verb, *(["--claim", "a"] if verb == "certify" else []), claim=claim)
    assert_one_message(found, "expected arrays of shapes that go together")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"claim": 'at_most("a", lambda: 0, lambda r: 0.5)'}, "lhs of claim 'a' is called as f(r)"),
        (
            {"claim": 'at_most("a", lambda r: 0, lambda r, x: 0)'},
            "missing a required argument: 'x'",
        ),
        ({"simulation": "x.x,\n    predict=lambda x, key: 1"}, "predict is called as f(x)"),
        (
            {"simulation": "x.x,\n    hypotheses={'h': lambda: 1}"},
            "hypothesis 'h' is called as f(x)",
        ),
    ],
)
def test_functions_that_take_other_arguments(theorysim, arguments, words):
    assert_one_message(theorysim("verify", **arguments), words)


@pytest.mark.parametrize(
    ("verb", "words"), [("verify", "choose smaller sizes"), ("certify", "out of memory")]
)
def test_too_little_memory(theorysim, verb, words):
    """Known before where a compiled program says what it takes."""
    simulation = "(x.x * __import__('jax').numpy.ones((10**7, 10**7))).sum()"
    assert_one_message(theorysim(verb, simulation=simulation), words)


@pytest.mark.parametrize("end", ["1e400", "-1e400:1"])
def test_a_box_of_infinite_size_is_refused(theorysim, end):
    assert_one_message(theorysim("certify", "--box", f"x={end}"), "both finite")


def test_an_output_that_is_full():
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "theorysim", "list"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr == "theorysim: cannot write the output: No space left on device\n"
