"""The command `theorysim new`: a file, or a package, that an author starts from."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from theorysim.authoring.statements import (
    DEFAULT_KIND,
    DEFAULT_SYSTEM,
    KINDS,
    SYSTEMS,
    Statement,
    kinds_of,
)
from theorysim.authoring.writing import FIRST, write_pack, write_statement
from theorysim.cli.options import is_terminal
from theorysim.errors import UsageError


def new(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE.py]", help="The file, such as my_rate.py.")
    ] = None,
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What it states, in a sentence.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help=f"The claim: {', '.join(KINDS)}.")
    ] = None,
    system: Annotated[
        str | None, typer.Option(metavar="SYSTEM", help=f"What is run: {', '.join(SYSTEMS)}.")
    ] = None,
    pack: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Write an installable package with a first theorem."),
    ] = None,
) -> None:
    """Write a theorem of your own that runs at once, with comments where to edit it.

    On a terminal, what is not given is asked for; elsewhere it is a bound on gradient descent on a
    quadratic. Nothing is ever overwritten.
    """
    if file is None and pack is None:
        raise UsageError("name a file, theorysim new my_rate.py, or a package, --pack my-rates")
    if file is not None and pack is not None and file.parent != Path():
        raise UsageError(f"{file}: in a package a theorem has its place; give the file's name only")
    statement = _statement(title, kind, system, asks=is_terminal(sys.stdin))
    if pack is None:
        assert file is not None
        write_statement(file, statement)
        typer.echo(f"{file}: {statement.sentence}")
        typer.echo(f"next: theorysim check {file}, and --watch while you edit it")
        return
    written = write_pack(Path(pack), statement, file.name if file is not None else FIRST)
    typer.echo("\n".join(map(str, written)))
    typer.echo(
        f"next: pip install -e '{pack}[test]' && theorysim check --paper {Path(pack).name} "
        f"--record {pack}/verdicts.json"
    )


def _statement(title: str | None, kind: str | None, system: str | None, asks: bool) -> Statement:
    if system is None:
        system = _ask("system", SYSTEMS, list(SYSTEMS), DEFAULT_SYSTEM) if asks else DEFAULT_SYSTEM
    if kind is None:
        fitting = kinds_of(system)
        kind = _ask("kind", KINDS, fitting, DEFAULT_KIND) if asks and fitting else DEFAULT_KIND
    statement = Statement(system, kind, title or "")
    if title is None and asks:
        asked = typer.prompt("title", default=statement.sentence)
        statement = Statement(system, kind, str(asked))
    return statement


def _ask(name: str, meaning: dict[str, str], choices: list[str], default: str) -> str:
    width = max(map(len, choices))
    for choice in choices:
        typer.echo(f"  {choice:<{width}}  {meaning[choice]}")
    return typer.prompt(name, default=default)
