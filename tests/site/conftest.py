"""A small site: a few recorded statements, built once. Their code may be newer than the records."""

from pathlib import Path

import pytest

IDS = ("linear-teachers/equation-7", "overtraining/lemma-a.28", "overtraining/theorem-4.7")


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    """The folder of the pages."""
    pytest.importorskip("material", reason="the extra `site` is not installed")
    pytest.importorskip("mkdocstrings_handlers.python", reason="the extra `site` is not installed")
    from theorysim.engine.registry import records
    from theorysim.engine.registry.entries import Catalogue
    from theorysim.engine.registry.sources import source_hash
    from theorysim.site import statements
    from theorysim.site.build import build

    own, known = records.own_statements(), records.verdicts()
    chosen = Catalogue(tuple(entry for entry in own if entry.id in IDS))
    fresh = {e.id: {**known[e.id], "source": source_hash(e)} for e in chosen}
    out = tmp_path_factory.mktemp("site") / "pages"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(statements, "own_statements", lambda: chosen)
        patch.setattr(statements, "fresh_verdicts", lambda entries: fresh)
        assert build(out) == len(IDS)
    return out
