"""How often Theorem 4.7's picture appears in real gradient descent, by sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theorysim.scenes.picture import Picture, View

if TYPE_CHECKING:
    import xarray

AXES = {
    "tau": "smallness τ of the start exp(-τ)",
    "rate": "learning rate / that of A.8",
    "batch": "batch",
}


LINES = {"gap": "ratio", "rate": "rate / A.8's", "length": "η K min ft"}


def _share(values: xarray.DataArray, kept: tuple[str, str]) -> xarray.DataArray:
    """The mean over all other sizes."""
    return values.mean([axis for axis in values.dims if axis not in ("run", *kept)])


def _view(along: str, lines: str, predicted: bool = True) -> View:
    kept = (along, lines)
    return View(
        "",
        "share of networks that show it",
        lambda data: _share(data.appears, kept),
        along,
        AXES[along],
        lines,
        LINES[lines],
        beside=(lambda data: _share(data.theory, kept)) if predicted else None,
        log_x=along == "batch",
    )


picture = Picture(
    title="Where the picture of Theorem 4.7 appears in real gradient descent",
    caption=(
        "Linear networks at all combinations of five sizes; each line is the mean over the other "
        "three, ratios are those of neighbouring features. The picture: the loss of pre-training "
        "after fine-tuning falls up to n = 1 and rises from there on. The theory is separate modes "
        "on infinite batches."
    ),
    views=(
        _view("tau", "gap"),
        _view("tau", "length"),
        _view("rate", "gap"),
        _view("batch", "rate", predicted=False),
    ),
)
