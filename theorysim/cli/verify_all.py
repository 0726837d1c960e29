"""The command `theorysim verify --all`: every statement, here or on a Dask cluster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from theorysim.cli.every import end, print_line
from theorysim.cli.options import cluster, interruptible, kept_folder, progress_on_terminal

if TYPE_CHECKING:
    from theorysim.engine.many.verified import Verified

# Options of one statement, and those of all of them.
OF_ONE = {"settings": "--set"}
OF_ONE |= {name: f"--{name}" for name in ("reading", "instance", "full", "plot", "out")}
OF_ALL = {name: f"--{name}" for name in ("only", "fresh", "scheduler")}


def verify_all(
    instances: int | None,
    seed: int,
    theorems: list[Path],
    only: str,
    fresh: bool,
    scheduler: str | None,
    as_json: bool,
) -> NoReturn:
    """Verify every statement, print a line as each ends, and exit with the code of the whole."""
    kept = kept_folder("verifications")
    with (
        interruptible(kept, "statement"),
        cluster(scheduler) as client,
        progress_on_terminal("verify") as progress,
    ):
        from theorysim.engine.many.verify_all import verify_all as run

        found = run(
            only,
            instances=instances,
            seed=seed,
            theorems=theorems,
            kept=kept,
            fresh=fresh,
            client=client,
            progress=progress,
            tell=None if as_json else _print,
        )
    end(found, as_json)


def _print(one: Verified) -> None:
    # The verdict is that of the primary reading, which may be a correction.
    note = "  (a printed reading is violated)" if one.hides_a_misprint else ""
    print_line(one, f"{one.verdict:<12}", note)
