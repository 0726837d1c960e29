"""Scenes that one can move in a page: what a page puts below a picture.

A page that is opened from disk may load scripts but fetch nothing: its data comes in a script that
assigns it. assets/explore.js draws.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

import jax
import numpy as np

from theorysim.engine.registry.sources import code_hash
from theorysim.environment import cache_folder
from theorysim.scenes.catalogue import module_of
from theorysim.scenes.scene import Panel, Role, Scene
from theorysim.site import grids
from theorysim.site.grids import DIGITS, Grid, Table, Track

ROOMS = ("scenes", "theorems", "systems", "numerics", "claims")


@dataclass(frozen=True)
class Widget:
    """An explorable picture.

    Attributes:
        html: the fragment that stands below the printed figure; it names `files` as they are.
        files: further files by their names, beside the page.
    """

    html: str
    files: Mapping[str, str] = field(default_factory=dict)


def widget_of(id: str, scene: Scene) -> Widget | None:
    """The widget of a statement's scene; None where it has nothing to move.

    It is computed anew only when the code that it rests on has changed.
    """
    if not scene.sliders:
        return None
    file = cache_folder() / "widgets" / f"{_key(id)}.json"
    try:
        return Widget(**json.loads(file.read_text("utf-8")))
    except (OSError, ValueError, TypeError):  # not there, or cut short
        made = make(id, grids.precompute(scene))
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"html": made.html, "files": dict(made.files)}), "utf-8")
    except OSError:  # a home that cannot be written costs time only
        pass
    return made


def _key(id: str) -> str:
    """Changes with the code of the scene, with this module's, and with JAX."""
    ours = [Path(file).read_bytes() for file in (__file__, grids.__file__)]
    parts = [id.encode(), code_hash(module_of(id), ROOMS).encode(), jax.__version__.encode(), *ours]
    return sha256(b"\0".join(parts)).hexdigest()


def make(id: str, grid: Grid) -> Widget:
    """The widget of a precomputed scene."""
    file = id.rpartition("/")[2] + ".data.js"
    text = json.dumps(data(grid), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    script = f"(window.theorysimScenes??={{}})[{json.dumps(id)}]={text}\n"
    return Widget(_html(id, grid, file), {file: script})


def data(grid: Grid) -> dict[str, Any]:
    """What explore.js draws from: tables that several curves share stand there once."""
    found: dict[tuple, int] = {}
    tables: list[Table] = []

    def index(table: Table) -> int:
        key = (table.log, table.jumps, table.rows.shape, table.rows.tobytes())
        if key not in found:
            found[key] = len(tables)
            tables.append(table)
        return found[key]

    def series(panel: Panel, pairs: Sequence[tuple[Table, Table]]) -> list[dict[str, Any]]:
        return [
            {"label": s.label, "role": s.role.value, "x": index(x), "y": index(y)}
            for s, (x, y) in zip(panel.series, pairs)
        ]

    panels = [
        {
            "title": panel.title,
            "x": panel.x_label,
            "y": panel.y_label,
            "logX": panel.log_x,
            "logY": panel.log_y,
            "series": series(panel, pairs),
        }
        for panel, pairs in zip(grid.panels, grid.tables)
    ]
    return {
        "tracks": [_track(name, track) for name, track in grid.tracks.items()],
        "panels": panels,
        "tables": [
            {"log": t.log, "jumps": t.jumps, "rows": [[_number(v) for v in r] for r in t.rows]}
            for t in tables
        ],
    }


def _track(name: str, track: Track) -> dict[str, Any]:
    return {
        "name": name,
        "log": track.slider.log,
        "between": track.between,
        "start": track.slider.default,
        "values": track.values.tolist(),
    }


def _number(value: float) -> float | int | None:
    """The shortest JSON of a rounded number; null of what is not drawn."""
    if not np.isfinite(value):
        return None
    rounded = float(f"{value:.{DIGITS}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def _html(id: str, grid: Grid, file: str) -> str:
    """Sliders, a place for the panels, and how they were computed."""
    stem = "slider-" + id.replace("/", "-").replace(".", "-")
    sliders = "\n".join(_slider(f"{stem}-{n}", t) for n, t in enumerate(grid.tracks.values()))
    return f"""\
<div class="explorable" data-scene="{escape(id)}">
<div class="sliders">
{sliders}
</div>
<button type="button">Back to the start</button>
<div class="panels"></div>
<p class="hint">{escape(_precision(grid))}
For any values, run <code>theorysim explore {id}</code>.</p>
<p class="told" aria-live="polite"></p>
</div>
<noscript><p class="hint">With JavaScript this figure can be moved.</p></noscript>
<script src="{escape(file)}"></script>"""


def _slider(id: str, track: Track) -> str:
    last, step = ("1", "any") if track.between else (str(len(track.values) - 1), "1")
    return (
        f'<div class="slider"><label for="{id}">{escape(track.slider.label)}</label>'
        f'<output for="{id}"></output>'
        f'<input id="{id}" type="range" min="0" max="{last}" step="{step}"></div>'
    )


def _precision(grid: Grid) -> str:
    """Where curves are exact, and how far off they are elsewhere."""
    sizes = " × ".join(str(len(track.values)) for track in grid.tracks.values())
    parts = [f"Computed with the statement's own code at {sizes} values."]
    fixed = [track.slider.label for track in grid.tracks.values() if not track.between]
    smooth = [track.slider.label for track in grid.tracks.values() if track.between]
    if fixed:
        parts.append(f"Moves from one of these values to the next: {'; '.join(fixed)}.")
    if smooth:
        which = f" along {'; '.join(smooth)}" if fixed else ""
        parts.append(
            f"Between these values{which}, curves are interpolated: compared with the code at "
            f"{grid.compared} places in between, they were at most {100 * grid.error:.1f} % of an "
            "axis off."
        )
        if any(series.role is Role.MARK for panel in grid.panels for series in panel.series):
            parts.append("Hollow signs stand where the nearest of these values have them.")
    return " ".join(parts)
