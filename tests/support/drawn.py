"""What a default run leaves out: cases too slow to run all of, drawn by name, the rest thorough."""

import zlib
from collections.abc import Iterable

import pytest

# Theorems that a default run does not verify: a core spends over half a minute on their verdicts
# or their mutants.
COSTLY = {
    "linear-teachers/corollary-6.3",
    "linear-teachers/definition-5.1",
    "linear-teachers/definition-5.1-near-zero",
    "linear-teachers/equation-7",
    "linear-teachers/theorem-4.2",
    "linear-teachers/theorem-5.2",
    "linear-teachers/theorem-5.4",
    "linear-teachers/theorem-5.4-rows",
    "linear-teachers/theorem-5.5",
    "linear-teachers/theorem-6.1",
    "linear-teachers/theorem-6.1-finite-width",
    "linear-teachers/theorem-6.1-footnote-4",
    "linearization/lemma-3",
    "low-rank/claim-6",
    "low-rank/claim-7",
    "low-rank/claim-8",
    "low-rank/claim-9",
    "low-rank/condition-1",
    "low-rank/lemma-1",
    "low-rank/lemma-2",
    "low-rank/lemma-3",
    "low-rank/proposition-3",
    "low-rank/theorem-4",
    "low-rank/theorem-4-success",
    "low-rank/theorem-5",
    "low-rank/theorem-6",
    "low-rank/theorem-7",
    "low-rank/theorem-8-fine-tuning",
    "overtraining/lemma-a.12",
    "overtraining/lemma-a.22",
    "overtraining/lemma-a.23-batches",
    "overtraining/theorem-4.6-batches",
    "overtraining/theorem-4.7-batches",
    "overtraining/theorem-a.1",
    "transferability/def-y-transfer",
    "transferability/eq-25-34",
    "transferability/lemma-6",
    "transferability/ntk-two-stage",
    "transferability/theorem-2-widths",
}


def is_drawn(name: str, share: int, of: int = 12) -> bool:
    """Whether a case belongs to the `share` of so many that a default run takes."""
    return zlib.crc32(name.encode()) % of < share


def marks_of(drawn: bool) -> list[pytest.MarkDecorator]:
    """`thorough` for what is not drawn; `-m "thorough or not thorough"` runs it."""
    return [] if drawn else [pytest.mark.thorough]


def thorough(*values: object):
    """A case that only a thorough run takes."""
    return pytest.param(*values, marks=pytest.mark.thorough)


def every_second(cases: Iterable, first: int = 0) -> list:
    """Cases of one kind, of which a default run takes every second one from the first on."""
    return [case if number % 2 == first else thorough(case) for number, case in enumerate(cases)]
