"""Theorems as property-based tests: the strategies, the assertion and the marker themselves."""

import subprocess
import sys
from pathlib import Path

import hypothesis
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from tests.engine.statements import theorem
from theorysim.claims import Mutant, Real, Size, Space, UsageError, at_most
from theorysim.testing import (
    assert_holds,
    assert_mutants_are_refuted,
    assert_passes,
    instances,
    space_instances,
)

TRUE = theorem(
    at_most("a", lambda r: r.sim["a"], lambda r: 1.5),
    hypotheses={"a at most 1.5": lambda x: 1.5 - x.a},
)
FALSE = theorem(at_most("a", lambda r: r.sim["a"], lambda r: 1.5))


def test_instances_satisfy_the_hypotheses():
    @settings(max_examples=25)
    @given(x=instances(TRUE))
    def check(x):
        assert x["values"]["a"] <= 1.5

    check()


def test_a_true_theorem_passes_and_a_false_one_shrinks_to_a_readable_instance():
    @settings(max_examples=8)
    @given(x=instances(TRUE))
    def true(x):
        assert_holds(TRUE, x)

    true()

    phases = Phase.generate, Phase.shrink  # to explain it takes ten times as many runs

    @settings(max_examples=30, report_multiple_bugs=False, phases=phases)
    @given(x=instances(FALSE))
    def false(x):
        assert_holds(FALSE, x)

    with pytest.raises(AssertionError, match=r"a: lhs 2\.0, rhs 1\.5"):
        false()


def test_an_instance_outside_of_the_hypotheses_is_no_empty_pass():
    outside = {"sizes": {"n": 4}, "values": {"a": 1.75, "b": 1.0}}
    with pytest.raises(AssertionError, match="does not satisfy the hypotheses"):
        assert_holds(TRUE, outside)


def test_a_check_that_cannot_fail_is_no_check():
    assert_mutants_are_refuted("low-rank/proposition-9")
    claim = at_most("a", lambda r: r.sim["a"], lambda r: r.theory["a"] + 1)
    harmless = theorem(claim, mutant=Mutant("true as well", predict=lambda x: {"a": x.a}))
    with pytest.raises(AssertionError, match="a: true as well holds"):
        assert_mutants_are_refuted(harmless)


def test_sizes_may_be_chosen():
    space = Space(d=Size(2), v=Real(0, 1, shape="d"))
    found = find(space_instances(space, {"d": 5}), lambda data: True)
    assert found["sizes"] == {"d": 5}
    assert len(found["values"]["v"]) == 5


def test_unknown_readings_are_named():
    with pytest.raises(UsageError, match="no reading 'r'"):
        instances(TRUE, reading="r")


def test_hypothesis_is_deterministic_here():
    assert hypothesis.settings().derandomize
    assert find(st.integers(), lambda n: n > 10) == 11


def test_the_marker_verifies_a_theorem_in_three_lines(tmp_path: Path):
    (tmp_path / "test_mine.py").write_text(
        "import pytest\n"
        '@pytest.mark.theorem("low-rank/proposition-9", instances=8, reading="corrected")\n'
        "def test_mine(theorem_report):\n"
        '    assert theorem_report.verdict == "holds"\n'
        '@pytest.mark.theorem("low-rank/proposition-9", instances=8, reading="as printed")\n'
        "def test_refuted(theorem_report):\n"
        '    assert theorem_report.verdict == "violated"\n'
    )
    command = [sys.executable, "-m", "pytest", "-q", str(tmp_path)]
    root = Path(__file__).parents[1]
    run = subprocess.run(
        [*command, "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", str(tmp_path)],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert "2 passed" in run.stdout, run.stdout + run.stderr


def test_the_check_as_an_assertion_names_the_step_and_the_remedy(tmp_path):
    path = tmp_path / "my_rate.py"
    path.write_text('"""Title."""\n\nstatement = 3\n')
    with pytest.raises(AssertionError, match=r"my_rate\.py, load: .*expected `theorem = Theorem"):
        assert_passes(path)


@pytest.mark.thorough
def test_without_its_extra_it_says_what_to_install():
    program = "import sys; sys.modules['hypothesis'] = None; import theorysim.testing"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last == (
        "ImportError: theorysim.testing needs hypothesis: pip install 'theorysim[testing]'"
    )
