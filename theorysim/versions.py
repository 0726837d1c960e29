"""Versions of what computes a verdict."""

from __future__ import annotations

import platform
from functools import cache
from importlib import metadata


def versions() -> dict[str, str]:
    """Versions of what computes a verdict."""
    packages = ("theorysim", "jax", "jaxlib", "diffrax", "equinox", "optax", "numpy", "scipy")
    return {"python": platform.python_version(), **{name: _version(name) for name in packages}}


@cache
def _version(package: str) -> str:
    """Read once: it stands among the files of the package."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
