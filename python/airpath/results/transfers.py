"""Completion times and slowdowns of transfers, for groups of flows and size classes.

The slowdown of a transfer is its completion time divided by the time on an empty path (Montazeri et
al., Homa, SIGCOMM 2018, §5.1; Alizadeh et al., pFabric, SIGCOMM 2013, §5.1: normalised FCT).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from airpath.arguments import problem_line
from airpath.engine.flows import Flow
from airpath.engine.path import ResolvedDirection
from airpath.engine.resolved import ResolvedScenario
from airpath.errors import BadValueError, UnitError
from airpath.scenario.units import Size

__all__ = [
    "ALL_SIZES",
    "SIZE_EDGES",
    "TRANSFER_QUANTITIES",
    "SizeClass",
    "Transfers",
    "checked_edges",
    "completions",
    "size_classes",
    "transfer_groups",
    "transfers_of",
]

_TIMES = ("mean", "median", "p95", "p99")
TRANSFER_QUANTITIES = (
    *("started", "completed", "unfinished"),
    *(f"{level}_s" for level in _TIMES),
    *(f"{level}_slowdown" for level in _TIMES),
)
"""Quantities measured for each group of transfers, in the order of the table columns."""

SIZE_EDGES = ("10 kB", "100 kB", "1 MB")
"""Default edges between the size classes."""

_EDGE = r"([0-9]{1,12})((?:[kMG]|[KMG]i)?B)"
_CLASS = re.compile(rf"{_EDGE}-(?:{_EDGE})?")


@dataclass(frozen=True)
class SizeClass:
    """Size class of transfers, with a lower and an upper edge.

    Parameters
    ----------
    low : int
        Lower edge (exclusive), bytes.
    high : int or None
        Upper edge (inclusive), bytes; None if the class is unbounded.
    """

    low: int
    high: int | None

    @property
    def name(self) -> str:
        """Name of the class in metrics and tables: ``10kB-100kB``, ``1MB-``."""
        high = "" if self.high is None else _short(self.high)
        return f"{_short(self.low)}-{high}"

    @property
    def title(self) -> str:
        """Readable name of the class: ``10 kB to 100 kB``."""
        if self.high is None:
            return f"above {Size(self.low)}" if self.low else "all"
        return f"{Size(self.low)} to {Size(self.high)}" if self.low else f"up to {Size(self.high)}"

    def holds(self, sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return, for each size in bytes, whether it is in the class."""
        above: npt.NDArray[np.bool_] = sizes > self.low
        return above if self.high is None else above & (sizes <= self.high)

    @classmethod
    def named(cls, name: str) -> SizeClass | None:
        """Return the class with the name `name`; None if the name is not valid."""
        match = _CLASS.fullmatch(name)
        if match is None:
            return None
        low = int(Size.parse(f"{match[1]} {match[2]}"))
        high = None if match[3] is None else int(Size.parse(f"{match[3]} {match[4]}"))
        return cls(low, high) if high is None or low < high else None


ALL_SIZES = SizeClass(0, None)


def _short(size: int) -> str:
    return str(Size(size)).replace(" ", "")


def checked_edges(edges: object) -> list[int]:
    """Check the edges of size classes, and return them in bytes.

    Parameters
    ----------
    edges : sequence of str or Size
        Ascending sizes above 0: ``["10 kB", "1 MB"]``.

    Raises
    ------
    BadValueError
        If the edges are not valid.
    """
    accepted = "Use sizes with units, rising"
    given = list(edges) if isinstance(edges, (list, tuple)) else []
    found: list[int] = []
    try:
        found = [int(edge if isinstance(edge, Size) else Size.parse(edge)) for edge in given]
    except (UnitError, TypeError, AttributeError):
        given = []
    rising = all(low < high for low, high in zip([0, *found], found, strict=False))
    if not given or not rising:
        example = '["10 kB", "1 MB"]'
        line = problem_line("size_edges", edges, "not edges of size classes", accepted, example)
        raise BadValueError(line)
    return found


def size_classes(edges: Sequence[int]) -> list[SizeClass]:
    """Return the size classes below, between and above the edges, which are in bytes."""
    return [SizeClass(low, high) for low, high in zip([0, *edges], [*edges, None], strict=True)]


def transfer_groups(resolved: ResolvedScenario) -> dict[int, list[int]]:
    """Map each group with transfers to the indices of its flows that have a size."""
    groups: dict[int, list[int]] = {}
    for numbers, entry in resolved.flows.ranges():
        if entry.source.is_transfer:
            groups.setdefault(entry.group, []).extend(numbers)
    return groups


@dataclass(frozen=True)
class Transfers:
    """Transfers of one replication that started after the warm-up.

    Parameters
    ----------
    size : ndarray of int, shape (n,)
        Payload of each transfer, bytes.
    time_s : ndarray, shape (n,)
        Completion time of each transfer, s, from the start of the flow to the last acknowledgement.
        NaN if the transfer did not complete.
    least_s : ndarray, shape (n,)
        Completion time on an empty path, s: the base RTT, and the transmission time of the packets
        at the largest rate of the slowest link. NaN if no rate is known.
    """

    size: npt.NDArray[np.int64] = field(repr=False)
    time_s: npt.NDArray[np.float64] = field(repr=False)
    least_s: npt.NDArray[np.float64] = field(repr=False)

    def of_class(self, which: SizeClass) -> Transfers:
        """Return the transfers of a size class."""
        inside = which.holds(self.size)
        return Transfers(self.size[inside], self.time_s[inside], self.least_s[inside])

    @property
    def slowdown(self) -> npt.NDArray[np.float64]:
        """Completion time of each transfer, divided by its completion time on an empty path."""
        found: npt.NDArray[np.float64] = self.time_s / self.least_s
        return found

    def quantities(self) -> dict[str, Any]:
        """Map each of `TRANSFER_QUANTITIES` to its value; None if there is no value."""
        completed = int(np.count_nonzero(~np.isnan(self.time_s)))
        started = len(self.time_s)
        counts = {"started": started, "completed": completed, "unfinished": started - completed}
        times, slowdowns = _levels(self.time_s), _levels(self.slowdown)
        return {
            **counts,
            **{f"{level}_s": value for level, value in zip(_TIMES, times, strict=True)},
            **{f"{level}_slowdown": value for level, value in zip(_TIMES, slowdowns, strict=True)},
        }


def _levels(values: npt.NDArray[np.float64]) -> list[float | None]:
    """Return mean, median, 95th and 99th percentile; None without values."""
    known = values[~np.isnan(values)].tolist()
    if not known:
        return [None] * len(_TIMES)
    quantiles: list[float] = np.quantile(known, [0.5, 0.95, 0.99]).tolist()
    return [math.fsum(known) / len(known), *quantiles]


def transfers_of(
    resolved: ResolvedScenario, run: Mapping[str, Any], members: Iterable[int]
) -> Transfers:
    """Return the transfers of the flows `members` in one replication."""
    first, end = resolved.warmup_s, resolved.duration_s
    rows = [(number, run["flows"][number]) for number in members]
    rows = [(n, f) for n, f in rows if f["start_s"] is not None and first <= f["start_s"] < end]
    rates: dict[tuple[str, tuple[str, str] | None], float] = {}
    sizes, times, least = [], [], []
    for number, row in rows:
        flow, drawn = resolved.flows[number], row.get("transfer_bytes")
        size = flow.source.transfer_bytes if drawn is None else drawn
        done = row["completed_at_s"]
        sizes.append(size or 0)
        times.append(math.nan if done is None else done - row["start_s"])
        route = (flow.direction, flow.hops)
        if route not in rates:
            rates[route] = _rate_bps(resolved, run, flow)
        least.append(_least_s(resolved, flow, size or 0, rates[route]))
    return Transfers(
        np.array(sizes, dtype=np.int64), np.array(times, dtype=float), np.array(least, dtype=float)
    )


def completions(
    resolved: ResolvedScenario,
    run: Mapping[str, Any],
    members: Iterable[int],
    which: SizeClass = ALL_SIZES,
) -> dict[str, Any]:
    """Map `TRANSFER_QUANTITIES` to values for the flows `members` with a size in class `which`."""
    found = transfers_of(resolved, run, members)
    return (found if which == ALL_SIZES else found.of_class(which)).quantities()


# --- an empty path -------------------------------------------------------------------------------


def _rate_bps(resolved: ResolvedScenario, run: Mapping[str, Any], flow: Flow) -> float:
    """Return the smallest rate of the links that a flow's data traverse, bit/s.

    The rate of a link is its largest rate. For a trace, it is the mean over the measured time: the
    delivered bits divided by the time in use. The result is NaN if a rate is unknown.
    """
    rates = [_link_rate_bps(each, run) for each in resolved.path.data_directions(flow)]
    return math.nan if any(map(math.isnan, rates)) else min(rates, default=math.inf)


def _link_rate_bps(direction: ResolvedDirection, run: Mapping[str, Any]) -> float:
    if direction.link.largest_rate_bps:
        return float(direction.link.largest_rate_bps)
    found = next((each for each in run["links"] if each["name"] == direction.name), None)
    used_s = 0.0 if found is None else found["utilisation"] * run["measured_s"]
    return 8 * found["delivered_bytes"] / used_s if found is not None and used_s else math.nan


def _least_s(resolved: ResolvedScenario, flow: Flow, size: int, rate_bps: float) -> float:
    """Return the completion time of a transfer on an empty path, s."""
    source = flow.source
    shared = [hop.wire for hop in resolved.path.crossed(flow) if hop.wire is not None]
    wires = [flow.access, flow.egress, *shared]
    rate = min([rate_bps, *(wire.rate_bps for wire in wires if wire.rate_bps)])
    on_path = size + math.ceil(size / source.payload_bytes) * (
        source.packet_bytes - source.payload_bytes
    )
    return resolved.base_rtt_s(flow) + 8 * on_path / rate
