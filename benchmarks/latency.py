"""How long a user waits for `theorysim verify ID`, statement by statement, beside a bare import.

    python -m benchmarks.latency [--only TEXT] [--ids FILE] [--rounds N] [--against CHECKOUT]
                                 [--caches FOLDER] [--table]

Every process begins with empty caches of its statement (*cold*: compiling is what that takes beyond
a warm one) and is then run again (*warm*), in turns with `import jax, diffrax` and, with
`--against`, with another checkout of this repository (*before*). Counted are seconds on the clock
and seconds of the processor (of all threads, of the user and the system), of which a busy machine
changes the first more. The least of all rounds counts. What is measured is appended to
`benchmarks/latency.jsonl`, from which a run that was stopped goes on; `--table` measures nothing.
With `--caches` the caches stay in a folder: cold is what the first run took with what was there,
and the other checkout is taken to be warm.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from theorysim.engine.registry import catalogue
from theorysim.environment import PROGRAMS

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "benchmarks" / "latency.jsonl"
BARE = (sys.executable, "-c", "import jax, diffrax")
# A statement that takes longer than this is left out of the table.
LIMIT = 900.0
# What a user may wait for nine statements in ten, and for the others, in bare imports.
GOALS = {2.0: 0.9, 3.0: 1.0}


# What a command may end with: any verdict.
VERDICTS = {0, 3, 4}


class FailedError(Exception):
    """A process that was to be measured did not do its work."""


@dataclass(frozen=True)
class Taken:
    """Seconds on the clock, and of the processor."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Line:
    """What was measured of one statement: the least of all rounds; `cold` ran once.

    `before` is the other checkout, warm; None where there is none.
    """

    statement: str
    commit: str
    rounds: int
    load: float
    bare: Taken
    cold: Taken
    warm: Taken
    before: Taken | None = None

    @staticmethod
    def of(data: dict) -> Line:
        """A line of the record."""
        parts = ("bare", "cold", "warm", "before")
        taken = {name: Taken(**data[name]) if data[name] else None for name in parts}
        return Line(**{**data, **taken})


def run(command: Sequence[str], environment: dict[str, str], folder: Path = ROOT) -> Taken:
    """What a process takes to its end; begun in a folder, whose code comes first.

    Raises:
        TimeoutError: beyond LIMIT.
        FailedError: where it ends in an error, and not with a verdict.
    """
    begin = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while True:
        done, status, used = os.wait4(process.pid, os.WNOHANG)
        if done:
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode not in VERDICTS:
                raise FailedError(f"{' '.join(command)} ended with {process.returncode}")
            return Taken(time.perf_counter() - begin, used.ru_utime + used.ru_stime)
        if time.perf_counter() - begin > LIMIT:
            process.kill()
            process.wait()
            raise TimeoutError(f"{' '.join(command)} took more than {LIMIT:g} s")
        time.sleep(0.01)


def verifying(
    statement: str, checkout: Path, caches: Path
) -> tuple[list[str], dict[str, str], Path]:
    """The command that verifies a statement with one checkout's code: arguments of `run`."""
    own = {
        "PYTHONPATH": os.pathsep.join([str(checkout), *_rest()]),
        "JAX_COMPILATION_CACHE_DIR": str(caches / "jax"),
        PROGRAMS: str(caches / "programs"),
    }
    command = [sys.executable, "-m", "theorysim", "verify", statement, "--json"]
    return command, {**os.environ, **own}, checkout


def _rest() -> list[str]:
    """What else the caller's path names."""
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return [part for part in given if part and Path(part) != ROOT]


def measure(statement: str, rounds: int, against: Path | None, caches: Path | None) -> Line:
    """One statement: cold once, then everything in turns."""
    with tempfile.TemporaryDirectory() as empty:
        folder = caches or Path(empty)
        own = verifying(statement, ROOT, folder / "own")
        other = verifying(statement, against or ROOT, folder / "other")
        cold = run(*own)
        if against is not None and caches is None:
            run(*other)
        bare, warm, before = [], [], []
        for _ in range(rounds):
            bare.append(run(BARE, dict(os.environ)))
            warm.append(run(*own))
            if against is not None:
                before.append(run(*other))
    return Line(
        statement,
        commit(),
        rounds,
        os.getloadavg()[0],
        _least(bare),
        cold,
        _least(warm),
        _least(before) if before else None,
    )


def commit() -> str:
    """The commit of this checkout, shortened, with a mark if its code differs from it."""
    words = ["git", "-C", str(ROOT), "describe", "--always", "--abbrev=10", "--dirty=+"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def _least(several: Sequence[Taken]) -> Taken:
    return Taken(min(one.wall for one in several), min(one.cpu for one in several))


def recorded() -> list[Line]:
    """The last line of every statement."""
    if not RECORD.exists():
        return []
    lines = (Line.of(json.loads(text)) for text in RECORD.read_text("utf-8").splitlines())
    return list({line.statement: line for line in lines}.values())


def table(lines: Sequence[Line]) -> Iterator[str]:
    """The table in Markdown, and how far the goals are reached."""
    yield "| statement | bare | cold | warm | before | warm / bare | CPU: bare | warm | before |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for line in lines:
        before = line.before or Taken(float("nan"), float("nan"))
        wall = (line.bare.wall, line.cold.wall, line.warm.wall, before.wall)
        cpu = (line.bare.cpu, line.warm.cpu, before.cpu)
        cells = [f"{part:.2f}" for part in (*wall, line.warm.wall / line.bare.wall, *cpu)]
        yield f"| {line.statement} | {' | '.join(cells)} |"
    yield ""
    for kind in ("wall", "cpu"):
        ratios = [getattr(line.warm, kind) / getattr(line.bare, kind) for line in lines]
        told = [
            f"{sum(ratio <= goal for ratio in ratios)} within {goal:g} (goal: {100 * share:g} %)"
            for goal, share in GOALS.items()
        ]
        middle = statistics.median(ratios)
        yield f"{kind}: {len(ratios)} statements, median {middle:.2f} bare, {', '.join(told)}"


def main(arguments: list[str] | None = None) -> int:
    """Measure, print and record; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only statements whose ids contain this text")
    parser.add_argument("--ids", type=Path, help="only the statements of this file, one a line")
    parser.add_argument("--rounds", type=int, default=3, help="warm runs of each")
    parser.add_argument("--against", type=Path, help="another checkout to run in turns")
    parser.add_argument("--caches", type=Path, help="where caches stay")
    parser.add_argument("--fresh", action="store_true", help="measure again what is recorded")
    parser.add_argument("--table", action="store_true", help="only print the table")
    options = parser.parse_args(arguments)
    every = [entry.id for entry in catalogue() if not entry.is_experiment]
    if options.ids is not None:
        every = options.ids.read_text("utf-8").split()
    chosen = [id for id in every if options.only in id]
    now = commit().rstrip("+")
    done = {line.statement for line in recorded() if line.commit.rstrip("+") == now}
    left = [id for id in chosen if options.fresh or id not in done]
    for statement in [] if options.table else left:
        try:
            line = measure(statement, options.rounds, options.against, options.caches)
        except (TimeoutError, FailedError) as error:
            print(f"{statement} is left out: {error}", flush=True)
            continue
        with RECORD.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(line)) + "\n")
        print(f"{statement}: warm {line.warm}, bare {line.bare}, before {line.before}", flush=True)
    print("\n".join(table([line for line in recorded() if line.statement in chosen])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
