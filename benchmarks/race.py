"""Contenders that do the same work in one process, timed in turns, compilation apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any

import jax
import numpy as np

from theorysim.memory import program_bytes

ROUNDS = 5
# No round is begun after so many seconds, but for the first that counts.
SECONDS = 20.0


@dataclass(frozen=True)
class Contender:
    """Something to run, and what is known of it.

    `run` returns its results, `work` units of them (instances, steps) at a time. The error is of
    these results, in units that the benchmark's docstring gives; `mib` is what the program holds
    while it runs, in MiB. None where it was not measured.
    """

    name: str
    run: Callable[[], Any]
    work: float = 1
    compile_seconds: float | None = None
    mib: float | None = None
    error: float | None = None


@dataclass(frozen=True)
class Row:
    """Ours against a peer: best seconds of each per unit of work, and peer's over ours as `ratio`.

    `ratio_low` and `ratio_high` are the least and the largest ratio of any round. `over` names the
    size that a ladder of rows varies; it is empty where there is no ladder.
    """

    name: str
    peer: str
    size: Mapping[str, int]
    unit: str
    seconds: float
    peer_seconds: float
    ratio: float
    ratio_low: float
    ratio_high: float
    compile_seconds: float | None
    peer_compile_seconds: float | None
    mib: float | None
    peer_mib: float | None
    error: float | None
    peer_error: float | None
    device: str
    dtype: str
    over: str = ""

    def as_json(self) -> dict[str, Any]:
        """The row as JSON data."""
        return asdict(self)


def compiled(
    name: str,
    function: Callable[..., Any],
    *arguments: Any,
    work: float = 1,
    jit: Callable[..., Any] = jax.jit,
) -> Contender:
    """A function compiled for these arguments, with the seconds and the memory that this takes."""
    begin = perf_counter()
    program = jit(function).lower(*arguments).compile()
    taken = perf_counter() - begin
    return Contender(
        name, partial(program, *arguments), work, taken, program_bytes(program) / 2**20
    )


def called(name: str, run: Callable[[], Any], work: float = 1) -> Contender:
    """What compiles inside of its first call: compilation is what that takes beyond the second."""
    first, second = seconds(run), seconds(run)
    return Contender(name, run, work, max(first - second, 0.0))


def with_error(contender: Contender, truth: Any) -> Contender:
    """With the largest distance of its results to the truth, relative to the largest entry."""
    exact = np.asarray(truth)
    gap = np.abs(np.asarray(contender.run()) - exact)
    return replace(contender, error=float(np.max(gap) / np.max(np.abs(exact))))


def seconds(run: Callable[[], Any]) -> float:
    """Seconds of one run, to its last result."""
    begin = perf_counter()
    jax.block_until_ready(run())
    return perf_counter() - begin


def in_turns(
    contenders: Sequence[Contender], rounds: int = ROUNDS, limit: float = SECONDS
) -> list[list[float]]:
    """Seconds per unit of work of every contender in every round, after one that is not counted.

    All of them run in each round, so that all see one load of the machine.
    """
    for one in contenders:
        jax.block_until_ready(one.run())
    end = perf_counter() + limit
    taken: list[list[float]] = [[] for _ in contenders]
    while len(taken[0]) < rounds and (not taken[0] or perf_counter() < end):
        for one, times in zip(contenders, taken, strict=True):
            times.append(seconds(one.run) / one.work)
    return taken


def race(
    ours: Contender,
    *peers: Contender,
    size: Mapping[str, int],
    unit: str,
    dtype: str,
    over: str = "",
    rounds: int = ROUNDS,
) -> Iterator[Row]:
    """A row per peer; arguments as in `Row`."""
    own, *others = in_turns((ours, *peers), rounds)
    for peer, times in zip(peers, others, strict=True):
        ratios = [theirs / mine for mine, theirs in zip(own, times, strict=True)]
        bounds = min(ratios), max(ratios)
        yield against(
            (ours, own), (peer, times), bounds, size=size, unit=unit, dtype=dtype, over=over
        )


def against(
    ours: tuple[Contender, Sequence[float]],
    theirs: tuple[Contender, Sequence[float]],
    bounds: tuple[float, float],
    *,
    size: Mapping[str, int],
    unit: str,
    dtype: str,
    over: str = "",
) -> Row:
    """The row of two contenders with their seconds in every round, and bounds of their ratio."""
    (mine, own), (peer, times) = ours, theirs
    return Row(
        name=mine.name,
        peer=peer.name,
        size=size,
        unit=unit,
        seconds=min(own),
        peer_seconds=min(times),
        ratio=min(times) / min(own),
        ratio_low=bounds[0],
        ratio_high=bounds[1],
        compile_seconds=mine.compile_seconds,
        peer_compile_seconds=peer.compile_seconds,
        mib=mine.mib,
        peer_mib=peer.mib,
        error=mine.error,
        peer_error=peer.error,
        device=device(),
        dtype=dtype,
        over=over,
    )


def device() -> str:
    """The device that programs run on, such as "cpu" or "NVIDIA H100"."""
    return jax.devices()[0].device_kind
