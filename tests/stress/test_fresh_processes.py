"""Fresh processes with batched LAPACK end; `python -m validation.deadlock` runs many more."""

import pytest

from validation.deadlock import trial


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("attempt", range(3))
def test_batched_linear_algebra_ends(attempt):
    result = trial(threads=None, limit=240.0)
    assert result.ended, "the process hung: XLA's thread pool is deadlocked"
    assert result.code == 0, "the linear algebra was wrong"
