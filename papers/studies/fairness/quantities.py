"""Quantities of the study, and names of values in its tables and figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from airpath.reproduction.files import read_table
from airpath.reproduction.names import CONTROLS
from airpath.reproduction.published import PublishedMean, line_of, published_mean
from airpath.reproduction.quantities import (
    MeasuredQuantity,
    PrintedQuantity,
    bottleneck,
    utilisation,
)
from airpath.reproduction.spread import Naming
from airpath.reproduction.tolerance import Tolerance
from airpath.results.fairness import jain_of
from airpath.results.intervals import POSITIVE, SHARE

from .scenarios import DIRECTORY

__all__ = ["NAMING", "QUANTITIES", "delay_ms", "first_mbps", "jain", "loss", "share"]

Replication = Mapping[str, Any]
Axes = Mapping[str, Any]

CAPACITY_MBPS: Final = 10.0
"""Rate of the bottleneck of the published pairs."""


def first_mbps(replication: Replication) -> float:
    """Total goodput of all flows but the last, Mbit/s."""
    *first, _ = replication["flows"]
    return float(sum(flow["goodput_bps"] for flow in first)) / 1e6


def share(replication: Replication) -> float:
    """Share of the first flow in the total goodput."""
    rates = [flow["goodput_bps"] for flow in replication["flows"]]
    return float(rates[0] / sum(rates)) if sum(rates) else 0.0


def jain(replication: Replication) -> float:
    """Jain's index of the goodputs of all flows."""
    return jain_of(flow["goodput_bps"] for flow in replication["flows"])


def loss(replication: Replication) -> float:
    """Share of the packets that the queue dropped."""
    queue = bottleneck(replication)
    return float(sum(queue["drops"].values()) / max(queue["arrived"], 1))


def delay_ms(replication: Replication) -> float:
    """Mean sojourn time in the queue, ms."""
    return 1e3 * float(bottleneck(replication)["mean_sojourn_s"])


def _of_capacity(axes: Axes) -> Tolerance:
    part = 0.1 if axes["cc"] == "bbr1" else 0.15
    return Tolerance(f"{part:g} of the capacity (README)", absolute=part * CAPACITY_MBPS)


def _published(axes: Axes) -> PublishedMean | None:
    line = line_of(read_table(DIRECTORY, "pairs.csv"), axes)
    return published_mean(line, "first_mbps") if line else None


_QUANTITIES: Final = (
    MeasuredQuantity("first", "Mbit/s", first_mbps, 2, _of_capacity, bounds=POSITIVE),
    MeasuredQuantity("share", "1", share, 3, bounds=SHARE),
    MeasuredQuantity("jain", "1", jain, 3, bounds=SHARE),
    MeasuredQuantity("loss", "1", loss, 4, bounds=SHARE),
    MeasuredQuantity("utilisation", "1", utilisation, 3, bounds=SHARE),
    MeasuredQuantity("delay", "ms", delay_ms, 1, bounds=POSITIVE),
    PrintedQuantity("printed_first", "Mbit/s", _published),
)
QUANTITIES: Final = {each.name: each for each in _QUANTITIES}
"""Quantities that ``paper.toml`` names."""

NAMING: Final = Naming({"cc": CONTROLS, "other": CONTROLS}, lambda point: dict(point.cell.axes))
"""Names of congestion controls in tables and figures."""
