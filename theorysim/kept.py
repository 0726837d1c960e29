"""Programs that are kept on disk, so that another process need not trace and compile them again.

A program is known by what it is made of: a text from the caller that stands for all code and all
settings behind it, the shapes of its arguments, the versions of what traces and compiles it, the
machine and the settings of JAX. Where the caller knows no such text, nothing is kept.

Programs are kept in the folder THEORYSIM_PROGRAMS, which the command sets; nowhere if it is empty.
Loading one takes tenths of a second: those that a task took before are loaded by a thread, while
the process still imports what calls them (`foreseen`).
"""

from __future__ import annotations

import io
import json
import os
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from importlib import metadata, util
from typing import Any, NamedTuple, TypeVar
from weakref import WeakSet

import jax
from jax.stages import Compiled
from jaxlib import xla_client

from theorysim.compiled import jit
from theorysim.executables import (
    Executable,
    Held,
    calls_library,
    compile_anew,
    device_of,
    from_bytes,
    held_by,
    to_bytes,
)
from theorysim.lapack import find_library, find_library_alone
from theorysim.loaded import modules_are_as_loaded
from theorysim.store import Store, kept_files
from theorysim.versions import versions

# What programs are traced by, beside the packages of `versions`.
TRACING = ("jaxtyping", "lineax", "ml_dtypes", "optimistix", "opt_einsum")
# Settings of JAX that say where programs are kept and what is told of them, and not what they are.
ASIDE = ("cache", "dump", "log")

# Stands before the keys of a task some of whose programs call a library.
CALLS_LIBRARY = "lapack"

Value = TypeVar("Value")

# All that live.
_programs: WeakSet[Program] = WeakSet()


def forget() -> None:
    """Let go of all compiled programs: a process has room for some hundreds of them.

    A loop over many statements ended otherwise, where the system had no further memory map to give.
    """
    for program in _programs:
        program.forget()
    jax.clear_caches()


class Program:
    """A function, compiled for the shapes of its arguments as `theorysim.compiled.jit` does.

    Args:
        function: pure, of trees of arrays; only traced where the program is not kept.
        made_of: what it is made of, but for the shapes; None where that is not known.
    """

    def __init__(self, function: Callable[..., Any], made_of: str | None):
        self._function, self._made_of = function, made_of
        self._plain = jit(function)
        self._at: dict[str, Executable] = {}
        _programs.add(self)

    def __call__(self, *arguments: Any) -> Any:
        """The results, computed."""
        kept = self._is_known()
        return (self.compile(*arguments) if kept else self._plain)(*arguments)

    def compile(self, *arguments: Any) -> Executable | Compiled:
        """The program of arguments (or shapes) like these: loaded, or compiled and kept."""
        if not self._is_known():
            return self._plain.lower(*arguments).compile()
        leaves, tree = jax.tree.flatten(arguments)
        shapes = list(map(shape_of, leaves))
        key = _digest("program", self._made_of or "", str(tree), str(shapes), standing())
        if key not in self._at:
            _taken[key] = False
            self._at[key] = _loaded(key) or self._made(key, shapes, tree)
        return self._at[key]

    def forget(self) -> None:
        """Let go of what was compiled or loaded."""
        self._at.clear()

    def _is_known(self) -> bool:
        folder = kept_files()
        return self._made_of is not None and folder is not None and folder.takes_files

    def _made(self, key: str, shapes: list, tree: Any) -> Executable:
        """The program of flat arguments, compiled, and stored where it has a form for it."""
        trees = []

        def flat(*leaves: Any) -> list[Any]:
            found, structure = jax.tree.flatten(self._function(*jax.tree.unflatten(tree, leaves)))
            trees.append(structure)
            return found

        compiled = compile_anew(jit(flat).lower(*shapes))
        payload, folder, results = to_bytes(compiled), kept_files(), trees[-1]
        _taken[key] = payload is not None and calls_library(payload)
        held, device = held_by(compiled), device_of(compiled)
        if payload is not None and device is not None and folder is not None:
            count = len(shapes), results.num_leaves
            kept = _Kept(payload, *count, device, pickle.dumps(results), held and held[:2])
            _keep(folder, key, pickle.dumps(kept))
        return Executable(compiled, results, held)


class _Kept(NamedTuple):
    """A program on disk.

    Its bytes, how many arguments and results it has, the device that runs it, the pickled tree of
    the results, and `Held`.
    """

    payload: bytes
    arguments: int
    results: int
    device: int
    tree: bytes
    held: tuple[int, int] | None


def kept_value(made_of: str | None, what: str, compute: Callable[[], Value]) -> Value:
    """What is counted on a traced program (numbers, texts, lists of them), kept as programs are."""
    folder = kept_files()
    if made_of is None or folder is None:
        return compute()
    key = _digest("value", made_of, what, standing())
    data = folder.read(key)
    if data is not None:
        with suppress(ValueError):  # something else wrote it
            return json.loads(data)
    value = compute()
    _keep(folder, key, json.dumps(value).encode())
    return value


def _keep(folder: Store, key: str, content: bytes) -> None:
    """Keep it, unless a module was edited, imported and perhaps written back: the key knows not."""
    if modules_are_as_loaded():
        folder.write(key, content)


def shape_of(leaf: Any) -> jax.ShapeDtypeStruct:
    """Shape and type, as JAX has it: a number of Python takes the precision of what it meets."""
    seen = jax.typeof(leaf)
    return jax.ShapeDtypeStruct(seen.shape, seen.dtype, weak_type=seen.weak_type)


class _Plain(pickle.Unpickler):
    """Reads trees of results and bytes: a file from a stranger runs no code."""

    def find_class(self, module: str, name: str) -> Any:
        """The nodes of trees that JAX knows and those of claims; nothing else is looked up."""
        root = module.partition(".")[0]
        if (root, name) in {("jaxlib", "PyTreeDef"), ("jax", "default_registry")}:
            return super().find_class(module, name)
        if (module, name) == (__name__, "_Kept"):
            return _Kept
        if module.startswith("theorysim.claims.") and name.isidentifier():
            found = super().find_class(module, name)
            if isinstance(found, type):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is no node of results")


class _Read(NamedTuple):
    """A program that was read; its tree of results is not: it may import modules."""

    compiled: Compiled
    tree: bytes
    held: Held | None
    calls_library: bool


# Keys of the programs that this process took, in order, and whether each calls a library; and those
# that a thread loads.
_taken: dict[str, bool] = {}
_ahead: dict[str, Future[_Read | None]] = {}


@contextmanager
def foreseen(task: str) -> Iterator[None]:
    """Within it, threads load the programs that the task of this text took before.

    Before, while no other thread imports anything, the library is found that some of them call. One
    processor is left to who needs them, and who has to wait for one loads others meanwhile.
    """
    folder = kept_files()
    if folder is None:
        yield
        return
    _taken.clear()
    name = _digest("task", task, _fixed())
    before = folder.read(name)
    keys = dict.fromkeys((before or b"").decode(errors="replace").split())
    if CALLS_LIBRARY in keys:
        find_library_alone()
        del keys[CALLS_LIBRARY]
    with ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1)) as threads:
        _ahead.update({key: threads.submit(_read, key) for key in keys})
        try:
            yield
        finally:
            for loading in map(_ahead.pop, list(_ahead)):
                loading.cancel()
    taken = " ".join([CALLS_LIBRARY] * any(_taken.values()) + list(_taken)).encode()
    if taken and taken != before:
        folder.write(name, taken)


def _loaded(key: str) -> Executable | None:
    """The program of the store, ready to be called."""
    begun = _ahead.pop(key, None)
    if begun is None or begun.cancel():
        read = _read(key)
    else:
        _read_others_before(begun)
        read = begun.result()
    if read is None:
        return None
    try:
        results = _Plain(io.BytesIO(read.tree)).load()
    except Exception:  # nodes that a stranger, or other code, wrote: the program is made anew
        return None
    if read.calls_library:
        _taken[key] = True
        find_library()
    return Executable(read.compiled, results, read.held)


def _read_others_before(begun: Future[_Read | None]) -> None:
    """Read what is needed next, as long as this one is not there: else a processor stood idle.

    Another thread that asks for it meanwhile finds it cancelled, and reads it, too.
    """
    for key, other in list(_ahead.items()):
        if begun.done():
            return
        if other.cancel():
            done: Future[_Read | None] = Future()
            done.set_result(_read(key))
            if _ahead.get(key) is other:
                _ahead[key] = done


def _read(key: str) -> _Read | None:
    folder = kept_files()
    data = folder.read(key) if folder is not None else None
    if data is None:
        return None
    try:
        kept = _Plain(io.BytesIO(data)).load()
        compiled = from_bytes(kept.payload, kept.arguments, kept.results, kept.device)
        held = kept.held and Held(*kept.held)
        return _Read(compiled, kept.tree, held, calls_library(kept.payload))
    except Exception:  # written by something else, whatever it is: it is made anew
        return None


def standing() -> str:
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
    machine = xla_client.get_topology_for_devices(jax.devices()).fingerprint()
    return json.dumps([versions(), _installed(), flags, devices, machine])


def _installed() -> dict[str, str]:
    return {name: metadata.version(name) for name in TRACING if util.find_spec(name) is not None}


def _digest(*texts: str) -> str:
    total = sha256()
    for text in texts:
        total.update(len(text).to_bytes(8, "little") + text.encode(errors="surrogatepass"))
    return total.hexdigest()
