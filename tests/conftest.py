"""Tests run in the environment that the command prepares, but for what is quicker to compile."""

import os

from theorysim.environment import PROGRAMS, collect_rarely, prepare

collect_rarely()
os.environ[PROGRAMS] = ""  # tests change what programs are made of, in ways that no file shows
# Of the 29,000 programs of a run, half of them new to the cache, most are small and used once. One
# of a single operation compiles in 15 ms like this, and in 36 as the command has it compiled. Each
# worker has one processor: to compile the parts of a program side by side takes a tenth longer.
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
    " --xla_cpu_parallel_codegen_split_count=1",
)
prepare()  # before anything imports JAX

import hypothesis
import jax
import pytest
from jaxtyping import install_import_hook

from theorysim.chunks import forget

# Shapes and dtypes that kernels announce are checked in every test. A verification passes so often
# through the language that to check its own takes a tenth more: they are where that is asked for.
CHECKED = ["theorysim.numerics", "theorysim.systems"]
if os.environ.get("CHECK_LANGUAGE"):
    CHECKED += ["theorysim.claims"]
install_import_hook(CHECKED, "shape_checks.checked")

STRICT = ("numerics", "systems")

hypothesis.settings.register_profile(
    "deterministic", derandomize=True, database=None, deadline=None, print_blob=True
)
hypothesis.settings.load_profile("deterministic")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Tests of a file run in one process, if they are of no group: they share compiled programs."""
    from xdist.scheduler import LoadGroupScheduling

    class ByFile(LoadGroupScheduling):
        def _split_scope(self, nodeid):
            scope = super()._split_scope(nodeid)
            return scope if scope != nodeid else nodeid.partition("::")[0]

    return ByFile(config, log)


@pytest.fixture
def x64():
    """Double precision for the time of a test."""
    with jax.enable_x64(True):
        yield


@pytest.fixture(autouse=True)
def _strict(request):
    """Kernels promote neither dtypes nor ranks silently.

    Most theorem files do, and the fields of their spaces: formulas there are the paper's, where a
    sum over i needs no axis and n may be counted and divided by. Their kernels are checked here.
    """
    if request.path.parent.name not in STRICT:
        yield
        return
    with jax.numpy_dtype_promotion("strict"), jax.numpy_rank_promotion("raise"):
        yield


@pytest.fixture(autouse=True, scope="module")
def _forget_programs():
    """Drop the compiled programs of a finished module: hundreds of them fill the memory."""
    yield
    forget()
