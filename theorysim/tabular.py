"""Results that are tables: rows of plain values, as a data frame, in a notebook, as JSON."""

from __future__ import annotations

import abc
import math
from collections.abc import Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas


class Tabular(abc.ABC):
    """What has rows can be a data frame, and shows them in a notebook."""

    @abc.abstractmethod
    def rows(self) -> Iterator[Mapping[str, Any]]:
        """The rows, each with the same columns."""

    @property
    def caption(self) -> str:
        """What a notebook writes above the table."""
        return ""

    def to_dataframe(self) -> pandas.DataFrame:
        """One row per row, in order."""
        import pandas

        return pandas.DataFrame([dict(row) for row in self.rows()])

    def _repr_html_(self) -> str:
        rows = [dict(row) for row in self.rows()]
        head = "".join(f"<th>{escape(name)}</th>" for name in (rows[0] if rows else ()))
        body = "".join(f"<tr>{''.join(map(_cell, row.values()))}</tr>" for row in rows)
        caption = f"<caption>{escape(self.caption)}</caption>" if self.caption else ""
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    text = f"{value:.3g}" if isinstance(value, float) else str(value)
    return f"<td>{escape(text)}</td>"


def json_number(value: float) -> float | str | None:
    """A number of a report in JSON, which has no NaN (null) and no infinity ("inf", "-inf")."""
    value = float(value)
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")
