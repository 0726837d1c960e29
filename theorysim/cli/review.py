"""The command `theorysim review`: the referee's report on a statement."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from theorysim.cli.every import check_meant
from theorysim.cli.options import (
    AsJson,
    Files,
    Id,
    Scheduler,
    check_file,
    cluster,
    console,
    interruptible,
    kept_folder,
    progress_on_terminal,
)
from theorysim.cli.review_all import OF_ALL, OF_ONE, review_all
from theorysim.environment import cache_folder, prepare

if TYPE_CHECKING:
    from theorysim.engine.review.review import Review


def review(
    context: typer.Context,
    id: Id = "",
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
    every: Annotated[
        bool, typer.Option("--all", help="Review every statement; what is finished is kept.")
    ] = False,
    only: Annotated[
        str, typer.Option(metavar="TEXT", help="With --all: only ids that contain this text.")
    ] = "",
    scheduler: Scheduler = None,
) -> None:
    """Review a theorem or an experiment as a referee does, and write a report; or every one.

    Every hypothesis is dropped in turn, every constant is tried for room, errors are planted; an
    experiment is run as its nulls, with another seed, and at half of its sizes. Finished stages
    are kept: the same command goes on where it was interrupted.
    """
    prepare()
    check_meant(context, "review", OF_ONE, OF_ALL)
    if every:
        review_all(seconds, seed, theorems, only, fresh, scheduler, as_json)
    from theorysim.engine.registry import find

    check_file(html)
    if find(id, theorems).is_experiment:
        kept = None if fresh else kept_folder("experiments")
        _experiment(id, seconds, seed, kept, html, as_json, theorems, scheduler)
    from theorysim.files import write_whole

    found = _reviewed(id, seconds, seed, fresh, theorems, scheduler)
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


def _reviewed(
    id: str, seconds: float, seed: int, fresh: bool, theorems: list[Path], scheduler: str | None
) -> Review:
    """The review of a theorem, made here or by a worker."""
    from theorysim.engine.many.review_all import review_there
    from theorysim.engine.review.review import review as run
    from theorysim.report.review_pictures import pictures

    kept = kept_folder("reviews")
    with (
        interruptible(kept, "stage"),
        cluster(scheduler) as client,
        progress_on_terminal("review") as progress,
    ):
        if client is not None:
            return review_there(
                id,
                client,
                seconds=seconds,
                seed=seed,
                theorems=theorems,
                kept=kept and cache_folder(),
                fresh=fresh,
                pictures=pictures,
            )
        return run(
            id,
            seconds=seconds,
            seed=seed,
            theorems=theorems,
            kept=kept,
            fresh=fresh,
            progress=progress,
            pictures=pictures,
        )
    raise AssertionError  # `interruptible` ends the command otherwise


def _experiment(
    id: str,
    seconds: float,
    seed: int,
    kept: Path | None,
    html: Path | None,
    as_json: bool,
    theorems: list[Path],
    scheduler: str | None,
) -> NoReturn:
    from theorysim.engine.reproduce.referee import referee
    from theorysim.files import write_whole
    from theorysim.report.referee import page, render

    with (
        interruptible(kept, "stage"),
        cluster(scheduler) as client,
        progress_on_terminal("review") as progress,
    ):
        found, own = referee(
            id,
            seconds=seconds,
            seed=seed,
            theorems=theorems,
            kept=kept,
            client=client,
            progress=progress,
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
