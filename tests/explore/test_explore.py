"""Live sessions: what they show is what the statement's code gives; they start, serve and stop."""

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from drawn import thorough
from typer.testing import CliRunner

from theorysim.claims.fields.integer import Integer
from theorysim.cli import app
from theorysim.engine import registry
from theorysim.errors import UsageError
from theorysim.explore.views import sliders_of, stops, view_of
from theorysim.scenes.catalogue import scene_of
from theorysim.scenes.scene import Slider

ROOT = Path(__file__).parents[2]


def test_a_scene_shows_its_panels_at_the_chosen_values():
    id, values = "overtraining/theorem-4.7", {"lam": 1.5, "ratio": 5.0, "steps": 100.0}
    shown = view_of(id).at(values)
    expected = scene_of(id).panels(values)
    points = [row for row in shown.rows if row["curve"] == "gradient descent"]
    wanted = np.concatenate(
        [s.y for p in expected for s in p.series if s.label == "gradient descent"]
    )
    np.testing.assert_array_equal([row["y"] for row in points], wanted)
    lines = shown.figure.axes[0].get_lines()
    np.testing.assert_array_equal(lines[0].get_ydata(), expected[0].series[0].y)


@pytest.mark.thorough
def test_without_a_scene_chosen_numbers_are_fixed_in_a_verification():
    view = view_of("linearization/lemma-1")
    assert not view.all_fixed and "radius" in view.sliders and "weights" not in view.sliders
    shown = view.at({"radius": 0.5})
    primary = registry.theorem("linearization/lemma-1").readings[0]
    assert {row["claim"] for row in shown.rows} >= {claim.name for claim in primary.claims}
    assert any("holds" in word for word in shown.words) and shown.figure.axes


@pytest.mark.parametrize("paper", ["linearization", thorough("low-rank")])
def test_sliders_of_fields_span_their_ranges(paper):
    for entry in registry.catalogue().of(paper):
        theorem = registry.load(entry)
        for name, slider in sliders_of(theorem).items():
            field, sizes = theorem.space.fields[name], theorem.space.default_sizes()
            places = np.array(stops(slider))
            if isinstance(field, Integer):
                assert (places == np.round(places)).all()
            assert slider.default in places
            assert all(field.belongs(np.array(place), sizes) for place in places), (entry.id, name)


def test_sliders_stop_at_whole_numbers_or_densely():
    assert stops(Slider("depth", 1.0, 6.0, 1.0, steps=6)) == [1, 2, 3, 4, 5, 6]
    dense = stops(Slider("rate", 0.1, 10.0, 0.3, log=True))
    assert len(dense) > 100 and 0.3 in dense and dense[0] == 0.1 and dense[-1] == 10.0


@pytest.mark.thorough
def test_a_theorem_of_a_file_can_be_explored():
    file = ROOT / "docs" / "guide" / "template_theorem.py"
    shown = view_of("template-theorem", [file]).at({})
    assert shown.rows and shown.figure.axes


def test_an_unknown_statement_is_named():
    with pytest.raises(UsageError, match="nosuch"):
        view_of("nosuch")


def test_without_marimo_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("theorysim.cli.explore.find_spec", lambda name: None)
    done = CliRunner().invoke(app, ["explore", "overtraining/theorem-4.7"])
    assert isinstance(done.exception, UsageError)
    assert "pip install 'theorysim[explore]'" in str(done.exception)


@pytest.mark.parametrize("port", ["-1", "0", "65536", "x"])
def test_a_port_that_there_cannot_be_is_refused_before_the_session(port, monkeypatch):
    monkeypatch.setattr(os, "execv", lambda *_: pytest.fail("a session started"))
    assert CliRunner().invoke(app, ["explore", "theorem-4.7", "--port", port]).exit_code == 2


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def test_a_session_starts_serves_and_stops(tmp_path):
    port = free_port()
    command = [sys.executable, "-m", "theorysim", "explore", "overtraining/theorem-4.7"]
    running = subprocess.Popen(
        [*command, "--port", str(port), "--no-browser"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        until = time.monotonic() + 90
        status = None
        while status is None and time.monotonic() < until and running.poll() is None:
            with contextlib.suppress(OSError):
                page = urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5)
                status = page.status
                page.close()
            time.sleep(0.3)
        assert status == 200
    finally:
        running.terminate()
        output = running.communicate(timeout=30)[0]
    assert f"http://127.0.0.1:{port}" in output.decode()
    assert b"Traceback" not in output


@pytest.mark.thorough
@pytest.mark.filterwarnings("default")
def test_the_app_runs_with_its_defaults(monkeypatch):
    """All cells, without a server."""
    from theorysim.explore.app import app as notebook

    monkeypatch.setattr("marimo.cli_args", lambda: Given("overtraining/theorem-4.7"))
    _, found = notebook.run()
    assert set(found["numbers"]["panel"]) and len(found["numbers"]) > 10


@pytest.mark.thorough
@pytest.mark.filterwarnings("default")
def test_what_a_statement_says_is_no_markup(monkeypatch):
    """A title with `<=`, and names of claims with stars, are shown as they stand."""
    from theorysim.explore.app import app as notebook

    monkeypatch.setattr("marimo.cli_args", lambda: Given("linearization/theorem-7-proof"))
    outputs, _ = notebook.run()
    assert any("eta &lt;= 1" in output.text for output in outputs if hasattr(output, "text"))


class Given(dict):
    def __init__(self, id: str) -> None:
        super().__init__(id=id)

    def get_all(self, name: str) -> list[str]:
        return []
