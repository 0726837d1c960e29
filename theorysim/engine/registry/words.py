"""Python files without the words that are for readers only: what they compute is what is left.

Words are comments, docstrings, and what theorems say of themselves in strings: `note` and
`statement`, and the place, words and changes of `Printed`, `Corrected`, `Finding` and `corrected`.
Names of readings and claims stay: records know these by their names.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from itertools import accumulate
from typing import TypeAlias

# A place in a file: its line, from 1, and the byte in it.
Place: TypeAlias = tuple[int, int]

KEYWORDS = frozenset({"note", "statement"})
SOURCES = frozenset({"Printed", "Corrected", "Finding"})


def without_words(file: bytes) -> bytes:
    """The lines of a file that are left without words; blank ones are none.

    Places of the syntax tree are cut, because what it is printed as changes with Python's version.
    """
    lines = file.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, lines))]
    spans = sorted(
        (_at(starts, a), _at(starts, b)) for a, b in (*_strings(file), *_comments(lines))
    )
    kept, end = [], 0
    for start, stop in spans:
        kept.append(file[end : max(start, end)])
        end = max(stop, end)
    text = b"".join([*kept, file[end:]])
    return b"\n".join(line.rstrip() for line in text.splitlines() if line.strip())


def _at(starts: list[int], place: Place) -> int:
    line, column = place
    return starts[line - 1] + column


def _strings(file: bytes) -> Iterator[tuple[Place, Place]]:
    for node in ast.walk(ast.parse(file)):
        for word in _words(node):
            if isinstance(word, ast.Constant) and isinstance(word.value, str):
                assert word.end_lineno is not None and word.end_col_offset is not None
                yield (word.lineno, word.col_offset), (word.end_lineno, word.end_col_offset)


def _words(node: ast.AST) -> Iterator[ast.expr]:
    """What would be words of a node, if it is a string."""
    if isinstance(node, ast.Expr):
        yield node.value
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else _name(node.func)
        is_source = name in SOURCES
        yield from (k.value for k in node.keywords if is_source or k.arg in KEYWORDS)
        yield from node.args if is_source else node.args[: name == "corrected"]


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _comments(lines: list[bytes]) -> Iterator[tuple[Place, Place]]:
    for token in tokenize.tokenize(io.BytesIO(b"".join(lines)).readline):
        if token.type == tokenize.COMMENT:
            (row, column), text = token.start, lines[token.start[0] - 1].decode()
            before = len(text[:column].encode())
            yield (row, before), (row, before + len(token.string.encode()))
