"""The pack of classics, installed as its users would, passes its own tests; they say what of."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACK = ROOT / "packs" / "classics"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Runs Python in the pack's folder, where the pack is installed beside theorysim."""
    place = tmp_path_factory.mktemp("installed")
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--target", str(place))
    pip = [sys.executable, "-m", "pip", "install", *options, str(PACK)]
    subprocess.run(pip, check=True, capture_output=True, timeout=300)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(place), str(ROOT)])}

    def run(*arguments: str) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", *arguments]
        return subprocess.run(
            command, env=environment, cwd=PACK, capture_output=True, text=True, timeout=280
        )

    return run


@pytest.mark.parametrize(("paper", "least"), [("first-order", 30), ("networks", 8)])
def test_its_statements_are_listed(installed, paper, least):
    run = installed("theorysim", "list", "--paper", paper, "--json")
    assert run.returncode == 0, run.stderr
    rows = json.loads(run.stdout)
    assert len(rows) >= least
    assert all(row["id"].startswith(f"{paper}/") for row in rows)


def test_its_own_tests_pass(installed):
    run = installed("pytest", "-p", "no:cacheprovider", "-p", "no:xdist")
    assert run.returncode == 0, run.stdout + run.stderr
