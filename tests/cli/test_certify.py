"""The command `theorysim certify`: over a box, at a counterexample, from a certificate."""

import json

import pytest


def test_certify_over_a_box(run, statement):
    path = statement(factor=1.5)
    code, text, _ = run("certify", "local/theorem-1", "--theorems", path, "--reading", "as printed")
    assert code == 0
    assert "as printed, bound: certified (" in text


def test_certify_finds_a_violating_point(run, statement):
    path = statement(factor=0.5)
    arguments = ("certify", "local/theorem-1", "--theorems", path, "--box", "a=1.25:1.5", "--json")
    code, text, _ = run(*arguments, "--reading", "as printed")
    (found,) = json.loads(text)["certificates"]
    assert code == 3
    assert found["outcome"] == "certified violated"
    assert 1.25 <= found["instance"]["values"]["a"] <= 1.5


def test_certify_at_the_counterexample_of_falsify(run, statement, tmp_path):
    path, out = statement(factor=0.5), str(tmp_path / "counterexample.json")
    named = ("local/theorem-1", "--theorems", path, "--reading", "as printed")
    assert run("falsify", *named, "--budget", "64", "--out", out)[0] == 3
    code, text, _ = run("certify", *named, "--instance", out)
    assert code == 3
    assert "certified violated at this instance" in text


def test_certify_replays_a_certificate(run, statement, tmp_path):
    named = ("certify", "local/theorem-1", "--theorems", statement(factor=1.5))
    path = tmp_path / "certificate.json"
    path.write_text(run(*named, "--reading", "as printed", "--json")[1])
    code, text, _ = run(*named, "--replay", str(path))
    assert code == 0 and "bound: certified: proved again" in text
    other = ("certify", "local/theorem-1", "--theorems", statement(factor=1.6))
    code, text, _ = run(*other, "--replay", str(path))
    assert code == 4 and "the claim is 'a <= 1.6 a' now" in text
    _, foreign, _ = run(*other, "--reading", "as printed", "--json")
    several = json.loads(path.read_text())
    several["certificates"] += json.loads(foreign)["certificates"]
    path.write_text(json.dumps(several))
    named = ("certify", "local/theorem-1", "--theorems", statement(factor=1.5))
    code, text, _ = run(*named, "--replay", str(path))
    assert code == 4 and "proved again" in text and "the claim is 'a <= 1.5 a' now" in text
    path.write_text("{")
    code, _, error = run(*named, "--replay", str(path))
    assert code == 2 and "not a complete JSON file" in error


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--box", "a=1:"), "NAME=LOW:HIGH"),
        (("--replay", "found.json", "--claim", "rate"), "give --replay alone"),
        (("--box", "a=1", "--instance", "found.json"), "leave out --box"),
    ],
)
def test_certify_refuses_what_it_cannot_read(run, options, message):
    code, _, error = run("certify", "lemma-a.28", *options)
    assert code == 2
    assert message in error


@pytest.mark.parametrize(
    ("box", "message"),
    [
        ("a=0:1", "expected real in [1, 2], but [0.0, 1.0] arrived"),
        ("b=1:2", "'b' is not a size or field"),
        ("a=one:2", "expected (low, high) or a number"),
    ],
)
def test_certify_names_what_is_wrong_with_a_box(run, statement, box, message):
    code, _, error = run("certify", "local/theorem-1", "--theorems", statement(), "--box", box)
    assert code == 2
    assert message in error
