"""Beyond the paper: policies of Table 6 by simulation, compared with the fixed point.

A sample of traffic scenarios and SNRs (`sample`) is simulated with the MCSs that each policy
chooses, and with the MCSs of *optimum*. Policies that choose the same MCSs share a cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Final

from airpath.present import style as plotting
from airpath.reproduction.base import Cell, ItemResult, Row, Summary, Table
from airpath.reproduction.quantities import ip_throughput_mbps
from airpath.reproduction.session import Session
from airpath.results.differences import paired_interval
from airpath.results.intervals import Interval
from airpath_papers.qawla.error_rates import CHANNELS
from airpath_papers.qawla.link_adaptation import POLICIES, adaptations
from airpath_papers.qawla.quantities import domain

from .sample import OPTIMUM, SAMPLED_TRAFFIC, Adapted, Point, points_of, sampled_snrs_db
from .scenarios import solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["KEY", "cells", "evaluate", "summarise"]

KEY: Final = "ranking"
TITLE: Final = "Beyond the paper: the policies of Table 6 by simulation"

NAMES: Final = (*POLICIES, OPTIMUM)

SHOWN: Final = 12
"""Maximum number of printed disagreements."""


def cells(session: Session) -> Sequence[Cell]:
    """Return the cells of the item."""
    points = points_of(adaptations(session))
    links = dict.fromkeys(link for point in points for link in point.cells.values())
    return [link.point for link in links]


# --- comparison --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Pairwise:
    """Two links at one point whose simulated throughputs differ significantly."""

    point: Point
    better: Adapted
    worse: Adapted
    simulated_mbps: tuple[float, float]
    modelled_mbps: tuple[float, float]

    @property
    def agrees(self) -> bool:
        return self.modelled_mbps[0] > self.modelled_mbps[1]


class _Comparison:
    """Comparison of simulation and fixed point over the sample."""

    def __init__(self, session: Session, points: Sequence[Point]) -> None:
        self.session = session
        self.points = points

    def runs(self, cell: Adapted) -> list[float]:
        """Return the throughput T of each run, Mbit/s."""
        return self.session.values(cell.point, ip_throughput_mbps)

    def model(self, cell: Adapted) -> float:
        """Return the throughput T of the fixed point, Mbit/s."""
        return solution(cell.point).throughput_bps / 1e6

    def average(self, cell: Adapted) -> float:
        """Return T of the fixed point, averaged over the oscillation of the windows, Mbit/s."""
        solved = solution(cell.point)
        return (solved.average_throughput_bps or solved.throughput_bps) / 1e6

    def normalised_runs(self, channel: str, name: str) -> list[float]:
        """Return the mean over the sample of T / T of *optimum*, for each run."""
        points = [point for point in self.points if point.channel == channel]
        ratios = [
            [
                computed / best
                for computed, best in zip(
                    self.runs(point.cells[name]), self.runs(point.cells[OPTIMUM]), strict=True
                )
            ]
            for point in points
        ]
        return [sum(run) / len(run) for run in zip(*ratios, strict=True)]

    def normalised_model(self, channel: str, name: str, *, averaged: bool = False) -> float:
        of = self.average if averaged else self.model
        ratios = [
            of(point.cells[name]) / of(point.cells[OPTIMUM])
            for point in self.points
            if point.channel == channel
        ]
        return sum(ratios) / len(ratios)

    def difference(self, first: Sequence[float], second: Sequence[float]) -> Interval:
        """Return the mean of the differences between paired runs."""
        return paired_interval(second, first, self.session.paper.confidence)

    def pairwise(self) -> list[_Pairwise]:
        """Return all pairs of links at one point that differ significantly."""
        found = []
        for point in self.points:
            for first, second in combinations(dict.fromkeys(point.cells.values()), 2):
                difference = self.difference(self.runs(first), self.runs(second))
                if not (difference.low > 0 or difference.high < 0):
                    continue
                better, worse = (first, second) if difference.mean > 0 else (second, first)
                found.append(
                    _Pairwise(
                        point,
                        better,
                        worse,
                        (self.mean(better), self.mean(worse)),
                        (self.model(better), self.model(worse)),
                    )
                )
        return found

    def mean(self, cell: Adapted) -> float:
        runs = self.runs(cell)
        return sum(runs) / len(runs)


def evaluate(session: Session, out: Path | None) -> ItemResult:
    """Return the results of the policies by simulation and by fixed point over the sample."""
    found = adaptations(session)
    if not session.complete(cells(session)):
        return ItemResult(KEY, TITLE, [], complete=False)
    comparison = _Comparison(session, points_of(found))
    rows = [
        row for channel in CHANNELS for name in NAMES for row in _rows(comparison, channel, name)
    ]
    pairwise = comparison.pairwise()
    tables = [_means_table(comparison), _order_table(comparison), _why_table(comparison)]
    disagreements = [pair for pair in pairwise if not pair.agrees]
    if disagreements:
        tables.append(_disagreements_table(disagreements))
    figures = [] if out is None else _draw(comparison, session, out)
    values = _pairwise_row(pairwise)
    return ItemResult(KEY, TITLE, [*rows, *_order_rows(comparison), values], tables, figures)


def _rows(comparison: _Comparison, channel: str, name: str) -> list[Row]:
    simulated = comparison.session.interval(comparison.normalised_runs(channel, name))
    key = {"policy": name, "channel": channel}
    model = comparison.normalised_model(channel, name)
    averaged = comparison.normalised_model(channel, name, averaged=True)
    one = simulated.reps < 2
    return [
        Row(
            key,
            "mean_normalised_throughput_simulation",
            "1",
            None,
            simulated.mean,
            low=None if one else simulated.low,
            high=None if one else simulated.high,
        ),
        Row(key, "mean_normalised_throughput_analysis", "1", None, model),
        Row(key, "mean_normalised_throughput_average", "1", None, averaged),
    ]


def _means_table(comparison: _Comparison) -> Table:
    lines = []
    for channel in CHANNELS.values():
        for name in NAMES:
            simulated, model, averaged = _rows(comparison, channel.key, name)
            spread = ""
            if simulated.low is not None and simulated.high is not None:
                spread = f" ± {(simulated.high - simulated.low) / 2:.4f}"
            values = [
                f"{simulated.computed:.4f}{spread}",
                f"{model.computed:.4f}",
                f"{averaged.computed:.4f}",
            ]
            lines.append([channel.name, name, *values])
    columns = [("", name) for name in ("channel", "policy", "simulated", "model", "averaged")]
    first = comparison.points[0].cells[OPTIMUM]
    snrs = "; ".join(
        f"{channel.name} {', '.join(f'{snr:g}' for snr in sampled_snrs_db(channel))} dB"
        for channel in CHANNELS.values()
    )
    notes = [
        f"{len(SAMPLED_TRAFFIC)} traffic scenarios at {snrs}; T over that of optimum as the model "
        "finds it.",
        f"simulated: {comparison.session.effort_of(first.point).describe()}; ± are 99 % intervals.",
        "averaged: the model averaged over the oscillation of the windows.",
    ]
    return Table(f"{TITLE}: mean normalised throughput", columns, lines, notes)


# --- order of the policies ---------------------------------------------------------------------


@dataclass(frozen=True)
class _Order:
    """Two policies on one channel: their differences by simulation and by the model."""

    channel: str
    first: str
    second: str
    difference: Interval
    modelled: float

    @property
    def significant(self) -> bool:
        return self.difference.low > 0 or self.difference.high < 0

    @property
    def agrees(self) -> bool:
        return self.difference.mean * self.modelled > 0

    @property
    def verdict(self) -> str:
        if not self.significant:
            return "not distinguished"
        return "yes" if self.agrees else "NO"


def _orders(comparison: _Comparison) -> list[_Order]:
    found = []
    for channel in CHANNELS:
        runs = {name: comparison.normalised_runs(channel, name) for name in NAMES}
        models = {name: comparison.normalised_model(channel, name) for name in NAMES}
        found += [
            _Order(
                channel,
                first,
                second,
                comparison.difference(runs[first], runs[second]),
                models[first] - models[second],
            )
            for first, second in combinations(NAMES, 2)
        ]
    return found


def _order_rows(comparison: _Comparison) -> list[Row]:
    return [
        Row(
            {"policy": order.first, "other": order.second, "channel": order.channel},
            "difference_simulation",
            "1",
            None,
            order.difference.mean,
            low=order.difference.low,
            high=order.difference.high,
            extra={
                "difference_analysis": order.modelled,
                "significant": order.significant,
                "agrees": order.agrees,
            },
        )
        for order in _orders(comparison)
    ]


def _short(name: str) -> str:
    return name.partition("(")[0]


def _order_table(comparison: _Comparison) -> Table:
    lines = [
        [
            CHANNELS[order.channel].name,
            _short(order.first),
            _short(order.second),
            f"{order.difference.mean:+.4f} ± {order.difference.half_width:.4f}",
            f"{order.modelled:+.4f}",
            order.verdict,
        ]
        for order in _orders(comparison)
    ]
    columns = [
        *(("", name) for name in ("channel", "policy", "less")),
        ("difference", "simulated"),
        ("difference", "model"),
        ("", "same order"),
    ]
    return Table("Two policies at a time", columns, lines)


# --- comparison of links at each point ---------------------------------------------------------


def _pairwise_row(pairwise: Sequence[_Pairwise]) -> Row:
    agree = sum(pair.agrees for pair in pairwise)
    extra = {"compared": len(pairwise), "agree": agree}
    share = agree / len(pairwise) if pairwise else None
    return Row({"channel": "both"}, "pairwise_agreement", "1", None, share, extra=extra)


def _regimes(cell: Adapted) -> str:
    return "–".join(str(mcs) for mcs in dict.fromkeys((cell.mcs1, cell.mcs2)))


def _disagreements_table(pairwise: Sequence[_Pairwise]) -> Table:
    def cost(pair: _Pairwise) -> float:
        # Simulated loss of throughput by following the model.
        return 1 - pair.simulated_mbps[1] / pair.simulated_mbps[0]

    worst = sorted(pairwise, key=cost, reverse=True)[:SHOWN]
    lines = [
        [
            CHANNELS[pair.point.channel].name,
            f"{pair.point.snr_db:g}",
            pair.point.traffic.name,
            _regimes(pair.better),
            f"{pair.simulated_mbps[0]:.2f}",
            f"{pair.modelled_mbps[0]:.2f}",
            _regimes(pair.worse),
            f"{pair.simulated_mbps[1]:.2f}",
            f"{pair.modelled_mbps[1]:.2f}",
            f"{100 * cost(pair):.1f}",
        ]
        for pair in worst
    ]
    columns = [
        ("", "channel"),
        ("SNR", "dB"),
        ("", "traffic"),
        *(("simulation's choice", name) for name in ("m", "T sim.", "model")),
        *(("model's choice", name) for name in ("m", "T sim.", "model")),
        ("loss", "%"),
    ]
    notes = [
        f"The {len(worst)} of {len(pairwise)} that cost most. m: the MCS, or MCS_1 and MCS_2; T in "
        "Mbit/s."
    ]
    return Table("Where the model prefers the worse of two links", columns, lines, notes)


CLASSES: Final = (0.0, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
"""Upper ends of the classes of PER2."""


def _why_table(comparison: _Comparison) -> Table:
    """Return the table of the model's relative differences, by kind of link and PER2."""
    groups: dict[tuple[str, int], list[float]] = {}
    for cell in dict.fromkeys(cell for point in comparison.points for cell in point.cells.values()):
        simulated = comparison.mean(cell)
        if simulated <= 0:
            continue
        solved = solution(cell.point)
        kind = "one MCS" if cell.mcs1 == cell.mcs2 else f"two, in {domain(solved)}"
        per = comparison.session.scenario(cell.point).bottleneck.link.regimes[-1].per
        place = next(place for place, end in enumerate(CLASSES) if per <= end)
        groups.setdefault((kind, place), []).append(comparison.model(cell) / simulated - 1)
    lines = []
    for (kind, place), differences in sorted(groups.items()):
        ordered = sorted(differences)
        low = CLASSES[place - 1] if place else None
        lines.append(
            [
                kind,
                "0" if low is None else f"{low:g} to {CLASSES[place]:g}",
                str(len(ordered)),
                *(f"{100 * ordered[int(q * (len(ordered) - 1))]:+.1f}" for q in (0, 0.5, 1)),
            ]
        )
    columns = [
        ("", "link"),
        ("", "PER2"),
        ("", "cells"),
        *(("model over simulation, %", name) for name in ("least", "median", "most")),
    ]
    return Table("How far the model is off", columns, lines)


def summarise(results: Sequence[ItemResult]) -> list[Summary]:
    """Return the summary of the comparison of orders."""
    rows = [row for result in results if result.item == KEY for row in result.rows]
    orders = [row for row in rows if row.quantity == "difference_simulation"]
    pairwise = next((row for row in rows if row.quantity == "pairwise_agreement"), None)
    if pairwise is None:
        return []
    significant = [row for row in orders if row.extra["significant"]]
    policies = [row for row in significant if row.row["other"] != OPTIMUM]
    pairs = sum(row.row["other"] != OPTIMUM for row in orders)
    other, better = (
        [_named(row) for row in which if not row.extra["agrees"]]
        for which in (policies, [row for row in significant if row.row["other"] == OPTIMUM])
    )
    compared, agree = pairwise.extra["compared"], pairwise.extra["agree"]
    lines = [
        f"the simulation distinguishes {len(policies)} of {pairs} pairs of Table 6's policies "
        f"(99 %); {len(policies) - len(other)} are in the model's order"
        + (f"; not: {'; '.join(other)}" if other else ""),
        "the model's optimum is "
        + (f"not best by simulation: {'; '.join(better)}" if better else "best by simulation too"),
        f"link by link at each SNR and traffic scenario: {agree} of {compared} pairs that are "
        "distinguished are in the model's order",
    ]
    values = {
        "pairs": pairs,
        "told_apart": len(policies),
        "agree": len(policies) - len(other),
        "other_order": other,
        "better_than_optimum": better,
        "points_told_apart": compared,
        "points_agree": agree,
    }
    return [Summary(KEY, "The policies by simulation and by the fixed point", lines, values)]


def _named(row: Row) -> str:
    channel = CHANNELS[str(row.row["channel"])].name
    return f"{row.row['policy']} and {row.row['other']}, {channel}"


# --- plotting ----------------------------------------------------------------------------------


def _draw(comparison: _Comparison, session: Session, out: Path) -> list[Path]:
    with plotting.style():
        figure = plotting.new_figure(10.5, 4.4)
        panels = figure.subplots(1, len(CHANNELS), sharey=True)
        for panel, channel in zip(panels, CHANNELS.values(), strict=True):
            _bars(panel, comparison, channel.key)
            panel.set_title(channel.name)
        panels[0].invert_yaxis()
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        effort = session.effort_of(comparison.points[0].cells[OPTIMUM].point)
        plotting.heading(figure, TITLE, f"{effort.describe()} · bars with 99 % intervals")
        return session.write(figure, out, f"qawla-{KEY}", TITLE, f"After {session.paper.citation}")


def _bars(panel: Axes, comparison: _Comparison, channel: str) -> None:
    colours = plotting.COLOURS
    places = range(len(NAMES))
    found = [_rows(comparison, channel, name) for name in NAMES]
    simulated = [rows[0] for rows in found]
    means = [float(row.computed or 0.0) for row in simulated]
    spreads = [
        (row.high - row.low) / 2 if row.low is not None and row.high is not None else 0.0
        for row in simulated
    ]
    panel.barh(places, means, xerr=spreads, color=colours["sky"], height=0.6, label="simulated")
    for index, label, marker, colour in (
        (1, "fixed point", "D", "red"),
        (2, "averaged over oscillation", "o", "black"),
    ):
        panel.plot(
            [float(rows[index].computed or 0.0) for rows in found],
            places,
            marker,
            color=colours[colour],
            markersize=6,
            fillstyle="none",
            markeredgewidth=1.6,
            label=label,
        )
    panel.set_yticks(list(places), list(NAMES))
    panel.set_xlim(0, 1.08)
    panel.grid(axis="x")
    panel.grid(visible=False, axis="y")
    panel.set_xlabel("mean normalised throughput")
