"""Every kernel on an accelerator, against a CPU and measured rooflines.

    python -m benchmarks.gpu [--quick] [--cpu]
    python -m benchmarks.gpu --part FILE [--quick]
    python -m benchmarks.gpu --join ACCELERATOR CPU

The first records the times in history.jsonl and docs/records/benchmarks.md. The CPU's part runs in
a process of its own, which sees no accelerator. Without an accelerator it says so and exits with 2,
unless `--cpu` is given: then small sizes of all of it run on the CPU, against the CPU, to show that
it works. `--quick` takes small sizes, too; neither records anything.

Where the machine is hired by the minute, or is no checkout, `--part` measures its default device
alone and writes a line as soon as a kernel is done, so that a run that is stopped leaves what it
had; `--join` records two parts that were measured of the sources of this checkout.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax

from benchmarks import gpu_kernels, history, page
from benchmarks.race import Contender, Row, against, in_turns
from benchmarks.roofline import Roofline, accelerator, measure
from theorysim.engine.review.words import count
from theorysim.errors import UsageError

Part = Mapping[str, Any]


def measured(quick: bool, on_cpu: bool) -> Iterator[dict[str, Any]]:
    """What the default device does, as JSON data: who it is, its rooflines, then a kernel each."""
    before = history.load()
    with jax.enable_x64(True):
        roofs = {dtype: measure(dtype, quick) for dtype in gpu_kernels.DTYPES}
        yield {
            "sources": history.sources(),
            "rooflines": [roof._asdict() for roof in roofs.values()],
            **history.machine(before),
        }
        for kernel in gpu_kernels.kernels(quick, on_cpu):
            yield _line(kernel, roofs[kernel.dtype])
            jax.clear_caches()


def _line(kernel: gpu_kernels.Kernel, roof: Roofline) -> dict[str, Any]:
    times = kernel.times or in_turns([kernel.contender])[0]
    return {
        "name": kernel.contender.name,
        "dtype": kernel.dtype,
        "size": kernel.size,
        "unit": kernel.unit,
        "times": times,
        "compile_seconds": kernel.contender.compile_seconds,
        "mib": kernel.contender.mib,
        "share": roof.share(min(times), kernel.operations, kernel.bytes),
    }


def write_part(file: Path, quick: bool) -> None:
    """Measure the default device into a file of JSON lines, each written when it is known.

    Raises:
        UsageError: where the file cannot be written, before anything is measured.
    """
    try:
        stream = file.open("w")
    except OSError as error:
        raise UsageError(
            f"{file} cannot be written ({error.strerror}): name another file"
        ) from None
    with stream:
        for line in measured(quick, on_cpu=not accelerator()):
            print(json.dumps(line), file=stream, flush=True)


def read_part(file: Path) -> Part:
    """The first line of a part, with all others as its `kernels`.

    Raises:
        UsageError: where it is no part.
    """
    try:
        head, *kernels = map(json.loads, file.read_text().splitlines())
        found = {**head, "kernels": kernels}
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(
            f"{file} is no part of this benchmark ({error}): write one with --part"
        ) from None
    missing = {"sources", "rooflines", *history.MACHINE} - found.keys()
    if missing:
        raise UsageError(
            f"{file} is no part of this benchmark (no {', '.join(sorted(missing))}): write one "
            "with --part"
        )
    return found


def both(quick: bool) -> tuple[Part, Part]:
    """The parts of this process's device and of a process that sees only the CPU."""
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = Path(folder) / "accelerator", Path(folder) / "cpu"
        write_part(ours, quick)
        command = [sys.executable, "-m", "benchmarks.gpu", "--part", str(theirs)]
        environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
        subprocess.run([*command, *["--quick"] * quick], env=environment, check=True)
        return read_part(ours), read_part(theirs)


def row(ours: Part, theirs: Part, peer: str, name: str) -> Row:
    """A kernel on both devices, the second of which has a name as peer; the first is `name`.

    The bounds of the ratio are of all pairs of rounds.
    """
    own, others = ours["times"], theirs["times"]
    mine, peers = (
        Contender(label, lambda: None, compile_seconds=line["compile_seconds"], mib=line["mib"])
        for label, line in ((ours["name"], ours), (peer, theirs))
    )
    bounds = min(others) / max(own), max(others) / min(own)
    found = against(
        (mine, own),
        (peers, others),
        bounds,
        size=ours["size"],
        unit=ours["unit"],
        dtype=ours["dtype"],
    )
    return replace(found, device=name)


def joined(ours: Part, theirs: Part, of: str) -> history.Line:
    """A line of the record: the kernels that both parts have, and what else they measured."""
    known = {(line["name"], line["dtype"]): line for line in theirs["kernels"]}
    pairs = [
        (line, known[key])
        for line in ours["kernels"]
        if (key := (line["name"], line["dtype"])) in known
    ]
    peer = f"CPU, {count(theirs['cores'], 'core')}"
    return {
        "benchmark": page.GPU,
        "commit": of,
        **{name: ours[name] for name in history.MACHINE},
        "peer": {name: theirs[name] for name in history.MACHINE},
        "shares": {f"{a['name']} {a['dtype']}": [a["share"], b["share"]] for a, b in pairs},
        "rooflines": [*ours["rooflines"], *theirs["rooflines"]],
        "rows": [row(*pair, peer, ours["device"]).as_json() for pair in pairs],
    }


def _same_sources(*parts: Part) -> None:
    for part in parts:
        if part["sources"] != history.sources():
            raise UsageError(
                f"the part of {part['device']} was measured of other sources than those of this "
                "checkout: check out the commit that it is of, or measure it anew"
            )


def main(arguments: list[str] | None = None) -> int:
    """Measure, print and record; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, nothing is recorded")
    parser.add_argument("--cpu", action="store_true", help="small sizes on the CPU")
    parser.add_argument("--part", type=Path, help="measure the default device into this file")
    parser.add_argument("--join", type=Path, nargs=2, help="record two parts, the CPU's second")
    try:
        _do(parser.parse_args(arguments))
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _do(options: argparse.Namespace) -> None:
    quick = options.quick or options.cpu
    if options.part:
        write_part(options.part, quick)
        return
    if not (options.cpu or options.join or accelerator()):
        raise UsageError("JAX sees no accelerator here: --cpu runs small sizes on the CPU")
    of = "" if quick else history.commit()
    if options.join:
        ours, theirs = map(read_part, options.join)
        _same_sources(ours, theirs)
    else:
        ours, theirs = both(quick)
    line = joined(ours, theirs, of)
    print(page.accelerated(line))
    if not quick:
        history.add(line)
        page.write()


if __name__ == "__main__":
    sys.exit(main())
