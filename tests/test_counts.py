"""What is counted is a positive integer, however it is asked for."""

import json

import jax.numpy as jnp
import numpy as np
import pytest

import theorysim
from theorysim.counts import checked_count, checked_seed
from theorysim.errors import SizeError, UsageError

NO_COUNTS = (0, -1, 2.0, 2.5, float("nan"), float("inf"), True, "5")
STATEMENT, QUICK = "linear-teachers/equation-7", "low-rank/example-1"
X = np.arange(3.0)


def successor(x, key=None):
    del key
    return x + 1.0


ASKED = {
    "instances": lambda count: theorysim.verify(STATEMENT, instances=count),
    "budget": lambda count: theorysim.falsify(STATEMENT, budget=count),
    "mutants": lambda count: theorysim.mutation(STATEMENT, instances=count),
    "all": lambda count: theorysim.verify_all(only=STATEMENT, instances=count),
    "runs": lambda count: theorysim.reproduce("overtraining/figure-4", runs=count),
    "together": lambda count: theorysim.reproduce("overtraining/figure-4", together=count),
    "boxes": lambda count: theorysim.certify(STATEMENT, max_boxes=count),
    "seeds": lambda count: theorysim.sweep(successor, {"x": X}, seeds=count),
    "tile": lambda count: theorysim.sweep(successor, {"x": X}, tile=count),
}


@pytest.mark.parametrize("count", NO_COUNTS)
@pytest.mark.parametrize("of", ASKED)
def test_what_is_no_count_is_refused_in_one_line(of, count):
    with pytest.raises(UsageError, match=r"expected an integer of at least \d+$") as refused:
        ASKED[of](count)
    assert repr(count) in str(refused.value)


@pytest.mark.parametrize("seed", [2.5, "1", None, True])
def test_a_seed_is_an_integer(seed):
    with pytest.raises(UsageError, match="expected an integer from 0"):
        theorysim.verify(STATEMENT, seed=seed)
    with pytest.raises(UsageError, match="expected an integer from 0"):
        theorysim.sweep(successor, {"x": X}, seeds=2, seed=seed)


@pytest.mark.parametrize("seven", [np.int64(7), np.asarray(7), jnp.asarray(7)])
def test_integers_of_numpy_are_those_of_python(seven):
    assert type(checked_count(seven, "seven")) is type(checked_seed(seven)) is int


def test_what_numpy_counted_is_json():
    report = theorysim.verify(QUICK, instances=np.int64(4), seed=np.int64(3))
    assert json.loads(json.dumps(report.as_json()))["seed"] == 3


def test_counts_without_end_are_refused_by_what_they_would_take():
    for ask in (
        lambda: theorysim.falsify(STATEMENT, budget=10**400),
        lambda: theorysim.reproduce("overtraining/figure-4", runs=10**400),
    ):
        with pytest.raises(SizeError, match=r"would take about [\d.]+e\+3\d\d GiB"):
            ask()
