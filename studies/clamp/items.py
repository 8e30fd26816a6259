"""The items: what is shown of each study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from airpath.present import style as plotting
from airpath.reproduction.base import Cell, Row, Table
from airpath.reproduction.items import Cells, Evaluate, Found, item_of, titles
from airpath.reproduction.quantities import Measured, ip_throughput_mbps
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint
from airpath_papers.clamp.measures import QUANTITIES as PAPERS
from airpath_papers.clamp.measures import fairness, queueing_delay_s, rate_mbps

from . import fluid_map
from .checks import JOINS, TARGET_S, TARGETS, delays_of_parts, returned, swing
from .scenarios import PARTS_S, SWEEPS
from .sensitivity import SENSITIVITY
from .today import MEASURES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ITEMS", "QUANTITIES"]

FOLDER: Final = Path(__file__).parent
SPEEDS: Final = {"slow": "0.1 m/s", "fast": "10 m/s"}
TOTAL: Final = Measured("total_throughput", "Mbit/s", ip_throughput_mbps, 2)
DELAY: Final = Measured("queueing_delay", "s", queueing_delay_s, 3)
JAIN: Final = Measured("jain", "1", fairness, 3)
THREE: Final = (DELAY, TOTAL, JAIN)
RATES: Final = [
    Measured(f"throughput_{ms}", "Mbit/s", rate_mbps(ms), 2) for ms in (30, 130, 10, 180)
]

QUANTITIES: Final = {
    **{each.name: each for each in (*THREE, *RATES)},
    "delay_ms": PAPERS["delay_ms"],
}
"""Those that `paper.toml` names."""


def _item(
    key: str,
    cells: Cells,
    show: Callable[[Session], Found],
    draw: Callable[[Session], Figure] | None = None,
    legend: str = "",
) -> tuple[Cells, Evaluate]:
    """Return an item whose tables need all of its cells."""
    found = lambda session, _title: show(session)  # noqa: E731
    return item_of(FOLDER, key, cells, found, draw, legend, whole=True)


def _columns(*names: str) -> list[tuple[str, str]]:
    return [("", name) for name in names]


# --- cases side by side -------------------------------------------------------------------------


class Entry(NamedTuple):
    """A point of a comparison: its name, its group (colour), and what computes it."""

    name: str
    group: str
    point: SweepPoint

    @property
    def speed(self) -> str:
        """``fast`` or ``slow``."""
        return str(self.point.axes["speed"])


def _shown(entries: Sequence[Entry], title: str) -> Callable[[Session], Found]:
    def show(session: Session) -> Found:
        rows, lines = [], []
        for entry in entries:
            speed = SPEEDS[entry.speed]
            key = {"speed": speed, "scheme": entry.group, "part": entry.name}
            rows += [each.row(session, entry.point, key) for each in (*THREE, *RATES)]
            texts = [each.text(session, entry.point) for each in (*THREE, *RATES)]
            lines.append([speed, entry.group, entry.name, *texts])
        columns = _columns("speed", "", "", *(f"{m.name}, {m.unit}" for m in (*THREE, *RATES)))
        return rows, [Table(title, columns, lines, [])]

    return show


def _scattered(entries: Sequence[Entry]) -> Callable[[Session], Figure]:
    colours = dict(zip(dict.fromkeys(e.group for e in entries), COLOURS, strict=False))
    markers = dict(zip(dict.fromkeys(e.name for e in entries), MARKERS, strict=False))

    def draw(session: Session) -> Figure:
        figure = plotting.new_figure(9.6, 7.6)
        panels: Any = figure.subplots(2, 2, squeeze=False, sharex="col")
        for column, (fast, speed) in enumerate(SPEEDS.items()):
            for panel, measure in zip(panels[:, column], (TOTAL, JAIN), strict=True):
                for entry in entries:
                    if entry.speed == fast:
                        x, y = (m.estimate(session, entry.point) for m in (DELAY, measure))
                        assert x is not None
                        assert y is not None
                        look = {"color": plotting.COLOURS[colours[entry.group]], "linestyle": ""}
                        label = (
                            entry.name
                            if entry.group in entry.name
                            else f"{entry.group}, {entry.name}"
                        )
                        panel.plot(
                            1e3 * x.mean, y.mean, marker=markers[entry.name], label=label, **look
                        )
                panel.set_xlim(left=0)
                panel.set_ylabel("total rate, Mbit/s" if measure is TOTAL else "Jain's index")
            panels[0][column].set_title(speed, loc="left")
            panels[1][column].set_xlabel("mean queueing delay, ms")
        handles, labels = panels[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)
        return figure

    return draw


STEPS: Final = "1, 3, 8 and 3 flows over 10 Mbit/s; means of 1 s."
SATURATED: Final = "Three saturated users, 15 attempts."
"""Beginnings of the lines below the titles of figures."""

COLOURS: Final = ("blue", "orange", "green", "red")
MARKERS: Final = ("o", "s", "D", "^", "v", "P", "X", "*")


def _remedies() -> list[Entry]:
    points = SWEEPS.points("remedies")
    entries = [Entry(point["change"], point["group"], cell) for point, cell in points]
    return sorted(entries, key=lambda entry: entry.speed)


def _schedulers() -> list[Entry]:
    return [
        Entry(f"{at['scheduler']}, {at['spread']} SNRs", at["protocol"], point)
        for at, point in SWEEPS.points("schedulers")
    ]


def _compared(key: str, entries: Sequence[Entry], drawn: Sequence[Entry]) -> Any:
    cells: list[Cell] = [entry.point for entry in entries]
    return _item(key, cells, _shown(entries, titles(FOLDER)[key]), _scattered(drawn))


# --- a that moves by itself ---------------------------------------------------------------------


def _show_adaptive(session: Session) -> Found:
    lines, rows = [], []
    for name, case in JOINS.items():
        delays = delays_of_parts(session, case, 20.0)
        lines.append(["link", name, *(f"{1e3 * delay:.2f}" for delay in delays)])
        rows += [
            Row({"case": name, "part": str(part)}, "queueing_delay", "s", None, delay)
            for part, delay in enumerate(delays)
        ]
    table = Table(
        "mean delay of each part, ms", _columns("", "", "1", "3", "8", "3 flows"), lines, []
    )
    lines = []
    for ms, cell in TARGETS.items():
        key = {"case": f"target {ms} ms", "part": "fast cell"}
        rows += [each.row(session, cell, key) for each in (*THREE, *RATES)]
        lines.append([f"{ms} ms", *(each.text(session, cell) for each in (*THREE, *RATES))])
    columns = _columns("target", *(f"{m.name}, {m.unit}" for m in (*THREE, *RATES)))
    return rows, [table, Table("the fast cell", columns, lines, [])]


def _draw_adaptive(session: Session) -> Figure:
    figure = plotting.new_figure(8.0, 3.8)
    axes: Any = figure.subplots()
    for (name, case), colour in zip(JOINS.items(), ("blue", "orange"), strict=True):
        times, waits = session.series(case, "sojourn").of(0)
        edges = np.arange(0.0, PARTS_S[-1] + 0.5, 1.0)
        count, _ = np.histogram(times, bins=edges)
        total, _ = np.histogram(times, bins=edges, weights=waits)
        with np.errstate(invalid="ignore"):
            axes.stairs(1e3 * total / count, edges, color=plotting.COLOURS[colour], label=name)
    axes.axhline(1e3 * TARGET_S - 1.2, color=plotting.COLOURS["red"], lw=0.8, label="target")
    axes.set(xlabel="time, s", ylabel="wait in the queue, ms", ylim=(0, 15))
    axes.legend(loc="upper right")
    return figure


# --- at the sender ------------------------------------------------------------------------------


def _show_sender(session: Session) -> Found:
    lines, rows = [], []
    named = {f"{at['flows']} flows, {WHERE[at['sender']]}": p for at, p in EQUILIBRIA}
    named |= {f"first flow slow, {WHERE[at['sender']]}": p for at, p in ELSEWHERE}
    for name, case in named.items():
        (run,) = session.replications(case)
        queue = run["queues"][0]["measured"]["clamp_queue_bytes"]
        rates = [flow["ip_throughput_bps"] / 1e6 for flow in run["flows"]]
        lines.append([name, f"{queue:.0f}", ", ".join(f"{rate:.3f}" for rate in rates)])
        rows.append(Row({"case": name}, "clamp_queue", "B", None, float(queue)))
        rows += [
            Row({"case": name, "flow": str(flow)}, "throughput", "Mbit/s", None, rate)
            for flow, rate in enumerate(rates)
        ]
    table = Table("a link of 10 Mbit/s", _columns("", "queue, B", "Mbit/s"), lines, [])
    lines = []
    for at, cell in RETURNS:
        headroom = f", headroom {at['headroom']:g}" if "headroom" in at else ""
        name = f"{at['flows']} flows, {WHERE[at['sender']]}{headroom}"
        window, after_s = returned(session, cell)
        shown = "not in 200" if after_s is None else f"{after_s:g}"
        lines.append([name, "" if at["sender"] else f"{window / 1e3:.0f}", shown])
        if not at["sender"]:
            rows.append(Row({"case": name}, "awnd_run_away", "B", None, window))
        rows.append(Row({"case": name}, "control_back_after", "s", None, after_s))
    back = _columns("", "AWND before, kB", "all rates equal after, s")
    return rows, [table, Table("a slow access link for 100 s, then a shared link", back, lines, [])]


WHERE: Final = {False: "at the receiver", True: "at the sender"}
EQUILIBRIA: Final = SWEEPS.points("equilibria")
ELSEWHERE: Final = SWEEPS.points("elsewhere")
RETURNS: Final = SWEEPS.points("returns")
_SENDER_CELLS: Final[list[Cell]] = [
    *(point.cell for point in (*EQUILIBRIA, *ELSEWHERE, *RETURNS)),
    *SWEEPS.cells("window-at"),
]


# --- HARQ ---------------------------------------------------------------------------------------


COMBINED: Final = SWEEPS.points("combined")
MARGINS: Final = list(dict.fromkeys(place["margin"] for place, _ in COMBINED))


def _combined(fast: bool, harq: str) -> list[SweepPoint]:
    """Return the points of a scheme, by margin."""
    return SWEEPS.cells("combined", fast=fast, harq=harq)


def _schemes() -> list[tuple[bool, str]]:
    return list(dict.fromkeys((place["fast"], place["harq"]) for place, _ in COMBINED))


def _with_harq() -> list[Entry]:
    return [Entry(at["part"], at["protocol"], point) for at, point in SWEEPS.points("harq")]


def _show_harq(session: Session) -> Found:
    rows, lines = [], []
    for fast, harq in _schemes():
        speed, points = SPEEDS["fast" if fast else "slow"], _combined(fast, harq)
        for margin, point in zip(MARGINS, points, strict=True):
            key = {"speed": speed, "harq": harq, "margin": margin}
            rows.append(TOTAL.row(session, point, key))
        lines.append([speed, harq, *(TOTAL.text(session, point) for point in points)])
    columns = _columns("speed", "HARQ", *(f"m = {margin:g}" for margin in MARGINS))
    more, tables = _shown(_with_harq(), "four flows, 10 m/s")(session)
    return [*rows, *more], [Table("three saturated users, Mbit/s", columns, lines, []), *tables]


def _draw_harq(session: Session) -> Figure:
    figure = plotting.new_figure(8.0, 3.8)
    panels: Any = figure.subplots(1, 2, sharey=True)
    for axes, fast in zip(panels, (True, False), strict=True):
        schemes = [harq for speed, harq in _schemes() if speed == fast]
        for harq, colour in zip(schemes, COLOURS, strict=False):
            found = [session.estimate(point, ip_throughput_mbps) for point in _combined(fast, harq)]
            totals = [each.mean for each in found if each is not None]
            axes.plot(MARGINS, totals, "o-", color=plotting.COLOURS[colour], label=harq, ms=4)
        axes.set(xlabel="margin m", title=SPEEDS["fast" if fast else "slow"], ylim=(0, 8))
    panels[0].set_ylabel("IP throughput, Mbit/s")
    panels[0].legend(loc="lower right")
    return figure


_HARQ_CELLS: Final[list[Cell]] = [*SWEEPS.cells("combined"), *SWEEPS.cells("harq")]


# --- small windows ------------------------------------------------------------------------------


def _show_windows(session: Session) -> Found:
    points = SWEEPS.points("windows")
    found = {place["amount"]: swing(session, point) for place, point in points}
    rows = [
        Row({"windows_over_limit": amount}, "sd_over_mean", "1", None, value)
        for amount, value in found.items()
    ]
    lines = [[f"{amount:g}", f"{value:.3f}"] for amount, value in found.items()]
    columns = _columns("windows over the limit", "sd of AWND over its mean")
    return rows, [Table("two flows over 10 Mbit/s", columns, lines, [])]


# --- a cell of today --------------------------------------------------------------------------


def _show_today(session: Session) -> Found:
    rows, lines = [], []
    for place, point in SWEEPS.points("today"):
        rows += [each.row(session, point, place) for each in MEASURES]
        lines.append([*place.values(), *(each.text(session, point) for each in MEASURES)])
    columns = _columns("cc", "queue", *(f"{m.name}, {m.unit}" for m in MEASURES))
    return rows, [Table("20 users at 3 to 30 km/h", columns, lines, [])]


def _items() -> Mapping[str, tuple[Cells, Evaluate]]:
    schedulers = _schedulers()
    equal = [
        entry._replace(name=entry.name.removesuffix(", equal SNRs"))
        for entry in schedulers
        if entry.name.endswith(", equal SNRs")
    ]
    adaptive: list[Cell] = [*JOINS.values(), *TARGETS.values()]
    return {
        "adaptive-a": _item(
            "adaptive-a",
            adaptive,
            _show_adaptive,
            _draw_adaptive,
            "1, 3, 8 and 3 flows over 10 Mbit/s; means of 1 s.",
        ),
        "sender-side": _item("sender-side", _SENDER_CELLS, _show_sender),
        "harq": _item(
            "harq", _HARQ_CELLS, _show_harq, _draw_harq, "Three saturated users, 15 attempts."
        ),
        "window-limit": _item("window-limit", SWEEPS.cells("windows"), _show_windows),
        "remedies": _compared("remedies", _remedies(), _remedies()),
        "schedulers": _compared("schedulers", schedulers, equal),
        "today": _item("today", SWEEPS.cells("today"), _show_today),
        "fluid-map": fluid_map.ITEM,
        "sensitivity": SENSITIVITY,
    }


ITEMS: Final = _items()
"""Cells and evaluation of each item."""
