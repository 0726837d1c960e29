"""The command `theorysim errata`: what is refuted in print, from the ledger."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any

import typer

from theorysim.cli.options import AsJson, console
from theorysim.errors import UsageError


def errata(
    id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="Only of this theorem or paper.")
    ] = None,
    search: Annotated[
        str, typer.Option(metavar="TEXT", help="Only those whose words contain this text.")
    ] = "",
    certified: Annotated[
        bool, typer.Option("--certified", help="Only what ball arithmetic certifies.")
    ] = False,
    bibtex: Annotated[
        bool, typer.Option("--bibtex", help="Print how to cite the papers instead.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print every printed reading that was refuted, with its counterexample and correction."""
    from theorysim.engine import registry
    from theorysim.engine.registry.ledger import errata as ledger

    if as_json and bibtex:
        raise UsageError("citations are no JSON: ask for one of --json and --bibtex")
    lines = [line for line in ledger() if search.lower() in _words(line).lower()]
    if certified:
        lines = [line for line in lines if line["certificate"] == "certified"]
    wanted = ""
    if id is not None:
        papers = registry.catalogue().papers()
        wanted = id if id in papers else registry.find(id).id
        lines = [line for line in lines if f"{line['theorem']}/".startswith(f"{wanted}/")]
    if as_json:
        typer.echo(json.dumps(lines))
    elif bibtex:
        _print_citations({line["theorem"].partition("/")[0] for line in lines})
    elif not lines:
        typer.echo(
            f"no printed reading of {wanted or 'the catalogue'} that you asked for was refuted"
        )
    else:
        _print_errata(lines, briefly="/" not in wanted)


def _words(line: Mapping[str, Any]) -> str:
    parts = ("theorem", "reading", "place", "words", "wrong", "claim")
    return " ".join(str(line[part]) for part in parts)


def _print_citations(papers: Collection[str]) -> None:
    from theorysim.engine import registry

    chosen = registry.catalogue()
    for slug in (slug for slug in chosen.papers() if slug in papers):
        cited = registry.citation(chosen.of(slug)[0])
        if cited is not None:
            typer.echo(cited.bibtex(slug))


def _print_errata(lines: Sequence[Mapping[str, Any]], briefly: bool) -> None:
    from theorysim.report.errata import misprints, render_list, render_misprint

    if briefly:
        render_list(lines, console())
        return
    for found in misprints(lines):
        render_misprint(found, console())
