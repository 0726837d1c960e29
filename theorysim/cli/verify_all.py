"""The command `theorysim verify --all`: every statement, here or on a Dask cluster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from theorysim.cli.options import cluster, interruptible, kept_folder, progress_on_terminal
from theorysim.errors import UsageError

if TYPE_CHECKING:
    from theorysim.engine.many.verified import Verifications, Verified

# What is said of one statement, and of all of them.
OF_ONE = {"id": "ID", "settings": "--set"}
OF_ONE |= {name: f"--{name}" for name in ("reading", "instance", "full", "plot", "out")}
OF_ALL = {name: f"--{name}" for name in ("only", "fresh", "scheduler")}


def check_meant(context: typer.Context) -> None:
    """Refuse a command that names no statement, or options that it would not look at."""
    given = context.params
    every = given["every"]
    if not every and not given["id"]:
        raise UsageError("name the ID of a theorem, or verify every one with --all")
    for name, option in (OF_ONE if every else OF_ALL).items():
        if given[name]:
            told = given["id"] if name == "id" else option
            remedy = "is for one statement: leave it or --all out" if every else "needs --all"
            raise UsageError(f"{told} {remedy}")


def verify_all(
    instances: int | None,
    seed: int,
    theorems: list[Path],
    only: str,
    fresh: bool,
    scheduler: str | None,
    as_json: bool,
) -> NoReturn:
    """Verify every statement, print a line as each ends, and exit with the code of the whole."""
    kept = kept_folder("verifications")
    with (
        interruptible(kept, "statement"),
        cluster(scheduler) as client,
        progress_on_terminal("verify") as progress,
    ):
        from theorysim.engine.many.verify_all import verify_all as run

        found = run(
            only,
            instances=instances,
            seed=seed,
            theorems=theorems,
            kept=kept,
            fresh=fresh,
            client=client,
            progress=progress,
            tell=None if as_json else _print,
        )
    if as_json:
        typer.echo(json.dumps(found.as_json(), allow_nan=False))
    else:
        _print_counts(found)
    raise typer.Exit(found.exit_code)


def _print(one: Verified) -> None:
    took = "kept" if one.kept else f"{one.seconds:.1f} s"
    # The verdict is that of the primary reading, which may be a correction.
    note = "  (a printed reading is violated)" if one.hides_a_misprint else ""
    typer.echo(f"{one.verdict:<12}  {took:>8}  {one.theorem}{note}")
    if one.error:
        typer.echo(f"  {one.error}")


def _print_counts(found: Verifications) -> None:
    others = [one for one in found.statements if one.exit_code]
    typer.echo(f"\n{found.caption}")
    for one in others:
        typer.echo(f"  {one.verdict}: {one.theorem}")
