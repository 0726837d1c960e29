"""Text as data: tables of pairs against counting by hand, and what cannot be read."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from theorysim.data import own as own_files
from theorysim.data import text
from theorysim.errors import UsageError


def test_pairs_are_counted_as_they_stand():
    found = text.pairs("ABAAB b", "ab")
    counts = Counter(pairwise("abaab b"))
    expected = np.array([[counts[a, b] + 1 for b in "ab"] for a in "ab"])
    np.testing.assert_array_equal(found, expected / expected.sum())


def test_the_most_frequent_characters_come_first():
    assert text.vocabulary("Aab ba", 2) == "ab"
    with pytest.raises(UsageError, match="3 characters"):
        text.vocabulary("Aab ba", 4)


@pytest.mark.parametrize("source", [text.english, text.programs])
def test_texts_are_long_and_of_letters(source):
    found = source()
    assert len(found) > 100_000
    assert "e" in text.vocabulary(found, 8)


def test_english_and_programs_are_different_languages():
    """By more than what halves of one text differ by."""
    characters = text.vocabulary(text.english(), 32)
    own = text.english()
    half = [
        text.pairs(own[start::2] and own[start : start + len(own) // 2], characters)
        for start in (0, len(own) // 2)
    ]
    other = text.pairs(text.programs(), characters)
    within = np.abs(half[0] - half[1]).sum()
    assert np.abs(half[0] - other).sum() > 1.5 * within


def test_a_users_text_takes_the_place_of_the_own(tmp_path):
    file = tmp_path / "own.txt"
    file.write_text("ABBA")
    with own_files.instead({"english": file}):
        assert text.english() == "ABBA" != text.programs()
    with own_files.instead({"programs": file}):
        assert text.programs() == "ABBA" != text.english()


def test_a_users_text_is_read_or_named(tmp_path):
    file = tmp_path / "own.txt"
    file.write_text("héllo", "utf-8")
    assert text.read(file) == "héllo"
    file.write_bytes(b"\xff\xfe\xff")
    with pytest.raises(UsageError, match=r"own\.txt"):
        text.read(file)
    with pytest.raises(UsageError, match="none"):
        text.read(tmp_path / "none")
