"""Definitions for figures and tables: quantities, columns, labels of values, names of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import nan
from typing import Any, Final

from airpath.reproduction.base import Cell
from airpath.reproduction.compare import (
    ColumnSet,
    NoteColumns,
    absolute,
    number,
    percent,
    printed,
)
from airpath.reproduction.quantities import (
    ComputedQuantity,
    MeasuredQuantity,
    PointQuantity,
    ip_throughput_mbps,
)
from airpath.reproduction.session import Session
from airpath.reproduction.spread import Naming
from airpath.reproduction.tolerance import Tolerance
from airpath.solutions import FixedPoint
from airpath_papers.qawla.data import MEASURES, inputs, link_rate_bps, mcs_table, published_entry
from airpath_papers.qawla.error_rates import CHANNELS, CURVES, small
from airpath_papers.qawla.link_adaptation import POLICIES, TH_FER, TH_PER, adaptations
from airpath_papers.qawla.scenarios import published, solution

__all__ = [
    "ANALYSIS",
    "BEST",
    "CELL_LIMIT",
    "NAMING",
    "NEAR",
    "QUANTITIES",
    "ROUGH",
    "domain",
    "limit",
]

# --- Tables 2 to 5 -----------------------------------------------------------------------------

CELL_LIMIT: Final = 0.025
"""Largest tolerated relative difference of a simulated cell, unless the intervals allow more."""

_THREE_DIGITS: Final = "the three printed digits of Table 2's error rates and of alpha*"

ANALYSIS: Final = {
    "throughput_analysis": Tolerance(f"0.1 %: {_THREE_DIGITS}", relative=1e-3),
    # The absolute tolerance is half of the last printed digit, for x* printed as 0.0000.
    "queue_analysis": Tolerance(f"0.3 %: {_THREE_DIGITS}", relative=3e-3, absolute=5e-5),
    "alpha_analysis": Tolerance(f"0.6 %: {_THREE_DIGITS}", relative=6e-3),
}
"""Tolerances of the fixed points.

A second, independent solution differs by at most 0.033, 0.23 and 0.53 %.
"""

SIMULATED: Final = Tolerance(
    f"{100 * CELL_LIMIT:g} % (README), or the published and computed interval combined if wider",
    relative=CELL_LIMIT,
    intervals=True,
)
"""Tolerance of the simulated cells."""


def domain(solved: FixedPoint) -> str:
    """Return the domain of a solution, in the paper's names: R1, B or R2.

    The paper has one boundary, and counts an empty queue (x* = 0) as R1.
    """
    return {"B1": "B", "empty": "R1"}.get(solved.domain, solved.domain)


def _domains(_session: Session, cell: Cell) -> dict[str, str]:
    computed = domain(solution(cell))
    return {"domain_published": published(cell).domain, "domain_ours": computed}


def _solved(
    name: str, unit: str, value: Callable[[FixedPoint], float], columns: ColumnSet
) -> PointQuantity:
    """Return a quantity of the fixed point."""
    compute = lambda _session, cell: value(solution(cell))  # noqa: E731
    return PointQuantity(name, unit, compute, ".4f", _domains, ANALYSIS[name], columns)


def _alpha(alpha: float | None) -> str:
    return "N/A" if alpha is None else small(alpha)


def _columns(
    quantity: str,
    heading: str,
    decimals: int,
    percents: int | None = None,
    names: Sequence[str] = ("paper", "Airpath"),
) -> ColumnSet:
    apart = None if percents is None else percent(percents)
    return ColumnSet(quantity, heading, printed(decimals), number(decimals), apart, names)


_OF_TABLES: Final = (
    ComputedQuantity(
        "link_rate",
        "Mbit/s",
        lambda axes: link_rate_bps(mcs_table()[axes["mcs"]]) / 1e6,
        ".3f",
        tolerance=Tolerance("half of the last printed digit", absolute=5e-4),
        columns=_columns("link_rate", "r", 3),
    ),
    _solved(
        "throughput_analysis",
        "Mbit/s",
        lambda found: found.throughput_bps / 1e6,
        _columns("throughput_analysis", "T", 4, 3, ("paper", "Airpath", "diff %")),
    ),
    _solved(
        "queue_analysis",
        "packets",
        lambda found: found.queue_packets,
        _columns("queue_analysis", "x*", 4),
    ),
    _solved(
        "alpha_analysis",
        "1",
        lambda found: nan if found.alpha is None else found.alpha,
        ColumnSet(
            "alpha_analysis", "alpha*", lambda r: _alpha(r.published), lambda r: _alpha(r.computed)
        ),
    ),
    MeasuredQuantity(
        "throughput_simulation",
        "Mbit/s",
        ip_throughput_mbps,
        4,
        SIMULATED,
        columns=_columns(
            "throughput_simulation", "", 4, 2, ("ns-3", "Airpath", "diff %", "within")
        ),
    ),
)

# --- Table 6 -----------------------------------------------------------------------------------

NEAR, ROUGH = 0.02, 0.05
"""Largest tolerated differences from Table 6: of policies with thresholds, and of MaxPHYThru."""


def limit(policy: str) -> float:
    """Return the largest tolerated difference from Table 6."""
    return ROUGH if policy.startswith("MaxPHYThru") else NEAR


def _tolerance(axes: Mapping[str, Any]) -> Tolerance:
    largest = limit(axes["policy"])
    return Tolerance(f"{largest:g} (README)", absolute=largest)


def _entry(measure: str, symbol: str) -> PointQuantity:
    """Return a measure of Table 6, with the tolerance of the policy."""

    def compute(session: Session, cell: Any) -> float:
        return adaptations(session)[cell.axes["channel"]].entry(cell.axes["policy"], measure)

    def extra(session: Session, cell: Any) -> dict[str, float]:
        policy = cell.axes["policy"]
        printed_value = published_entry(policy, cell.axes["channel"], measure)
        return {"difference": compute(session, cell) - printed_value, "limit": limit(policy)}

    texts = (printed(2), number(3), absolute(3), ("paper", "Airpath", "diff", "within"))
    columns = ColumnSet(measure, symbol, *texts)
    return PointQuantity(measure, "1", compute, ".3f", extra, _tolerance, columns)


ROW_OF: Final = {
    "QAWLA": "QAWLA(0.05, 100, 20)",
    "TAGLA": "TAGLA(0.0032)",
    "TFER": "TFER(0.00013)",
}
"""Row in Table 6 of each policy with a threshold."""


def _best(session: Session, cell: Any) -> tuple[float, float]:
    """Return the largest average of T_M over channels, and its threshold (the largest, if tied)."""
    policy, found = cell.axes["policy"], adaptations(session).values()
    thresholds = TH_FER if policy == "TFER" else TH_PER
    return max((sum(of.at(policy, th) for of in found) / len(found), th) for th in thresholds)


def _at_printed(session: Session, cell: Any) -> float:
    chosen, found = POLICIES[ROW_OF[cell.axes["policy"]]], adaptations(session).values()
    return sum(of.mean(chosen) for of in found) / len(found)


def _average(name: str, heading: str, compute: Callable[..., float]) -> PointQuantity:
    columns = ColumnSet(
        name, "average T_M", lambda row: f"{row.computed:.4f}", str, names=(heading,)
    )
    return PointQuantity(name, "1", compute, ".4f", columns=columns)


BEST: Final = PointQuantity(
    "best_threshold",
    "1",
    lambda session, cell: _best(session, cell)[1],
    ".2g",
    tolerance=Tolerance("a factor 2 (README)", factor=2.0),
    columns=ColumnSet(
        "best_threshold",
        "best threshold",
        lambda row: f"{row.published:g}",
        lambda row: f"{row.computed:.2g}",
    ),
)
"""Threshold of a policy with the largest average of T_M; the paper chose it by this rule."""

# --- Figs. 7 to 12 -----------------------------------------------------------------------------


def _over_thresholds(measure: str) -> Iterator[PointQuantity]:
    """Yield T_M or T_W at the threshold of a point, at the best threshold, and as printed."""
    worst = measure == list(MEASURES)[1]

    def value(session: Session, cell: Any, threshold: float) -> float:
        axes, found = cell.axes, adaptations(session)[cell.axes["channel"]]
        about = (axes["H"] or 100, axes["B"] or 20, axes["over_rating_db"], worst)
        return found.at(axes["policy"], threshold, *about)

    def largest(session: Session, cell: Any) -> tuple[float, float]:
        return max((value(session, cell, threshold), threshold) for threshold in TH_PER)

    def of_table6(_session: Session, cell: Any) -> float:
        return published_entry(ROW_OF[cell.axes["policy"]], cell.axes["channel"], measure)

    for name, compute, form in (
        (measure, lambda session, cell: value(session, cell, cell.axes["th_per"]), ".3f"),
        (f"largest_{measure}", lambda *at: largest(*at)[0], ".3f"),
        (f"best_of_{measure}", lambda *at: largest(*at)[1], ".2g"),
        (f"printed_{measure}", of_table6, ".2f"),
    ):
        yield PointQuantity(name, "1", compute, form)


QUANTITIES: Final[Mapping[str, Any]] = {
    **{each.name: each for each in _OF_TABLES},
    "traffic": ColumnSet(
        "link_rate",
        "",
        lambda row: inputs()[int(row.row["idx"])].traffic.name,
        str,
        names=("traffic",),
    ),
    "domain": NoteColumns("domain", ("domain_published", "domain_ours"), ("paper", "model")),
    **CURVES,
    **{f"entry_{name}": _entry(name, symbol) for name, symbol in MEASURES.items()},
    "best_threshold": BEST,
    "average_at_printed": _average("average_at_printed", "at the paper's", _at_printed),
    "average_at_best": _average("average_at_best", "at Airpath's", lambda *at: _best(*at)[0]),
    **{each.name: each for measure in MEASURES for each in _over_thresholds(measure)},
}
"""Quantities that ``paper.toml`` names."""

NAMING: Final = Naming(
    {
        "channel": {key: channel.name for key, channel in CHANNELS.items()},
        "mcs": {mcs: f"mcs{mcs}" for mcs in mcs_table()},
        "policy": {policy: policy for policy in (*POLICIES, *ROW_OF)},
        "H": lambda h: f"H = {h}" if h else "",
        "B": lambda boundary: f"B = {boundary}" if boundary else "",
        "over_rating_db": "{} dB over-rated",
        "th_per": lambda threshold: f"{threshold:.2g}",
    },
)
"""Names of values in figures. TAGLA has no H and no B, so that their names are empty."""
