"""Theorems as property-based tests: hypothesis strategies from spaces, and assertions.

    from hypothesis import given, settings
    from theorysim.testing import assert_holds, instances

    @settings(deadline=None)  # the first example compiles
    @given(x=instances("overtraining/lemma-a.28"))
    def test_the_lemma(x):
        assert_holds("overtraining/lemma-a.28", x, reading="corrected")

The whole author's loop is one line, and so a test:

    def test_my_rate():
        assert_passes("my_rate.py")

With pytest, the marker does the same for a whole verification (see `theorysim.pytest_plugin`):

    @pytest.mark.theorem("overtraining/lemma-a.28", instances=32)
    def test_the_lemma(theorem_report):
        assert theorem_report.verdict == "holds", theorem_report
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax

try:
    from hypothesis import strategies as st
except ModuleNotFoundError as error:
    raise ImportError(
        "theorysim.testing needs hypothesis: pip install 'theorysim[testing]'"
    ) from error

from theorysim.claims.fields import Sizes
from theorysim.claims.hypotheses import least
from theorysim.claims.margins import is_met
from theorysim.claims.space import Space
from theorysim.claims.theorem import Theorem
from theorysim.claims.verdict import Verdict
from theorysim.engine import registry
from theorysim.engine.check.loop import Loop
from theorysim.engine.check.mutants import claims_that_refute_none, refuting_survivors
from theorysim.engine.measure.setup import find_reading
from theorysim.engine.verify.mutation import Mutation, mutation
from theorysim.engine.verify.report import Report
from theorysim.engine.verify.verify import verify

Data = dict[str, Any]


def _theorem(theorem: Theorem | str) -> Theorem:
    return registry.theorem(theorem) if isinstance(theorem, str) else theorem


def space_instances(space: Space, sizes: Sizes | None = None) -> st.SearchStrategy[Data]:
    """Instances of a space as JSON data, at its default sizes unless others are given."""
    chosen = space.default_sizes(**(sizes or {}))
    fields = {
        name: field.strategy(chosen).map(field.to_json) for name, field in space.fields.items()
    }
    return st.fixed_dictionaries(fields).map(lambda values: {"sizes": chosen, "values": values})


def instances(
    theorem: Theorem | str, *, sizes: Mapping[str, int] | None = None, reading: str | None = None
) -> st.SearchStrategy[Data]:
    """Instances of a theorem that satisfy the hypotheses of a reading (the primary one).

    They are JSON data as `verify(instance=...)` and `--instance` take them; shrinking makes them
    small and round.
    """
    theorem = _theorem(theorem)
    margins = find_reading(theorem, reading).hypotheses.values()
    met = jax.jit(lambda x: [is_met(margin, least(margin, x)) for margin in margins])

    def satisfying(data: Data) -> bool:
        with jax.enable_x64(True):
            return all(map(bool, met(theorem.space.from_json(data))))

    drawn = space_instances(theorem.space, sizes)
    return drawn.filter(satisfying) if margins else drawn


def assert_holds(
    theorem: Theorem | str, instance: Mapping[str, Any], *, reading: str | None = None
) -> Report:
    """Assert that no claim of a reading (the primary one) is violated on an instance.

    An undecided claim passes; its verdict is in the report that is returned.

    Raises:
        AssertionError: with both sides of every violated claim, or where the instance does not
            satisfy the hypotheses, which would make the test empty.
    """
    theorem = _theorem(theorem)
    name = reading or theorem.primary().name
    report = verify(theorem, instance=instance, reading=name)
    (found,) = report.readings
    violated = [c for c in found.claims if c.verdict is Verdict.VIOLATED]
    if violated:
        lines = [
            f"{c.name}: lhs {c.lhs!r}, rhs {c.rhs!r}, slack {c.slack!r}, error {c.error!r}"
            for c in violated
        ]
        raise AssertionError(f"{_label(theorem)}, {name}, is violated\n" + "\n".join(lines))
    if not found.satisfying:
        raise AssertionError(
            f"the instance does not satisfy the hypotheses of {_label(theorem)}, {name}"
        )
    return report


def assert_mutants_are_refuted(
    theorem: Theorem | str, *, reading: str | None = None, seed: int = 0
) -> Mutation:
    """Assert that every claim of a reading (the primary one) refutes a mutant, so that it can fail.

    Claims whose survival the theorem explains (`survivors`) must refute none.

    Raises:
        AssertionError: naming the claims, and their verdict on each mutant.
    """
    theorem = _theorem(theorem)
    found = mutation(theorem, reading=reading, seed=seed)
    if unexplained := claims_that_refute_none(theorem, found):
        lines = "\n".join(
            f"{claim}: {', '.join(f'{m} {v}' for m, v in found.verdicts[claim].items()) or 'none'}"
            for claim in unexplained
        )
        raise AssertionError(f"{_label(theorem)}: claims that refute no mutant\n{lines}")
    if killing := refuting_survivors(theorem, found):
        raise AssertionError(
            f"{_label(theorem)}: {', '.join(killing)} stand among the survivors, but refute "
            f"{', '.join(found.killed_by(killing[0]))}"
        )
    return found


def assert_passes(theorem: str | Path, *, seed: int = 0) -> None:
    """Assert that a theorem, by its id or in a file, passes the steps of `theorysim check`.

    Raises:
        AssertionError: naming the step, what is to be mended, and how.
    """
    for step in Loop(seed=seed).steps(str(theorem)):
        if step.mend:
            raise AssertionError(f"{theorem}, {step.name}: {step.mend}")


def _label(theorem: Theorem) -> str:
    return theorem.id or "the theorem"
