"""The command `theorysim certify`: claims decided in ball arithmetic, with no rounding doubt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from theorysim.cli.options import AsJson, Files, Id, progress_bar
from theorysim.environment import prepare


def certify(
    id: Id,
    instance: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Certify at this instance, a counterexample say."),
    ] = None,
    box: Annotated[
        list[str],
        typer.Option(
            "--box",
            metavar="NAME=LOW:HIGH",
            help="Or over a box: the range (or NAME=VALUE) of a field or size; repeatable. Fields "
            "left out range over the space.",
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
    ranges = _ranges(box)
    if instance is not None and ranges:
        raise typer.BadParameter("an instance is one point: leave out --box", param_hint="--box")
    from theorysim.engine import registry

    entry = registry.find(id, theorems)
    from theorysim.enclosures import MAX_BOXES
    from theorysim.engine.certify.certify import certify as certified

    with progress_bar("boxes") as progress:
        report = certified(
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


def _ranges(texts: list[str]) -> dict[str, Any]:
    """The box of `name=low:high` and `name=value` texts; certify checks names and numbers."""
    ranges: dict[str, Any] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        ends = tuple(value.split(":"))
        if not (name and equals and all(ends)) or len(ends) > 2:
            raise typer.BadParameter(
                f"{text!r}: expected NAME=LOW:HIGH or NAME=VALUE", param_hint="--box"
            )
        if name in ranges:
            raise typer.BadParameter(f"{name} is given twice", param_hint="--box")
        ranges[name] = ends if len(ends) == 2 else _array(value)
    return ranges


def _array(value: str) -> Any:
    """A JSON list as such, other text as it is."""
    if not value.startswith("["):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        raise typer.BadParameter(f"{value!r} is no JSON list", param_hint="--box") from None
