"""A small site: a few recorded statements and an experiment, built once.

Their code may be newer than the records.
"""

from pathlib import Path

import pytest

from theorysim.scenes.catalogue import scene_of
from theorysim.scenes.scene import Scene
from theorysim.site.grids import Grid, precompute

EXPERIMENT = "overtraining/figure-5"
IDS = ("linear-teachers/equation-7", "overtraining/lemma-a.28", "overtraining/theorem-4.7")
# Pages of the others are without their scenes, whose grids take as long as the rest of the site.
MOVED = "overtraining/theorem-4.7"
MADE: dict[str, Grid] = {}


def precomputed_once(scene: Scene) -> Grid:
    """Its grid, for the pages and for the tests of grids."""
    if scene.title not in MADE:
        MADE[scene.title] = precompute(scene)
    return MADE[scene.title]


@pytest.fixture(scope="session")
def grid_of():
    """Grids of scenes, each computed once."""
    return precomputed_once


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    """The folder of the pages."""
    pytest.importorskip("material", reason="the extra `site` is not installed")
    pytest.importorskip("mkdocstrings_handlers.python", reason="the extra `site` is not installed")
    from theorysim.engine.registry import records
    from theorysim.engine.registry.entries import Catalogue
    from theorysim.engine.registry.sources import source_hash
    from theorysim.site import experiments, grids, statements
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
        patch.setattr(statements, "scene_of", lambda id: scene_of(id) if id == MOVED else None)
        patch.setattr(grids, "precompute", precomputed_once)
        patch.setattr(experiments, "own_experiments", lambda: figures)
        patch.setattr(experiments, "fresh_experiments", lambda entries: runs)
        assert build(out) == len(IDS)
    return out
