"""Every kernel on an accelerator, against the CPU of the same machine and measured rooflines.

    python -m benchmarks.gpu [--quick] [--cpu]

records the times in history.jsonl and docs/records/benchmarks.md. The CPU's part runs in a process
of its own, which sees no accelerator. Without an accelerator it says so and exits with 2, unless
`--cpu` is given: then small sizes of all of it run on the CPU, against the CPU, to show that it
works. `--quick` takes small sizes, too; neither records anything.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import jax

from benchmarks import gpu_kernels, history, page
from benchmarks.race import Contender, Row, against, in_turns
from benchmarks.roofline import accelerator, measure
from theorysim.errors import UsageError

CPU = "CPU of the same machine"


def measured(quick: bool, on_cpu: bool) -> dict[str, Any]:
    """What the default device does, as JSON data: its rooflines, and a kernel a line."""
    with jax.enable_x64(True):
        roofs = {dtype: measure(dtype, quick) for dtype in gpu_kernels.DTYPES}
        lines = []
        for kernel in gpu_kernels.kernels(quick, on_cpu):
            times = kernel.times or in_turns([kernel.contender])[0]
            roof = roofs[kernel.dtype]
            lines.append(
                {
                    "name": kernel.contender.name,
                    "dtype": kernel.dtype,
                    "size": kernel.size,
                    "unit": kernel.unit,
                    "times": times,
                    "mib": kernel.contender.mib,
                    "share": roof.share(min(times), kernel.operations, kernel.bytes),
                }
            )
            jax.clear_caches()
    return {"rooflines": [roof._asdict() for roof in roofs.values()], "kernels": lines}


def on_the_cpu(quick: bool) -> dict[str, Any]:
    """The same of a process that sees only the CPU of this machine."""
    command = [sys.executable, "-m", "benchmarks.gpu", "--child", *(["--quick"] if quick else [])]
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def row(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Row:
    """A kernel on both devices; the bounds of the ratio are of all pairs of rounds."""
    own, others = ours["times"], theirs["times"]
    known = [
        Contender(name, lambda: None, mib=line["mib"])
        for name, line in ((ours["name"], ours), (CPU, theirs))
    ]
    return against(
        (known[0], own),
        (known[1], others),
        (min(others) / max(own), max(others) / min(own)),
        size=ours["size"],
        unit=ours["unit"],
        dtype=ours["dtype"],
    )


def compare(quick: bool, on_cpu: bool) -> tuple[list[Row], dict[str, Any]]:
    """The rows of both devices, and what else the record holds: shares and rooflines."""
    ours, theirs = measured(quick, on_cpu), on_the_cpu(quick)
    pairs = list(zip(ours["kernels"], theirs["kernels"], strict=True))
    shares = {f"{a['name']} {a['dtype']}": [a["share"], b["share"]] for a, b in pairs}
    roofs = [*ours["rooflines"], *theirs["rooflines"]]
    return [row(*pair) for pair in pairs], {"shares": shares, "rooflines": roofs}


def main(arguments: list[str] | None = None) -> int:
    """Measure, print and record; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, nothing is recorded")
    parser.add_argument("--cpu", action="store_true", help="small sizes on the CPU")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    quick = options.quick or options.cpu
    if options.child:
        print(json.dumps(measured(quick, on_cpu=True)))
        return 0
    try:
        if not (options.cpu or accelerator()):
            raise UsageError("JAX sees no accelerator here: --cpu runs small sizes on the CPU")
        of = "" if quick else history.commit()
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    before = history.load()
    rows, more = compare(quick, on_cpu=not accelerator())
    line = history.line(of, page.GPU, rows, before, **more)
    print(page.accelerated(line))
    if not quick:
        history.add(line)
        page.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
