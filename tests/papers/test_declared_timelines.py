"""Recorded series over time that a paper declares."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_declared_figures import QUANTITIES, SWEEP, link, session

from airpath.present import style
from airpath.present.timelines import draw_series, levels_at
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import Sweeps
from airpath.reproduction.timelines import timeline_item

TIMELINE: dict[str, Any] = {
    "points": "sizes",
    "title": "t",
    "panels": [
        {
            "title": "rate {rate:.0f}",
            "y_name": "queue",
            "scale": "queue",
            "levels": {"4": "limit"},
            "curves": [
                {
                    "place": {"cc": cc},
                    "series": "queue",
                    "factor": 0.5,
                    "colour": "blue",
                    "label": cc,
                }
            ],
        }
        for cc in ("newreno", "cubic")
    ],
    "events": {"1": "change"},
}


@pytest.fixture
def sweeps(tmp_path: Path) -> Sweeps:
    (tmp_path / "sweeps.toml").write_text(SWEEP, encoding="utf-8")
    return Sweeps(tmp_path, link)


def test_series_are_plotted_by_panel_on_scales_of_equal_height(
    sweeps: Sweeps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[Any] = []

    def keep(_session: Session, figure: Any, *_rest: Any) -> list[Path]:
        kept.append(figure)
        return []

    monkeypatch.setattr(Session, "write", keep)
    _cells, evaluate = timeline_item(tmp_path, "fig1", TIMELINE, sweeps, QUANTITIES)
    evaluate(session(sweeps), tmp_path)
    first, second = kept[0].axes
    assert first.get_ylim() == second.get_ylim()
    for axis, height in ((first, 2.5), (second, 5.0)):
        [line] = [line for line in axis.lines if line.get_drawstyle() == "steps-post"]
        assert max(line.get_ydata()) == height
        assert any(list(line.get_xdata()) == [1, 1] for line in axis.lines)
    assert [text.get_text() for text in first.texts] == ["limit", "change"]
    assert [axis.get_title(loc="left") for axis in (first, second)] == ["rate 20", "rate 40"]
    names = [text.get_text() for text in kept[0].legends[0].texts]
    assert names == ["newreno", "cubic"]


def test_point_may_have_axis_of_some_points(tmp_path: Path) -> None:
    other = '[other]\nset = {cc = "cubic", size = 20}\nplace.also = 1\nseries = ["queue"]\n'
    (tmp_path / "sweeps.toml").write_text(SWEEP + other, encoding="utf-8")
    sweeps = Sweeps(tmp_path, link)
    [panel, _] = TIMELINE["panels"]
    curves = [{**panel["curves"][0], "place": {"also": 1}}]
    spec = {**TIMELINE, "points": ["sizes", "other"], "panels": [{**panel, "curves": curves}]}
    cells, _evaluate = timeline_item(tmp_path, "fig1", spec, sweeps, QUANTITIES)
    assert cells == [*sweeps.cells("sizes"), *sweeps.cells("other")]


def test_level_is_constant_until_next_level() -> None:
    found = levels_at(np.array([1.0, 2.0]), np.array([5.0, 7.0]), np.array([0.0, 1.0, 1.9, 2.0]))
    assert found.tolist() == [5.0, 5.0, 5.0, 7.0]


def test_rates_are_sums_of_bins() -> None:
    times, values = np.array([0.0, 0.5, 1.5, 2.5]), np.array([4.0, 2.0, 6.0, 9.0])
    axis: Any = style.new_figure(4, 3).subplots()
    draw_series(axis, "rates", times, values, np.array([0.0, 2.0]), color="k", label="rate")
    assert axis.patches[0].get_data().values.tolist() == [6.0]
    draw_series(axis, "band", times, values, np.array([0.0, 1.0, 2.0]), color="k", label="level")
    assert axis.lines[0].get_ydata().tolist() == pytest.approx([3.0, 4.0])
    heights = axis.collections[0].get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (2.0, 6.0)
