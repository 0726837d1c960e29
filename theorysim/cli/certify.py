"""The command `theorysim certify`: claims decided in ball arithmetic, beyond doubt by rounding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from theorysim.cli.options import AsJson, Files, Id, progress_on_terminal
from theorysim.cli.settings import parse_box
from theorysim.environment import prepare
from theorysim.errors import UsageError

if TYPE_CHECKING:
    from theorysim.claims.theorem import Theorem


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
    replay: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Check a certificate that --json has printed again."),
    ] = None,
    as_json: AsJson = False,
    theorems: Files = [],  # noqa: B006
) -> None:
    """Prove a claim, or its violation, at one instance or over a box of instances."""
    prepare()
    ranges = parse_box(box)
    if instance is not None and ranges:
        raise UsageError("an instance is one point: leave out --box")
    if replay is not None and (instance or ranges or claim or reading or max_boxes):
        raise UsageError("a certificate says what it is about: give --replay alone")
    from theorysim.engine import registry

    entry = registry.find(id, theorems)
    if replay is not None:
        _replay(registry.load(entry), replay, as_json)
    from theorysim.enclosures import MAX_BOXES
    from theorysim.engine.certify.certify import certify as run

    with progress_on_terminal("certify") as progress:
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


def _replay(theorem: Theorem, path: Path, as_json: bool) -> None:
    """Exit 0 if every certificate of the file is proved again, else 4."""
    from theorysim.engine.certify.replay import replay

    found = replay(theorem, path)
    typer.echo(json.dumps([vars(one) for one in found]) if as_json else "\n".join(map(str, found)))
    raise typer.Exit(4 if any(one.fault for one in found) else 0)
