"""The sentences of an answer against statements whose worst case is known by hand."""

import dataclasses

import jax.numpy as jnp
import pytest
from rich.console import Console

from theorysim import claims
from theorysim.claims import Verdict
from theorysim.engine.verify.verify import verify
from theorysim.report.answer import answer
from theorysim.report.table import render
from theorysim.report.terminal import render_answer


def statement(*readings, bound=lambda r: r.x.a, note="", simulate=None):
    """x.a exp(-t) at t = 0, 1, 2 is at most `bound`."""
    path = simulate or (lambda x, key: x.a * jnp.exp(-jnp.arange(3.0)))
    return claims.Theorem(
        space=claims.Space(a=claims.Real(1, 2)),
        simulate=path,
        claims=(claims.at_most("decay", lambda r: r.sim, bound),),
        source=claims.Printed("Eq. 1", "x(t) <= x(0)"),
        readings=readings,
        note=note,
    )


def test_a_tie_at_the_start_of_a_path_tells_nothing_of_its_tightness():
    report = verify(statement())
    (claim,) = report.readings[0].claims
    assert claim.ties == 1
    assert claim.tightness == pytest.approx(jnp.exp(-1))
    assert claim.rhs / claim.lhs == pytest.approx(jnp.e)
    assert "factor of at least 2.72; ties by construction (1 point" in answer(report).tightness


def test_sides_that_are_equal_everywhere_are_attained_and_no_tie_by_construction():
    report = verify(statement(simulate=lambda x, key: x.a * jnp.ones(3)))
    (claim,) = report.readings[0].claims
    assert (claim.ties, claim.tightness) == (0, 1)
    assert answer(report).tightness == "attained: “decay”"


def test_sides_that_are_equal_at_one_instance_only_are_no_tie_by_construction():
    first = lambda x, key: jnp.stack([x.a, jnp.where(x.a > 1.5, x.a, 1.0), x.a / 2])  # noqa: E731
    (claim,) = verify(statement(simulate=first)).readings[0].claims
    assert (claim.ties, claim.tightness) == (1, 1)


def test_what_is_printed_stands_apart_from_corrections_and_findings():
    twice = claims.corrected("twice the bound", predict=None, claims=statement().claims)
    ours = claims.Reading("small", claims.Finding("a tenth"), claims=(_at_most(0.1),))
    theorem = statement(twice, ours, bound=lambda r: 0.9 * r.x.a, note="the factor is lost")
    said = answer(verify(theorem))
    assert [place.sentence for place in said.printed] == ["Eq. 1: violated, the factor is lost"]
    assert [(p.words, p.verdict) for p in said.corrected] == [("twice the bound", Verdict.HOLDS)]
    assert [(p.reading, p.refuted) for p in said.findings] == [("small", ("decay",))]
    assert said.verdict is Verdict.HOLDS
    assert said.excluded.startswith("corrected: violations on more than")
    assert "as printed, “decay”: " in said.worst and "64 of 64" not in said.worst.split(":")[0]
    assert said.next == f"theorysim falsify {theorem.id} --reading 'as printed' --out FILE"


@pytest.mark.parametrize(
    ("sizes", "where"), [({}, "space ("), ({"d": claims.Size(2)}, "space at these sizes (")]
)
def test_what_is_excluded_is_a_share_of_the_space_at_the_sizes_that_were_drawn(sizes, where):
    theorem = dataclasses.replace(statement(), space=claims.Space(a=claims.Real(1, 2), **sizes))
    report = verify(theorem)
    assert f"of the {where}" in answer(report).excluded
    console = Console(width=200)
    with console.capture() as screen:
        render(report, console)
    assert ("% at these sizes (95%)" in screen.get()) == bool(sizes)


def _at_most(factor):
    return claims.at_most("decay", lambda r: r.sim, lambda r: factor * r.x.a)


def test_the_screen_is_short_and_fits_its_width():
    console = Console(width=80, record=True, file=None, markup=False, highlight=False, quiet=False)
    with console.capture() as screen:
        render_answer(answer(verify(statement())), console)
    lines = screen.get().splitlines()
    assert len(lines) <= 20 and max(map(len, lines)) <= 80
    assert any("✓ holds  Eq. 1" in line for line in lines)
    assert sum("theorysim falsify" in line for line in lines) == 1
