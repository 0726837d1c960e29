"""English and program text that comes with Python, or of a user's own file, as pairs of characters.

What a model of bigrams learns of a text is its table of pairs, so that table is the data: batches
are drawn from it without end, and losses over it are exact.
"""

from __future__ import annotations

from collections import Counter
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from jaxtyping import Float

from theorysim.data import own
from theorysim.errors import UsageError

# Of the library whose text stands for programs: those that every installation has.
PROGRAMS = ("argparse", "ast", "asyncio.base_events", "datetime", "doctest", "inspect", "typing")


def english() -> str:
    """The topics of Python's own help: about 450,000 characters, which differ by its version.

    Or a user's own `english`.
    """
    file = own.file_of("english")
    return _topics() if file is None else read(file)


def programs() -> str:
    """Sources of Python's own library: about 500,000 characters, which differ by its version.

    Or a user's own `programs`.
    """
    file = own.file_of("programs")
    return _library() if file is None else read(file)


@cache
def _topics() -> str:
    from pydoc_data.topics import topics

    return "\n".join(topics[name] for name in sorted(topics))


@cache
def _library() -> str:
    import inspect
    from importlib import import_module

    return "\n".join(inspect.getsource(import_module(name)) for name in PROGRAMS)


def read(path: str | Path) -> str:
    """A user's own text.

    Raises:
        UsageError: naming the file, where it cannot be read as UTF-8.
    """
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path} as UTF-8 text: {error}") from None


def vocabulary(text: str, size: int) -> str:
    """The most frequent characters of a text in lower case, the most frequent first.

    Raises:
        UsageError: where the text has fewer.
    """
    counts = Counter(text.lower())
    if len(counts) < size:
        raise UsageError(f"a vocabulary of {size}: the text has {len(counts)} characters only")
    return "".join(sorted(counts, key=lambda c: (-counts[c], c))[:size])


@lru_cache(maxsize=8)
def pairs(text: str, characters: str) -> Float[np.ndarray, "characters characters"]:
    """How frequent each pair of neighbours is: first character by row; the entries sum to one.

    Pairs with a character outside of `characters` are left out, and every pair is counted once
    more than it stands there, so that none has chance zero. The table is read-only: it is kept.
    """
    place = {c: k for k, c in enumerate(characters)}
    codes = np.array([place.get(c, -1) for c in text.lower()])
    first, second = codes[:-1], codes[1:]
    known = (first >= 0) & (second >= 0)
    table = np.ones((len(characters), len(characters)))
    np.add.at(table, (first[known], second[known]), 1)
    table /= table.sum()
    table.setflags(write=False)
    return table
