"""What commands share that take one statement, or all of them with --all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, NoReturn

import typer

from theorysim.errors import UsageError

if TYPE_CHECKING:
    from theorysim.engine.many.outcome import Outcome, Outcomes


def check_meant(
    context: typer.Context, verb: str, of_one: Mapping[str, str], of_all: Mapping[str, str]
) -> None:
    """Refuse a command that names no statement, or options that it would not look at.

    Args:
        context: of the command, whose parameters `id` and `every` say what is meant.
        verb: what the command does with a statement.
        of_one: by parameter, the options of one statement.
        of_all: by parameter, those of all.
    """
    given = context.params
    every = given["every"]
    if not every and not given["id"]:
        raise UsageError(f"name the ID of a theorem, or {verb} every one with --all")
    for name, option in ({"id": "ID", **of_one} if every else of_all).items():
        if given[name]:
            told = given["id"] if name == "id" else option
            remedy = "is for one statement: leave it or --all out" if every else "needs --all"
            raise UsageError(f"{told} {remedy}")


def print_line(one: Outcome, said: str, note: str = "") -> None:
    """A line of a statement that has ended: what is said of it, the seconds, its id."""
    took = "kept" if one.kept else f"{one.seconds:.1f} s"
    typer.echo(f"{said}  {took:>8}  {one.theorem}{note}")
    if one.error:
        typer.echo(f"  {one.error}")


def end(found: Outcomes, as_json: bool) -> NoReturn:
    """Print all as JSON, or the counts and what does not hold; exit with the code of the whole."""
    if as_json:
        typer.echo(json.dumps(found.as_json(), allow_nan=False))
    else:
        typer.echo(f"\n{found.caption}")
        for one in (one for one in found.statements if one.exit_code):
            typer.echo(f"  {one.verdict}: {one.theorem}")
    raise typer.Exit(found.exit_code)
