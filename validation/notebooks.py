"""The notebooks as GitHub shows them: every notebooks/*.py is executed into an .ipynb beside it.

    pip install '.[notebooks]' && python -m validation.notebooks [--only NAME]

The scripts are the sources; the test suite executes them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


def execute(source: Path) -> None:
    """Run a script as a notebook and write it with its outputs.

    Raises:
        nbclient.exceptions.CellExecutionError: where a cell fails; nothing is written then.
    """
    import jupytext
    from nbclient import NotebookClient

    notebook = jupytext.read(source)
    notebook.metadata.pop("jupytext", None)
    resources = {"metadata": {"path": NOTEBOOKS}}
    NotebookClient(notebook, timeout=900, resources=resources, coalesce_streams=True).execute()
    for number, cell in enumerate(notebook.cells):
        cell.metadata.pop("execution", None)  # the times of day
        cell.id = f"cell-{number}"  # they are random otherwise
    jupytext.write(notebook, source.with_suffix(".ipynb"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only notebooks whose name contains this text")
    only = parser.parse_args().only
    for script in sorted(NOTEBOOKS.glob("*.py")):
        if only in script.stem:
            execute(script)
            print(script.with_suffix(".ipynb"))
