"""Measurements of the stations of TDD links, including their uplink delays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any

from airpath.engine.vocabulary import names

__all__ = [
    "MAC_DELAY_UNITS",
    "STATION_QUANTITIES",
    "mac_delay_rows",
    "pooled_mac_delays",
    "station_measurements",
    "station_rows",
]

STATION_QUANTITIES = names("station")
"""Quantities measured for each station, in the order of the table columns."""
MAC_DELAY_UNITS = {"delay_s": "s", "packets": "1", "cdf": "1"}
"""Units of the columns of the uplink-delay distribution."""


def station_rows(replications: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield a row for each station of each link and replication."""
    for run in replications:
        for station in run.get("stations", ()):
            yield {
                "replication": run["replication"],
                "link": station["link"],
                "station": station["station"],
            } | {name: station[name] for name in STATION_QUANTITIES}


def station_measurements(
    replications: Iterable[Mapping[str, Any]],
) -> dict[tuple[str, int], list[Mapping[str, Any]]]:
    """Map each pair of link and station to its measurements, one for each replication."""
    found: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for run in replications:
        for station in run.get("stations", ()):
            found.setdefault((station["link"], station["station"]), []).append(station)
    return found


def mac_delay_rows(replications: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield a row for each distinct uplink delay of each link and replication."""
    for run in replications:
        for found in run.get("mac_delays", ()):
            counts = dict(zip(found["delay_s"], found["count"], strict=True))
            for row in _rows(counts):
                yield {"replication": run["replication"], "link": found["link"], **row}


def pooled_mac_delays(
    replications: Iterable[Mapping[str, Any]],
) -> dict[str, list[dict[str, Any]]]:
    """Map each link to the distribution of its uplink delay, pooled over all replications."""
    counts: dict[str, Counter[float]] = {}
    for run in replications:
        for found in run.get("mac_delays", ()):
            together = counts.setdefault(found["link"], Counter())
            together.update(dict(zip(found["delay_s"], found["count"], strict=True)))
    return {link: list(_rows(together)) for link, together in counts.items()}


def _rows(counts: Mapping[float, int]) -> Iterator[dict[str, Any]]:
    """Yield delay, number of packets, and the share of packets with at most this delay."""
    delays = sorted(counts)
    total = sum(counts.values())
    so_far = accumulate(counts[delay] for delay in delays)
    for delay, until in zip(delays, so_far, strict=True):
        yield {"delay_s": delay, "packets": counts[delay], "cdf": until / total}
