"""Stability limit of b in the fluid model, over the ratio of two flows' delays."""

from __future__ import annotations

import warnings
from functools import cache
from math import nan
from typing import Any, Final, NamedTuple

import airpath as ap
from airpath import solve
from airpath.reproduction.quantities import PointQuantity
from airpath.reproduction.session import Session

__all__ = ["LIMITS", "QUANTITIES", "Limits", "limits_at"]

LIMITS: Final = {
    "limit_constant_shares": "constant shares",
    "limit": "closed model",
    "limit_average": "with the queue's average of 0.5 s, and the whole round trip",
}
"""Limits in ``stability``, with their names in figures."""


class Limits(NamedTuple):
    """Limits of b for two flows, by name in ``stability``."""

    delay_ms: float
    ratio: float
    limits: dict[str, float | None]


@cache
def limits_at(delay_ms: float, ratio: float) -> Limits:
    """Return the limits for two flows of `delay_ms` and `ratio * delay_ms` over 10 Mbit/s."""

    def flow(ms: float) -> dict[str, Any]:
        large = {"receive_window": "60 MB"}
        return {
            "cc": "newreno",
            "base_rtt": f"{ms:.6f} ms",
            "window": ap.window.Clamp(),
            "tcp": large,
        }

    queue = ap.aqm.Clamp(a="5500 B", inner=ap.aqm.DropTail(limit="6 MB"))
    link = ap.link.Fixed(rate="10 Mbit/s")
    scenario = ap.Scenario(
        duration="60 s",
        bottleneck=ap.Bottleneck(aqm=queue, link=link),
        flows=[flow(delay_ms), flow(delay_ms * ratio)],
    )
    with warnings.catch_warnings():
        # The shares are not stable with only 6 kB at 10 ms; this is another limit.
        warnings.filterwarnings("ignore", message="the shares of")
        found = solve(scenario, model="clamp-fluid")
    assert isinstance(found, ap.solutions.ClampFluid)
    return Limits(delay_ms, ratio, {name: found.stability[name] for name in LIMITS})


class _Limit(PointQuantity):
    """Limit of b at the delays of a point; NaN if there is no limit up to 64."""

    def text(self, session: Session, cell: Any) -> str:
        return super().text(session, cell) or "above 64"


def _limit(name: str) -> _Limit:
    """Return the quantity of a limit by its name in ``stability``."""

    def compute(_session: Session, cell: Any) -> float:
        found = limits_at(cell.axes["d1_ms"], cell.axes["ratio"]).limits[name]
        return nan if found is None else found

    return _Limit(name, "1", compute, ".3f")


QUANTITIES: Final = {name: _limit(name) for name in LIMITS}
"""Quantities that ``paper.toml`` names."""
