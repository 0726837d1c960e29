"""The notebooks run, and those shown with outputs are made of the scripts beside them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from drawn import marks_of

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.py"))
each = pytest.mark.parametrize("script", NOTEBOOKS, ids=lambda path: path.stem)

# Some take half a minute to compile: a default run takes the quickest, a thorough one all.
DRAWN = ("overtraining",)


def test_there_is_a_tour():
    assert "tour" in [path.stem for path in NOTEBOOKS]


@pytest.mark.parametrize(
    "script",
    [pytest.param(path, id=path.stem, marks=marks_of(path.stem in DRAWN)) for path in NOTEBOOKS],
)
def test_the_notebook_runs(script):
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    command = [sys.executable, script.name]
    run = subprocess.run(
        command, cwd=script.parent, env=environment, capture_output=True, text=True, timeout=600
    )
    assert run.returncode == 0, run.stderr[-3000:]


def code_cells(script: Path) -> list[str]:
    """The code of a script in the percent format, cell by cell."""
    parts = re.split(r"^# %%(.*)$", script.read_text(), flags=re.MULTILINE)
    cells = [code.strip() for kind, code in zip(parts[1::2], parts[2::2]) if "[" not in kind]
    return [re.sub("^# %", "%", code, flags=re.MULTILINE) for code in cells]  # magics


@each
def test_what_is_shown_is_what_the_script_says(script):
    shown = json.loads(script.with_suffix(".ipynb").read_text())["cells"]
    cells = ["".join(cell["source"]) for cell in shown if cell["cell_type"] == "code"]
    assert cells == code_cells(script)
    assert all(cell["execution_count"] for cell in shown if cell["cell_type"] == "code")
