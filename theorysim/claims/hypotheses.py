"""Hypotheses: named signed margins, strict or not, and assumptions that statements share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.claims.instance import Instance
from theorysim.claims.kinds.base import Claim
from theorysim.claims.kinds.existence import exists
from theorysim.claims.margins import Margin, is_strict, margin_entries, place_of
from theorysim.claims.source import Source
from theorysim.errors import UsageError


def least(margin: Margin, x: Instance) -> Float[Array, ""]:
    """The smallest entry of a margin or a requirement.

    Raises:
        UsageError: for one that is no number, true or false, or empty: all would count as met.
    """
    whose = f"{place_of(margin) or repr(margin)}: the margin"
    entries = margin_entries(margin(x), whose)
    if not entries.size:
        raise UsageError(f"{whose} has no entries, of which the least counts; give one or more")
    return jnp.min(entries.astype(float))


def smallest(margins: Iterable[Margin], x: Instance) -> Float[Array, ""]:
    """The smallest of the margins, NaN if one is undefined; 1 without margins.

    A strict margin of exactly 0 counts as the smallest number below 0.
    """
    values = []
    for margin in margins:
        value = least(margin, x)
        if is_strict(margin):
            value = jnp.where(value == 0, -np.finfo(np.float32).tiny, value)
        values.append(value)
    return jnp.min(jnp.stack(values)) if values else jnp.ones(())


@dataclass(frozen=True, eq=False)
class Assumption:
    """Hypotheses that a paper states once and several statements share.

    Attributes:
        name: what the paper calls it, such as "Assumption A.21".
        source: where it is printed, or that it is corrected or ours.
        hypotheses: named margins, strict or not.
        requirements: named numbers that it asks for (a batch size, or its logarithm).
    """

    name: str
    source: Source
    hypotheses: Mapping[str, Margin]
    requirements: Mapping[str, Margin] = field(default_factory=dict)

    def can_be_met(self) -> tuple[Claim, ...]:
        """Claims that some instance of a space meets each hypothesis, and one that meets all.

        They are claims of a theorem without hypotheses over that space.
        """
        margins = dict(self.hypotheses)
        each = [
            exists(f"can be met: {name}", _at(margin), _zero, strict=is_strict(margin))
            for name, margin in margins.items()
        ]
        whole = exists(
            "can be met as a whole",
            lambda r: smallest(margins.values(), r.x),
            _zero,
        )
        return (*each, whole)


def unrefutable(existence: Iterable[Claim]) -> dict[str, str]:
    """The `survivors` of claims of existence, such as those of `can_be_met`: no mutant can help."""
    reason = "a witness either exists or not: draws cannot refute existence"
    return {claim.name: reason for claim in existence}


def _at(margin: Margin) -> Callable:
    return lambda r: least(margin, r.x)


def _zero(run: Any) -> Float[Array, ""]:
    return jnp.zeros(())
