"""The quantities of Figs. 3 and 4: analysis, simulation, Eq. 9 and the ideal (wimax-2009 §3.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from airpath.reproduction.quantities import Computed, ComputedAtPoint, Measured
from airpath.reproduction.spread import Naming
from airpath_papers.wimax.analysis import (
    analysed,
    analysis_mbps,
    goodput_of,
    ideal_mbps,
    model1_mbps,
    model2_mbps,
)
from airpath_papers.wimax.claims import eq9_of
from airpath_papers.wimax.measures import goodput_mbps

__all__ = ["NAMING", "QUANTITIES"]


def _solved(name: str, compute: Callable[..., float], **more: float) -> Computed:
    of_point = lambda _session, point: compute(point.axes, **more)  # noqa: E731
    return ComputedAtPoint(name, "Mbit/s", of_point, ".3f")


_CURVES: Final[dict[Measured | Computed, str]] = {
    Measured("simulation", "Mbit/s", goodput_mbps, 3): "simulation",
    _solved("analysis", analysis_mbps): "analysis, Eq. 8",
    _solved("analysis_goodput", goodput_of): "analysis, size over time",
    _solved("tcp_model1", model1_mbps): "TCP model1",
    _solved("tcp_model2", model2_mbps): "TCP model2",
    ComputedAtPoint("eq9", "Mbit/s", eq9_of, ".3f"): "Eq. 9, simulated mean RTT",
    _solved("ideal", ideal_mbps): "ideal: T_ct = 0",
    _solved("ideal_as_printed", ideal_mbps, loss=0.0): "ideal as printed: p_e = 0 too",
    _solved("analysis_error", lambda axes: analysed(axes).error_bps / 1e6): "",
}

QUANTITIES: Final = {each.name: each for each in _CURVES}
"""Those that ``paper.toml`` names."""

NAMING: Final = Naming({each.name: words for each, words in _CURVES.items()})
"""What legends call them."""
