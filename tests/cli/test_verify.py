"""The command `theorysim verify`: verdicts are exit codes, reports are JSON, instances replay."""

import json
import re

import pytest
from pages import assert_fits_a_page

from theorysim import cli


@pytest.mark.parametrize(
    ("factor", "least", "verdict", "code"),
    [(1.5, 0, "holds", 0), (0.9, 0, "violated", 3), (1.5, 3, "vacuous", 4)],
)
def test_verdicts_are_exit_codes(run, statement, factor, least, verdict, code):
    found, text, error = run("verify", "local/theorem-1", "--theorems", statement(factor, least))
    assert (found, error) == (code, "")
    assert re.search(rf"^printed +[✓✗○] {verdict}  Eq. 1", text, re.MULTILINE)
    assert_fits_a_page("\n".join(line for line in text.splitlines() if line[:1] != "{"))


def test_one_instance_is_counted_in_the_singular(run, statement):
    _, text, _ = run("verify", "local/theorem-1", "--theorems", statement(), "--instances", "1")
    assert "1 instance, seed 0" in text


def test_json_is_one_object_without_nan(run, statement):
    code, text, _ = run(
        *("verify", "local/theorem-1", "--theorems", statement(0.9)),
        *("--json", "--seed", "7", "--instances", "5", "--set", "n=2", "--set", "a=1.25"),
    )

    def refuse(constant):
        raise AssertionError(constant)

    report = json.loads(text, parse_constant=refuse)
    assert code == 3
    assert report["theorem"] == "local/theorem-1"
    assert (report["verdict"], report["seed"], report["instances"]) == ("violated", 7, 5)
    assert report["sizes"] == {"n": 2}
    assert [reading["name"] for reading in report["readings"]] == ["as printed", "generous"]
    (claim,) = report["readings"][0]["claims"]
    assert claim["lhs"] == 1.25


def test_one_reading(run, statement):
    code, text, _ = run(
        *("verify", "local/theorem-1", "--theorems", statement(0.9)),
        *("--reading", "generous", "--json"),
    )
    assert code == 0
    assert [reading["name"] for reading in json.loads(text)["readings"]] == ["generous"]


def test_a_decisive_instance_is_replayed(run, statement, tmp_path):
    path = statement(0.9)
    _, text, _ = run("verify", "local/theorem-1", "--theorems", path, "--json")
    (claim,) = json.loads(text)["readings"][0]["claims"]
    file = tmp_path / "instance.json"
    file.write_text(json.dumps(claim["worst_instance"]))
    again = ("verify", "local/theorem-1", "--theorems", path, "--instance", str(file), "--json")
    code, text, _ = run(*again)
    assert code == 3
    report = json.loads(text)
    assert report["instances"] == 1
    assert report["readings"][0]["claims"][0]["lhs"] == claim["lhs"]


def test_a_picture_is_drawn(run, statement, tmp_path):
    path = tmp_path / "picture.png"
    run("verify", "local/theorem-1", "--theorems", statement(), "--plot", str(path))
    assert path.read_bytes().startswith(b"\x89PNG")


def test_files_are_written_though_nobody_reads_what_is_printed(
    run, statement, tmp_path, monkeypatch
):
    def stopped_reading(*_):
        raise BrokenPipeError

    monkeypatch.setattr(cli, "_print_report", stopped_reading)
    picture, instance = tmp_path / "a.png", tmp_path / "a.json"
    files = ("--plot", str(picture), "--out", str(instance))
    with pytest.raises(BrokenPipeError):
        run("verify", "local/theorem-1", "--theorems", statement(0.5), *files)
    assert picture.stat().st_size > 1000
    assert json.loads(instance.read_text())["theorem"] == "local/theorem-1"
