"""Up to which b the fluid model is stable, over the ratio of two flows' delays."""

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
"""Each limit of ``stability``, and what it is called."""


class Limits(NamedTuple):
    """The limits of b for two flows, by their names in ``stability``."""

    delay_ms: float
    ratio: float
    limits: dict[str, float | None]


@cache
def limits_at(delay_ms: float, ratio: float) -> Limits:
    """Return the limits for flows of `delay_ms` and `ratio` times that, over 10 Mbit/s."""

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
        # With so little as 6 kB at 10 ms the shares are not stable, which is another limit.
        warnings.filterwarnings("ignore", message="the shares of")
        found = solve(scenario, model="clamp-fluid")
    assert isinstance(found, ap.solutions.ClampFluid)
    return Limits(delay_ms, ratio, {name: found.stability[name] for name in LIMITS})


class _Limit(PointQuantity):
    """A limit of b at the delays of a point; none up to 64."""

    def text(self, session: Session, cell: Any) -> str:
        return super().text(session, cell) or "above 64"


def _limit(name: str) -> _Limit:
    """Return a limit by its name in ``stability``."""

    def compute(_session: Session, cell: Any) -> float:
        found = limits_at(cell.axes["d1_ms"], cell.axes["ratio"]).limits[name]
        return nan if found is None else found

    return _Limit(name, "1", compute, ".3f")


QUANTITIES: Final = {name: _limit(name) for name in LIMITS}
"""Those that ``paper.toml`` names."""
