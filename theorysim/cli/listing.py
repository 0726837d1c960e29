"""The command `theorysim list`: statements, or the places in print that they check."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from theorysim.cli.options import AsJson, Files
from theorysim.cli.show import wrap
from theorysim.errors import UsageError

if TYPE_CHECKING:
    from theorysim.citation import Citation
    from theorysim.engine.registry import Catalogue, Entry
    from theorysim.engine.registry.coverage import Passage


def list_theorems(
    paper: Annotated[
        str | None, typer.Option(metavar="PAPER", help="Only the statements of this paper.")
    ] = None,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="List the places in print, and what checks each.")
    ] = False,
    theorems: Files = [],  # noqa: B006  (typer copies it)
    as_json: AsJson = False,
) -> None:
    """List all theorems, or the places in print that they check."""
    from theorysim.engine import registry

    chosen = registry.catalogue(theorems)
    if paper is not None:
        if paper not in chosen.papers():
            raise UsageError(f"no paper {paper!r}; there are {', '.join(chosen.papers())}")
        chosen = chosen.of(paper)
    if coverage:
        _list_coverage(chosen, as_json)
        return
    if as_json:
        typer.echo(json.dumps([_entry_json(entry) for entry in chosen]))
        return
    for slug in chosen.papers():
        rows = chosen.of(slug)
        _print_heading(slug, registry.citation(rows[0]))
        _print_paper(rows)


def _list_coverage(chosen: Catalogue, as_json: bool) -> None:
    """The places in print of these papers, as far as they are written down."""
    from theorysim.engine import registry
    from theorysim.engine.registry.coverage import coverage_of

    every = {slug: coverage_of(chosen.of(slug)) for slug in chosen.papers()}
    told = {slug: passages for slug, passages in every.items() if passages}
    if as_json:
        rows = ({"paper": slug, **asdict(one)} for slug, several in told.items() for one in several)
        typer.echo(json.dumps(list(rows)))
        return
    for slug, passages in told.items():
        _print_heading(slug, registry.citation(chosen.of(slug)[0]))
        for passage in passages:
            _print_passage(passage)
    for slug in (slug for slug in every if slug not in told):
        typer.echo(f"{slug}: nobody has written down what became of its places in print")


def _entry_json(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "aliases": list(entry.aliases),
        "title": entry.title,
        "kind": entry.kind,
        "paper": entry.paper,
        "readings": [reading.name for reading in entry.readings],
        "problem": entry.problem,
    }


def _print_heading(slug: str, citation: Citation | None) -> None:
    source = f": {citation.title} ({citation.year})" if citation else ""
    typer.echo(wrap(slug + source))


def _print_passage(passage: Passage) -> None:
    typer.echo(wrap(f"{passage.place}: {passage.says}", "  "))
    by = ", ".join(passage.statements) or f"none: {passage.why_not}"
    typer.echo(wrap(by, "    checked by  ", " " * 16))
    if passage.statements and passage.why_not:
        typer.echo(wrap(passage.why_not, "    left out    ", " " * 16))


def _print_paper(rows: Catalogue) -> None:
    width = 2 + max(len(entry.id) for entry in rows)
    for entry in rows:
        typer.echo(wrap(entry.headline, f"  {entry.id:<{width}}", " " * (width + 2)))
