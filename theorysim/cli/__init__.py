"""The command `theorysim`. Commands import what they use, so that listing needs no JAX."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from theorysim import __version__
from theorysim.cli.advise import advise as advise_commands
from theorysim.cli.certify import certify as certify_command
from theorysim.cli.check import check as check_command
from theorysim.cli.errata import errata as errata_command
from theorysim.cli.every import check_meant
from theorysim.cli.explore import explore as explore_command
from theorysim.cli.listing import list_theorems as list_command
from theorysim.cli.new import new as new_command
from theorysim.cli.options import (
    AsJson,
    Files,
    Id,
    Settings,
    check_file,
    check_picture,
    console,
    progress_on_terminal,
)
from theorysim.cli.reproduce import reproduce as reproduce_command
from theorysim.cli.review import review as review_command
from theorysim.cli.settings import parse_settings
from theorysim.cli.show import description, wrap
from theorysim.cli.site import site as site_command
from theorysim.cli.sweep import sweep as sweep_command
from theorysim.cli.verify_all import OF_ALL, OF_ONE, verify_all
from theorysim.environment import collect_rarely, prepare
from theorysim.errors import UsageError, is_out_of_memory

if TYPE_CHECKING:
    from theorysim.engine.falsify.report import FalsifyReport
    from theorysim.engine.registry import Entry
    from theorysim.engine.verify.report import Report

BAD_USAGE = 2
# Where an output goes on no longer takes any: a full disk or quota, the largest file, a bad device.
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}

app = typer.Typer(
    help="Verify theorems about learning dynamics by running them.",
    epilog="Exit codes, by the primary reading: 0 holds, 3 violated, 4 vacuous or "
    "inconclusive, 2 bad usage, 1 internal error.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command; a user's mistake is reported in one message, without a traceback."""
    collect_rarely()
    _print_what_can_be_printed()
    try:
        app(prog_name="theorysim")
    except UsageError as error:
        message = _located(error)
    except (Exception, SystemExit) as error:  # a user's own file may raise anything, or exit
        fault = _fault(error)
        if fault is None:  # an internal error, or the end of the command
            raise
        message = fault
    else:
        return
    typer.echo(f"theorysim: {message}", err=True)
    raise SystemExit(BAD_USAGE)


def _print_what_can_be_printed() -> None:
    """Let a sign that the terminal's encoding lacks, such as a Greek letter, be a question mark."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _located(error: UsageError) -> str:
    from theorysim.engine.registry.faults import located

    return located(error)


def _fault(error: BaseException) -> str | None:
    """What went wrong around the command, in one line; None for an error of its own."""
    from theorysim.engine.registry.faults import fault_in_a_file

    fault = fault_in_a_file(error)
    if fault is None and is_out_of_memory(error):
        return "out of memory: ask for smaller sizes (--set NAME=VALUE) or fewer instances"
    if fault is None and isinstance(error, OSError) and error.errno in FULL:
        # What is left in the buffer would fail once more when the process ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return f"cannot write the output: {error.strerror}"
    return fault


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"theorysim {__version__}")
        raise typer.Exit


@app.callback()
def theorysim(
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Print the version."
        ),
    ] = False,
) -> None:
    """Verify theorems about learning dynamics by running them."""
    if os.environ.get("JAX_DISABLE_JIT", "").lower() not in ("", "0", "false", "no", "off"):
        raise UsageError("JAX_DISABLE_JIT is set, but everything here is compiled: unset it")


app.command("list")(list_command)


@app.command()
def show(id: Id, theorems: Files = []) -> None:  # noqa: B006
    """Show what a theorem says and what is checked of it."""
    prepare()
    from theorysim.engine import registry
    from theorysim.engine.registry.headers import docstring
    from theorysim.engine.registry.notation import Notation, notation_of

    entry = registry.find(id, theorems)
    theorem = registry.load(entry)
    typer.echo(f"{entry.id}\n")
    for paragraph in docstring(entry.path, entry.attribute).split("\n\n"):
        as_it_stands = re.search(r"^[\s*-]", paragraph, re.MULTILINE)
        typer.echo(f"{paragraph if as_it_stands else wrap(paragraph, rest='')}\n")
    notation = notation_of(entry) or Notation()
    for line in description(entry, registry.citation(entry), theorem, notation):
        typer.echo(line)


@app.command()
def verify(
    context: typer.Context,
    id: Id = "",
    instances: Annotated[
        int | None, typer.Option(metavar="N", help="How many instances to check.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="S", help="Seed of instances and runs.")] = 0,
    settings: Settings = [],  # noqa: B006
    reading: Annotated[
        str | None, typer.Option(metavar="R", help="Check only this reading.")
    ] = None,
    instance: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Check the one instance of this JSON file.")
    ] = None,
    as_json: AsJson = False,
    full: Annotated[bool, typer.Option("--full", help="Print the tables of all claims.")] = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also draw a picture into this file.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the decisive instance here.")
    ] = None,
    theorems: Files = [],  # noqa: B006
    every: Annotated[
        bool, typer.Option("--all", help="Verify every statement; what is finished is kept.")
    ] = False,
    only: Annotated[
        str, typer.Option(metavar="TEXT", help="With --all: only ids that contain this text.")
    ] = "",
    fresh: Annotated[
        bool, typer.Option("--fresh", help="With --all: verify again what is kept.")
    ] = False,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="With --all: on the Dask cluster of this scheduler."),
    ] = None,
) -> None:
    """Check a theorem on random instances, or on one given instance; or every theorem."""
    prepare()
    check_meant(context, "verify", OF_ONE, OF_ALL)
    if every:
        verify_all(instances, seed, theorems, only, fresh, scheduler, as_json)
    from theorysim.engine import registry

    fixed = parse_settings(settings)
    check_picture(plot)
    check_file(out)
    entry = registry.find(id, theorems)
    from theorysim.kept import foreseen

    # While a thread loads what this took before, the engine is imported.
    with (
        foreseen(f"verify {entry.id} {sorted(settings)} {reading} {instances}"),
        progress_on_terminal("verify") as progress,
    ):
        from theorysim.engine.verify.verify import verify

        report = verify(
            registry.load(entry),
            instances=instances,
            seed=seed,
            settings=fixed,
            reading=reading,
            instance=instance,
            progress=progress,
        )
    try:  # files first: who reads what is printed may stop early
        _write_files(report, plot, out)
    finally:
        if as_json:
            typer.echo(json.dumps(report.as_json(), allow_nan=False))
        else:
            _print_report(entry, report, full)
    raise typer.Exit(report.exit_code)


def _write_files(report: Report, plot: Path | None, out: Path | None) -> None:
    """The picture and the decisive instance, where they are asked for."""
    if plot is not None:
        from theorysim.report.plot import draw

        draw(report, plot)
        typer.echo(f"{plot}: picture written", err=True)
    if out is not None:
        _write_decisive(report, out)


@app.command()
def falsify(
    id: Id,
    claim: Annotated[str | None, typer.Option(metavar="C", help="Attack only this claim.")] = None,
    reading: Annotated[
        str | None, typer.Option(metavar="R", help="Attack only this reading.")
    ] = None,
    budget: Annotated[
        int | None, typer.Option(metavar="N", help="Points to try per reading.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="S", help="Seed of the search.")] = 0,
    settings: Settings = [],  # noqa: B006
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the counterexample here.")
    ] = None,
    as_json: AsJson = False,
    theorems: Files = [],  # noqa: B006
) -> None:
    """Search for a counterexample, shrink it and confirm it."""
    prepare()
    from theorysim.engine import registry

    fixed = parse_settings(settings)
    check_file(out)
    entry = registry.find(id, theorems)
    from theorysim.engine.falsify.falsify import DEFAULT_BUDGET
    from theorysim.engine.falsify.falsify import falsify as attack

    with progress_on_terminal("falsify") as progress:
        report = attack(
            registry.load(entry),
            claim=claim,
            reading=reading,
            budget=DEFAULT_BUDGET if budget is None else budget,
            seed=seed,
            settings=fixed,
            progress=progress,
        )
    if as_json:
        typer.echo(json.dumps(report.as_json(), allow_nan=False))
    else:
        from theorysim.report.attacks import render_attacks

        render_attacks(report, console())
    if out is not None:
        _write_counterexample(report, out)
    raise typer.Exit(report.exit_code)


def _write_counterexample(report: FalsifyReport, out: Path) -> None:
    hit = report.counterexample()
    if hit is None:
        typer.echo(f"no counterexample was found, so {out} was not written", err=True)
    else:
        _write_instance(hit.instance, f"counterexample to {hit.reading}, {hit.claim}", out)


def _write_decisive(report: Report, out: Path) -> None:
    from theorysim.report.answer import decisive_claim

    claim = decisive_claim(report)
    if claim is None:
        typer.echo(f"no instance decided the verdict, so {out} was not written", err=True)
    else:
        _write_instance(claim.worst_instance, f"decisive instance of {claim.name}", out)


def _write_instance(instance: Mapping[str, Any] | None, what: str, out: Path) -> None:
    try:
        out.write_text(json.dumps(instance) + "\n")
    except OSError as error:
        typer.echo(json.dumps(instance))
        raise UsageError(f"cannot write {out}: {error.strerror}; it is printed instead") from None
    typer.echo(f"{out}: {what}, replay with --instance", err=True)


app.command("new")(new_command)
app.command("check")(check_command)
app.add_typer(advise_commands, name="advise")
app.command("certify")(certify_command)
app.command("explore")(explore_command)
app.command("sweep")(sweep_command)
app.command("site")(site_command)
app.command("review")(review_command)
app.command("reproduce")(reproduce_command)
app.command("errata")(errata_command)


def _print_report(entry: Entry, report: Report, full: bool) -> None:
    if full:
        from theorysim.report.table import render

        render(report, console())
        return
    from theorysim.engine.registry.notation import notation_of
    from theorysim.report.answer import answer
    from theorysim.report.terminal import render_answer

    render_answer(answer(report, notation_of(entry), entry.handle), console())
