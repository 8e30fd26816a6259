"""Queue length of a cell; Figs. 5 and 6: distributions of the queue length."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airpath import _airpath
from airpath.files import write_file
from airpath.present import style
from airpath.present.shares import count_drawn, draw_shares
from airpath.reproduction.base import Cell, ItemResult, Row, Table
from airpath.reproduction.items import Cells, Evaluate, Found, item_of
from airpath.reproduction.quantities import bottleneck
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint
from airpath.results.intervals import Interval
from airpath.solutions import FixedPoint
from airpath_papers.paths import QAWLA
from airpath_papers.qawla.data import inputs
from airpath_papers.qawla.quantities import ANALYSIS, domain
from airpath_papers.qawla.scenarios import SWEEPS, published, solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "TITLES",
    "distribution_item",
    "most_likely",
    "queue_distribution",
    "queue_pmf",
    "queue_probability",
]

# --- measures ----------------------------------------------------------------------------------


def queue_pmf(replication: Mapping[str, Any]) -> Sequence[float]:
    """Return u_k, k = 0, 1, ...: fraction of time with k packets waiting at the bottleneck."""
    found: Sequence[float] = bottleneck(replication)["pmf"]
    return found


def queue_probability(centre: int, reach: int = 0) -> Callable[[Mapping[str, Any]], float]:
    """Return the measure of the fraction of time with `centre` packets waiting, ± `reach`."""
    low, high = max(centre - reach, 0), centre + reach
    return lambda replication: float(sum(queue_pmf(replication)[low : high + 1]))


def queue_distribution(session: Session, cell: Cell) -> list[Interval]:
    """Return u_k of a cell with intervals; empty if the cell was not simulated."""
    lengths = session.values(cell, lambda replication: len(queue_pmf(replication)))
    longest = int(max(lengths, default=0))
    estimates = [session.estimate(cell, queue_probability(k)) for k in range(longest)]
    return [estimate for estimate in estimates if estimate is not None]


def most_likely(u: Sequence[Interval]) -> int:
    """Return the most likely length (the smallest, if tied)."""
    return max(range(len(u)), key=lambda k: u[k].mean)


# --- items -------------------------------------------------------------------------------------

TITLES: Final = {
    "fig5": "queue length, idx = 2, three boundaries B",
    "fig6": "queue length, B = 20, six scenarios",
}


def distribution_item(key: str) -> tuple[Cells, Evaluate]:
    """Return Fig. 5 or 6 as an item; a CSV file has the distributions of the figure."""
    cells = sorted(SWEEPS.cells(key), key=lambda cell: (cell.axes["idx"], cell.axes["B"]))

    def distributions(session: Session) -> dict[SweepPoint, list[Interval]]:
        return {cell: queue_distribution(session, cell) for cell in cells}

    def found(session: Session, title: str) -> Found:
        rows = [row for cell in cells for row in _rows(cell, session)]
        return rows, [_table(title, distributions(session), session)]

    def drawn(session: Session) -> Figure:
        return draw_distributions(distributions(session))

    def evaluated(session: Session, out: Path | None) -> ItemResult:
        result = evaluate(session, out)
        if out is None or not result.complete:
            return result
        path = out / f"qawla-{key}.csv"
        write_file(path, _as_csv(result.title, distributions(session), session).encode())
        return replace(result, figures=[*result.figures, path])

    legend = "Bars with 99 % intervals; x*: fixed point, in regime 1 (R1), regime 2 (R2) or at B."
    _cells, evaluate = item_of(QAWLA, key, cells, found, drawn, legend, title=TITLES[key])
    return cells, evaluated


def _rows(cell: SweepPoint, session: Session) -> list[Row]:
    paper_row, solved = published(cell), solution(cell)
    key = {"idx": paper_row.idx, "B": paper_row.boundary}
    lengths, tolerance = (paper_row.queue_packets, solved.queue_packets), ANALYSIS["queue_analysis"]
    extra = {"domain_published": paper_row.domain, "domain_ours": domain(solved)}
    rows = [Row(key, "queue_analysis", "packets", *lengths, tolerance=tolerance, extra=extra)]
    empty = session.estimate(cell, queue_probability(0))
    if empty is not None:
        rows.append(Row(key, "empty_queue_probability", "1", None, None).with_computed(empty))
    return rows


def _table(title: str, found: Mapping[SweepPoint, Sequence[Interval]], session: Session) -> Table:
    lines = []
    for cell, u in found.items():
        paper_row, solved = published(cell), solution(cell)
        measured = ["not simulated", "", ""]
        if u:
            mean = sum(k * share.mean for k, share in enumerate(u))
            measured = [f"{mean:.2f}", str(most_likely(u)), f"{u[0].mean:.4f}"]
        place = (str(paper_row.idx), str(paper_row.boundary))
        lengths = (f"{paper_row.queue_packets:.4f}", f"{solved.queue_packets:.4f}")
        lines.append([*place, *lengths, paper_row.domain, domain(solved), *measured])
    columns = [("", "idx"), ("", "B")]
    columns += [(group, name) for group in ("x*", "domain") for name in ("paper", "Airpath")]
    columns += [("simulated", name) for name in ("mean", "most likely", "u_0")]
    notes = [
        f"x* and lengths in packets; simulated: {session.effort.describe()}.",
        "u_0: fraction of time with no packet waiting.",
    ]
    return Table(title, columns, lines, notes)


def _as_csv(title: str, found: Mapping[SweepPoint, Sequence[Interval]], session: Session) -> str:
    paper = session.paper
    lines = [
        f"# {paper.citation}",
        f"# {title}",
        f"# Airpath {_airpath.version()} ({_airpath.commit()}), seed {session.seed}, "
        f"{session.effort.describe()}; {paper.key}.json in this directory has the scenarios.",
        "# probability: fraction of time with `packets` waiting at the bottleneck; low, high: "
        f"{100 * paper.confidence:g} % interval.",
        "idx,B,packets,probability,low,high",
    ]
    for cell, u in found.items():
        place = f"{cell.axes['idx']},{cell.axes['B']}"
        for k, share in enumerate(u):
            lines.append(f"{place},{k},{share.mean:.6g},{share.low:.6g},{share.high:.6g}")
    return "\n".join([*lines, ""])


# --- plotting ----------------------------------------------------------------------------------


def draw_distributions(found: Mapping[SweepPoint, Sequence[Interval]]) -> Figure:
    """Return a figure with a panel for each cell: bars in the colour of the regime, and x*."""
    columns = 1 if len(found) < 4 else 2
    rows = -(-len(found) // columns)
    figure = style.new_figure(7.2 if columns == 1 else 10.5, 1.2 + 2.35 * rows)
    panels: Any = figure.subplots(rows, columns, sharex=True, sharey=columns == 1, squeeze=False)
    longest = 0
    for letter, panel, (cell, u) in zip("abcdef", panels.flat, found.items(), strict=False):
        solved, paper_row, case = solution(cell), published(cell), inputs()[cell.axes["idx"]]
        means = [share.mean for share in u]
        ends = ([share.low for share in u], [share.high for share in u])
        regimes = [(0, "blue", "simulated, regime 1 (k < B)")]
        regimes.append((paper_row.boundary, "orange", "simulated, regime 2 (k ≥ B)"))
        draw_shares(panel, means, *ends, regimes)
        line: dict[str, Any] = {"color": style.COLOURS["grey"], "linestyle": (0, (4, 3))}
        panel.axvline(paper_row.boundary - 0.5, label="boundary B", **line)
        _draw_analysis(panel, solved, paper_row.queue_packets)
        r1, r2 = case.rate_mbps
        panel.set_title(
            f"({letter}) idx {paper_row.idx}, B = {paper_row.boundary}: {case.traffic.name}, "
            f"{r1:g}/{r2:g} Mbit/s, x* = {solved.queue_packets:.2f} ({domain(solved)})"
        )
        longest = max(longest, count_drawn(means), paper_row.boundary + 1)
    panels[0, 0].set_xlim(-1, longest)
    panels[0, 0].xaxis.get_major_locator().set_params(integer=True)
    for panel in panels.flat:
        panel.set_ylim(bottom=0)
    for panel in panels[-1, :]:
        panel.set_xlabel("packets waiting, k")
    for panel in panels[:, 0]:
        panel.set_ylabel("fraction of time, $u_k$")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2 * columns)
    return figure


def _draw_analysis(panel: Axes, solved: FixedPoint, published_packets: float) -> None:
    red: dict[str, Any] = {"color": style.COLOURS["red"]}
    panel.axvline(solved.queue_packets, linewidth=1.8, label="analysis, x*", **red)
    place = {"transform": panel.get_xaxis_transform(), "fillstyle": "none"}
    diamond: dict[str, Any] = {"marker": "D", "ls": "none", "ms": 6, "mew": 1.4, **place}
    panel.plot([published_packets], [0.5], label="x* in the paper's table", **diamond, **red)
