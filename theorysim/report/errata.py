"""The ledger of errata: the words printed, what is wrong with them, numbers that show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from theorysim.claims.kinds import RELATIONS
from theorysim.engine.registry.ledger import is_inference
from theorysim.report.answer import apart, count, number, quoted

# Entries of a field beyond which its numbers are left to --json.
READABLE = 12
LABEL = 10  # columns of what stands in the margin

Misprint = Sequence[Mapping[str, Any]]


def misprints(ledger: Iterable[Mapping[str, Any]]) -> list[Misprint]:
    """The refuted claims of a printed reading together: one misprint may refute several."""
    grouped = groupby(ledger, lambda line: (line["theorem"], line["reading"]))
    return [tuple(lines) for _, lines in grouped]


def render_list(ledger: Iterable[Mapping[str, Any]], console: Console) -> None:
    """One line a refuted reading: where, and what is wrong."""
    found = misprints(ledger)
    for line in (lines[0] for lines in found):
        place = line["place"] + ", an inference" * is_inference(line["reading"])
        title = Text(line["theorem"], style="bold").append(f"  {place}: ", "not bold")
        console.print(title.append(line["wrong"], "not bold"))
    told = count(len(found), "refuted reading")
    steps = sum(is_inference(lines[0]["reading"]) for lines in found)
    told += _inferences(steps, len(found))
    console.print(f"\n{told}; theorysim errata ID shows words and counterexamples")


def _inferences(steps: int, every: int) -> str:
    """How many of the refuted readings are inferences, and what that leaves open."""
    if steps == 0:
        return ""
    if steps == every:
        are = ", an inference" if every == 1 else ", all of them inferences"
    else:
        are = f", {steps} of them {'an inference' if steps == 1 else 'inferences'}"
    return f"{are} (that a step fails does not refute what it concludes)"


def render_misprint(lines: Misprint, console: Console) -> None:
    """One misprint with its counterexamples, in numbers that a reader can check."""
    first = lines[0]
    console.print(Text(f"{first['theorem']}, {first['reading']}", style="bold"))
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(width=LABEL, no_wrap=True)
    table.add_column()
    table.add_row("printed", Text(f"{first['place']}: {first['words']}"))
    table.add_row("wrong", Text(first["wrong"]))
    for change, verdict in first["instead"]:
        table.add_row("instead", Text(f"{change} ({verdict})"))
    console.print(table)
    for line in lines:
        console.print(Padding(Text(refutation(line)), (0, 0, 0, LABEL + 1)))
    console.print()


def refutation(line: Mapping[str, Any]) -> str:
    """What one claim says at its counterexample, where that is, and what confirms it."""
    said = quoted(line["claim"])
    if line["lhs"] is not None and line["rhs"] is not None and line["kind"] in RELATIONS:
        left, right = apart(line["lhs"], line["rhs"])
        said += f" gives {left}, which must be {RELATIONS[line['kind']][line['strict']]} {right}"
        said += f" (error {number(line['error'])})"
    elif line["note"]:
        said += f": {line['note']}"
    where = f", at {numbers(line['instance'])}" if line["instance"] is not None else ""
    warrants = [f"confirmed {line['confirmation']}"] if line["confirmation"] else []
    if line["certificate"] == "certified":
        warrants.append("certified by ball arithmetic")
    return f"{said}{where}" + (f"; {', '.join(warrants)}" if warrants else "")


def numbers(instance: Mapping[str, Any]) -> str:
    """The sizes and fields of an instance; what has many entries by its shape."""
    parts = {**instance["sizes"], **{n: _shown(v) for n, v in instance["values"].items()}}
    return ", ".join(f"{name} = {value}" for name, value in parts.items())


def _shortest(value: np.floating[Any]) -> str:
    """The shortest decimal that reads back as the same number."""
    return repr(float(value)).removesuffix(".0")


def _shown(value: Any) -> str:
    array = np.asarray(value)
    if array.size > READABLE:
        return f"{' x '.join(map(str, array.shape))} numbers (--json)"
    shown = np.array2string(array, separator=", ", formatter={"float_kind": _shortest})
    return " ".join(shown.split())
