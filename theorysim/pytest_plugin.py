"""A pytest marker that makes a theorem a test.

    @pytest.mark.theorem("overtraining/lemma-a.28", instances=32)
    def test_the_lemma(theorem_report):
        assert theorem_report.verdict == "holds", theorem_report

The marker takes an id (or a `Theorem`) and the options of `theorysim.verify`; the seed is 0 unless
given, so that a test means the same in every run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from theorysim.engine.verify.report import Report


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line(
        "markers", "theorem(id, **options): verify this theorem; see the fixture theorem_report"
    )


@pytest.fixture
def theorem_report(request: pytest.FixtureRequest) -> Report:
    """The report on the theorem that the test is marked with."""
    marker = request.node.get_closest_marker("theorem")
    if marker is None or not marker.args:
        raise pytest.UsageError('theorem_report needs @pytest.mark.theorem("paper/statement")')
    from theorysim.engine.verify.verify import verify

    return verify(*marker.args, **marker.kwargs)
