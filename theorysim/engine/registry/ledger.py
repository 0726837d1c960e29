"""The ledger of printed readings that were refuted, as the package carries it."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

# One refuted claim per line, so that a difference shows the claims that changed.
LEDGER = files("theorysim") / "records" / "errata.jsonl"


def errata() -> list[dict[str, Any]]:
    """Every refuted claim: theorem, reading, claim, minimal instance, both sides, correction."""
    return [json.loads(line) for line in LEDGER.read_text("utf-8").splitlines()]


def is_inference(reading: str) -> bool:
    """Whether a reading is, by its name, a step of a proof alone: what it concludes may be true."""
    return reading.startswith("inference")
