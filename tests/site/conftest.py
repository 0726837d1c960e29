"""A small site: a few recorded statements and an experiment, built once.

Their code may be newer than the records.
"""

from pathlib import Path

import pytest

EXPERIMENT = "overtraining/figure-5"
IDS = ("linear-teachers/equation-7", "overtraining/lemma-a.28", "overtraining/theorem-4.7")


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    """The folder of the pages."""
    pytest.importorskip("material", reason="the extra `site` is not installed")
    pytest.importorskip("mkdocstrings_handlers.python", reason="the extra `site` is not installed")
    from theorysim.engine.registry import records
    from theorysim.engine.registry.entries import Catalogue
    from theorysim.engine.registry.sources import source_hash
    from theorysim.site import experiments, statements
    from theorysim.site.build import build

    own, known = records.own_statements(), records.verdicts()
    chosen = Catalogue(tuple(entry for entry in own if entry.id in IDS))
    fresh = {e.id: {**known[e.id], "source": source_hash(e)} for e in chosen}
    figures = Catalogue(tuple(e for e in records.own_experiments() if e.id == EXPERIMENT))
    runs = {EXPERIMENT: {**records.experiments()[EXPERIMENT], "source": "of the code as it is"}}
    out = tmp_path_factory.mktemp("site") / "pages"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(statements, "own_statements", lambda: chosen)
        patch.setattr(statements, "fresh_verdicts", lambda entries: fresh)
        patch.setattr(experiments, "own_experiments", lambda: figures)
        patch.setattr(experiments, "fresh_experiments", lambda entries: runs)
        assert build(out) == len(IDS)
    return out
