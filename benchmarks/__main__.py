"""Every benchmark, one after the other, into history.jsonl and docs/records/benchmarks.md.

    python -m benchmarks [--only TEXT] [--quick] [--page]

`--quick` takes small sizes, and records nothing; `--page` runs nothing and rewrites the page.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Iterator
from types import ModuleType

import jax

import benchmarks
from benchmarks import history, page
from benchmarks.race import Row
from theorysim.errors import UsageError


def found(only: str = "") -> Iterator[ModuleType]:
    """The modules with a function `rows` whose names contain a text."""
    for info in pkgutil.iter_modules(benchmarks.__path__):
        if only in info.name and info.name != "__main__":
            module = importlib.import_module(f"benchmarks.{info.name}")
            if hasattr(module, "rows"):
                yield module


def name(module: ModuleType) -> str:
    """What a benchmark is called."""
    return module.__name__.rpartition(".")[2]


def run(module: ModuleType, quick: bool) -> list[Row]:
    """The rows of a benchmark, printed as they come."""
    rows = []
    for row in module.rows(quick):
        rows.append(row)
        print(f"{name(module)}: {page.in_words(row)}", flush=True)
    jax.clear_caches()
    return rows


def main(arguments: list[str] | None = None) -> int:
    """Measure, print and record; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only benchmarks whose names contain this text")
    parser.add_argument("--quick", action="store_true", help="small sizes, nothing is recorded")
    parser.add_argument("--page", action="store_true", help="only rewrite the page")
    options = parser.parse_args(arguments)
    if options.page:
        page.write()
        return 0
    try:
        of = "" if options.quick else history.commit()
        chosen = list(found(options.only))
        if not chosen:
            every = ", ".join(map(name, found()))
            raise UsageError(f"no benchmark is called like '{options.only}': there are {every}")
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for module in chosen:
        before = history.load()
        rows = run(module, options.quick)
        if not options.quick:
            history.add(history.line(of, name(module), rows, before))
            page.write()
    return 0


if __name__ == "__main__":
    # A program that is found on disk costs no compilation.
    jax.config.update("jax_enable_compilation_cache", False)
    sys.exit(main())
