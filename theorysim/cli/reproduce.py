"""The command `theorysim reproduce`: a figure or a table of a paper, run anew."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from theorysim.cli.options import (
    AsJson,
    Files,
    Id,
    Scheduler,
    Settings,
    cluster,
    console,
    kept_folder,
    progress_on_terminal,
)
from theorysim.cli.settings import parse_files, parse_settings
from theorysim.environment import prepare
from theorysim.errors import UsageError

if TYPE_CHECKING:
    from theorysim.claims.theorem import Theorem
    from theorysim.engine.reproduce.reproduce import Reproduction


def reproduce(
    id: Id,
    scale: Annotated[
        str, typer.Option(metavar="small|paper", help="Own sizes, or those of the paper.")
    ] = "small",
    runs: Annotated[
        int | None, typer.Option(metavar="N", help="Independent runs, at least five.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of all runs.")] = 0,
    settings: Settings = [],  # noqa: B006  (typer copies it)
    reading: Annotated[
        str | None, typer.Option(metavar="R", help="Run only this reading, or this null.")
    ] = None,
    data: Annotated[
        list[str],
        typer.Option("--data", metavar="NAME=FILE", help="A file of yours for these data."),
    ] = [],  # noqa: B006
    together: Annotated[
        int | None,
        typer.Option(metavar="N", help="Runs at once; on a GPU all that fit, if not said."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Save data, picture and verdicts in this folder."),
    ] = None,
    as_json: AsJson = False,
    scheduler: Scheduler = None,
    theorems: Files = [],  # noqa: B006
) -> None:
    """Run an experiment of a paper and say whether it shows what its figure is said to show.

    Finished runs are kept: the same command goes on where it was interrupted.
    """
    prepare()
    from theorysim.data.own import instead
    from theorysim.engine import registry
    from theorysim.engine.reproduce.reproduce import reproduce as run

    fixed, files = parse_settings(settings), parse_files("--data", data)
    theorem = registry.theorem(id, theorems)
    _check_folder(out, _name(theorem, reading))
    kept = kept_folder("experiments")
    with instead(files):
        if scale == "paper":
            _tell_cost(theorem, fixed, seed, kept)
        with (
            _told_if_interrupted(kept),
            cluster(scheduler) as client,
            progress_on_terminal("reproduce") as progress,
        ):
            found = run(
                theorem,
                scale=scale,
                runs=runs,
                seed=seed,
                settings=fixed,
                reading=reading,
                kept=kept,
                together=together,
                theorems=theorems,
                client=client,
                progress=progress,
            )
    if as_json:
        typer.echo(json.dumps(found.report.as_json(), allow_nan=False))
    else:
        from theorysim.report.experiment import render

        render(found, console())
    if out is not None:
        _save(found, _name(theorem, reading), out)
    raise typer.Exit(found.report.exit_code)


@contextmanager
def _told_if_interrupted(kept: Path | None) -> Generator[None]:
    """What becomes of finished runs, where the user stops the others."""
    try:
        yield
    except KeyboardInterrupt:
        told = "finished runs are kept, and the same command goes on"
        lost = "nothing is kept: the cache folder cannot be written"
        typer.echo(f"interrupted: {told if kept else lost}", err=True)
        raise


def _name(theorem: Theorem, reading: str | None) -> str:
    """What the files are called: after the experiment, and after a null or reading of it."""
    name = theorem.id.rpartition("/")[2]
    if reading in (None, theorem.primary().name):
        return name
    return f"{name}-{re.sub(r'[^a-z0-9]+', '-', reading.lower()).strip('-')}"


def _check_folder(out: Path | None, name: str) -> None:
    """Make the folder before the work, not after it, and see that nothing else is in the way."""
    if out is None:
        return
    if out.exists() and not out.is_dir():
        raise UsageError(f"cannot write into {out}: expected a folder, it is a file")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write into {out}: {error.strerror}") from None
    if not os.access(out, os.W_OK):
        raise UsageError(f"cannot write into {out}: it is not a writable folder")
    from theorysim.engine.reproduce.dataset import refuse_foreign

    refuse_foreign(out / f"{name}.zarr")
    for file in (out / f"{name}.json", out / f"{name}.png"):
        if file.is_dir():
            raise UsageError(f"cannot write {file}: it is a folder")


def _tell_cost(theorem: Theorem, fixed: dict[str, object], seed: int, kept: Path | None) -> None:
    """Before a long run, how long it will be: by a small one, and by the work of both."""
    from theorysim.engine.reproduce.cost import paper_hours

    hours, ratio = paper_hours(theorem, fixed, seed, kept)
    typer.echo(
        f"{theorem.id} at the sizes of its paper: a run is {ratio:.3g} times the work of a small "
        f"one; {theorem.keys} runs take about {hours:.2g} hours on this machine",
        err=True,
    )


def _save(found: Reproduction, name: str, out: Path) -> None:
    from theorysim.engine.reproduce.dataset import write
    from theorysim.files import write_whole
    from theorysim.report.experiment_plot import figure_of

    report = found.report
    told = {"experiment": report.theorem, "reading": next(iter(found.data)), "seed": report.seed}
    write(found.shown.assign_attrs(told), out / f"{name}.zarr")
    text = json.dumps(report.as_json(), allow_nan=False, indent=1)
    write_whole(out / f"{name}.json", text + "\n")
    saved = [f"{name}.zarr", f"{name}.json"]
    figure = figure_of(found)
    if figure is not None:
        figure.savefig(out / f"{name}.png")
        saved.append(f"{name}.png")
    typer.echo(f"{out}: {', '.join(saved)}", err=True)
