"""The evidence: campaigns, independent oracles, recorded verdicts, the ledger of errata.

Importing it prepares the environment, because every module here starts JAX.
"""

import json
from pathlib import Path
from typing import Any

from theorysim.environment import prepare
from theorysim.files import write_whole as write_whole

prepare()


def read_record(path: Path) -> dict[str, Any]:
    """What a record holds, by id; nothing where there is none yet."""
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def row(*cells: str) -> str:
    """A row of a Markdown table whose cells may hold bars, as |x| does."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
