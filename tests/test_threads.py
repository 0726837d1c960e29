"""Items handed to threads come back in order, few at a time."""

import threading
import time

import pytest

from theorysim.threads import side_by_side


def test_what_has_not_begun_when_its_reader_stops_is_dropped_and_the_rest_ends():
    begun, ended, go_on = [], [], threading.Event()

    def part(start):
        begun.append(start)
        assert start == 0 or go_on.wait(60)
        ended.append(start)
        return start

    parts = side_by_side(part, range(300), 2)
    assert next(parts) == 0
    while len(begun) < 3:  # two of them wait, and the one after them has no thread
        time.sleep(0.001)
    threading.Timer(0.1, go_on.set).start()
    parts.close()
    assert sorted(begun) == sorted(ended) == [0, 1, 2]


def test_who_reads_slowly_holds_few():
    made = []

    def part(start):
        made.append(start)
        return start

    for read, found in enumerate(side_by_side(part, range(50), 3)):
        time.sleep(0.002)
        assert found == read
        assert len(made) <= read + 6
    assert made == list(range(50))


def test_what_fails_in_a_thread_is_raised_in_its_turn():
    parts = side_by_side(lambda start: 1 / (2 - start), range(5), 2)
    assert [next(parts), next(parts)] == [0.5, 1]
    with pytest.raises(ZeroDivisionError):
        next(parts)
