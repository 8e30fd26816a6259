"""Grids of Figs. 6 to 13 and of the other bearers; measurements of Figs. 2, 14 and 15."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, Final

import numpy as np

from airpath.reproduction.base import Cell, Row, Table
from airpath.reproduction.figures import DeclaredFigure, figure_item
from airpath.reproduction.items import Found, item_of
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint
from airpath_papers.paths import SBD
from airpath_papers.sbd.claims import SWEEPS
from airpath_papers.sbd.data import BEARERS, PROPOSED, published_table, setting_at
from airpath_papers.sbd.scenarios import SWITCH_S
from airpath_papers.sbd.tables import DELAY, GOODPUT, NAMING, QUANTITIES, keys, rows_of

__all__ = ["GRIDS", "ITEMS", "grid", "grid_spec"]

# --- Figs. 6 to 13: grids ----------------------------------------------------------------------


def grid_spec(aqm: str, bearer: int, flows: int) -> dict[str, Any]:
    """Return the declaration of a figure: goodput over delay, for the complete grid of SBD or RED.

    The figure also shows the settings of Tables 2 to 5 and drop-tail, simulated and as printed.
    With four flows, Table 6 has only the improvements of the proposal.
    """
    at = {"bearer": bearer, "flows": flows}
    axis, strength = ("t_r_ms", "T_r, ms") if aqm == "SBD" else ("maxp", "maxp")
    proposal = PROPOSED[aqm]
    tables = (proposal - 1, proposal) if flows == 1 else (proposal,)
    settings = {n: {"sweep": "settings", "table": n, **at} for n in tables}
    plain = {"sweep": "table6", "aqm": "drop-tail", **at}
    shown = [
        (point, "sD"[n == proposal], f"setting of Table {n}", f"Table {n if flows == 1 else 6}")
        for n, point in settings.items()
    ]
    shown.append((plain, "*", "drop-tail", "drop-tail"))
    printed = {"x": "printed_delay", "y": "printed_goodput", "published": True}
    also: list[dict[str, Any]] = [
        {"points": [point], "marker": marker, "label": f"simulated, {name}"}
        for point, marker, name, _ in shown
    ]
    also += [
        {"points": [point], "marker": marker, "label": f"paper, {name}", **printed}
        for point, marker, _, name in shown
    ]
    return {
        "title": f"{aqm}, {bearer} kbit/s, {NAMING.word('flows', flows)}",
        "legend": f"{strength.partition(',')[0]} rises from the large dot of each line on.",
        "points": [{"sweep": "grids", "aqm": aqm, **at}],
        "rows": ["goodput", "delay"],
        "table": {
            "lines": {axis: strength},
            "across": "minth",
            "columns": [["both", "goodput, kbit/s / delay, s, by minth", "{}"]],
        },
        "x": "delay",
        "x_name": "downlink delay, s",
        "y": "goodput",
        "y_name": "goodput (delivered in order, payload), kbit/s",
        "curves": "minth",
        "label": "minth {}",
        "enlarged": True,
        "panels": [{"also": also}],
    }


def _places(bearers: Sequence[int]) -> list[tuple[str, int, int]]:
    return list(product(PROPOSED, bearers, (1, 4)))


def grid(spec: Mapping[str, Any]) -> DeclaredFigure:
    """Return the figure of a declaration."""
    return DeclaredFigure(SBD, "grids", spec, SWEEPS, QUANTITIES, NAMING)


GRIDS: Final = {f"fig{n}": grid_spec(*place) for n, place in enumerate(_places((384, 128)), 6)}
"""Declarations of the paper's figures. The item ``bearers`` has those of the other bearers."""

OTHERS: Final = {
    f"sbd-{aqm.lower()}-{bearer}-{flows}": grid_spec(aqm, bearer, flows)
    for aqm, bearer, flows in _places((256, 64))
}
"""Declarations of the figures of the other bearers, by name of the file."""


def _cells_of_all(session: Session) -> Sequence[Cell]:
    """Return the cells of all grids, for the search of the best setting."""
    specs = (*GRIDS.values(), *OTHERS.values())
    return [cell for spec in specs for cell in grid(spec).cells(session)]


# --- best settings of the grids ----------------------------------------------------------------


def _best(session: Session, title: str) -> Found:
    """Return the setting with the largest goodput of each grid, and rows of the other bearers."""
    rows: list[Row | None] = []
    lines = []
    for aqm, proposal in PROPOSED.items():
        for bearer in BEARERS:
            paper_row = published_table(proposal - 1)[bearer, 1]
            place = {"aqm": aqm, "bearer": bearer, "flows": 1}
            points = SWEEPS.cells("grids", effort=session.effort, **place)
            known = {point: e for point in points if (e := GOODPUT.estimate(session, point))}
            if not known:
                continue
            best = max(known, key=lambda point: known[point].mean)
            rows += rows_of(session, best)
            found = [f"{v:g}" for of in (paper_row.setting, setting_at(best.axes)) for v in of[1:]]
            found[2:2] = [f"{paper_row.goodput_kbps.mean:.1f}"]
            measured = (GOODPUT.text(session, best), DELAY.text(session, best))
            lines.append([aqm, str(bearer), *found, *measured])
    names = ("T_r / maxp", "minth", "goodput")
    columns = [("", ""), ("", "bearer"), *(("paper", name) for name in names)]
    columns += [("Airpath", name) for name in (*names, "delay")]
    notes = [
        "One flow; T_r in ms, goodput in kbit/s, delay in s. The simulated goodput is the largest "
        "of many means: with few runs it is too large, by about ±, and its setting is chance."
    ]
    for spec in OTHERS.values():
        rows += grid(spec).found(session, title)[0]
    return rows, [Table(title, columns, lines, notes)]


# --- Figs. 2, 14 and 15: two flows over a bearer that changes after 50 s -----------------------

PARTS: Final = {
    "start": (0.0, 10.0),
    "384 kbit/s": (10.0, SWITCH_S),
    "change": (SWITCH_S, SWITCH_S + 10.0),
    "128 kbit/s": (SWITCH_S + 10.0, 100.0),
}
"""Parts of a run, s; the start of the connections is the first 10 s."""


def _measured(session: Session, point: SweepPoint, low: float, high: float) -> dict[str, float]:
    occupancy = session.series(point, "queue").levels(0, np.arange(low, high, 0.01))
    drops = session.series(point, "drop")
    reasons = drops.value[(drops.time_s >= low) & (drops.time_s < high)]
    return {
        "mean_occupancy": float(occupancy.mean()),
        "largest_occupancy": float(occupancy.max()),
        "overflow_drops": float((reasons == 0).sum()),
        "early_drops": float((reasons == 1).sum()),
    }


def _found(point: SweepPoint, session: Session, title: str) -> Found:
    """Return the measurements of each part of a run."""
    rows, lines = [], []
    for part, (low, high) in PARTS.items():
        found = _measured(session, point, low, high)
        place = {"aqm": keys(point)["aqm"], "part": part}
        rows += [Row(place, name, "SDUs", None, value) for name, value in found.items()]
        mean, *others = found.values()
        lines.append([part, f"{low:g}-{high:g}", f"{mean:.1f}", *(f"{n:.0f}" for n in others)])
    columns = [("", "part"), ("", "s"), ("occupancy", "mean"), ("occupancy", "largest")]
    columns += [("drops", "overflow"), ("drops", "early")]
    notes = ["One run; occupancy in SDUs of 1500 bytes."]
    return rows, [Table(title, columns, lines, notes)]


ITEMS: Final = {
    **{
        key: partial(_found, point)
        for key, point in zip(("fig2", "fig14", "fig15"), SWEEPS.cells("traces"), strict=True)
    },
    **{key: figure_item(SBD, key, spec, SWEEPS, QUANTITIES, NAMING) for key, spec in GRIDS.items()},
    "bearers": item_of(
        SBD,
        "bearers",
        _cells_of_all,
        _best,
        legend="T_r or maxp rises from the large dot of each line on.",
        title="the grids on all bearers: the settings with the largest goodput, one flow",
        more={stem: (spec["title"], grid(spec).drawn) for stem, spec in OTHERS.items()},
    ),
}
"""Items. For traces: functions of rows and table, because ``paper.toml`` declares the figures."""
