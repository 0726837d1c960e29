"""The command `theorysim check`: the author's loop."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from theorysim.cli.options import AsJson, Files, check_file, known_ids
from theorysim.environment import prepare
from theorysim.errors import UsageError

if TYPE_CHECKING:
    from theorysim.engine.check.loop import Loop
    from theorysim.engine.check.step import Step

Ids = Annotated[
    list[str],
    typer.Argument(
        metavar="[ID|FILE.py]...",
        help="Ids, names that only one paper has, or files: rate.py, rates.py::momentum.",
        autocompletion=known_ids,
        show_default=False,
    ),
]


def check(
    ids: Ids = [],  # noqa: B006  (typer copies it)
    paper: Annotated[
        str | None, typer.Option(metavar="PAPER", help="Every theorem of this paper or pack.")
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Check again whenever the file changes; Ctrl-C ends it.")
    ] = False,
    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the verdicts into this JSON file.")
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Expect these recorded verdicts, whatever they are."),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="S", help="Seed of instances and runs.")] = 0,
    as_json: AsJson = False,
    theorems: Files = [],  # noqa: B006
) -> None:
    """Take a theorem of your own through its checks, up to the first thing to mend.

    In this order: it loads, shapes, purity, smoothness, precision, mutants, verify, falsify (a
    small budget), tightness. With --record and --against the recorded verdicts are what counts:
    the exit code is 3 where one has changed.
    """
    prepare()
    queries = [*ids, *_of_paper(paper)]
    if not queries:
        raise UsageError("nothing to check: name a file, an id, or --paper PAPER")
    check_file(record)
    if record is not None and against is not None:
        raise UsageError("--record writes what --against compares with: ask for one of them")
    from theorysim.engine.check.loop import Loop

    loop = Loop(tuple(theorems), seed, record, against)
    if watch:
        _watch(loop, queries, as_json)
    code = max(_one(loop, query, as_json) for query in queries)
    for id in loop.gone(paper) if paper is not None else ():
        code = max(code, _gone(id, loop, as_json))
    loop.finish()
    if record is not None:
        typer.echo(f"{record}: verdicts of {len(queries)} written", err=True)
    raise typer.Exit(code)


def _of_paper(paper: str | None) -> list[str]:
    if paper is None:
        return []
    from theorysim.engine import registry

    every = registry.catalogue()
    if paper not in every.papers():
        raise UsageError(f"no paper {paper!r}; there are {', '.join(every.papers())}")
    return [entry.id for entry in every.of(paper) if not entry.is_experiment]


def _one(loop: Loop, query: str, as_json: bool) -> int:
    """Check one statement and print its steps as they are done; returns the exit code."""
    return _print(query, loop.steps(query), as_json)


def _print(query: str, taken: Iterator[Step], as_json: bool) -> int:
    if as_json:
        steps = list(taken)
        typer.echo(json.dumps({"theorem": query, "steps": [step.as_json() for step in steps]}))
        return steps[-1].code
    typer.echo(query)
    code = 0
    for step in taken:
        typer.echo(f"  {'✗' if step.mend else '✓'} {step.name:<10}  {_short(step.told)}".rstrip())
        for warning in step.warnings:
            typer.echo(f"    ! {_short(warning)}")
        if step.mend:
            typer.echo(f"    {_short(step.mend)}")
        code = step.code
    if not code:
        typer.echo(f"  nothing to mend; next: theorysim review {query}")
    return code


def _gone(id: str, loop: Loop, as_json: bool) -> int:
    """Print that a recorded statement is not there, and how to mend that; returns the exit code."""
    from theorysim.engine.check.step import Step
    from theorysim.engine.check.verdicts import CHANGED

    mend = (
        f"{loop.against} has verdicts of it, but no such statement is there: bring it back, or "
        "record what there is in a new file (--record FILE)"
    )
    return _print(id, iter([Step("load", mend=mend, code=CHANGED)]), as_json)


def _short(text: str) -> str:
    """Files below the current folder by their relative names."""
    return text.replace(f"{os.getcwd()}{os.sep}", "")


def _watch(loop: Loop, queries: list[str], as_json: bool) -> None:
    """Check one file now and after each of its changes, until it is interrupted."""
    from theorysim.engine.registry import file_of

    file = file_of(queries[0])
    if len(queries) > 1 or file is None or loop.record or loop.against:
        raise UsageError("--watch watches one file, my_rate.py, and records nothing")
    from theorysim.engine.check.watching import changes

    code = 0
    try:
        for _ in changes(file):
            code = _one(loop, queries[0], as_json)
            typer.echo(f"watching {queries[0]}, Ctrl-C ends it", err=True)
    except KeyboardInterrupt:
        pass
    raise typer.Exit(code)
