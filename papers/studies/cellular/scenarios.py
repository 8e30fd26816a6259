"""Scenarios and quantities of the study."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import airpath as ap
from airpath import _airpath
from airpath.reproduction.files import read_table
from airpath.reproduction.names import CONTROLS, DISCIPLINES
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
from airpath.results.intervals import POSITIVE, SHARE

__all__ = [
    "BASE_RTT_MS",
    "DIRECTORY",
    "NAMING",
    "PUBLISHED",
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

LIMIT: Final = "100 packets"
DROPTAIL: Final = {"kind": "droptail", "limit": LIMIT}

PUBLISHED: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "cubic": ("cubic", DROPTAIL),
    "vegas": ("vegas", DROPTAIL),
    "vegas+250": ("vegas", {"kind": "droptail", "limit": "250 packets"}),
    "bbr1": ("bbr1", DROPTAIL),
    "cubic+codel": (
        "cubic",
        {"kind": "codel", "limit": LIMIT, "target": "50 ms", "interval": "100 ms"},
    ),
    "cubic+pie": ("cubic", {"kind": "pie", "limit": LIMIT, "target": "50 ms"}),
    "cubic+mahimahi-pie": (
        "cubic",
        {
            "kind": "pie",
            "limit": LIMIT,
            "target": "50 ms",
            "update": "30 ms",
            "alpha": 0.125 / 128 * 8e3,
            "beta": 1.25 / 128 * 8e3,
            "delay_estimate": "departure-rate",
        },
    ),
}
"""Schemes with published points: congestion control and queue discipline.

``vegas+250`` has the queue of the paper's text. ``mahimahi-pie`` has the gains of the emulator's
PIE at drop probabilities of 0.1 % and more, per ms instead of per s, and its update interval and
estimate of the delay (README.md).
"""

WITH_A_QUEUE: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "dctcp+codel": (
        "dctcp",
        {"kind": "codel", "limit": LIMIT, "target": "50 ms", "interval": "100 ms", "ecn": True},
    ),
    "prague+dualpi2": ("prague", {"kind": "dualpi2", "limit": LIMIT, "target": "50 ms"}),
    "prague+l4span": ("prague", {"kind": "l4span", "limit": LIMIT}),
    "clamp+clamp": ("clamp", {"kind": "clamp", "a": "5500 B", "inner": DROPTAIL}),
    "vcp+vcp": ("vcp", {"kind": "vcp", "limit": LIMIT}),
}
"""Schemes with congestion controls that require marks or feedback of the queue."""


def _others() -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Return all other congestion controls of the registry, through a drop-tail queue."""
    registry: dict[str, list[tuple[str, str]]] = json.loads(_airpath.registry())
    # With the profile `linux`, `cubic` is `cubic-linux`.
    known = {"cubic-linux", "cubic-ns3", *PUBLISHED, *(cc for cc, _ in WITH_A_QUEUE.values())}
    kinds = [kind for kind, _ in registry["congestion"] if kind not in known]
    return {kind: (kind, DROPTAIL) for kind in kinds}


SCHEMES: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    **PUBLISHED,
    **_others(),
    **WITH_A_QUEUE,
}
"""All schemes: congestion control and queue discipline."""


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


def _printed(column: str) -> Callable[[Mapping[str, Any]], PublishedMean | None]:
    lines = read_table(DIRECTORY, "published.csv")

    def found(axes: Mapping[str, Any]) -> PublishedMean | None:
        line = line_of(lines, axes)
        return published_mean(line, column) if line else None

    return found


_ABSOLUTE: Final = Tolerance("0.05 (README)", absolute=0.05)

_QUANTITIES: Final = (
    MeasuredQuantity("delay", "ms", delay_ms, 0, _within, bounds=POSITIVE),
    MeasuredQuantity("utilisation", "1", utilisation, 3, _ABSOLUTE, bounds=SHARE),
    PrintedQuantity("printed_delay", "ms", _printed("delay_ms")),
    PrintedQuantity("printed_utilisation", "1", _printed("utilisation")),
)
QUANTITIES: Final = {each.name: each for each in _QUANTITIES}
"""Quantities that ``paper.toml`` names."""


def _name(scheme: str) -> str:
    """Return the names of the congestion control and of the discipline, if it is not drop-tail."""
    cc, aqm = SCHEMES[scheme]
    named = [CONTROLS[cc], "" if aqm is DROPTAIL or cc == aqm["kind"] else DISCIPLINES[aqm["kind"]]]
    return VARIANTS.get(scheme, ", ".join(filter(None, named)))


VARIANTS: Final = {
    "vegas+250": "Vegas, 250 packets",
    "cubic+mahimahi-pie": "CUBIC, PIE with Mahimahi's gains",
}
"""Names of the schemes that differ from another scheme only in parameters."""

NAMING: Final = Naming(
    {"scheme": {scheme: _name(scheme) for scheme in SCHEMES}},
    lambda point: dict(point.cell.axes),
)
"""Names of schemes in tables and figures."""
