"""The table of worst cases: what is printed, what PEPit computes, what the tool finds.

    python -m worst_cases.table          # in packs/classics, after worst_cases.pepit
    python -m worst_cases.table --page   # writes README.md anew from the record

For every case the falsifier searches the theorem's space at the settings of the case for the
largest ratio of both sides; where it is reached, the same claim with a constant 1 % too small is
verified. Sizes that a case does not name keep their defaults.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import jax

import theorysim
from theorysim.claims import Theorem, Verdict
from theorysim.engine import registry
from theorysim.environment import prepare

FOLDER = Path(__file__).parent
PEPIT, RECORD = FOLDER / "pepit.json", FOLDER / "worst_cases.json"
PAGE = FOLDER.parent / "README.md"
BEGIN, END = "<!-- table of worst cases -->", "<!-- end of the table -->"

COLUMNS = (
    *("rate", "settings", "printed", "PEPit", "PEPit / printed"),
    *("found", "found / PEPit", "1 % less"),
)
TOO_SMALL = "a constant 1 % too small"
BUDGET = 4000
# Where a theorem predicts several numbers or has several claims, the ones of the table.
PART = {"rate-frank-wolfe": "all"}
CLAIM = {"rate-polyak-step": "|x_1 - x*|^2 at worst"}


def theorem_of(case: str) -> Theorem:
    """The theorem that a case is about."""
    return registry.theorem(f"first-order/{case.split(',')[0]}")


def printed(case: str, settings: dict[str, float]) -> float:
    """The number that the theorem's primary reading prints at the settings of a case."""
    theorem, name = theorem_of(case), case.split(",")[0]
    space = theorem.space
    sizes = space.default_sizes(**{k: v for k, v in settings.items() if k in space.sizes})
    with jax.enable_x64(True):
        drawn = space.to_json(space.sample(jax.random.key(0), sizes))
        values = {k: v for k, v in settings.items() if k in space.fields}
        x = space.from_json({"sizes": sizes, "values": {**drawn["values"], **values}})
        found: Any = theorem.primary().predict(x)
    return float(found[PART[name]] if name in PART else found)


def attack(case: str, settings: dict[str, float]) -> tuple[float, bool]:
    """The largest ratio of the sides that the falsifier reaches; whether 1 % less is refuted."""
    theorem, name = theorem_of(case), case.split(",")[0]
    sizes = {size: part.default for size, part in theorem.space.sizes.items()}
    claim = CLAIM.get(name, theorem.primary().claims[0].name)
    given = {"claim": claim, "budget": BUDGET, "settings": {**sizes, **settings}}
    whole = theorysim.falsify(theorem, reading=theorem.primary().name, **given)
    if any(a.refuted for a in whole.attacks):
        raise ValueError(f"{case}: the printed rate is refuted: {whole}")
    (found,) = whole.attacks
    if TOO_SMALL not in {mutant.name for mutant in theorem.mutants_of(theorem.primary())}:
        return found.ratio, False
    only = {"reading": TOO_SMALL, "claims": [found.claim], "instance": found.ratio_instance}
    return found.ratio, theorysim.verify(theorem, **only).verdict is Verdict.VIOLATED


def rows() -> list[dict[str, Any]]:
    """What is recorded, with the ratios that the table shows."""
    record = json.loads(RECORD.read_text())
    for name, row in record.items():
        row["case"] = name
        row["found"] = row["ratio"] * row["printed"]
    return list(record.values())


def table() -> str:
    """The table in Markdown."""
    head = (
        "| rate | settings | printed | PEPit | PEPit / printed | found | found / PEPit | 1 % less |"
    )
    lines = [head, "|---|---|---|---|---|---|---|---|"]
    for row in rows():
        ones = {k: v for k, v in row["settings"].items() if k not in ("smoothness", "distance")}
        settings = ", ".join(f"{k} {v:.4g}" for k, v in ones.items())
        cells = [
            row["case"].removeprefix("rate-"),
            settings,
            f"{row['printed']:.6g}",
            f"{row['pepit']:.6g}",
            f"{row['pepit'] / row['printed']:.5f}",
            f"{row['found']:.6g}",
            f"{row['found'] / row['pepit']:.5f}",
            "refuted" if row["refuted"] else "stands",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def page() -> str:
    """README.md with the table as it is recorded."""
    before, rest = PAGE.read_text().split(BEGIN)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{rest.split(END)[1]}"


def main() -> None:
    """Attack every case, or those named, and write record and page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="*", default=None, help="cases to attack anew")
    parser.add_argument("--page", action="store_true", help="write the page only")
    options = parser.parse_args()
    if not options.page:
        record(options.only)
    PAGE.write_text(page())


def record(only: list[str] | None) -> None:
    """Attack the cases of these names, or all, and write the record after each."""
    known = json.loads(RECORD.read_text()) if RECORD.is_file() else {}
    solved = json.loads(PEPIT.read_text())
    for name, case in solved.items():
        if only is not None and name not in only:
            continue
        ratio, refuted = attack(name, case["settings"])
        number = printed(name, case["settings"])
        row = {"settings": case["settings"], "printed": number, "pepit": case["value"]}
        known[name] = {**row, "ratio": round(ratio, 6), "refuted": refuted}
        ordered = {name: known[name] for name in solved if name in known}
        RECORD.write_text(json.dumps(ordered, indent=1) + "\n")
        print(f"{name}: {ratio:.6f} {refuted}", flush=True)
        jax.clear_caches()


if __name__ == "__main__":
    prepare()
    main()
