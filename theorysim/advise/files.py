"""A user's Python file that says what `theorysim advise` is asked about, and the built-in example.

The file defines variables by the names of the arguments of `theorysim.advise.layers` and so on;
`CONTRACT` says which each question needs and takes.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any, NamedTuple

from theorysim.errors import UsageError

SHARED = ("params", "batched", "loss")


class Contract(NamedTuple):
    """Names that a file must define, and those that it may."""

    needs: tuple[str, ...]
    takes: tuple[str, ...]


CONTRACT = {
    "layers": Contract(
        ("model", "inputs", "targets"),
        (*SHARED, "test", "groups", "base", "candidates"),
    ),
    "transfer": Contract(
        ("model", "sources", "inputs", "targets"), (*SHARED, "test", "groups", "head")
    ),
    "strength": Contract(
        ("model", "inputs", "targets"), (*SHARED, "test", "groups", "pulls", "rate")
    ),
    "length": Contract(
        ("model", "checkpoints", "inputs", "targets"), (*SHARED, "new", "noises", "rates")
    ),
}


def request(question: str, path: Path) -> dict[str, Any]:
    """What the file defines for a question, by name.

    Raises:
        UsageError: for a file that is not there, is no Python, raises, or lacks a name.
    """
    if not path.is_file():
        raise UsageError(f"cannot read {path}: it is no file")
    spec = importlib.util.spec_from_file_location(f"advise_{path.stem}", path)
    if path.suffix != ".py" or spec is None or spec.loader is None:
        raise UsageError(f"{path}: expected a Python file, FILE.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and pickles look their module up
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        first = (str(error).strip() or "(no message)").splitlines()[0]
        raise UsageError(f"{path} raised {type(error).__name__}: {first}") from error
    needs, takes = CONTRACT[question]
    lacking = [name for name in needs if not hasattr(module, name)]
    if lacking:
        raise UsageError(
            f"{path} defines no `{lacking[0]}`: theorysim advise {question} needs "
            f"{', '.join(needs)} and takes {', '.join(takes)}"
        )
    return {name: getattr(module, name) for name in (*needs, *takes) if hasattr(module, name)}


def example(question: str, seed: int, text: bool = False) -> dict[str, Any]:
    """The built-in example: a network pretrained on digits, or on text.

    See `theorysim.advise.demo` and `theorysim.advise.demo_text`.
    """
    from theorysim.advise import demo, demo_text

    return (demo_text if text else demo).example(question, seed)
