"""What one run of an experiment returns, as a dataset whose axes have names, and as files."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import numpy as np

from theorysim.errors import UsageError

if TYPE_CHECKING:
    import xarray

# The axis of runs, and how long each took: names that are taken.
RUN, SECONDS = "run", "seconds"
ZARR_FORMAT = 3  # never the older format, whose chunks can be pickles, which run code
# By this attribute a store is one of ours, and the same as when it was written.
DIGEST = "theorysim_digest"
# Kinds of numbers that files have: booleans, integers, floats.
KINDS = "biuf"


@dataclass(frozen=True)
class Form:
    """The NamedTuple that a run returns: of each field the axes, the shape and the type."""

    kind: type
    axes: Mapping[str, tuple[str, ...]]
    shapes: Mapping[str, tuple[int, ...]]
    dtypes: Mapping[str, str]

    def extent(self, axis: str) -> int | None:
        """How long an axis is; None where no field has it."""
        for name, axes in self.axes.items():
            if axis in axes:
                return self.shapes[name][axes.index(axis)]
        return None


def form_of(result: Any) -> Form:
    """The form of a NamedTuple of arrays (or of their shapes), by the names in its annotations.

    Raises:
        UsageError: naming the field that is not annotated as `Float[Array, "axis axis"]`, is of
            another shape, or has a name that is taken.
    """
    kind = type(result)
    if not hasattr(result, "_fields"):
        raise UsageError(
            f"an experiment's simulate returns a NamedTuple of arrays, not a {kind.__name__}"
        )
    hints = get_type_hints(kind)
    axes = {name: _axes(kind, name, hints.get(name)) for name in result._fields}
    parts = {name: getattr(result, name) for name in result._fields}
    for name, part in parts.items():
        if not hasattr(part, "shape") or np.dtype(part.dtype).kind not in KINDS:
            what = getattr(part, "dtype", type(part).__name__)
            raise UsageError(f"{kind.__name__}.{name} is {what}: expected an array of numbers")
        if len(part.shape) != len(axes[name]):
            raise UsageError(
                f"{kind.__name__}.{name} has shape {part.shape}: its annotation has "
                f"{len(axes[name])} axes"
            )
    shapes = {name: tuple(part.shape) for name, part in parts.items()}
    form = Form(kind, axes, shapes, {n: str(np.dtype(p.dtype)) for n, p in parts.items()})
    for name in form.axes:
        for axis, length in zip(form.axes[name], form.shapes[name], strict=True):
            if form.extent(axis) != length:
                raise UsageError(
                    f"{kind.__name__}.{name}: axis {axis!r} is {length} long, and "
                    f"{form.extent(axis)} in another field"
                )
    return form


def _axes(kind: type, name: str, hint: Any) -> tuple[str, ...]:
    text = getattr(hint, "dim_str", None)
    if text is None:
        raise UsageError(
            f"{kind.__name__}.{name}: expected an annotation such as "
            '`Float[Array, "budgets"]`, which names its axes'
        )
    axes = tuple(text.split())
    taken = {RUN, SECONDS, name}
    if name in (RUN, SECONDS) or taken & set(axes) or max(Counter(axes).values(), default=1) > 1:
        raise UsageError(
            f"{kind.__name__}.{name} with axes {axes}: no field and no axis is called {RUN!r} or "
            f"{SECONDS!r}, no axis like its field, and none twice"
        )
    return axes


def coordinates(form: Form, axes: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The values along axes, as arrays.

    Raises:
        UsageError: for an axis that no result has, and for values that are not as many as it is
            long.
    """
    found = {}
    for name, values in axes.items():
        extent, array = form.extent(name), np.asarray(values)
        if extent is None:
            known = ", ".join(sorted({axis for several in form.axes.values() for axis in several}))
            raise UsageError(f"axes: no result has the axis {name!r}; there are {known}")
        if array.shape != (extent,):
            raise UsageError(
                f"axes: {name!r} has values of shape {array.shape} for {extent} places"
            )
        found[name] = _of_any_length(array)
    return found


def _of_any_length(values: np.ndarray) -> np.ndarray:
    """The values, words among them in the one form of text that zarr has specified."""
    return values.astype(np.dtypes.StringDType()) if values.dtype.kind == "U" else values


def to_dataset(result: Any, form: Form, seconds: float) -> xarray.Dataset:
    """One run, and how long it took."""
    import xarray

    values = {name: (axes, np.asarray(getattr(result, name))) for name, axes in form.axes.items()}
    return xarray.Dataset({**values, SECONDS: seconds})


def write(dataset: xarray.Dataset, path: Path) -> None:
    """A dataset as a zarr store, which appears under its name at once or not at all.

    Raises:
        UsageError: where it cannot be written.
    """
    marked = dataset.assign_attrs({DIGEST: _digest(dataset)})
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, ignore_cleanup_errors=True) as folder:
            draft = Path(folder) / path.name
            marked.to_zarr(draft, zarr_format=ZARR_FORMAT, consolidated=False)
            _replace(path, draft, Path(folder) / "old")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None


def refuse_foreign(path: Path) -> None:
    """Raise UsageError where something stands that `write` did not write."""
    if path.exists() and not _is_ours(path):
        raise UsageError(f"{path} is there and no store of ours: name another folder")


def _replace(path: Path, draft: Path, old: Path) -> None:
    if path.exists():
        path.rename(old)
    try:
        draft.rename(path)
    except OSError:
        if not _is_ours(path):  # else another process wrote the same run meanwhile
            raise


def _is_ours(path: Path) -> bool:
    return DIGEST in (_attributes(path) or {})


def _attributes(path: Path) -> Mapping[str, Any] | None:
    import zarr

    try:
        return zarr.open_group(path, mode="r", zarr_format=ZARR_FORMAT).attrs.asdict()
    except Exception:  # whatever a folder that is no store makes the library raise
        return None


def _digest(dataset: xarray.Dataset) -> str:
    """SHA-256 of all values with their names, axes and types."""
    total = sha256()
    for name in sorted(map(str, dataset.variables)):
        values = dataset[name]
        total.update(f"{name} {values.dims} {values.shape} {values.dtype}\n".encode())
        total.update(_content(values.values))
    return total.hexdigest()


def _content(values: np.ndarray) -> bytes:
    """The bytes of numbers; words by their letters, since an array holds their addresses."""
    if values.dtype.kind in KINDS:
        return np.ascontiguousarray(values).tobytes()
    return "\n".join(map(str, values.ravel())).encode()


def read(path: Path, form: Form) -> xarray.Dataset | None:
    """The dataset of a store; None where there is none of this form, or it was changed."""
    import xarray

    if not path.exists():
        return None
    try:
        with xarray.open_zarr(
            path, zarr_format=ZARR_FORMAT, consolidated=False, mask_and_scale=False
        ) as store:
            found = store.load()
        is_whole = found.attrs.get(DIGEST) == _digest(found) and _has(found, form)
    except Exception:  # whatever a damaged store makes the libraries raise: it is run again
        return None
    return found.drop_attrs(deep=False) if is_whole else None


def _has(dataset: xarray.Dataset, form: Form) -> bool:
    """Whether a dataset is one run of this form."""
    return set(map(str, dataset.variables)) == {*form.axes, SECONDS} and all(
        (dataset[name].dims, dataset[name].shape, str(dataset[name].dtype))
        == (form.axes[name], form.shapes[name], form.dtypes[name])
        for name in form.axes
    )
