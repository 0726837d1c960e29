"""The referee's report on an experiment, on a terminal and as one HTML file."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING

from theorysim.engine.reproduce.referee import ExperimentReview
from theorysim.engine.reproduce.reproduce import WORDS, Reproduction
from theorysim.report.experiment import STYLES, render_table

if TYPE_CHECKING:
    from rich.console import Console


def render(review: ExperimentReview, own: Reproduction, console: Console) -> None:
    """The decision, what to change, the experiment's own table, and every further trial."""
    from rich.table import Table
    from rich.text import Text

    console.print(Text(f"{review.theorem}: {review.title}", style="bold"))
    console.print(Text(f"\n{review.decision.upper()}", style="bold"))
    for one in review.recommendations:
        console.print(Text(f"{one.weight}: {one.text}"))
    console.print()
    render_table(own, console)
    claims = list(review.trials[0].verdicts)
    table = Table("trial", "changed", *claims, box=None)
    for trial in review.trials[1:]:
        words = [WORDS[trial.verdicts[c]] if c in trial.verdicts else "" for c in claims]
        cells = [Text(word, style=STYLES.get(word, "yellow")) for word in words]
        table.add_row(trial.name, str(trial.change), *cells)
    if table.row_count:
        console.print(table)
    for name in review.left_out:
        console.print(f"left out for want of time: {name}")
    console.print(f"seed {review.seed}, {review.runs} runs each")


def page(review: ExperimentReview, own: Reproduction) -> str:
    """The whole page, which loads nothing."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("theorysim.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    (reading,) = own.report.readings
    return environment.get_template("experiment.html").render(
        review=review,
        reading=reading,
        sizes=own.report.sizes,
        words={str(verdict): word for verdict, word in WORDS.items()},
        claims=list(review.trials[0].verdicts),
        image=_image(own),
    )


def _image(own: Reproduction) -> str | None:
    from theorysim.report.experiment_plot import figure_of

    figure = figure_of(own)
    if figure is None:
        return None
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=150)
    return base64.b64encode(content.getvalue()).decode()
