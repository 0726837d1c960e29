"""Parameters grouped as people think of them: a LoRA pair is one adapter, a block one layer.

Every leaf of a tree of parameters has a path, such as `blocks/0/attention/kernel`. A grouping says
which group a path belongs to, or None where the parameter stays as it is (is frozen).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TypeAlias

from theorysim.errors import UsageError

Patterns: TypeAlias = Mapping[str, str | Sequence[str]]
Grouping: TypeAlias = str | Patterns | Callable[[str], str | None] | None

KINDS = ("layer", "block")
SHOWN = 6
"""so many paths are named in a message"""

ADAPTER = re.compile("lora", re.IGNORECASE)
HALF = re.compile(r"([_-](a|b|left|right|up|down)|(?<=lora)[AB])$", re.IGNORECASE)


def assign(paths: Sequence[str], grouping: Grouping) -> dict[str, str | None]:
    """The group of every path.

    Args:
        paths: of all parameters.
        grouping: "layer" (the default: what shares a path but for its last part, and a LoRA pair
            is an adapter of its own, whose layer is frozen); "block" (up to the first part with a
            number: `blocks/0`); patterns by the name of their group (`{"head": "out/*"}`, what
            matches none is frozen, what matches several belongs to the first); or a function of a
            path.

    Raises:
        UsageError: for an unknown kind, a pattern that matches nothing, a group that earlier ones
            leave nothing to, or no group at all.
    """
    if grouping is None or grouping == "layer":
        found = _layers(paths)
    elif grouping == "block":
        found: dict[str, str | None] = {path: _block(path) for path in paths}
    elif isinstance(grouping, str):
        raise UsageError(
            f"groups={grouping!r}: expected one of {', '.join(KINDS)}, patterns or a function"
        )
    elif isinstance(grouping, Mapping):
        found = _matched(paths, grouping)
    elif callable(grouping):
        found = {path: _asked(grouping, path) for path in paths}
    else:
        raise UsageError(
            f"groups of type {type(grouping).__name__}: expected one of {', '.join(KINDS)}, "
            "patterns or a function"
        )
    if not any(found.values()):
        raise UsageError(f"no parameter belongs to a group; there are {shown(paths)}")
    return found


def shown(names: Sequence[str]) -> str:
    """Names for a message, the first few of many."""
    rest = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def _asked(grouping: Callable[[str], str | None], path: str) -> str | None:
    """What a user's function says of a path."""
    try:
        group = grouping(path)
    except Exception as error:
        code = getattr(grouping, "__code__", None)
        where = f" ({code.co_filename}:{code.co_firstlineno})" if code else ""
        first = (str(error).strip() or "(no message)").splitlines()[0]
        raise UsageError(
            f"groups: the function{where} raised {type(error).__name__} for {path!r}: {first}"
        ) from error
    if group is not None and not isinstance(group, str):
        raise UsageError(
            f"groups: the function gave a {type(group).__name__} for {path!r}: expected the name "
            "of a group, or None to freeze it"
        )
    return group


def _layers(paths: Sequence[str]) -> dict[str, str | None]:
    adapters = {path: _adapter(path) for path in paths}
    adapted = {where for found in adapters.values() if found for where in [found[0]]}
    groups: dict[str, str | None] = {}
    for path in paths:
        found, parent = adapters[path], path.rpartition("/")[0]
        if found:
            groups[path] = found[1]
        else:
            groups[path] = None if adapted and parent in adapted else parent or path
    return groups


def _adapter(path: str) -> tuple[str, str] | None:
    """Of a LoRA matrix: the path of the layer that it adapts, and the name of the pair."""
    parts = path.split("/")
    for place, part in enumerate(parts):
        if ADAPTER.search(part):
            return "/".join(parts[:place]), "/".join([*parts[:place], HALF.sub("", part)])
    return None


def _block(path: str) -> str:
    parts = path.split("/")
    for place, part in enumerate(parts):
        if re.search(r"\d", part):
            return "/".join(parts[: place + 1])
    return path.rpartition("/")[0] or path


def _matched(paths: Sequence[str], patterns: Patterns) -> dict[str, str | None]:
    groups: dict[str, str | None] = dict.fromkeys(paths)
    for name, given in patterns.items():
        hits = _hits(paths, name, given)
        if all(groups[path] is not None for path in hits):
            earlier = shown(list(dict.fromkeys(str(groups[path]) for path in hits)))
            raise UsageError(
                f"group {name!r}: "
                + (f"all that it matches is in {earlier} already" if hits else "it has no pattern")
                + ": give each group parameters of its own"
            )
        groups |= {path: name for path in hits if groups[path] is None}
    return groups


def _hits(paths: Sequence[str], name: str, given: str | Sequence[str]) -> list[str]:
    """The paths that a group's patterns match."""
    hits = []
    for pattern in [given] if isinstance(given, str) else given:
        found = [path for path in paths if fnmatchcase(path, pattern)]
        if not found:
            raise UsageError(
                f"group {name!r}: no parameter matches {pattern!r}; there are {shown(paths)}"
            )
        hits += found
    return list(dict.fromkeys(hits))


def shared(paths: Sequence[str], grouping: Grouping) -> list[str]:
    """A note for every group of patterns that matches what belongs to earlier ones."""
    if not isinstance(grouping, Mapping):
        return []
    found, notes = assign(paths, grouping), []
    for name, given in grouping.items():
        lost = [path for path in _hits(paths, name, given) if found[path] != name]
        if lost:
            owners = shown(list(dict.fromkeys(str(found[path]) for path in lost)))
            notes.append(
                f"of what {name} matches, {shown(lost)} belongs to {owners}, which is named before"
            )
    return notes
