"""The command `theorysim site`: the catalogue as pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from theorysim.environment import prepare


def site(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Write the pages into this folder.")],
    only: Annotated[
        str, typer.Option(metavar="TEXT", help="Only statements whose ids contain this text.")
    ] = "",
) -> None:
    """Write the catalogue as a static site, from recorded results; nothing is verified."""
    prepare()
    from theorysim.site.build import build

    many = build(out, only)
    typer.echo(f"{out / 'index.html'}: {many} statements")
