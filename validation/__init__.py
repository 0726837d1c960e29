"""The evidence: campaigns, independent oracles, recorded verdicts, the ledger of errata.

Importing it prepares the environment, because every module here starts JAX.
"""

import os
from pathlib import Path

from theorysim.environment import prepare

prepare()


def write_whole(path: Path, text: str) -> None:
    """Replace a record at once: who is stopped while writing leaves the old one."""
    unfinished = path.with_name(f".{path.name}.part")
    unfinished.write_text(text)
    os.replace(unfinished, path)
