"""The squared correlations of Table 1 against the number of samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theorysim.scenes.picture import Picture, View

if TYPE_CHECKING:
    import xarray

# Eq. 2 last: it is the risk, not a bound.
BOUNDS = {
    "distance": "|θ_T − θ_S|²",
    "benign": "bound from [25]",
    "ours": "Eq. 3, m = 2",
    "risk": "Eq. 2, the risk",
}


def _at_its_best(data: xarray.Dataset, name: str) -> xarray.DataArray:
    """With the choice that is best in the mean over the runs and n."""
    choices = [axis for axis in data[name].dims if axis not in ("run", "n")]
    flat = data[name].stack(choice=choices, create_index=False)
    best = flat.isel(choice=int(flat.mean(("run", "n")).argmax("choice")))
    return best.reset_coords(drop=True)


def _all(data: xarray.Dataset) -> xarray.DataArray:
    import xarray

    return xarray.concat([_at_its_best(data, name) for name in BOUNDS], "bound")


picture = Picture(
    title="How well bounds go with the accuracy of transfer",
    caption="5000 images of MNIST; every bound with the images, teachers and c best for it.",
    views=(
        View(
            "Table 1",
            "R² over 20 pairs of tasks",
            _all,
            "n",
            "samples of the target",
            "bound",
            "bound",
            names=tuple(BOUNDS.values()),
            log_x=False,
        ),
    ),
)
