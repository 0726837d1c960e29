"""A user's own data for an experiment: looked at before the runs, blamed where they do not fit."""

from __future__ import annotations

import zipfile
from collections.abc import Generator
from contextlib import contextmanager

from theorysim.claims.experiment import Experiment
from theorysim.data import own
from theorysim.errors import UsageError

# Data that are images, which are read from .npz files.
IMAGES = ("digits", "mnist")


def check_own_data(theorem: Experiment) -> None:
    """Refuse files for data that the experiment would never look at, and what is no such file.

    Raises:
        UsageError: with the data that it has, or what kind of file is expected.
    """
    for name in own.names():
        if name not in theorem.data:
            known = f"it has {', '.join(theorem.data)}" if theorem.data else "it has none"
            raise UsageError(f"{theorem.id} has no data called {name!r}: {known}")
        path = own.file_of(name)
        if name in IMAGES and path is not None and not zipfile.is_zipfile(path):
            raise UsageError(
                f"{name}: {path} is no .npz file; expected one with `images` and `labels`, as "
                "numpy.savez writes it"
            )


@contextmanager
def blaming_own_data(theorem: Experiment) -> Generator[None]:
    """Whatever goes wrong while a user's own data are used is told with their files.

    Raises:
        UsageError: naming the files, where there are some.
    """
    try:
        yield
    except Exception as error:
        if not own.names():
            raise
        files = ", ".join(f"{name} = {own.file_of(name)}" for name in own.names())
        if isinstance(error, UsageError):
            raise UsageError(f"with {files}: {error}") from error
        what = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise UsageError(
            f"{theorem.id} cannot be run with {files} ({what}): expected as many examples, and the "
            "same labels, as the data that it has by itself; --set makes sizes smaller"
        ) from error
