"""The command `theorysim advise`: decisions on a user's own model."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from theorysim.cli.options import (
    AsJson,
    check_file,
    check_picture,
    console,
    progress_on_terminal,
)
from theorysim.environment import expect_code_of, prepare
from theorysim.errors import UsageError

if TYPE_CHECKING:
    from theorysim.advise.answer import Advice

advise = typer.Typer(
    help="Decide on a model of yours: predictions of theory, tuned models beside them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

File = Annotated[
    Path | None,
    typer.Argument(metavar="FILE.py", help="A file that defines model, inputs, targets, ..."),
]
Demo = Annotated[bool, typer.Option("--demo", help="Ask about a small network on digits instead.")]
Text = Annotated[bool, typer.Option("--text", help="With --demo: on text instead of digits.")]
Pairs = Annotated[
    int | None,
    typer.Option(metavar="N", help="Rows of the Gram, inputs times outputs; more are slower."),
]
Steps = Annotated[
    int | None, typer.Option(metavar="N", help="Steps of every run that is really tuned.")
]
Measure = Annotated[
    bool, typer.Option("--measure", help="Really tune, too, and measure on held-out data.")
]
Seed = Annotated[int, typer.Option(metavar="S", help="Seed of all draws.")]
Html = Annotated[Path | None, typer.Option(metavar="FILE", help="Write a report: one HTML file.")]
Plot = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Also draw a picture into this file.")
]


@advise.command()
def layers(
    file: File = None,
    demo: Demo = False,
    text: Text = False,
    measure: Measure = False,
    by: Annotated[str | None, typer.Option(metavar="SCORE", help="Rank by this score.")] = None,
    together: Annotated[
        int, typer.Option(metavar="N", help="Also combinations of up to N groups.")
    ] = 1,
    pairs: Pairs = None,
    steps: Steps = None,
    seed: Seed = 0,
    html: Html = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Which layers, blocks or adapters to tune."""
    options = {"measure": measure, "by": by, "together": together, "pairs": pairs, "steps": steps}
    _answer("layers", file, (demo, text), seed, options, html, plot, as_json)


@advise.command()
def transfer(
    file: File = None,
    demo: Demo = False,
    text: Text = False,
    measure: Measure = False,
    by: Annotated[str | None, typer.Option(metavar="SCORE", help="Rank by this score.")] = None,
    head: Annotated[
        str | None, typer.Option(metavar="GROUP", help="Replace this group for every source.")
    ] = None,
    pairs: Pairs = None,
    steps: Steps = None,
    seed: Seed = 0,
    html: Html = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Which source task or checkpoint to start from."""
    options = {"measure": measure, "by": by, "head": head, "pairs": pairs, "steps": steps}
    _answer("transfer", file, (demo, text), seed, options, html, plot, as_json)


@advise.command()
def strength(
    file: File = None,
    demo: Demo = False,
    text: Text = False,
    measure: Measure = False,
    steps: Annotated[int, typer.Option(metavar="N", help="Steps of gradient descent.")] = 500,
    pairs: Pairs = None,
    seed: Seed = 0,
    html: Html = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """How strongly to pull fine-tuning back, and how long its linearisation holds."""
    options = {"measure": measure, "steps": steps, "pairs": pairs}
    _answer("strength", file, (demo, text), seed, options, html, plot, as_json)


@advise.command()
def length(
    file: File = None,
    demo: Demo = False,
    text: Text = False,
    seeds: Annotated[int, typer.Option(metavar="N", help="Draws of noise and examples.")] = 8,
    steps: Steps = None,
    seed: Seed = 0,
    html: Html = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Which checkpoint of a pretraining run to fine-tune."""
    _answer(
        "length", file, (demo, text), seed, {"seeds": seeds, "steps": steps}, html, plot, as_json
    )


def _answer(
    question: str,
    file: Path | None,
    example: tuple[bool, bool],
    seed: int,
    options: dict[str, Any],
    html: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    demo, text = example
    if (file is None) != demo:
        raise UsageError(
            f"theorysim advise {question}: name one file, or --demo"
            + (" alone" if demo else " for an example on digits")
        )
    if text and not demo:
        raise UsageError(f"theorysim advise {question}: --text goes with --demo")
    check_file(html)
    check_picture(plot)
    _check_written(html, plot)
    prepare()
    from theorysim import advise as room
    from theorysim.advise import files
    from theorysim.advise.given import check

    check("seed", seed)
    if file is not None:
        expect_code_of(file)
    given = files.example(question, seed, text) if file is None else files.request(question, file)
    # A file may name a group as `head`, too; what is asked on the command line goes before it.
    given |= {name: value for name, value in options.items() if value is not None}
    with progress_on_terminal(f"advise {question}") as progress:
        found = getattr(room, question)(**given, seed=seed, progress=progress)
    _show(found, html, plot, as_json)


def _check_written(*paths: Path | None) -> None:
    """Try folders before the work: some take no file, whatever their permissions say."""
    for path in paths:
        if path is None:
            continue
        try:
            tempfile.TemporaryFile(dir=path.parent).close()
        except OSError as error:
            raise UsageError(
                f"cannot write {path}: {path.parent} takes no new file ({error.strerror}); name "
                "another folder"
            ) from None


def _show(found: Advice, html: Path | None, plot: Path | None, as_json: bool) -> None:
    """Files first: who reads what is printed may stop early; then the answer, come what may."""
    try:
        _write(found, html, plot)
    finally:
        if as_json:
            typer.echo(json.dumps(found.as_json(), allow_nan=False))
        else:
            found.render(console())


def _write(found: Advice, html: Path | None, plot: Path | None) -> None:
    if html is not None:
        from theorysim.files import write_whole
        from theorysim.report.advice_html import page

        try:
            write_whole(html, page(found))
        except OSError as error:
            raise UsageError(f"cannot write {html}: {error.strerror}") from None
        typer.echo(f"{html}: report written", err=True)
    if plot is not None:
        from theorysim.report import sheet

        sheet.save(found.figure(), plot)
        typer.echo(f"{plot}: picture written", err=True)
