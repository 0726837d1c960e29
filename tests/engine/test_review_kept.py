"""Finished stages of a review are kept, until what they rest on has changed."""

import pytest
from drawn import thorough
from searches import AMPLE, one_round

from theorysim.engine.review.readings import Readings
from theorysim.engine.review.review import STAGES, review

NEAR = 0.05
"""how near a search of one round comes, relatively"""

FILE = '''
"""A number is at most its bound."""

from theorysim.claims import Mutant, Real, Space, Theorem, at_most

theorem = Theorem(
    space=Space(a=Real(1, 2)),
    simulate=lambda x, key: x.a,
    claims=(at_most("bound", lambda r: r.sim, lambda r: 2.0),),
    mutants=(Mutant("three times", simulate=lambda x, key: 3 * x.a),),
)
'''.lstrip()


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "lemma_1.py"
    path.write_text(FILE)
    return path


@pytest.fixture(autouse=True)
def _short():
    with one_round(64):
        yield


@pytest.fixture
def begun(monkeypatch):
    """The names of the stages that were computed, not taken from an earlier run."""
    from theorysim.engine.review import kept

    names = []
    store = kept.Kept.store

    def note(self, stage, *arguments):
        names.append(stage)
        store(self, stage, *arguments)

    monkeypatch.setattr(kept.Kept, "store", note)
    return names


def interrupt_at(stage: int):
    def progress(done, total, name):
        if done == stage:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize("stage", [thorough(1), 3])
def test_an_interrupted_review_goes_on(file, begun, tmp_path, stage):
    folder = tmp_path / "kept"
    folder.mkdir()
    with pytest.raises(KeyboardInterrupt):
        review(str(file), seconds=AMPLE, kept=folder, progress=interrupt_at(stage))
    assert begun == list(STAGES[:stage])
    found = review(str(file), seconds=AMPLE, kept=folder)
    assert begun == list(STAGES)
    assert list(found.spent) == list(STAGES)
    assert found.theorem == "local/lemma-1"
    again = review(str(file), seconds=AMPLE, kept=folder)
    assert begun == list(STAGES) and again.as_json() == found.as_json()


def test_a_changed_file_or_option_begins_anew(file, begun, tmp_path):
    review(str(file), seconds=AMPLE, kept=tmp_path)
    review(str(file), seconds=AMPLE, seed=1, kept=tmp_path)
    assert len(begun) == 2 * len(STAGES)
    file.write_text(FILE.replace("2.0", "2.5"))
    found = review(str(file), seconds=AMPLE, kept=tmp_path)
    assert len(begun) == 3 * len(STAGES)
    assert found.sharpness.constants[0].factor == pytest.approx(0.8, rel=NEAR)
    review(str(file), seconds=AMPLE, kept=tmp_path, fresh=True)
    assert len(begun) == 4 * len(STAGES)


@pytest.mark.parametrize(
    "content", [*map(thorough, ("", "{", "[]")), '{"readings and verdicts": {"seconds": 1}}']
)
def test_a_kept_file_that_cannot_be_read_is_as_none(file, begun, tmp_path, content):
    folder = tmp_path / "kept"
    folder.mkdir()
    review(str(file), seconds=AMPLE, kept=folder)
    (kept,) = folder.iterdir()
    kept.write_text(content)
    review(str(file), seconds=AMPLE, kept=folder)
    assert len(begun) == 2 * len(STAGES)
    assert list(folder.iterdir()) == [kept]


def test_records_of_another_form_are_refused():
    with pytest.raises((KeyError, TypeError, ValueError)):
        Readings.from_json({"readings": [{}], "sizes": {}, "warnings": [], "pictures": {}})
