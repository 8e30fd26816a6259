"""The items ``sizing``, ``sensitivity`` and ``radio``: the tables' setting, changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airpath.reproduction.base import Cell, ItemResult, Row, Table
from airpath.reproduction.manifest import Evaluate, titles
from airpath.reproduction.points import half_width
from airpath.reproduction.quantities import Measured
from airpath.reproduction.session import Session
from airpath.results import style as plotting
from airpath_papers.paths import WIMAX
from airpath_papers.wimax.claims.common import caption
from airpath_papers.wimax.claims.model import contention_terms
from airpath_papers.wimax.data import NAMES, POLICIES, table2
from airpath_papers.wimax.delays import COLOURS
from airpath_papers.wimax.measures import (
    EFFICIENCY,
    GOODPUT,
    MAC_DELAY,
    QUANTITIES,
    grants_per_ack,
)
from airpath_papers.wimax.scenarios import AS_CHOSEN, Case, Variant
from airpath_papers.wimax.validation import SWEEPS, cell_of, on_top
from airpath_papers.wimax.variants import (
    DISTANCES,
    ON_THE_RADIO,
    RADIO,
    SCHEDULED_RTTS_MS,
    SCHEDULERS,
    SENSITIVITY,
    SIZING,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CHANGED"]

GRANTS: Final = Measured("grants_per_ack", "1", grants_per_ack, 2)
SHOWN: Final = (GOODPUT, MAC_DELAY, EFFICIENCY, GRANTS)

Variants = Mapping[str, Variant]


def _case(policy: str, name: str, base_rtt_ms: int) -> Case:
    return Case(policy, base_rtt_ms, variant=name)


_VARIED: Final[Mapping[str, Variants]] = {
    "sizing": {"": AS_CHOSEN, **SIZING},
    "sensitivity": {"": AS_CHOSEN, **SENSITIVITY},
    "radio": {"": AS_CHOSEN, **DISTANCES, **RADIO},
}
_CELLS: Final[Mapping[str, list[Cell]]] = {
    key: [_case(policy, name, 100) for name in variants for policy in POLICIES]
    for key, variants in _VARIED.items()
}
_OVER_RTTS: Final[Variants] = {**SCHEDULERS, ON_THE_RADIO: RADIO[ON_THE_RADIO]}
_SCHEDULED: Final = [
    _case(policy, name, rtt)
    for name in _OVER_RTTS
    for rtt in SCHEDULED_RTTS_MS
    for policy in POLICIES
]


def _rows(session: Session, cases: Sequence[Case]) -> list[Row]:
    rows = []
    for case in cases:
        place: dict[str, int | float | str] = {
            "policy": case.policy,
            "base_rtt_ms": case.base_rtt_ms,
            "variant": case.variant or "as-chosen",
        }
        rows += [each.row(session, case, place) for each in (*QUANTITIES.values(), GRANTS)]
    return [row for row in rows if row.ours is not None]


def _gain(session: Session, name: str, base_rtt_ms: int) -> str:
    found = [GOODPUT.estimate(session, _case(p, name, base_rtt_ms)) for p in ("adapt-bi", "uni")]
    if found[0] is None or found[1] is None:
        return "not simulated"
    return f"{100 * (found[0].mean / found[1].mean - 1):+.1f}"


def _table(
    session: Session, title: str, variants: Variants, base_rtts_ms: Sequence[int] = (100,)
) -> Table:
    lines = []
    for name, variant in variants.items():
        for rtt in base_rtts_ms:
            cases = [_case(policy, name, rtt) for policy in POLICIES]
            texts = [each.text(session, case) for case in cases for each in SHOWN]
            lines.append([variant.about, str(rtt), *texts, _gain(session, name, rtt)])
    columns = [("", "changed"), ("", "RTT_min, ms")]
    columns += [(NAMES[policy], each.name) for policy in POLICIES for each in SHOWN]
    columns.append(("", "gain, %"))
    notes = ["Throughput in Mbit/s, delays in ms; the gain is adapt-BI's over UNI."]
    return Table(title, columns, lines, notes)


_FIG3: Final = {
    "the frames make up T_pb": cell_of,
    "10 ms of T_pb on top of the frames": on_top,
}
"""What a piggyback request takes in Fig. 3."""
_FIG3_CELLS: Final[list[Cell]] = [
    cell(case) for cell in _FIG3.values() for case in SWEEPS["contention_ms"]
]


def _piggyback_table(session: Session) -> Table:
    """Return what Fig. 3 comes to by what T_pb is taken for."""
    lines = []
    for about, cell in _FIG3.items():
        cells = {case: cell(case) for case in SWEEPS["contention_ms"]}
        if not session.complete(list(cells.values())):
            lines.append([about, *3 * ["not simulated"]])
            continue
        loss, crossing_ms, off = contention_terms(session, cells)
        crossing = "none" if crossing_ms is None else f"{crossing_ms:.1f}"
        lines.append([about, f"{loss:.1%}", crossing, f"{off:+.1%}"])
    columns = [("", "changed"), ("", "loss from T_ct 10 to 60 ms")]
    columns += [("", "meets TCP model2, ms"), ("", "analysis above it, at most")]
    notes = ["The simulation of Fig. 3. Printed: about 32 %, 30 ms, slightly above."]
    return Table("Fig. 3: what a piggyback request takes", columns, lines, notes)


def _evaluate(key: str) -> Evaluate:
    def evaluate(session: Session, out: Path | None) -> ItemResult:
        title, cells = titles(WIMAX)[key], _cells(key)
        tables = [_table(session, title, _VARIED[key])]
        if key == "sensitivity":
            tables.append(
                _table(
                    session,
                    "four stations under any scheduler; over the radio",
                    _OVER_RTTS,
                    SCHEDULED_RTTS_MS,
                )
            )
            tables.append(_piggyback_table(session))
        complete, figures = session.complete(cells), []
        if out is not None and complete:
            about = (out, f"wimax-{key}", title, session.about)
            figures = session.draw(lambda: _draw(session, key, title), *about)
        rows = _rows(session, [Case(*cell) for cell in cells if isinstance(cell, Case)])
        return ItemResult(key, title, rows, tables, figures, complete=complete)

    return evaluate


def _cells(key: str) -> list[Cell]:
    return [*_CELLS[key], *([*_SCHEDULED, *_FIG3_CELLS] if key == "sensitivity" else ())]


def _draw(session: Session, key: str, title: str) -> Figure:
    """Return the figure: a line for each variant, the policies as points."""
    variants = _VARIED[key]
    figure = plotting.new_figure(10.4, 1.8 + 0.32 * len(variants))
    panels: Any = figure.subplots(1, 3, sharey=True)
    shown = {"throughput, Mbit/s": GOODPUT, "mean delay, ms": MAC_DELAY, "efficiency": EFFICIENCY}
    places = range(len(variants))
    for axes, (name, quantity) in zip(panels, shown.items(), strict=True):
        for policy in POLICIES:
            cases = [_case(policy, variant, 100) for variant in variants]
            known = [quantity.estimate(session, case) for case in cases]
            found = [each for each in known if each is not None]
            look: dict[str, Any] = {"color": plotting.COLOURS[COLOURS[policy]], "marker": "o"}
            bars: dict[str, Any] = {"xerr": [half_width(each) for each in found]}
            means = [each.mean for each in found]
            label = NAMES[policy]
            axes.errorbar(means, places, linestyle="", label=label, capsize=2, **bars, **look)
            printed = table2()[100, policy][quantity.name]
            star = {**look, "marker": "*", "markersize": 11, "fillstyle": "none"}
            axes.plot([printed], [0], linestyle="", **star)
        axes.plot([], [], "k*", fillstyle="none", markersize=11, label="paper, Table 2")
        axes.set_xlabel(name)
        axes.set_xlim(left=0)
    panels[0].set_yticks(list(places), [variant.about for variant in variants.values()])
    panels[0].invert_yaxis()
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    runs = session.effort_of(_case("uni", next(iter(SIZING)), 100)).replications
    about = f"RTT_min 100 ms, {runs} runs (as chosen: 100). {caption(session, key)}"
    plotting.heading(figure, title, about)
    return figure


CHANGED: Final[Mapping[str, tuple[Sequence[Cell], Evaluate]]] = {
    key: (_cells(key), _evaluate(key)) for key in _VARIED
}
"""Cells and evaluation of each item."""
