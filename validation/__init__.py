"""The evidence: campaigns, independent oracles, recorded verdicts, the ledger of errata.

Importing it prepares the environment, because every module here starts JAX.
"""

from theorysim.environment import prepare
from theorysim.files import write_whole as write_whole

prepare()


def row(*cells: str) -> str:
    """A row of a Markdown table whose cells may hold bars, as |x| does."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
