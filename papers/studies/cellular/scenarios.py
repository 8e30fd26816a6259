"""Scenarios and quantities of the study."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import airpath as ap
from airpath.reproduction.files import read_table
from airpath.reproduction.published import PublishedMean, line_of, published_mean
from airpath.reproduction.quantities import (
    MeasuredQuantity,
    PrintedQuantity,
    bottleneck,
    utilisation,
)
from airpath.reproduction.spread import Naming
from airpath.reproduction.sweeps import Sweeps
from airpath.reproduction.tolerance import Tolerance

__all__ = [
    "BASE_RTT_MS",
    "DIRECTORY",
    "NAMING",
    "QUANTITIES",
    "SCHEMES",
    "SWEEPS",
    "delay_ms",
    "path",
    "utilisation",
]

DIRECTORY: Final = Path(__file__).parent

BASE_RTT_MS: Final = 100.0
"""Constant part of a printed delay, ms: 50 ms in each direction (README.md)."""

SCHEMES: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "cubic": ("cubic", {"kind": "droptail", "limit": "100 packets"}),
    "bbr1": ("bbr1", {"kind": "droptail", "limit": "100 packets"}),
    "cubic+codel": ("cubic", {"kind": "codel", "target": "50 ms", "interval": "100 ms"}),
    "cubic+pie": ("cubic", {"kind": "pie", "target": "50 ms"}),
    "cubic+mahimahi-pie": (
        "cubic",
        {
            "kind": "pie",
            "target": "50 ms",
            "update": "30 ms",
            "alpha": 0.125 / 128 * 8e3,
            "beta": 1.25 / 128 * 8e3,
            "delay_estimate": "departure-rate",
        },
    ),
}
"""Congestion control and queue discipline of each scheme.

``mahimahi-pie`` has the gains of the emulator's PIE at drop probabilities of 0.1 % and more, per ms
instead of per s, and its update interval and estimate of the delay (README.md).
"""


def path(scheme: str, direction: str) -> ap.Scenario:
    """Return one flow over the link in one direction: ``"up"`` or ``"down"``."""
    cc, aqm = SCHEMES[scheme]
    changes = {
        "bottleneck.aqm": aqm,
        "bottleneck.link.file": f"traces:Verizon-LTE-short.{direction}",
        "flows.0.cc": cc,
    }
    return ap.load(DIRECTORY / "scenario.toml").replace(changes)


SWEEPS: Final = Sweeps(DIRECTORY, path)


def delay_ms(replication: Mapping[str, Any]) -> float:
    """95th percentile of the sojourn times in the queue, plus the base RTT, ms."""
    return 1e3 * float(bottleneck(replication)["p95_sojourn_s"]) + BASE_RTT_MS


def _within(axes: Mapping[str, Any]) -> Tolerance:
    share = 0.2 if axes["scheme"] == "bbr1" else 0.15
    return Tolerance(f"{share:.0%} (README)", relative=share)


def _printed(column: str) -> Callable[[Mapping[str, Any]], PublishedMean]:
    lines = read_table(DIRECTORY, "published.csv")
    return lambda axes: published_mean(line_of(lines, axes), column)


_QUANTITIES: Final = (
    MeasuredQuantity("delay", "ms", delay_ms, 0, _within),
    MeasuredQuantity("utilisation", "1", utilisation, 3, Tolerance("0.05 (README)", absolute=0.05)),
    PrintedQuantity("printed_delay", "ms", _printed("delay_ms")),
    PrintedQuantity("printed_utilisation", "1", _printed("utilisation")),
)
QUANTITIES: Final = {each.name: each for each in _QUANTITIES}
"""Quantities that ``paper.toml`` names."""

NAMING: Final = Naming(
    {
        "scheme": {
            "cubic": "CUBIC",
            "cubic+codel": "CUBIC, CoDel",
            "cubic+pie": "CUBIC, PIE",
            "cubic+mahimahi-pie": "CUBIC, PIE with Mahimahi's gains",
            "vegas": "Vegas",
            "bbr1": "BBR v1",
        }
    },
    lambda point: dict(point.cell.axes),
)
"""Names of schemes in tables and figures."""
