"""Timing: with a clock that contenders turn themselves, what is reported is known."""

import jax.numpy as jnp
import pytest

from benchmarks import race
from benchmarks.race import Contender, called, compiled, in_turns, with_error


class Clock:
    """A clock that stands still unless something takes time."""

    def __init__(self):
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def taking(self, *durations: float):
        """Something that takes these seconds, call by call."""
        left = iter(durations)

        def run():
            self.now += next(left)

        return run


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr(race, "perf_counter", found)
    return found


def test_a_ratio_is_of_the_best_rounds_and_the_first_does_not_count(clock):
    ours = Contender("ours", clock.taking(30, 1, 0.5, 0.75), work=2)
    peer = Contender("peer", clock.taking(1, 2.25, 2, 1.5), work=1)
    size = {"n": 2}
    (row,) = race.race(ours, peer, size=size, unit="step", dtype="float32", rounds=3)
    assert (row.seconds, row.peer_seconds, row.ratio) == (0.25, 1.5, 6)
    assert (row.ratio_low, row.ratio_high) == (4, 8)  # of 4.5, 8 and 4
    assert (row.name, row.peer, row.over) == ("ours", "peer", "")
    assert row.as_json()["size"] == size


def test_contenders_take_turns(clock):
    order = []
    two = [Contender(name, lambda name=name: order.append(name)) for name in "ab"]
    in_turns(two, rounds=2)
    assert "".join(order) == "ababab"


def test_no_round_begins_after_the_limit_but_one_counts(clock):
    assert in_turns([Contender("slow", clock.taking(30, 40))], rounds=5, limit=20) == [[40]]
    times = in_turns([Contender("quick", clock.taking(1, 8, 8, 8))], rounds=5, limit=20)
    assert times == [[8, 8, 8]]


def test_compilation_inside_of_a_call_is_what_the_first_takes_beyond_the_second(clock):
    assert called("one", clock.taking(5, 2)).compile_seconds == 3
    assert called("one", clock.taking(2, 5)).compile_seconds == 0


def test_a_compiled_contender_gives_results_memory_and_error():
    contender = compiled("double", lambda x: 2 * x, jnp.array([1.0, 2.0]))
    assert contender.run().tolist() == [2, 4]
    assert contender.compile_seconds and contender.compile_seconds > 0
    # Two numbers of four bytes are its results.
    assert contender.mib and contender.mib >= 8 / 2**20
    assert with_error(contender, [2.0, 5.0]).error == pytest.approx(1 / 5)
