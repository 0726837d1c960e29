"""What a search for counterexamples found, reading by reading, as a page of a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from theorysim.claims.kinds import RELATIONS
from theorysim.report.answer import ATTAINED, count, excluded, facing, quoted
from theorysim.report.errata import numbers
from theorysim.report.table import COLOURS

if TYPE_CHECKING:
    from theorysim.engine.falsify.report import Attack, FalsifyReport


def render_attacks(report: FalsifyReport, console: Console) -> None:
    """Print counterexamples of refuted claims, how near the others came, and what is excluded."""
    console.print(Text(f"{report.theorem}  {report.title}", style="bold"))
    points = f"up to {count(report.budget, 'point')} per reading, seed {report.seed}"
    console.print(f"{points}; those that meet the hypotheses are evaluated")
    for reading, attacks in groupby(report.attacks, lambda attack: attack.reading):
        console.print(f"\n{reading}")
        console.print(_table(list(attacks)))
    if report.counterexample() is not None:
        console.print("\n--out FILE keeps a counterexample, for verify and certify --instance FILE")


def _table(attacks: Sequence[Attack]) -> Table:
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(width=11, no_wrap=True)
    table.add_column()
    for attack in sorted(attacks, key=lambda attack: not attack.refuted):
        table.add_row(_outcome(attack), Text(_told(attack)))
    told = _excluded(attacks)
    if told:
        table.add_row(Text("excluded", style="dim"), Text(told))
    return table


def _outcome(attack: Attack) -> Text:
    if attack.refuted:
        return Text("✗ refuted", style=COLOURS["violated"])
    if attack.evaluations:
        return Text("✓ withstood", style=COLOURS["holds"])
    return Text("○ not tried", style=COLOURS["vacuous"])


def _told(attack: Attack) -> str:
    """Sides and place of a counterexample, or how near to one the search came."""
    return "; ".join(part for part in (_found(attack), _spent(attack), attack.note) if part)


def _found(attack: Attack) -> str:
    said = quoted(attack.claim)
    if attack.refuted:
        if attack.kind in RELATIONS and not math.isnan(attack.lhs):
            must = RELATIONS[attack.kind][attack.strict]
            said += f": {facing(attack.lhs, must, attack.rhs, attack.error)}"
        return said + (f", at {numbers(attack.instance)}" if attack.instance else "")
    if math.isnan(attack.ratio):
        return said
    if attack.ratio > attack.ratio_limit:
        beyond = f"largest ratio {attack.ratio:.6g}, not confirmed beyond errors"
    else:
        beyond = "attained" if attack.ratio >= ATTAINED else f"largest ratio {attack.ratio:.3g}"
    where = f", at {numbers(attack.ratio_instance)}" if attack.ratio_instance else ""
    return f"{said}: {beyond}{where}"


def _spent(attack: Attack) -> str:
    runs = f" ({count(attack.runs, 'run')})" if attack.runs != attack.evaluations else ""
    return f"{count(attack.evaluations, 'evaluation')}{runs}"


def _excluded(attacks: Sequence[Attack]) -> str:
    has_sizes = any(sizes for attack in attacks for sizes in attack.sizes)
    return excluded(
        ((a.claim, a.excluded_share, a.draws) for a in attacks if a.draws and not a.refuted),
        "plain draw",
        "the default sizes, or those that were set" if has_sizes else "",
    )
