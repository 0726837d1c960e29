"""Where a reading of a statement comes from. Only what is printed can be an erratum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Printed:
    """The paper says so: the place (section, page, equation) and its words or formula."""

    place: str
    words: str

    kind: ClassVar[str] = "printed"

    def __str__(self) -> str:
        where = f"printed, {self.place}" if self.place else "printed"
        return f'{where}: "{self.words}"' if self.words else where


@dataclass(frozen=True)
class Corrected:
    """What does hold where the print does not; `change` says what was changed in the print."""

    change: str

    kind: ClassVar[str] = "corrected"

    def __str__(self) -> str:
        return f"corrected: {self.change}"


@dataclass(frozen=True)
class Finding:
    """A statement of ours about the paper's subject, such as what happens at practical sizes."""

    about: str

    kind: ClassVar[str] = "finding"

    def __str__(self) -> str:
        return f"our finding: {self.about}"


Source = Printed | Corrected | Finding
