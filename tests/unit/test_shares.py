"""Figures of distributions over integers."""

from __future__ import annotations

from math import nan
from typing import Any

import pytest

from airpath.present import style
from airpath.present.shares import count_drawn, draw_shares

MEANS = [0.5, 0.3, 0.15, 0.05]


def panel_with(low: list[float], high: list[float], *ranges: tuple[float, str, str]) -> Any:
    panel = style.new_figure(4, 3).subplots()
    draw_shares(panel, MEANS, low, high, ranges)
    return panel


@pytest.mark.parametrize(
    ("means", "count"), [([], 1), ([1e-5], 1), ([1.0], 2), ([0.9, 0.0, 0.1, 1e-5, 1e-5], 4)]
)
def test_rare_largest_values_are_not_plotted(means: list[float], count: int) -> None:
    assert count_drawn(means) == count


def test_bars_have_the_colour_of_their_range() -> None:
    ranges = [(0, "blue", "below"), (2.0, "orange", "above"), (9, "green", "never")]
    panel = panel_with([nan] * 4, [nan] * 4, *ranges)
    heights = {
        bars.get_label(): [(bar.get_center()[0], bar.get_height()) for bar in bars]
        for bars in panel.containers
    }
    assert heights == {"below": [(0, 0.5), (1, 0.3)], "above": [(2, 0.15), (3, 0.05)], "never": []}


def test_intervals_end_at_0_and_1() -> None:
    panel = panel_with([0.4, -0.2, 0.1, nan], [1.2, 0.6, 0.2, nan], (0, "blue", ""))
    [segments] = [lines.get_segments() for lines in panel.collections]
    ends = [segment[:, 1].tolist() for segment in segments if segment.ndim == 2]
    assert ends == [pytest.approx(end) for end in ([0.4, 1.0], [0.0, 0.6], [0.1, 0.2])]


def test_figure_without_intervals_has_bars_only() -> None:
    assert not panel_with([nan] * 4, [nan] * 4, (0, "blue", "")).collections
