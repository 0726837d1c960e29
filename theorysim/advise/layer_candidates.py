"""What may be tuned: the base, and the candidates beside it, as a user names them or by default."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

from theorysim.advise.groups import shown
from theorysim.advise.layer_words import ALL, BASE_ALONE, name_of
from theorysim.advise.subject import Subject
from theorysim.errors import UsageError

Groups = tuple[str, ...]
Candidates = Mapping[str, Sequence[str]] | Sequence[Sequence[str]]

MOST = 64
"""so many candidates are compared at most"""


def base_of(given: str | Sequence[str] | None, found: Subject) -> Groups:
    """The groups that are tuned anyway: the one that the model uses last unless given.

    Raises:
        UsageError: for a group that is not there, or is named twice.
    """
    chosen = found.order[-1:] if given is None else _as_groups(given)
    _check_named(chosen, found, "base")
    return chosen


def candidates_of(
    given: Candidates | None, together: int, base: Groups, found: Subject
) -> dict[str, Groups]:
    """Groups that are added to `base`, by name.

    Raises:
        UsageError: for fewer than two candidates or more than `MOST`, an empty one, a group that is
            not there or is named twice, and for two candidates that tune the same groups.
    """
    if given is None:
        named = _all_of(together, base, found)
    else:
        named = _as_named(given)
    for groups in named.values():
        _check_named(groups, found, "candidates")
    added = {n: tuple(g for g in gs if g not in base) for n, gs in named.items()}
    if len(added) < 2 or not all((*base, *groups) for groups in added.values()):
        raise UsageError("candidates: name two or more, none of them empty")
    _check_few(len(added))
    _check_apart(added, base)
    return added


def _all_of(together: int, base: Groups, found: Subject) -> dict[str, Groups]:
    """All combinations of up to so many groups, all of them, and none."""
    rest = [group for group in found.order if group not in base]
    if not rest:
        raise UsageError(
            f"all groups ({shown(found.order)}) are in the base: nothing is left to choose"
        )
    if together < 1:
        raise UsageError(f"together={together}: at least 1")
    sizes = range(1, min(together, len(rest)) + 1)
    _check_few(sum(math.comb(len(rest), size) for size in sizes))
    named = {name_of(groups): groups for size in sizes for groups in combinations(rest, size)}
    if len(rest) > together:
        named[ALL] = tuple(rest)
    if base:
        named[BASE_ALONE] = ()
    return named


def _as_named(given: Candidates) -> dict[str, Groups]:
    if isinstance(given, Mapping):
        return {str(name): _as_groups(groups) for name, groups in given.items()}
    named: dict[str, Groups] = {}
    for groups in map(_as_groups, given):
        name = name_of(groups)
        if name in named:
            raise UsageError(f"candidates: {name} is named twice: name each once")
        named[name] = groups
    return named


def _as_groups(given: str | Sequence[str]) -> Groups:
    """One name is one group."""
    return (given,) if isinstance(given, str) else tuple(given)


def _check_named(names: Groups, found: Subject, what: str) -> None:
    """UsageError for a group that is not there, and for one that would be counted twice."""
    for place, name in enumerate(names):
        if name not in found.order:
            raise UsageError(f"{what}: no group {name!r}; there are {shown(found.order)}")
        if name in names[:place]:
            raise UsageError(f"{what}: {name_of(names)} names {name!r} twice: name it once")


def _check_few(count: int) -> None:
    if count > MOST:
        raise UsageError(f"{count} candidates: at most {MOST}; name them by candidates=")


def _check_apart(added: Mapping[str, Groups], base: Groups) -> None:
    """UsageError where two candidates tune the same groups, whatever they are called."""
    names: dict[frozenset[str], str] = {}
    for name, groups in added.items():
        first = names.setdefault(frozenset(groups), name)
        if first != name:
            tuned = name_of(tuple(sorted((*base, *groups))))
            raise UsageError(
                f"candidates: {first!r} and {name!r} tune the same groups ({tuned}): name one of "
                "them"
            )
