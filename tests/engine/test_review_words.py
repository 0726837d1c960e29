"""Numbers, sizes, shares and instances in the words of a review."""

import math

import pytest

from theorysim.engine.review.words import exact, instance, number, share, sides, sizes_in_words


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.31249, "0.312"),
        (6000.0, "6000"),
        (6.43e7, "6.43e7"),
        (-1.25e-7, "-1.25e-7"),
        (99999.9, "1e5"),
        (math.nan, "no number"),
        (math.inf, "infinity"),
    ],
)
def test_numbers_in_words(value, text):
    assert number(value) == text


def test_numbers_keep_what_decides():
    assert exact(2.0005) == "2.0005" and exact(2.0) == "2"
    assert sides(2.0005, 2.0) == ("2.0005", "2")
    assert float(exact(math.pi)) == math.pi


def test_sizes_in_words():
    assert sizes_in_words([{"d": 2, "n": 4}]) == "d = 2, n = 4"
    assert sizes_in_words([{"d": 4}, {"d": 2}]) == "d = 2, 4"
    assert sizes_in_words([{"d": 2, "n": 8}, {"d": 2, "n": 4}]) == "(d, n) = (2, 4), (2, 8)"


def test_shares_are_none_or_all_only_where_they_are():
    assert [share(part, 100_000) for part in (0, 1, 50_000, 99_999, 100_000)] == [
        "none",
        "0.001 %",
        "50 %",
        "99.9 %",
        "all",
    ]


def test_instances_in_words():
    data = {"sizes": {"d": 2}, "values": {"a": 0.31234567, "v": [1, 2.5], "m": [[0.0] * 3] * 4}}
    said = "d = 2, a = 0.31234567, v = (1, 2.5), m = (4 x 3 numbers from 0 to 0)"
    assert instance(data) == said
    assert instance(data, ("d", "m")) == "a = 0.31234567, v = (1, 2.5)"
    assert instance({"values": {"v": [1 / 3, 1]}}) == "v = about (0.333, 1)"
    assert instance({"values": dict.fromkeys("abcdefghij", 1)}).endswith("and 4 more values")
