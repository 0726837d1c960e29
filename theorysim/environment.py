"""What makes a process fast and safe, above all environment variables, set before JAX is imported.

Importing theorysim changes nothing: the command, the tests and launchers of sweeps call `prepare`
first.
"""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from importlib import util
from pathlib import Path
from types import ModuleType
from typing import Any

# Batched LAPACK calls can deadlock XLA's CPU thread pool when it has fewer threads than this for
# each program that runs: with 50 decompositions side by side 4 threads hung for one program, 8 for
# two and 16 for eight, where 6, 12 and 32 did not.
THREADS = 16
PROGRAMS_AT_ONCE = 2
THREADS_PER_DEVICE = 4

# Where traced programs are kept, each known by what it is made of; nowhere where it is empty.
PROGRAMS = "THEORYSIM_PROGRAMS"

# Compiles 1.3 to 3.7 times faster than the default level, at equal speed of the programs.
OPTIMISATION = "--xla_backend_optimization_level"


def prepare(environment: MutableMapping[str, str] = os.environ) -> None:
    """Set what the user has not set: threads, error handling, compiler level, program cache."""
    threads = max(THREADS * PROGRAMS_AT_ONCE, THREADS_PER_DEVICE * _devices(environment))
    environment.setdefault("NPROC", str(threads))
    # XLA's threads already call LAPACK side by side; its own threads then wait for one another:
    # batched decompositions of 64 x 64 matrices took 33 ms with one and seconds with several.
    environment.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Equinox raises through host callbacks, and JAX does not cache programs that have one.
    environment.setdefault("EQX_ON_ERROR", "nan")
    flags = environment.get("XLA_FLAGS", "")
    if OPTIMISATION not in flags:
        environment["XLA_FLAGS"] = f"{flags} {OPTIMISATION}=1".strip()
    for name, kept in (("JAX_COMPILATION_CACHE_DIR", "jax"), (PROGRAMS, "programs")):
        folder = cache_folder(environment) / kept
        if name not in environment and _is_writable(folder):
            environment[name] = str(folder)
    environment.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    environment.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "0")


def programs_at_once(environment: Mapping[str, str] = os.environ) -> int:
    """How many programs with batched linear algebra XLA's threads suffice for, at least one."""
    threads = environment.get("NPROC", "")
    return max(1, int(threads) // THREADS) if threads.isdecimal() else 1


def collect_rarely() -> None:
    """Let the garbage collector run rarely: tracing makes many objects, and few cycles.

    With Python's own threshold it took a quarter of the time of a verification.
    """
    gc.set_threshold(200_000)


# Files of others that have run, or will, in this process.
_foreign: list[Path] = []


def expect_code_of(file: Path) -> None:
    """Be ready for code of others, which may do with a module whatever Python lets it do.

    Nothing waits any longer to be imported, and the process ends as processes do.
    """
    _foreign.append(file)
    for package in list(sys.modules.values()):
        if type(package) is _Waiting:
            with suppress(Exception):  # which whoever imports it is told
                package.load()


def has_code_of_others() -> bool:
    """Whether files of others have run in this process."""
    return bool(_foreign)


def import_when_used(*names: str) -> None:
    """Let `import name` load a package once something of it is asked for, by this thread alone.

    `from name import part` asks at once, and so does `import name.part`.
    """
    for name in names:
        spec = util.find_spec(name) if name not in sys.modules else None
        if spec is not None and spec.loader is not None:
            package = util.module_from_spec(spec)
            vars(package).pop("__path__", None)  # which is asked for where a part is imported
            package.__class__ = _Waiting
            sys.modules[name] = package


class _Waiting(ModuleType):
    """A module that is not yet executed.

    That of importlib, with Python 3.11, is executed by the first `import` that finds it.
    """

    def __getattr__(self, name: str) -> Any:
        """Something of the module, which is executed now."""
        if name.startswith("__") and name != "__path__":  # walks over all modules ask for these
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        self.load()
        return getattr(self, name)

    def load(self) -> None:
        """Execute the module; raises what it raises."""
        spec = self.__spec__
        assert spec is not None and spec.loader is not None
        self.__class__ = ModuleType  # type: ignore[assignment]
        if spec.submodule_search_locations is not None:
            self.__path__ = spec.submodule_search_locations
        try:
            spec.loader.exec_module(self)
        except BaseException:
            sys.modules.pop(self.__name__, None)  # as of any import that fails
            raise


def _devices(environment: MutableMapping[str, str]) -> int:
    """How many devices the user splits the CPU into."""
    flags = environment.get("XLA_FLAGS", "")
    asked = re.findall(r"--xla_force_host_platform_device_count=(\d+)", flags)
    asked.append(environment.get("JAX_NUM_CPU_DEVICES", ""))
    return max((int(number) for number in asked if number.isdecimal()), default=1)


def cache_folder(environment: MutableMapping[str, str] = os.environ) -> Path:
    """Where this package keeps what it can compute again, and unfinished work."""
    home = Path.home()
    if sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(environment.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "theorysim"


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)
