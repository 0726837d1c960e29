"""The command `theorysim review`: the referee's report on a statement."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from theorysim.cli.options import (
    AsJson,
    Files,
    Id,
    check_file,
    console,
    interruptible,
    kept_folder,
    progress_on_terminal,
)
from theorysim.environment import prepare


def review(
    id: Id,
    seconds: Annotated[
        float,
        typer.Option(metavar="S", help="How long it may take; the statement itself runs in full."),
    ] = 120.0,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of instances and runs.")] = 0,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a report to mail: one HTML file.")
    ] = None,
    as_json: AsJson = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin anew, even if an earlier review got on.")
    ] = False,
    theorems: Files = [],  # noqa: B006  (typer copies it)
) -> None:
    """Review a theorem or an experiment as a referee does, and write a report.

    Every hypothesis is dropped in turn, every constant is tried for room, errors are planted; an
    experiment is run as its nulls, with another seed, and at half of its sizes. Finished stages
    are kept: the same command goes on where it was interrupted.
    """
    prepare()
    from theorysim.engine.registry import find

    check_file(html)
    if find(id, theorems).is_experiment:
        kept = None if fresh else kept_folder("experiments")
        _experiment(id, seconds, seed, kept, html, as_json, theorems)
    from theorysim.engine.review.review import review as run
    from theorysim.files import write_whole
    from theorysim.report.review_pictures import pictures

    kept = kept_folder("reviews")
    with interruptible(kept, "stage"), progress_on_terminal("review") as progress:
        found = run(
            id,
            seconds=seconds,
            seed=seed,
            theorems=theorems,
            kept=kept,
            fresh=fresh,
            progress=progress,
            pictures=pictures,
        )
    if html is not None:
        from theorysim.report.review_html import page

        write_whole(html, page(found, find(id, theorems)))
    if as_json:
        typer.echo(json.dumps(found.as_json(), allow_nan=False))
    else:
        from theorysim.report.review_text import render

        render(found, console())
        if html is not None:
            typer.echo(f"written to {html}")
    raise typer.Exit(found.exit_code)


def _experiment(
    id: str,
    seconds: float,
    seed: int,
    kept: Path | None,
    html: Path | None,
    as_json: bool,
    theorems: list[Path],
) -> NoReturn:
    from theorysim.engine.reproduce.referee import referee
    from theorysim.files import write_whole
    from theorysim.report.referee import page, render

    with interruptible(kept, "stage"), progress_on_terminal("review") as progress:
        found, own = referee(
            id, seconds=seconds, seed=seed, theorems=theorems, kept=kept, progress=progress
        )
    if html is not None:
        write_whole(html, page(found, own))
    if as_json:
        typer.echo(json.dumps(found.as_json(), allow_nan=False))
    else:
        render(found, own, console())
        if html is not None:
            typer.echo(f"written to {html}")
    raise typer.Exit(found.exit_code)
