"""Items of variants: the tables' setting, changed; ``sizing`` and ``radio``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airpath.present import style as plotting
from airpath.reproduction.base import Cell, ItemResult, Row, Table
from airpath.reproduction.claims import caption
from airpath.reproduction.manifest import Evaluate, titles
from airpath.reproduction.quantities import Measured
from airpath.reproduction.session import Session
from airpath_papers.paths import WIMAX
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
from airpath_papers.wimax.variants import DISTANCES, RADIO, SIZING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["RADIO_ITEM", "SIZING_ITEM", "cells_of", "variant_item", "variant_table"]

GRANTS: Final = Measured("grants_per_ack", "1", grants_per_ack, 2)
SHOWN: Final = (GOODPUT, MAC_DELAY, EFFICIENCY, GRANTS)

Variants = Mapping[str, Variant]


def _case(policy: str, name: str, base_rtt_ms: int) -> Case:
    return Case(policy, base_rtt_ms, variant=name)


def cells_of(variants: Variants, base_rtts_ms: Sequence[int] = (100,)) -> list[Case]:
    """Return the cells of variants, those of every policy together."""
    return [
        _case(policy, name, rtt) for name in variants for rtt in base_rtts_ms for policy in POLICIES
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


def variant_table(
    session: Session, title: str, variants: Variants, base_rtts_ms: Sequence[int] = (100,)
) -> Table:
    """Return a table: a line for each variant and RTT_min, and adapt-BI's gain over UNI."""
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


def variant_item(
    key: str,
    variants: Variants,
    directory: Path,
    more: Sequence[Cell] = (),
    more_tables: Callable[[Session], list[Table]] = lambda _session: [],
) -> tuple[Sequence[Cell], Evaluate]:
    """Return an item: the cells of variants and what makes its result.

    Parameters
    ----------
    key : str
        Of the item.
    variants : mapping of str to Variant
        By name; of these the figure shows RTT_min = 100 ms.
    directory : Path
        Of the ``paper.toml`` with its title.
    more : sequence of Cell
        Further cells. Default: none.
    more_tables : callable
        Makes their tables. Default: none.
    """
    cells: list[Cell] = [*cells_of(variants), *more]

    def evaluate(session: Session, out: Path | None) -> ItemResult:
        title = titles(directory)[key]
        tables = [variant_table(session, title, variants), *more_tables(session)]
        complete, figures = session.complete(cells), []
        if out is not None and complete:
            about = (out, f"wimax-{key}", title, session.about)
            figures = session.draw(lambda: _draw(session, key, title, variants), *about)
        rows = _rows(session, [Case(*cell) for cell in cells if isinstance(cell, Case)])
        return ItemResult(key, title, rows, tables, figures, complete=complete)

    return cells, evaluate


def _draw(session: Session, key: str, title: str, variants: Variants) -> Figure:
    """Return the figure: a line for each variant, the policies as points."""
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
            bars: dict[str, Any] = {"xerr": [each.error_bar for each in found]}
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
    runs = session.effort_of(_case("uni", list(variants)[-1], 100)).replications
    about = f"RTT_min 100 ms, {runs} runs (as chosen: 100). {caption(session, key)}"
    plotting.heading(figure, title, about)
    return figure


SIZING_ITEM: Final = variant_item("sizing", {"": AS_CHOSEN, **SIZING}, WIMAX)
RADIO_ITEM: Final = variant_item("radio", {"": AS_CHOSEN, **DISTANCES, **RADIO}, WIMAX)
"""Cells and evaluation of each item."""
