"""Programs that are kept on disk, so that another process need not trace and lower them again.

A program is kept as the StableHLO that `jax.export` makes of it, which the compiler (or JAX's cache
of compiled programs) takes from there. It is known by what it is made of: a text from the caller
that stands for all code and all settings behind it, the shapes of its arguments, the versions of
what traces it and the settings of JAX. Where the caller knows no such text, nothing is kept. Kept
or not, a program of known origin is compiled from its export, so that its results are the same.

Programs are kept in the folder THEORYSIM_PROGRAMS, which the command sets; nowhere if it is empty.
"""

from __future__ import annotations

import io
import json
import os
import pickle
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from importlib import metadata, util
from typing import Any, TypeVar

import jax
from jax.export import Exported, deserialize, export
from jax.stages import Lowered, Wrapped

from theorysim.compiled import jit
from theorysim.store import Store, kept_files
from theorysim.versions import versions

# What programs are traced by, beside the packages of `versions`.
TRACING = ("jaxtyping", "lineax", "ml_dtypes", "optimistix", "opt_einsum")
# Settings of JAX that say where programs are kept and what is told of them, and not what they are.
ASIDE = ("cache", "dump", "log")

Value = TypeVar("Value")


class Program:
    """A function, compiled for the shapes of its arguments as `theorysim.compiled.jit` does.

    Args:
        function: pure, of trees of arrays; only traced where the program is not kept.
        made_of: what it is made of, but for the shapes; None where that is not known.
    """

    def __init__(self, function: Callable[..., Any], made_of: str | None):
        self._function, self._made_of = function, made_of
        self._plain = jit(function)
        self._at: dict[str, Wrapped] = {}

    def __call__(self, *arguments: Any) -> Any:
        """The results, computed."""
        return self._compiled(arguments)(*arguments)

    def lower(self, *arguments: Any) -> Lowered:
        """The program of arguments (or shapes) like these, to be compiled."""
        return self._compiled(arguments).lower(*arguments)

    def _compiled(self, arguments: tuple) -> Wrapped:
        if self._made_of is None or store() is None:
            return self._plain
        leaves, tree = jax.tree.flatten(arguments)
        shapes = list(map(_shape, leaves))
        key = _digest("program", self._made_of, str(tree), str(shapes), _standing())
        if key not in self._at:
            self._at[key] = self._exported(key, shapes, tree)
        return self._at[key]

    def _exported(self, key: str, shapes: list, tree: Any) -> Wrapped:
        """The program from the store, else traced and stored; as it is where it has no export."""
        kept = _load(key)
        if kept is None:
            kept = self._trace(shapes, tree)
            if kept is None:
                return self._plain
            _save(key, *kept)
        program, results = kept

        def call(*arguments: Any) -> Any:
            return jax.tree.unflatten(results, program.call(*jax.tree.leaves(arguments)))

        return jit(call)

    def _trace(self, shapes: list, tree: Any) -> tuple[Exported, Any] | None:
        """The exported program of the leaves, and the tree of its results."""
        trees = []

        def flat(*leaves: Any) -> list[Any]:
            found, structure = jax.tree.flatten(self._function(*jax.tree.unflatten(tree, leaves)))
            trees.append(structure)
            return found

        try:
            program = export(jax.jit(flat))(*shapes)
        except (NotImplementedError, ValueError):  # it calls Python, or is wrong and says so again
            return None
        return program, trees[-1]


def kept_value(made_of: str | None, what: str, compute: Callable[[], Value]) -> Value:
    """What is counted on a traced program (numbers, texts, lists of them), kept as programs are."""
    folder = store()
    if made_of is None or folder is None:
        return compute()
    key = _digest("value", made_of, what, _standing())
    data = folder.read(key)
    if data is not None:
        return json.loads(data)
    value = compute()
    folder.write(key, json.dumps(value).encode())
    return value


def _shape(leaf: Any) -> jax.ShapeDtypeStruct:
    """Shape and type, as JAX has it: a number of Python takes the precision of what it meets."""
    seen = jax.typeof(leaf)
    return jax.ShapeDtypeStruct(seen.shape, seen.dtype, weak_type=seen.weak_type)


def store() -> Store | None:
    """Where this process keeps programs, which JAX writes with flatbuffers; None without it."""
    return kept_files() if _has_flatbuffers() else None


@cache
def _has_flatbuffers() -> bool:
    return util.find_spec("flatbuffers") is not None


class _Plain(pickle.Unpickler):
    """Reads trees of results and bytes: a file from a stranger runs no code."""

    def find_class(self, module: str, name: str) -> Any:
        """The nodes of trees that JAX knows and those of claims; nothing else is looked up."""
        root = module.partition(".")[0]
        if (root, name) in {("jaxlib", "PyTreeDef"), ("jax", "default_registry")}:
            return super().find_class(module, name)
        if module.startswith("theorysim.claims.") and name.isidentifier():
            found = super().find_class(module, name)
            if isinstance(found, type):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is no node of results")


def _load(key: str) -> tuple[Exported, Any] | None:
    folder = store()
    data = folder.read(key) if folder is not None else None
    if data is None:
        return None
    try:
        program, results = _Plain(io.BytesIO(data)).load()
        return deserialize(bytearray(program)), results
    except Exception:  # written by something else, whatever it is: it is made anew
        return None


def _save(key: str, program: Exported, results: Any) -> None:
    folder = store()
    if folder is not None:
        folder.write(key, pickle.dumps((bytes(program.serialize()), results)))


def _standing() -> str:
    """Versions, devices and settings that programs depend on; settings may change any time."""
    settings = {
        name: str(getattr(jax.config, name, value))
        for name, value in jax.config.values.items()
        if not any(word in name for word in ASIDE)
    }
    return f"{_fixed()}{sorted(settings.items())}"


@cache
def _fixed() -> str:
    """What stays while a process runs."""
    flags = {name: os.environ[name] for name in sorted(os.environ) if name.startswith("EQX_")}
    flags["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "")
    devices = [f"{device.platform} {device.device_kind}" for device in jax.devices()]
    return json.dumps([versions(), _installed(), flags, devices])


def _installed() -> dict[str, str]:
    return {name: metadata.version(name) for name in TRACING if util.find_spec(name) is not None}


def _digest(*texts: str) -> str:
    total = sha256()
    for text in texts:
        total.update(len(text).to_bytes(8, "little") + text.encode())
    return total.hexdigest()
