"""Figures 5 and 6: queue-length distributions with the analytic point."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from airpath.present import style as plotting
from airpath.reproduction.base import Cell, ItemResult, Row, Table
from airpath.reproduction.manifest import Evaluate
from airpath.reproduction.session import Session
from airpath_papers.qawla.data import (
    AT_BOUNDARY,
    BOUNDARIES,
    ELSEWHERE,
    FIG5_IDX,
    FIG6_B,
    domain,
    inputs,
    published,
)
from airpath_papers.qawla.distributions import Histogram, draw_distributions, write_distributions
from airpath_papers.qawla.queue_lengths import Distribution, queue_distribution, queue_probability
from airpath_papers.qawla.tables import ANALYSIS

__all__ = ["CELLS", "distributions"]

CELLS: dict[str, list[Cell]] = {
    "fig5": [(FIG5_IDX, boundary) for boundary in BOUNDARIES],
    "fig6": [(idx, FIG6_B) for idx in sorted((*AT_BOUNDARY, *ELSEWHERE))],
}
"""What the figures show: idx 2 with B of 10, 20 and 30; six scenarios with B = 20."""

TITLES = {
    "fig5": f"Fig. 5: queue length, idx = {FIG5_IDX}, three boundaries B",
    "fig6": f"Fig. 6: queue length, B = {FIG6_B}, six scenarios",
}


def distributions(key: str) -> Evaluate:
    """Return what evaluates Fig. 5 or 6."""
    title, cells = TITLES[key], CELLS[key]

    def evaluate(session: Session, out: Path | None) -> ItemResult:
        found = {c: u for c in cells if (u := queue_distribution(session, c)) is not None}
        figures: list[Path] = []
        if out is not None and len(found) == len(cells):
            figures = [
                *_draw(key, title, found, session, out),
                write_distributions(out / f"qawla-{key}.csv", title, found, session),
            ]
        rows = [row for cell in cells for row in _rows(cell, session)]
        tables, complete = [_table(title, cells, session)], session.complete(cells)
        return ItemResult(key, title, rows, tables, figures, complete=complete)

    return evaluate


def _rows(cell: Cell, session: Session) -> list[Row]:
    idx, boundary = cell
    key = {"idx": idx, "B": boundary}
    theirs, solved = published(*cell), session.solution(cell)
    analysis = Row(
        key,
        "queue_analysis",
        "packets",
        theirs.queue_packets,
        solved.queue_packets,
        tolerance=ANALYSIS["queue_analysis"],
        extra={"domain_published": theirs.domain, "domain_ours": domain(solved)},
    )
    empty = session.estimate(cell, queue_probability(0))
    if empty is None:
        return [analysis]
    return [analysis, Row(key, "empty_queue_probability", "1", None, None).with_ours(empty)]


def _table(title: str, cells: Sequence[Cell], session: Session) -> Table:
    lines = []
    for cell in cells:
        theirs, solved, u = (
            published(*cell),
            session.solution(cell),
            queue_distribution(session, cell),
        )
        measured = ["not simulated", "", ""]
        if u is not None:
            measured = [f"{u.average:.2f}", str(u.mode), f"{u.mean[0]:.4f}"]
        lengths = (f"{theirs.queue_packets:.4f}", f"{solved.queue_packets:.4f}")
        lines.append([*map(str, cell), *lengths, theirs.domain, domain(solved), *measured])
    columns = [("", "idx"), ("", "B")]
    columns += [(group, name) for group in ("x*", "domain") for name in ("paper", "ours")]
    columns += [("simulated", name) for name in ("mean", "most likely", "u_0")]
    notes = [
        f"x* and lengths in packets; simulated: {session.effort.describe()}.",
        "u_0: fraction of time with no packet waiting.",
    ]
    return Table(title, columns, lines, notes)


def _draw(
    key: str, title: str, found: dict[Cell, Distribution], session: Session, out: Path
) -> list[Path]:
    shown = []
    for cell, u in found.items():
        idx, boundary = cell
        case, solved = inputs()[idx], session.solution(cell)
        r1, r2 = case.rate_mbps
        about = (
            f"idx {idx}, B = {boundary}: {case.traffic}, {r1:g}/{r2:g} Mbit/s, "
            f"x* = {solved.queue_packets:.2f} ({domain(solved)})"
        )
        points = (solved.queue_packets, published(*cell).queue_packets)
        shown.append(Histogram(about, u, boundary, *points))
    about = f"{session.effort.describe()} · bars with 99 % intervals · x*: fixed point, in "
    about += "regime 1 (R1), regime 2 (R2) or at B"
    with plotting.style():
        figure = draw_distributions(shown, 1 if key == "fig5" else 2, title, about)
        return session.write(figure, out, f"qawla-{key}", title, session.about)
