"""The command `theorysim explore`: a live session that computes with the statement's own code."""

from __future__ import annotations

import os
import socket
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from theorysim.cli.options import Files, Id
from theorysim.environment import prepare
from theorysim.errors import UsageError


def explore(
    id: Id,
    port: Annotated[
        int | None,
        typer.Option(metavar="P", min=1, max=65535, help="Where to listen, on this machine only."),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address, and open nothing.")
    ] = False,
    theorems: Files = [],  # noqa: B006
) -> None:
    """Move the numbers of a statement in the browser, and see what follows."""
    prepare()
    from theorysim.engine import registry

    entry = registry.find(id, theorems)
    if find_spec("marimo") is None:
        raise UsageError(
            "marimo is not installed: exploring needs `pip install 'theorysim[explore]'`"
        )
    from theorysim.explore.views import view_of

    if not view_of(id, theorems).sliders:
        raise UsageError(f"{entry.id} has no number to move; {_with_scenes()}")
    port = port or _free_port()
    options = ["--port", str(port), *(["--headless"] if no_browser else [])]
    files = [part for file in theorems for part in ("--theorems", str(file.resolve()))]
    app = Path(__file__).parents[1] / "explore" / "app.py"
    # The session takes the place of this process: what stops one stops the other.
    command = [sys.executable, "-m", "marimo", "--quiet", "run", str(app), *options]
    typer.echo(f"{entry.id}: a session starts at http://127.0.0.1:{port}; Ctrl-C ends it")
    sys.stdout.flush()
    os.execv(sys.executable, [*command, "--", "--id", id, *files])


def _free_port() -> int:
    """A port that nothing listens at now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def _with_scenes() -> str:
    from theorysim.engine import registry
    from theorysim.scenes.catalogue import scene_of

    return f"these have: {', '.join(e.id for e in registry.catalogue() if scene_of(e.id))}"
