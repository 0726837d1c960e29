"""Candidates are those of their keys, drawn by a program that theorems of one space share."""

import jax
import numpy as np

from tests.engine.statements import theorem
from theorysim.claims import Printed, Reading, Real, Size, Space, at_most
from theorysim.engine.measure.draw import DRAW_CHUNK, candidate_key, draw
from theorysim.engine.measure.setup import Setup, parse_settings


class Counted(Space):
    """A space that counts how often a program of its sampler is traced."""

    traces = 0

    def sample(self, key, sizes):
        self.traces += 1
        return super().sample(key, sizes)


def drawn(statement, count=5):
    reading = statement.primary()
    return draw(Setup(statement, (reading,), parse_settings(statement, {}), seed=3), count)


def test_candidates_are_those_of_their_keys_whichever_theorem_asks(x64):
    space = Counted(n=Size(4), a=Real(1, 2), b=Real(1, 2))
    below = drawn(theorem(at_most("a", lambda r: r.sim["a"], lambda r: 2.0), space=space))
    above = drawn(theorem(at_most("b", lambda r: 1.0, lambda r: r.x.b), space=space))
    assert space.traces == 1
    for index in range(5):
        x = Space.sample(space, jax.random.fold_in(candidate_key(3, index), 0), {"n": 4})
        for found in (below, above):
            np.testing.assert_array_equal(found.instances.a[index], x.a)


def test_what_is_asked_of_candidates_is_asked_of_the_own_margin(x64):
    space = Space(n=Size(4), a=Real(1, 2), b=Real(1, 2))
    claim = at_most("a", lambda r: r.sim["a"], lambda r: 2.0)
    small = theorem(claim, space=space, hypotheses={"small": lambda x: 1.5 - x.a})
    large = theorem(claim, space=space, hypotheses={"large": lambda x: x.a - 1.5})
    met = [found.satisfied(s.primary()) for s in (small, large) for found in [drawn(s, 64)]]
    np.testing.assert_array_equal(met[0], ~met[1])


def test_chunks_go_on_until_every_reading_has_enough(x64):
    seldom = Reading(
        "seldom", Printed("Lemma 2", "the same"), hypotheses={"small": lambda x: 1.004 - x.a}
    )
    claim = at_most("a", lambda r: r.sim["a"], lambda r: 2.0)
    statement = theorem(claim, readings=(seldom,))
    readings = statement.all_readings()
    found = draw(Setup(statement, readings, parse_settings(statement, {}), seed=3), 8)
    assert all(np.sum(found.satisfied(reading)) >= 8 for reading in readings)
    assert len(np.unique(found.keys, axis=0)) == len(found.keys) > DRAW_CHUNK
