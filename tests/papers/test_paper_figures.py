"""Figures of the papers: intervals, axes that start at 0, published numbers next to simulated ones.

Regression tests: figures showed means of four replications as curves without intervals, on axes
that covered only the range of their noise. Only the figures of two tables contained published
numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from one_by_one import OneByOne

from airpath.present import style
from airpath.reproduction import Effort, load, reproduce
from airpath.reproduction.engine import Simulated
from airpath.reproduction.session import Session
from airpath_papers.qawla.data import published_entry
from airpath_papers.qawla.error_rates import AWGN, error_rates
from airpath_papers.sbd.data import GRID_MIN_TH, improvements, published_table
from airpath_papers.sbd.figures import GRIDS, grid


class Spread(OneByOne):
    """An engine that returns goodputs around 300 kbit/s and delays around 0.5 s for every point."""

    def simulate_one(self, scenario: Any, **options: Any) -> Simulated:
        strength = sum(map(ord, scenario.name)) % 17
        found = []
        for number in range(options["replications"]):
            flow = {
                "goodput_bps": 300_000.0 + 100 * strength + 1000 * number,
                "mean_delay_s": 0.5 + 0.01 * strength + 0.02 * number,
                "delivered_packets": 100,
            }
            found.append({"simulated_s": 60.0, "flows": [flow], "queues": []})
        return Simulated(found)


def session(cells: Any) -> Session:
    made = Session(load("sbd"), Effort(4, 60.0, 0.0, grid_step=4))
    Spread().simulate(made, cells(made) if callable(cells) else cells)
    return made


def bars(panel: Any) -> dict[str, Any]:
    """Return a mapping from the label of each curve of a panel to its points with intervals."""
    return {each.get_label(): each for each in panel.containers}


def points(container: Any) -> list[tuple[float, float]]:
    x, y = container.lines[0].get_data()
    return list(zip(map(float, x), map(float, y), strict=True))


def half_widths(container: Any, direction: int) -> list[float]:
    segments = container.lines[2][direction].get_segments()
    axis = direction
    return [float(segment[1][axis] - segment[0][axis]) / 2 for segment in segments]


# --- sbd ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def one_flow() -> Any:
    of_grid = grid(GRIDS["fig6"])
    with style.style():
        return of_grid.drawn(session(of_grid.cells))


def test_each_point_of_a_cloud_has_its_intervals(one_flow: Any) -> None:
    for panel in one_flow.axes:
        containers = bars(panel)
        for min_th in GRID_MIN_TH:
            container = containers[f"minth {min_th}"]
            assert container.has_xerr
            assert container.has_yerr
            assert len(points(container)) == 6
            assert all(
                half > 0 for half in (*half_widths(container, 0), *half_widths(container, 1))
            )
            # The points are not joined by solid lines; the line that joins them is pale.
            assert container.lines[0].get_linestyle() == "None"
        assert all(line.get_alpha() < 0.5 for line in panel.lines if line.get_alpha())


def test_cloud_starts_at_0_and_enlargement_shows_every_interval(one_flow: Any) -> None:
    full, part = one_flow.axes
    assert (full.get_xlim()[0], full.get_ylim()[0]) == (0, 0)
    assert part.get_title(loc="left") == "(b) enlarged"
    (left, right), (bottom, top) = part.get_xlim(), part.get_ylim()
    for container in bars(part).values():
        for x, y in points(container):
            assert left < x < right
            assert bottom < y < top
        for direction, low, high in ((0, left, right), (1, bottom, top)):
            for segment in container.lines[2][direction].get_segments():
                assert low <= segment[:, direction].min()
                assert segment[:, direction].max() <= high


def test_cloud_has_the_published_points_with_their_intervals(one_flow: Any) -> None:
    for panel in one_flow.axes:
        containers = bars(panel)
        plain = published_table(6)[384, 1]
        printed = {f"paper, Table {n}": published_table(n)[384, 1] for n in (2, 3)}
        for label, row in {**printed, "paper, drop-tail": plain}.items():
            assert points(containers[label]) == [(row.delay_s.mean, row.goodput_kbps.mean)]
            assert half_widths(containers[label], 0) == pytest.approx([row.delay_s.half_width])
            assert half_widths(containers[label], 1) == pytest.approx([row.goodput_kbps.half_width])


def test_cloud_of_four_flows_has_the_improvement_of_table_6() -> None:
    of_grid = grid(GRIDS["fig13"])
    with style.style():
        figure = of_grid.drawn(session(of_grid.cells))
    plain = published_table(6)[128, 4]
    changes = [1 + improvements()[128, 4, "RED", what] / 100 for what in ("delay", "goodput")]
    for panel in figure.axes:
        [found] = points(bars(panel)["paper, Table 6"])
        expected = (plain.delay_s.mean * changes[0], plain.goodput_kbps.mean * changes[1])
        assert found == pytest.approx(expected)


def test_fig1_begins_at_0_with_intervals_and_published_points(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    figures: list[Any] = []

    def keep(_session: Session, figure: Any, *_rest: Any) -> list[Path]:
        figures.append(figure)
        return []

    monkeypatch.setattr(Session, "write", keep)
    [item] = [item for item in load("sbd").items if item.key == "fig1"]
    item.evaluate(session(item.cells), tmp_path)
    [figure] = figures
    goodput, delay = figure.axes
    for panel, what in ((goodput, "goodput_kbps"), (delay, "delay_s")):
        assert panel.get_ylim()[0] == 0
        containers = bars(panel)
        for flows in (1, 2, 3, 4):
            label = f"{flows} flow{'s' if flows > 1 else ''}"
            assert containers[label].has_yerr
            if (384, flows) in published_table(6):
                printed = getattr(published_table(6)[384, flows], what)
                [(_, height)] = points(containers[f"paper, Table 6, {label}"])
                assert height == printed.mean
        assert {label for label in containers if label.startswith("paper")} == {
            "paper, Table 6, 1 flow",
            "paper, Table 6, 4 flows",
        }


BRIEF = Effort(1, 40.0, 10.0, resamples=0)

# --- qawla -------------------------------------------------------------------------------------


def lines(figure: Any, **looks: Any) -> list[Any]:
    return [
        line
        for panel in figure.axes
        for line in panel.lines
        if all(getattr(line, f"get_{name}")() == value for name, value in looks.items())
    ]


@pytest.fixture
def plot_item(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], Any]:
    """Return a function that plots the figure of a qawla item and returns it."""

    def plot(key: str) -> Any:
        figures: list[Any] = []

        def keep(_session: Session, figure: Any, *_rest: Any) -> list[Path]:
            figures.append(figure)
            return []

        monkeypatch.setattr(Session, "write", keep)
        reproduce("qawla", [key], effort=BRIEF, out=tmp_path)
        [figure] = figures
        return figure

    return plot


def test_fig3_has_the_error_rates_of_table_2(plot_item: Callable[[str], Any]) -> None:
    [panel] = plot_item("fig3").axes
    named = [each for each in panel.containers if each.get_label() == "paper, Table 2"]
    found = {place for each in named for place in points(each)}
    rates = error_rates().items()
    assert found == {(snr_db, rate.published) for (snr_db, _), rate in rates if rate.published}


def test_triangle_down_marks_only_points_without_errors(
    plot_item: Callable[[str], Any],
) -> None:
    """Regression test: the same triangle also marked x* in Figs. 5 and 6, and the fifth MCS in
    Figs. 2 and 3.
    """
    figure = plot_item("fig2")
    points = AWGN.table().points(confidence=0.99)
    clean = points[points["errors"] == 0]
    found = [place for line in lines(figure, marker="v") for place in line.get_xydata().tolist()]
    assert sorted(found) == sorted(clean[["snr_db", "per_high"]].to_numpy().tolist())
    assert not lines(figure, marker="^")


@pytest.mark.parametrize(("key", "stars"), [("fig7", 4), ("fig9", 2), ("fig11", 2), ("fig12", 2)])
def test_figs_7_to_12_have_the_entries_of_table_6(
    key: str, stars: int, plot_item: Callable[[str], Any]
) -> None:
    figure = plot_item(key)
    channel = "awgn" if key in ("fig7", "fig9", "fig11") else "itu-a"
    measure = f"{'worst' if key in ('fig11', 'fig12') else 'mean'}_normalised_throughput"
    table = {0.05: "QAWLA(0.05, 100, 20)", 0.0032: "TAGLA(0.0032)"}
    found = [place for panel in figure.axes for each in panel.containers for place in points(each)]
    assert len(found) == stars
    assert set(found) == {(at, published_entry(of, channel, measure)) for at, of in table.items()}
    bottom = figure.axes[0].get_ylim()[0]
    assert bottom <= 0 or bottom == 0.5
    assert (bottom == 0.5) == any("axis from 0.5" in text.get_text() for text in figure.texts)
    # No value is below the axis.
    heights = [y for panel in figure.axes for line in panel.lines for y in line.get_ydata()]
    assert min(heights) >= bottom


def test_papers_write_the_requested_formats(tmp_path: Path) -> None:
    """Regression test: only PNG and SVG were written."""
    report = reproduce("qawla", ["fig2"], effort=BRIEF, out=tmp_path, figure_formats="pdf")
    [item] = report.items
    assert [path.name for path in item.figures] == ["qawla-fig2.pdf"]
    assert (tmp_path / "qawla-fig2.pdf").read_bytes().startswith(b"%PDF")
    assert np.all([path.exists() for path in item.figures])
