"""A third-party pack, installed as its users would, is listed, shown, verified and attacked."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACK = ROOT / "tests" / "packs" / "quadratics"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Runs theorysim, as it stands here, where the pack is installed."""
    place = tmp_path_factory.mktemp("installed")
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--target", str(place))
    pip = [sys.executable, "-m", "pip", "install", *options, str(PACK)]
    subprocess.run(pip, check=True, capture_output=True, timeout=300)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(place), str(ROOT)])}

    def run(*arguments: str) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "theorysim", *arguments]
        return subprocess.run(
            command, env=environment, cwd=place, capture_output=True, text=True, timeout=300
        )

    return run


def test_it_is_listed_with_its_paper(installed):
    run = installed("list", "--paper", "quadratics", "--json")
    assert run.returncode == 0, run.stderr
    assert [row["id"] for row in json.loads(run.stdout)] == ["quadratics/theorem-1"]


def test_it_verifies(installed):
    run = installed("verify", "quadratics/theorem-1", "--instances", "8", "--json")
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["verdict"] == "holds"


@pytest.mark.thorough
def test_its_false_version_is_falsified(installed):
    named = ("quadratics/theorem-1", "--reading", "the square of the rate")
    run = installed("falsify", *named, "--budget", "200", "--json")
    assert run.returncode == 3, run.stderr
