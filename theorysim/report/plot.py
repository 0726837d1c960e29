"""A verification as one picture: the statement's own scene, else its most telling claims."""

from __future__ import annotations

import textwrap
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from theorysim.engine.verify.report import ClaimReport, ReadingReport, Report
from theorysim.report import claim_plot, scene_plot, sheet
from theorysim.report.sheet import check_picture as check_picture
from theorysim.report.sheet import save as save
from theorysim.scenes.catalogue import scene_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# More panels become too small to read.
PANELS = 6
# Letters of a title over one of two panels, over a single one.
TITLE, WIDE_TITLE = 44, 90
# Claims that are named one by one where they are not drawn.
NAMED = 12

Chosen = tuple[ReadingReport, ClaimReport]


def figure(report: Report) -> Figure:
    """The statement's scene, where it has one; else panels of at most six claims.

    First come violated claims of printed readings, then the claims of the primary reading.
    """
    scene = scene_of(report.theorem)
    if scene is not None:
        return scene_plot.figure(scene, _verdicts(report))
    return _claims_figure(report)


def draw(report: Report, path: str | Path) -> None:
    """Write the figure of a report into a file.

    Raises:
        UsageError: where the file cannot be written or its ending names no picture format.
    """
    check_picture(path)
    save(figure(report), path)


def _verdicts(report: Report) -> list[sheet.Note]:
    """What was verified, and which readings came out how, a line for each verdict."""
    readings = sorted(report.readings, key=lambda reading: str(reading.verdict))
    instances = "1 instance" if report.instances == 1 else f"{report.instances} instances"
    notes = [sheet.Note(f"{report.theorem}, {instances}, seed {report.seed}", 7.5)]
    for verdict, group in groupby(readings, key=lambda reading: str(reading.verdict)):
        text = f"{verdict}: {'; '.join(reading.name for reading in group)}"
        notes.append(sheet.Note(text, 7.5, sheet.VERDICTS.get(verdict, sheet.UNDECIDED)))
    return notes


def _claims_figure(report: Report) -> Figure:
    candidates = _candidates(report)
    drawable = [chosen for chosen in candidates if claim_plot.can_draw(chosen[1])]
    drawn = drawable[:PANELS]
    title = sheet.Note(f"{report.theorem}: {report.title.rstrip('.')}", size=12, bold=True)
    foot = sheet.Note(_left_out(report, candidates, drawn), size=7.5, colour="#555555")
    if not drawn:
        nothing = sheet.Note("Nothing to draw: no claim could be compared on any instance.")
        return sheet.sheet(0, [title, nothing], [*_verdicts(report), foot])[0]
    said = list(dict.fromkeys(claim_plot.shown(chosen[1]) for chosen in drawn))
    below = [sheet.Note(" ".join(said)), *_verdicts(report), foot]
    picture, axes = sheet.sheet(len(drawn), [title], below)
    for axis, (reading, claim) in zip(axes, drawn):
        claim_plot.draw_claim(axis, claim, report.sizes)
        _head(axis, reading, claim, WIDE_TITLE if len(drawn) == 1 else TITLE)
    return picture


def _candidates(report: Report) -> list[Chosen]:
    """The claims a picture is about, the most telling first; of equal names the first."""
    printed = {
        claim.name: (reading, claim)
        for reading in reversed(report.readings)
        for claim in reversed(reading.claims)
        if reading.source.kind == "printed" and str(claim.verdict) == "violated"
    }
    primary = next((r for r in report.readings if r.primary), report.readings[0])
    refuted = list(reversed(printed.values()))
    own = [(primary, claim) for claim in primary.claims]
    return refuted + [chosen for chosen in own if chosen not in refuted]


def _left_out(report: Report, candidates: list[Chosen], drawn: list[Chosen]) -> str:
    """Which claims are not in the picture."""
    names = [f"{claim.name} ({claim.verdict})" for _, claim in candidates]
    names = [name for name, chosen in zip(names, candidates) if chosen not in drawn]
    more = [f"{len(names) - NAMED} more"] if len(names) > NAMED else []
    others = sum(len(reading.claims) for reading in report.readings) - len(candidates)
    more += [f"{others} claims of other readings"] if others else []
    left_out = names[:NAMED] + more
    return f"Not drawn: {', '.join(left_out)}." if left_out else ""


def _head(axis: Axes, reading: ReadingReport, claim: ClaimReport, width: int) -> None:
    """The claim, its formula, its reading and verdict, above its panel."""
    formula = textwrap.shorten(claim.statement, width + 8, placeholder=" ...")
    verdict = f"{reading.name}: {claim.verdict}"
    lines = (
        (textwrap.shorten(claim.name, width, placeholder=" ..."), 9.0, sheet.INK),
        (formula, 7.0, "#555555"),
        (verdict, 7.5, sheet.VERDICTS.get(str(claim.verdict), sheet.UNDECIDED)),
    )
    above = 4.0
    for text, size, colour in reversed([line for line in lines if line[0]]):
        axis.annotate(
            text,
            (0, 1),
            (0, above),
            xycoords="axes fraction",
            textcoords="offset points",
            size=size,
            color=colour,
            weight="bold" if size > 8 else "normal",
            parse_math=False,
        )
        above += size * 1.35
