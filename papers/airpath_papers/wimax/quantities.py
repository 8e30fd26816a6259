"""Definitions for tables and figures: quantities, tolerances, labels (wimax-2009 §3, §5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import nan
from typing import Any, Final

from airpath.reproduction.base import Cell, Row
from airpath.reproduction.claims import means
from airpath.reproduction.compare import ColumnSet, number
from airpath.reproduction.compare import printed as printed_as
from airpath.reproduction.formulas import Point
from airpath.reproduction.published import PublishedMean
from airpath.reproduction.quantities import (
    ComputedQuantity,
    MeasuredQuantity,
    PointQuantity,
    PrintedQuantity,
    improvement,
)
from airpath.reproduction.session import Session
from airpath.reproduction.spread import Naming
from airpath.reproduction.tolerance import Tolerance
from airpath_papers.wimax import analysis, measures
from airpath_papers.wimax.claims import CLAIMS, SWEEPS, eq9
from airpath_papers.wimax.data import GAINS, NAMES, printed
from airpath_papers.wimax.scenarios import CURVES

__all__ = ["NAMING", "QUANTITIES", "bound"]

Axes = Mapping[str, Any]

# --- Figs. 3 and 4 -----------------------------------------------------------------------------


def _solved(name: str, compute: Callable[..., float], **more: float) -> ComputedQuantity:
    of_point = lambda _session, point: compute(point.axes, **more)  # noqa: E731
    return PointQuantity(name, "Mbit/s", of_point, ".3f")


_CURVES: Final[dict[MeasuredQuantity | ComputedQuantity, str]] = {
    MeasuredQuantity("simulation", "Mbit/s", measures.goodput_mbps, 3): "simulation",
    _solved("analysis", analysis.analysis_mbps): "analysis, Eq. 8",
    _solved("analysis_goodput", analysis.goodput_of): "analysis, size over time",
    _solved("tcp_model1", analysis.model1_mbps): "TCP model1",
    _solved("tcp_model2", analysis.model2_mbps): "TCP model2",
    PointQuantity("eq9", "Mbit/s", eq9, ".3f"): "Eq. 9, simulated mean RTT",
    _solved("ideal", analysis.ideal_mbps): "ideal: T_ct = 0",
    _solved("ideal_as_printed", analysis.ideal_mbps, loss=0.0): "ideal as printed: p_e = 0 too",
    _solved("analysis_error", lambda axes: analysis.analysed(axes).error_bps / 1e6): "",
}

# --- tables ------------------------------------------------------------------------------------


def _limit(claim: str, name: str = "within", unit: float = 0.0) -> Tolerance:
    """Return the tolerance of a claim: relative, or, with a `unit`, absolute in that unit."""
    limit = CLAIMS.specs[claim][name]
    if not unit:
        return Tolerance(f"{100 * limit:g} % (claims.toml, {claim})", relative=limit)
    return Tolerance(f"{unit * limit:g} (claims.toml, {claim})", absolute=unit * limit)


def _is_adapt(axes: Axes) -> bool:
    return bool(axes["policy"] == "adapt-bi")


def _judged(quantity: MeasuredQuantity, claim: str, unit: float = 0.0) -> MeasuredQuantity:
    """Return a quantity with the tolerance of a claim, which differs for adapt-BI."""

    def tolerance(axes: Axes) -> Tolerance:
        return _limit(claim, "adapt" if _is_adapt(axes) else "within", unit)

    return replace(quantity, tolerance=tolerance)


def _ideal(axes: Axes) -> float:
    """Return the printed ideal, or the ideal with the tables' TCP and R; NaN for a policy."""
    ideals = {"ideal": analysis.printed_ideal_mbps, "ideal-of-tables": analysis.tables_ideal_mbps}
    return ideals[axes["policy"]](axes["base_rtt_ms"]) if axes["policy"] in ideals else nan


def _ideal_over_loss(axes: Axes) -> float:
    return analysis.tables_ideal_mbps(axes["base_rtt_ms"], axes["loss"])


_OF_TABLES: Final[Mapping[str, MeasuredQuantity | ComputedQuantity]] = {
    "table1_allocated": _judged(measures.ALLOCATED, "table1-bytes"),
    "table1_used": replace(measures.USED, tolerance=_limit("table1-bytes")),
    "table1_efficiency": _judged(measures.EFFICIENCY, "table1-efficiency", 1.0),
    "table2_mac_delay": _judged(measures.MAC_DELAY, "table2-delay"),
    "table2_efficiency": _judged(measures.EFFICIENCY, "table2-efficiency", 0.01),
    # The TCP was fitted on the throughputs of the other policies.
    "table2_goodput": replace(
        measures.GOODPUT,
        tolerance=lambda axes: _limit("table2-predicted" if _is_adapt(axes) else "table2-fitted"),
    ),
    "table2_ideal": ComputedQuantity(
        "goodput", "Mbit/s", _ideal, ".3f", tolerance=_limit("table2-ideal")
    ),
    "ideal_over_loss": PointQuantity(
        "goodput", "Mbit/s", lambda _session, cell: _ideal_over_loss(cell.axes), ".3f"
    ),
}

# --- gains of one policy over another ----------------------------------------------------------


def bound(base_rtt_ms: int) -> float:
    """Return the largest gain of adapt-BI that the printed uplink delays allow, as a share.

    The throughput of a window-limited flow is inversely proportional to its RTT: RTT_min, the
    uplink delay, and about 20 ms of frames and delayed ACKs.
    """
    uni, adapt = (printed("table2")[base_rtt_ms, p]["mac_delay"] for p in ("uni", "adapt-bi"))
    return (uni - adapt) / (base_rtt_ms + adapt + 20)


ENDS: Final[Mapping[str, Callable[..., float]]] = {"least": min, "largest": max}


def _printed_gain(axes: Axes) -> float:
    """Return the gain that the text states, else the gain from Table 2's throughputs, per cent."""
    about = ("item", "policy", "over", "base_rtt_ms")
    stated = [
        float(line["gain"]) for line in GAINS if all(line[key] == str(axes[key]) for key in about)
    ]
    if stated:
        return ENDS[axes.get("of", "least")](stated)
    computed, other = (
        printed("table2")[axes["base_rtt_ms"], axes[key]]["goodput"] for key in about[1:3]
    )
    return 100 * (computed / other - 1)


class _Gain(PointQuantity):
    """A gain, with the printed gain."""

    def row(self, session: Session, cell: Any, place: Axes, published: Any = None) -> Row:
        return super().row(session, cell, place, PublishedMean(_printed_gain(cell.axes), nan))


def _gain(session: Session, computed: Cell, other: Cell) -> float:
    found = improvement(session, computed, other, measures.GOODPUT)
    return nan if found is None else found.per_cent


def _gain_of_table(session: Session, cell: Cell) -> float:
    rtt, policies = cell.axes["base_rtt_ms"], (cell.axes["policy"], cell.axes["over"])
    found = {place["policy"]: point for place, point in SWEEPS.points("table2", base_rtt_ms=rtt)}
    return _gain(session, *(found[policy] for policy in policies))


def _gain_over_loss(session: Session, cell: Cell) -> float:
    """Return the smallest or largest gain over the losses, per cent; NaN if points are missing."""
    uni = f"UNI, requests per {cell.axes['per']}"
    points = [SWEEPS.cells("fig7", curve=curve) for curve in ("adapt-BI", uni)]
    if not all(map(session.complete, points)):
        return nan
    found = (means(session, each, measures.GOODPUT.measure) for each in points)
    return ENDS[cell.axes["of"]](100 * (a / b - 1) for a, b in zip(*found, strict=True))


def _bounds(_session: Session, cell: Cell) -> dict[str, float]:
    return {"bound": 100 * bound(cell.axes["base_rtt_ms"])} if cell.axes["over"] == "uni" else {}


GAIN: Final = _Gain(
    "goodput_gain",
    "%",
    _gain_of_table,
    ".1f",
    _bounds,
    columns=ColumnSet(
        "goodput_gain",
        "gain, %",
        printed_as(0),
        number(1),
        lambda row: f"{row.extra['bound']:.0f}" if "bound" in row.extra else "",
        ("paper", "Airpath", "bound"),
    ),
)


def _gain_of_change(session: Session, cell: Cell) -> float:
    return _gain(session, cell.at(policy="adapt-bi"), cell.at(policy="uni"))


def _of_table2(quantity: MeasuredQuantity) -> PrintedQuantity:
    def published(axes: Axes) -> PublishedMean:
        found = printed("table2")[axes["base_rtt_ms"], axes["policy"]]
        return PublishedMean(found[quantity.name], nan)

    return PrintedQuantity(f"printed_{quantity.name}", quantity.unit, published)


QUANTITIES: Final[Mapping[str, Any]] = {
    **measures.QUANTITIES,
    **{each.name: each for each in (*_CURVES, measures.CONTENTION, measures.GRANTS)},
    **_OF_TABLES,
    "gain": GAIN,
    "gain_over_loss": _Gain("goodput_gain", "%", _gain_over_loss, ".1f"),
    "gain_of_change": PointQuantity("gain", "%", _gain_of_change, "+.1f"),
    **{
        each.name: each
        for each in map(_of_table2, (measures.GOODPUT, measures.MAC_DELAY, measures.EFFICIENCY))
    },
}
"""Quantities that ``paper.toml`` names."""

_CHANGES: Final = {
    change: about
    for name in ("sizing", "distances", "radio")
    for change, about in SWEEPS.changes(name).items()
}


def _place_of(point: Point) -> dict[str, Any]:
    """Return the name of the row of a point in Fig. 7."""
    policy, per = CURVES[point.place["curve"]]
    return {"policy": policy, "base_rtt_ms": 100, "loss": point.place["loss"], "per": per}


NAMING: Final = Naming(
    {
        **{each.name: words for each, words in _CURVES.items()},
        "policy": NAMES,
        "over": NAMES,
        "change": {"as-chosen": "as chosen", **_CHANGES},
    },
    _place_of,
)
"""Names of quantities, values and points in tables and legends."""
