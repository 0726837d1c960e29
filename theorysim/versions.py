"""Versions of what computes a verdict."""

from __future__ import annotations

import platform
from importlib import metadata


def versions() -> dict[str, str]:
    """Versions of what computes a verdict."""
    packages = ("theorysim", "jax", "jaxlib", "diffrax", "equinox", "optax", "numpy", "scipy")
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found
