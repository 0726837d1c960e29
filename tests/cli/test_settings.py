"""What users write as NAME=VALUE: settings, boxes and grids, and every way to get them wrong."""

import numpy as np
import pytest

from theorysim.cli.settings import parse_box, parse_grid, parse_settings
from theorysim.errors import UsageError

PARSERS = [(parse_settings, "--set"), (parse_box, "--box"), (parse_grid, "--grid")]
each = pytest.mark.parametrize(("parse", "option"), PARSERS, ids=[name for _, name in PARSERS])


@each
def test_nothing_is_nothing(parse, option):
    assert parse([]) == {}


@each
@pytest.mark.parametrize("text", ["", "=", "a", "a=", "=1", " =1", "a= "])
def test_a_name_and_a_value_are_needed(parse, option, text):
    with pytest.raises(UsageError, match=f"^{option} .*: expected NAME="):
        parse([text])


@each
def test_a_name_is_given_once(parse, option):
    with pytest.raises(UsageError, match=f"^{option} a is given twice$"):
        parse(["a=1", "b=1", " a =2"])


@each
def test_spaces_around_names_and_values_do_not_count(parse, option):
    assert parse([" a = 1 "]) == parse(["a=1"])


def test_settings_are_numbers_and_lists_of_numbers():
    found = parse_settings(["n=3", "a=1.5e-3", "v=[1, 2.5]", "m=[[1, 0], [0, 1]]"])
    assert found == {"n": 3, "a": 1.5e-3, "v": [1, 2.5], "m": [[1, 0], [0, 1]]}
    assert type(found["n"]) is int


@pytest.mark.parametrize(
    "value", ["true", "false", "null", "[1, true]", '"1"', "one", "[1, 2", "{}", "1=2", "1:2"]
)
def test_other_settings_are_refused(value):
    with pytest.raises(UsageError, match="is a number or a list of numbers"):
        parse_settings([f"a={value}"])


def test_boxes_keep_numbers_as_they_are_written():
    assert parse_box(["a=0.1:1e400", "b = 1 : 2 ", "c=0.30000000000000000001", "v=[1, 2]"]) == {
        "a": ("0.1", "1e400"),
        "b": ("1", "2"),
        "c": "0.30000000000000000001",
        "v": [1, 2],
    }


@pytest.mark.parametrize("text", ["a=1:", "a=:2", "a=:", "a=1:2:3"])
def test_other_boxes_are_refused(text):
    with pytest.raises(UsageError, match="expected NAME=LOW:HIGH"):
        parse_box([text])


@pytest.mark.parametrize("value", ["[1, 2", "[true]", '["1"]'])
def test_other_lists_are_refused(value):
    with pytest.raises(UsageError, match="expected a JSON list of numbers"):
        parse_box([f"a={value}"])


def test_forms_of_a_grid():
    found = parse_grid(["a=0:1:3", "b=log:1:100:3", "c=1,5", "d=2"])
    assert found["a"] == [0.0, 0.5, 1.0] and found["c"] == [1.0, 5.0] and found["d"] == [2.0]
    np.testing.assert_allclose(found["b"], [1, 10, 100])


@pytest.mark.parametrize(
    "value",
    [
        "1:2",
        "1:2:x",
        "1:2:2.5",
        "1:2:0",
        "log:1:2",
        "x",
        "1,,2",
        "true",
        "nan",
        "0:inf:3",
    ],
)
def test_other_grids_are_refused(value):
    with pytest.raises(UsageError, match="expected NAME=LOW:HIGH:N"):
        parse_grid([f"a={value}"])


@pytest.mark.parametrize("value", ["log:0:1:3", "log:1:0:3", "log:-1:1:3"])
def test_a_log_grid_has_ends_above_zero(value):
    with pytest.raises(UsageError, match="must be above 0"):
        parse_grid([f"a={value}"])
