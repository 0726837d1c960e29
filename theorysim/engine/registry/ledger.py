"""The ledger of printed readings that were refuted, as the package carries it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

LEDGER = Path(__file__).resolve().parents[2] / "theorems" / "errata.json"


def errata() -> list[dict[str, Any]]:
    """Every refuted claim: theorem, reading, claim, minimal instance, both sides, correction."""
    return json.loads(LEDGER.read_text())
