"""Quantities of the study, and names of values in its tables and figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from airpath.reproduction.files import read_table
from airpath.reproduction.published import PublishedMean, line_of, published_mean
from airpath.reproduction.quantities import (
    MeasuredQuantity,
    PrintedQuantity,
    bottleneck,
    utilisation,
)
from airpath.reproduction.spread import Naming
from airpath.reproduction.tolerance import Tolerance

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
    rates = [flow["goodput_bps"] for flow in replication["flows"]]
    return float(sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates)))


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
    MeasuredQuantity("first", "Mbit/s", first_mbps, 2, _of_capacity),
    MeasuredQuantity("share", "1", share, 3),
    MeasuredQuantity("jain", "1", jain, 3),
    MeasuredQuantity("loss", "1", loss, 4),
    MeasuredQuantity("utilisation", "1", utilisation, 3),
    MeasuredQuantity("delay", "ms", delay_ms, 1),
    PrintedQuantity("printed_first", "Mbit/s", _published),
)
QUANTITIES: Final = {each.name: each for each in _QUANTITIES}
"""Quantities that ``paper.toml`` names."""

NAMING: Final = Naming(
    {
        "cc": {
            "newreno": "Reno",
            "cubic": "CUBIC",
            "westwood": "Westwood+",
            "hybla": "Hybla",
            "scalable": "Scalable TCP",
            "htcp": "H-TCP",
            "bic": "BIC",
            "vegas": "Vegas",
            "veno": "Veno",
            "illinois": "Illinois",
            "yeah": "YeAH",
            "ledbat": "LEDBAT++",
            "copa": "Copa",
            "c2tcp": "C2TCP",
            "dctcp": "DCTCP",
            "prague": "Prague",
            "bbr": "BBR v3",
            "bbr1": "BBR v1",
        },
        "other": {"bbr1": "BBR v1", "bbr": "BBR v3", "cubic": "CUBIC"},
    },
    lambda point: dict(point.cell.axes),
)
"""Names of congestion controls in tables and figures."""
