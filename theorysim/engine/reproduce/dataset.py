"""What one run of an experiment returns, as a dataset whose axes have names, and as files."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import numpy as np

from theorysim.errors import UsageError

if TYPE_CHECKING:
    import xarray

# The axis of runs, and how long each took.
RUN, SECONDS = "run", "seconds"
ZARR_FORMAT = 3  # never the older format, whose chunks can be pickles, which run code


def dimensions(result: type) -> dict[str, tuple[str, ...]]:
    """The axes of the fields of a NamedTuple of arrays, by the names in their annotations.

    Raises:
        UsageError: naming the field that is not annotated as `Float[Array, "axis axis"]`.
    """
    if not hasattr(result, "_fields"):
        raise UsageError(
            f"an experiment's simulate returns a NamedTuple of arrays, not a {result.__name__}"
        )
    hints = get_type_hints(result)
    found = {}
    for name in result._fields:
        axes = getattr(hints[name], "dim_str", None)
        if axes is None:
            raise UsageError(
                f"{result.__name__}.{name}: expected an annotation such as "
                '`Float[Array, "budgets"]`, which names its axes'
            )
        found[name] = tuple(axes.split())
    return found


def to_dataset(result: Any, axes: Mapping[str, Any]) -> xarray.Dataset:
    """One run, with the values along its axes as coordinates."""
    import xarray

    named = dimensions(type(result))
    values = {name: (named[name], np.asarray(getattr(result, name))) for name in named}
    used = {axis for several in named.values() for axis in several}
    return xarray.Dataset(values, {k: np.asarray(v) for k, v in axes.items() if k in used})


def write(dataset: xarray.Dataset, path: Path) -> None:
    """A dataset as a zarr store, which appears under its name at once or not at all.

    Raises:
        UsageError: where it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, ignore_cleanup_errors=True) as folder:
            draft = Path(folder) / path.name
            dataset.to_zarr(draft, zarr_format=ZARR_FORMAT, consolidated=False)
            _replace(path, draft, Path(folder) / "old")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None


def _replace(path: Path, draft: Path, old: Path) -> None:
    if path.exists():
        path.rename(old)
    draft.rename(path)


def read(path: Path) -> xarray.Dataset | None:
    """The dataset of a store; None where there is none, or it cannot be read."""
    import xarray

    if not path.exists():
        return None
    try:
        with xarray.open_zarr(path, zarr_format=ZARR_FORMAT, consolidated=False) as found:
            return found.load()
    except (OSError, ValueError, KeyError):
        return None
