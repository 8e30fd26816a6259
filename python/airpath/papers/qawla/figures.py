"""Figures 5 and 6: queue-length distributions with the analytic point."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airpath.files import write_file
from airpath.papers.kit.base import Cell, ItemResult, Row, Table
from airpath.papers.kit.session import Session
from airpath.papers.qawla.data import BOUNDARIES, inputs, published
from airpath.papers.qawla.measures import Pmf, domain, pmf, probability_near
from airpath.papers.qawla.statements import AT_BOUNDARY, ELSEWHERE, FIG5_IDX, FIG6_B
from airpath.papers.qawla.tables import ANALYSIS
from airpath.results import style as plotting

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FIG5_CELLS", "FIG6_CELLS", "evaluate_fig5", "evaluate_fig6"]

FIG5_CELLS: tuple[Cell, ...] = tuple((FIG5_IDX, boundary) for boundary in BOUNDARIES)
FIG6_CELLS: tuple[Cell, ...] = tuple((idx, FIG6_B) for idx in sorted((*AT_BOUNDARY, *ELSEWHERE)))

LEFT_OUT = 2e-4
"""Lengths that are rarer than this at the end of every distribution are not drawn."""


def evaluate_fig5(session: Session, out: Path | None) -> ItemResult:
    """Return Fig. 5: idx = 2 with B of 10, 20 and 30."""
    title = f"Fig. 5: queue length, idx = {FIG5_IDX}, three boundaries B"
    return _evaluate("fig5", title, FIG5_CELLS, session, out, columns=1)


def evaluate_fig6(session: Session, out: Path | None) -> ItemResult:
    """Return Fig. 6: six scenarios with B = 20."""
    title = f"Fig. 6: queue length, B = {FIG6_B}, six scenarios"
    return _evaluate("fig6", title, FIG6_CELLS, session, out, columns=2)


def _evaluate(
    key: str, title: str, cells: Sequence[Cell], session: Session, out: Path | None, columns: int
) -> ItemResult:
    found = {cell: u for cell in cells if (u := pmf(session, cell)) is not None}
    figures: list[Path] = []
    if out is not None and len(found) == len(cells):
        figures = [
            *_draw(f"qawla-{key}", title, found, session, out, columns),
            _write_pmfs(out / f"qawla-{key}.csv", title, found, session),
        ]
    return ItemResult(
        key,
        title,
        [row for cell in cells for row in _rows(cell, session)],
        [_table(title, cells, session)],
        figures,
        complete=session.complete(cells),
    )


def _rows(cell: Cell, session: Session) -> list[Row]:
    idx, boundary = cell
    key = {"idx": idx, "B": boundary}
    theirs, solved = published(*cell), session.solution(cell)
    where = {"domain_published": theirs.domain, "domain_ours": domain(solved)}
    rows = [
        Row(
            key,
            "queue_analysis",
            "packets",
            theirs.queue_packets,
            solved.queue_packets,
            tolerance=ANALYSIS["queue_analysis"],
            extra=where,
        )
    ]
    empty = session.estimate(cell, lambda run: probability_near(run, 0, 0))
    if empty is not None:
        rows.append(
            Row(
                key,
                "empty_queue_probability",
                "1",
                None,
                empty.mean,
                low=empty.low,
                high=empty.high,
            )
        )
    return rows


def _table(title: str, cells: Sequence[Cell], session: Session) -> Table:
    lines = []
    for cell in cells:
        idx, boundary = cell
        theirs, solved, u = published(*cell), session.solution(cell), pmf(session, cell)
        if u is None:
            measured = ["not simulated", "", ""]
        else:
            mean = sum(k * share for k, share in enumerate(u.mean))
            mode = max(range(len(u.mean)), key=u.mean.__getitem__)
            measured = [f"{mean:.2f}", str(mode), f"{u.mean[0]:.4f}"]
        lines.append(
            [
                str(idx),
                str(boundary),
                f"{theirs.queue_packets:.4f}",
                f"{solved.queue_packets:.4f}",
                theirs.domain,
                domain(solved),
                *measured,
            ]
        )
    columns = [
        ("", "idx"),
        ("", "B"),
        ("x*", "paper"),
        ("x*", "ours"),
        ("domain", "paper"),
        ("domain", "ours"),
        ("simulated", "mean"),
        ("simulated", "most likely"),
        ("simulated", "u_0"),
    ]
    notes = [
        f"x* and lengths in packets; simulated: {session.effort.describe()}.",
        "u_0: fraction of time with no packet waiting.",
    ]
    return Table(title, columns, lines, notes)


def _write_pmfs(path: Path, title: str, found: dict[Cell, Pmf], session: Session) -> Path:
    text = io.StringIO()
    build = session.engine.build()
    text.write(
        f"# {session.paper.citation}\n# {title}\n"
        f"# Airpath {build['version']} ({build['commit']}), seed {session.seed}, "
        f"{session.effort.describe()}; qawla.json beside this file has the scenarios.\n"
        "# probability: fraction of time with `packets` waiting at the bottleneck; "
        "low, high: 99 % interval.\n"
    )
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["idx", "B", "packets", "probability", "low", "high"])
    for (idx, boundary), u in found.items():
        for k, numbers in enumerate(zip(u.mean, u.low, u.high, strict=True)):
            writer.writerow([idx, boundary, k, *(f"{number:.6g}" for number in numbers)])
    write_file(path, text.getvalue().encode())
    return path


# --- drawing -----------------------------------------------------------------------------------


def _draw(
    stem: str, title: str, found: dict[Cell, Pmf], session: Session, out: Path, columns: int
) -> list[Path]:
    with plotting.style():
        lines = -(-len(found) // columns)
        figure = plotting.new_figure(7.2 if columns == 1 else 10.5, 1.2 + 2.35 * lines)
        panels: Any = figure.subplots(
            lines, columns, sharex=True, sharey=columns == 1, squeeze=False
        )
        for letter, panel, (cell, u) in zip("abcdef", panels.flat, found.items(), strict=False):
            top = max(map(_height, found.values())) if columns == 1 else _height(u)
            _panel(panel, letter, cell, u, top, session)
        longest = max(max(_drawn_length(u), boundary + 1) for (_, boundary), u in found.items())
        panels[0, 0].set_xlim(-1, longest)
        panels[0, 0].xaxis.get_major_locator().set_params(integer=True)
        for panel in panels[-1, :]:
            panel.set_xlabel("packets waiting, k")
        for panel in panels[:, 0]:
            panel.set_ylabel("fraction of time, $u_k$")
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2 * columns)
        effort = session.effort.describe()
        about = f"Ozturk & Akar 2015 · {effort} · bars with 99 % intervals"
        plotting.heading(figure, title, about)
        return session.write(figure, out, stem, title, session.about)


def _panel(panel: Axes, letter: str, cell: Cell, u: Pmf, top: float, session: Session) -> None:
    idx, boundary = cell
    case, solved = inputs()[idx], session.solution(cell)
    colours = plotting.COLOURS
    for label, members, colour in (
        ("simulated, regime 1 (k < B)", range(boundary), colours["blue"]),
        ("simulated, regime 2 (k ≥ B)", range(boundary, len(u.mean)), colours["orange"]),
    ):
        shown = [k for k in members if k < len(u.mean)]
        panel.bar(shown, [u.mean[k] for k in shown], width=0.86, color=colour, label=label)
    if u.replications > 1:
        # A share of time is never below 0, whatever the interval says.
        below = [min(mean, mean - low) for mean, low in zip(u.mean, u.low, strict=True)]
        above = [high - mean for mean, high in zip(u.mean, u.high, strict=True)]
        panel.errorbar(
            range(len(u.mean)),
            u.mean,
            yerr=[below, above],
            fmt="none",
            ecolor=colours["grey"],
            elinewidth=0.8,
        )
    panel.axvline(boundary - 0.5, color=colours["grey"], linestyle=(0, (4, 3)), label="boundary B")
    panel.set_ylim(0, top)
    panel.plot(
        [solved.queue_packets] * 2,
        [0, top],
        color=colours["red"],
        linewidth=1.8,
        label="analysis, x*",
    )
    theirs = published(*cell).queue_packets
    panel.plot(
        [theirs],
        [0.5 * top],
        "D",
        color=colours["red"],
        markersize=6,
        fillstyle="none",
        markeredgewidth=1.4,
        label="x* in the paper's table",
    )
    r1, r2 = case.rate_mbps
    panel.set_title(
        f"({letter}) idx {idx}, B = {boundary}: {case.traffic}, {r1:g}/{r2:g} Mbit/s, "
        f"x* = {solved.queue_packets:.2f} ({domain(solved)})",
    )


def _height(u: Pmf) -> float:
    return 1.12 * max((*u.mean, *u.high) if u.replications > 1 else u.mean)


def _drawn_length(u: Pmf) -> int:
    common = [k for k, share in enumerate(u.mean) if share > LEFT_OUT]
    return max(common, default=0) + 2
