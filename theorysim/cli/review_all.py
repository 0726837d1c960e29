"""The command `theorysim review --all`: every statement, here or on a Dask cluster."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from theorysim.cli.every import end, print_line
from theorysim.cli.options import cluster, interruptible, kept_folder, progress_on_terminal
from theorysim.environment import cache_folder

# Options of one statement, and those of all of them.
OF_ONE = {"html": "--html"}
OF_ALL = {"only": "--only"}


def review_all(
    seconds: float,
    seed: int,
    theorems: list[Path],
    only: str,
    fresh: bool,
    scheduler: str | None,
    as_json: bool,
) -> NoReturn:
    """Review every statement, print a line as each ends, and exit with the code of the whole."""
    kept = kept_folder("reviews") and cache_folder()
    with (
        interruptible(kept, "statement"),
        cluster(scheduler) as client,
        progress_on_terminal("review") as progress,
    ):
        from theorysim.engine.many.review_all import review_all as run

        found = run(
            only,
            seconds=seconds,
            seed=seed,
            theorems=theorems,
            kept=kept,
            fresh=fresh,
            client=client,
            progress=progress,
            tell=None
            if as_json
            else lambda one: print_line(one, f"{one.verdict:<12}  {one.decision:<15}"),
        )
    end(found, as_json)
