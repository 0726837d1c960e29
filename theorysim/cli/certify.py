"""The command `theorysim certify`: claims decided in ball arithmetic, beyond doubt by rounding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from theorysim.cli.options import AsJson, Files, Id, progress_bar
from theorysim.cli.settings import parse_box
from theorysim.environment import prepare
from theorysim.errors import UsageError


def certify(
    id: Id,
    instance: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Certify at this instance, such as a counterexample."),
    ] = None,
    box: Annotated[
        list[str],
        typer.Option(
            "--box",
            metavar="NAME=LOW:HIGH",
            help="Or over a box: the range (or NAME=VALUE) of a field or size; repeatable. "
            "Fields that are left out range over the whole space.",
        ),
    ] = [],  # noqa: B006  (typer copies it)
    claim: Annotated[str | None, typer.Option(metavar="C", help="Only this claim.")] = None,
    reading: Annotated[str | None, typer.Option(metavar="R", help="Only this reading.")] = None,
    max_boxes: Annotated[
        int | None, typer.Option(metavar="N", help="How many boxes to look at per claim.")
    ] = None,
    as_json: AsJson = False,
    theorems: Files = [],  # noqa: B006
) -> None:
    """Prove a claim, or its violation, at one instance or over a box of instances."""
    prepare()
    ranges = parse_box(box)
    if instance is not None and ranges:
        raise UsageError("an instance is one point: leave out --box")
    from theorysim.engine import registry

    entry = registry.find(id, theorems)
    from theorysim.enclosures import MAX_BOXES
    from theorysim.engine.certify.certify import certify as run

    with progress_bar("boxes") as progress:
        report = run(
            registry.load(entry),
            claim=claim,
            reading=reading,
            instance=instance,
            box=None if instance is not None else ranges,
            max_boxes=MAX_BOXES if max_boxes is None else max_boxes,
            progress=progress,
        )
    typer.echo(json.dumps(report.as_json(), allow_nan=False) if as_json else str(report))
    raise typer.Exit(report.exit_code)
