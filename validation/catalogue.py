"""The recorded verdicts: what every reading came out as when its theorem was last reviewed.

    python -m validation.catalogue [--only TEXT]

verifies every registered theorem (or those whose ids contain the text) and rewrites
validation/catalogue.json; read its difference before committing it. The test suite compares every
verdict with the recorded one.
"""

from __future__ import annotations

import argparse
import json
from functools import cache
from pathlib import Path

CATALOGUE = Path(__file__).resolve().parent / "catalogue.json"


@cache
def catalogue() -> dict[str, dict[str, str]]:
    """Per theorem, the recorded verdict of every reading."""
    return json.loads(CATALOGUE.read_text())


def record(only: str = "") -> None:
    """Verify what is asked for and write the catalogue; statements that are gone leave it."""
    from theorysim.engine import registry
    from theorysim.engine.verify.verify import verify

    known = catalogue() if CATALOGUE.exists() else {}
    found = {}
    for entry in registry.catalogue():
        if only in entry.id:
            report = verify(entry.id)
            found[entry.id] = {r.name: str(r.verdict) for r in report.readings}
            print(entry.id, found[entry.id], flush=True)
        elif entry.id in known:
            found[entry.id] = known[entry.id]
    CATALOGUE.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only ids that contain this text")
    record(parser.parse_args().only)
