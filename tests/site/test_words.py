"""What the catalogue's pages say of records."""

import pytest

from theorysim.site.words import withstood

ATTACK = {"evaluations": 9, "runs": 9, "refuted": [], "ratio": 0.5}


@pytest.mark.parametrize(
    ("planted", "told"),
    [({}, False), ({"planted": None}, False), ({"planted": 3}, True)],
)
def test_a_planted_error_is_told_where_one_was_planted_and_found(planted, told):
    said = withstood({**ATTACK, **planted})
    assert "no counterexample to the primary reading in 9 evaluations" in said
    assert ("A planted error was found after 3 evaluations." in said) == told
