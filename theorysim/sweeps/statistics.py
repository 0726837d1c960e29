"""What is kept of the seeds of a point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array

from theorysim.errors import UsageError

QUANTILE = "quantile"
STATISTICS = ("mean", "standard_error")
ENDINGS = tuple(f"_{name}" for name in (*STATISTICS, QUANTILE))


@dataclass(frozen=True)
class Statistics:
    """What is kept of the seeds of a point: any of mean, standard_error and quantiles."""

    names: tuple[str, ...] = ()
    quantiles: tuple[float, ...] = ()

    def __post_init__(self):
        unknown = set(self.names) - set(STATISTICS)
        if unknown:
            raise UsageError(f"no statistic {min(unknown)!r}; there are {', '.join(STATISTICS)}")
        for quantile in self.quantiles:
            if not 0 <= quantile <= 1:
                raise UsageError(f"quantile {quantile}: expected a number in [0, 1]")

    def __bool__(self) -> bool:
        return bool(self.names or self.quantiles)

    def of(self, samples: Mapping[str, Array]) -> dict[str, Array]:
        """The statistics over the leading axis; NaN wherever a seed diverged."""
        found = {}
        for name, values in samples.items():
            values = jnp.asarray(values, jnp.result_type(values, float))
            if "mean" in self.names:
                found[f"{name}_mean"] = jnp.mean(values, axis=0)
            if "standard_error" in self.names:
                deviation = jnp.std(values, axis=0, ddof=1)
                found[f"{name}_standard_error"] = deviation / len(values) ** 0.5
            if self.quantiles:
                levels = jnp.asarray(self.quantiles, values.dtype)
                found[f"{name}_{QUANTILE}"] = jnp.moveaxis(jnp.quantile(values, levels, 0), 0, -1)
        return found


NO_STATISTICS = Statistics()
