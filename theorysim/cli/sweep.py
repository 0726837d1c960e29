"""The command `theorysim sweep`: the claims of a theorem over a grid of its fields and sizes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from theorysim.cli.options import Files, Scheduler, Settings, check_picture, cluster, is_terminal
from theorysim.cli.settings import parse_grid, parse_settings
from theorysim.environment import prepare
from theorysim.errors import UsageError

if TYPE_CHECKING:
    import xarray
    from distributed import Client

Grid = Annotated[
    list[str],
    typer.Option(
        "--grid",
        metavar="NAME=VALUES",
        help="Values of a field or a size: LOW:HIGH:N, log:LOW:HIGH:N or VALUE,VALUE,...; "
        "repeatable.",
    ),
]


def sweep(
    id: Annotated[
        str, typer.Argument(metavar="ID|FILE.py", help="A theorem, unless --resume.")
    ] = "",
    grid: Grid = [],  # noqa: B006  (typer copies it)
    seeds: Annotated[
        int, typer.Option(metavar="N", help="Instances per point, other fields drawn.")
    ] = 1,
    seed: Annotated[int, typer.Option(metavar="S", help="Seed of the draws and runs.")] = 0,
    settings: Settings = [],  # noqa: B006
    reading: Annotated[
        str | None, typer.Option(metavar="R", help="Sweep this reading instead of the primary one.")
    ] = None,
    claim: Annotated[str | None, typer.Option(metavar="C", help="Only this claim.")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a zarr store, chunk by chunk.")
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Finish the sweep of this store.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw heat maps or curves into this file.")
    ] = None,
    coordinator: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="With several processes: where the first listens."),
    ] = None,
    processes: Annotated[
        int | None, typer.Option(metavar="N", help="With several processes: how many there are.")
    ] = None,
    process: Annotated[
        int | None, typer.Option(metavar="I", help="With several processes: which this is, from 0.")
    ] = None,
    scheduler: Scheduler = None,
    theorems: Files = [],  # noqa: B006
) -> None:
    """Evaluate both sides of a theorem's claims over a grid, for phase diagrams.

    Fields that are not on the grid are drawn anew for every seed.
    """
    prepare()
    from theorysim.engine.registry import file_of

    file = file_of(id)
    request = {
        "id": _id_in_file(id, theorems) if file else id,
        "grid": grid,
        "seeds": seeds,
        "seed": seed,
        "settings": settings,
        "reading": reading,
        "claim": claim,
        "theorems": [str(path.resolve()) for path in (*theorems, *([file] if file else []))],
    }
    if resume is not None:
        request, out = _stored_request(resume, request), resume
        _check_named(request, resume)
    elif not id:
        raise UsageError("name a theorem, or a store with --resume")
    check_picture(plot)
    _join(coordinator, processes, process)
    try:
        with cluster(scheduler) as client:
            dataset = _run(request, out, client)
    except KeyboardInterrupt:
        if out is not None and out.exists():
            typer.echo(f"interrupted; theorysim sweep --resume {out} goes on", err=True)
        raise
    _print_summary(request["id"], dataset, out)
    if plot is not None and not process:
        from theorysim.report.sweep_plot import draw

        draw(dataset, plot)
        typer.echo(f"{plot}: picture written", err=True)


def _id_in_file(file: str, theorems: list[Path]) -> str:
    """A store names a statement by its id: its file is the user's to name."""
    from theorysim.engine import registry

    return registry.find(file, theorems).id


def _stored_request(path: Path, asked: dict[str, Any]) -> dict[str, Any]:
    """The request of the store, which takes no theorem and no grid besides.

    The files of theorems are those that the user names now: a file that a store names is code that
    its author chose.
    """
    if not path.exists():
        raise UsageError(f"{path} is not there: a sweep that wrote nothing yet begins anew")
    if asked["id"] or asked["grid"]:
        raise UsageError("--resume takes theorem and grid from the store: leave both out")
    from theorysim.sweeps.store import attributes

    try:
        stored = json.loads(attributes(path)["request"])
        request = {name: stored[name] for name in asked}
    except (KeyError, TypeError, ValueError, RecursionError):
        raise UsageError(f"{path} is not a store that `theorysim sweep` began") from None
    if not _is_request(request):
        raise UsageError(f"{path} holds a request that is not one of `theorysim sweep`")
    return {**request, "theorems": asked["theorems"]}


def _is_request(data: dict[str, Any]) -> bool:
    """Whether what a store says has the types of options; their values are checked as usual."""
    texts = [data["id"], *(data[name] for name in ("reading", "claim") if data[name] is not None)]
    for name in ("grid", "settings"):
        if not isinstance(data[name], list):
            return False
        texts += data[name]
    numbers = [data["seeds"], data["seed"]]
    if not (all(isinstance(t, str) for t in texts) and all(type(n) is int for n in numbers)):
        return False
    from theorysim.engine.registry import file_of

    return file_of(data["id"]) is None  # a file that the user does not name is not run


def _check_named(request: dict[str, Any], path: Path) -> None:
    """Refuse to resume a theorem of a file that the user does not name."""
    from theorysim.engine import registry

    try:
        registry.find(request["id"], request["theorems"])
    except registry.UnknownTheorem:
        raise UsageError(
            f"{path} sweeps {request['id']!r}, which is not installed: name its file with "
            "--theorems FILE (a store's own word for it is not taken, because the file is run)"
        ) from None


def _join(coordinator: str | None, processes: int | None, process: int | None) -> None:
    """Become one of several processes."""
    given = [coordinator, processes, process]
    if given == [None] * 3:
        return
    if None in given:
        raise UsageError("several processes need --coordinator, --processes and --process")
    import jax

    jax.distributed.initialize(coordinator, processes, process)
    note = "if one of them ends, all stop: start all of them again to resume"
    typer.echo(f"theorysim: process {process} of {processes}; {note}", err=True)


def _run(request: dict[str, Any], out: Path | None, client: Client | None) -> xarray.Dataset:
    from theorysim.engine import registry
    from theorysim.engine.sweep.sweep import sweep as run
    from theorysim.engine.sweep.theorems import claim_sides, split_grid

    theorem = registry.theorem(request["id"], request["theorems"])
    settings = parse_settings(request["settings"])
    axes, sizes = split_grid(theorem, parse_grid(request["grid"]))
    sides = claim_sides(
        theorem,
        reading=request["reading"],
        claim=request["claim"],
        settings=settings,
        theorems=request["theorems"],
    )
    return run(
        sides,
        axes,
        sizes=sizes,
        seeds=request["seeds"],
        seed=request["seed"],
        attributes={"theorem": theorem.id, "request": json.dumps(request)},
        out=out,
        client=client,
        progress=is_terminal(sys.stderr),
    )


def _print_summary(id: str, dataset: xarray.Dataset, out: Path | None) -> None:
    import numpy as np

    from theorysim.engine.sweep.theorems import SATISFIED, SLACK, slack_error
    from theorysim.sweeps import DIVERGED

    cells = dataset[DIVERGED]
    lengths = " x ".join(f"{name} {length}" for name, length in cells.sizes.items())
    met = int(dataset[SATISFIED].sum())
    typer.echo(f"{id}: {cells.size} cells ({lengths})")
    typer.echo(f"  {met} meet the hypotheses, {int(cells.sum())} diverged")
    for name in (str(n) for n in dataset.data_vars if str(n).endswith(SLACK)):
        slack = dataset[name].values
        room = slack[np.isfinite(slack)]
        least = f"at least {room.min():.3g}, " if room.size else ""
        below = int((dataset[name] < -slack_error(dataset, name)).sum())
        typer.echo(
            f"  {name}: {least}{below} of {room.size} points below zero by more than rounding"
        )
    if out is not None:
        typer.echo(f"  written to {out}")
