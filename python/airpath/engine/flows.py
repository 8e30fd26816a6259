"""The flows of a resolved scenario: what each sends, when, and over which wires."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, repeat
from typing import Any, overload

from airpath.engine.component import Component

__all__ = ["Flow", "Flows", "Source", "Start", "TcpParameters", "Wire"]

_DATAGRAM_HEADER = 28
"""IPv4 without options (RFC 791 §3.1) and UDP (RFC 768), bytes."""
_TIMESTAMPS = 12
"""TCP timestamps option with its padding (RFC 7323 §3.2), bytes."""


@dataclass(frozen=True)
class Wire:
    """A fixed delay at an optional rate.

    Parameters
    ----------
    rate_bps : int or None
        Bit rate; None is infinite.
    delay_ns : int
        One-way propagation delay, ns.
    is_limited : bool
        Whether its queue has a limit.
    """

    rate_bps: int | None = None
    delay_ns: int = 0
    is_limited: bool = False

    @classmethod
    def of(cls, description: Mapping[str, Any] | None) -> Wire:
        """Return a wire by its description; without one, one that adds nothing."""
        found = description or {}
        is_limited = found.get("limit") is not None
        return cls(found.get("rate_bps"), int(found.get("delay_ns", 0)), is_limited)


@dataclass(frozen=True)
class Start:
    """When the flows of an entry start.

    Parameters
    ----------
    earliest_ns, latest_ns : int
        Range of the start, ns. Of Poisson arrivals, both are the time from which flows arrive.
    gap_ns : int or None
        Mean time between Poisson arrivals, ns; None for flows that start once.
    until_ns : int or None
        Time after which nothing arrives, ns.
    """

    earliest_ns: int
    latest_ns: int
    gap_ns: int | None = None
    until_ns: int | None = None

    @classmethod
    def of(cls, description: Mapping[str, Any]) -> Start:
        """Return a start by its description."""
        if description["kind"] == "poisson":
            begin = description["from_ns"]
            return cls(begin, begin, description["gap_ns"], description.get("until_ns"))
        if description["kind"] == "uniform":
            return cls(description["low_ns"], description["high_ns"])
        return cls(description["time_ns"], description["time_ns"])


@dataclass(frozen=True)
class TcpParameters:
    """The TCP parameters of a flow, quantities as integers of their base unit.

    Parameters
    ----------
    values : mapping
        By name in the resolved form, `Parameter.resolved` in the table of TCP parameters.
    """

    values: Mapping[str, Any]

    def get(self, name: str, default: Any = None) -> Any:
        """Return a parameter by its name in the resolved form; `default` without it."""
        return self.values.get(name, default)

    @property
    def profile(self) -> str:
        """The profile that the defaults come from."""
        return str(self.values["profile"])

    @property
    def mss(self) -> int:
        """Payload of a full segment, bytes."""
        return int(self.values["mss"])

    @property
    def stamp_bytes(self) -> int:
        """Bytes of the timestamps option in each segment; 0 without it."""
        return _TIMESTAMPS if self.values.get("timestamps") else 0

    @property
    def header_bytes(self) -> int:
        """IP and TCP headers with the timestamps option, bytes."""
        return int(self.values["header_bytes"]) + self.stamp_bytes

    @property
    def initial_window(self) -> int:
        """Initial congestion window, bytes."""
        return int(self.values["initial_window"])

    @property
    def receive_window(self) -> int:
        """Largest receive window, bytes."""
        return int(self.values["receive_window"])

    @property
    def window_scaling(self) -> str:
        """Use of the window scale option."""
        return str(self.values["window_scaling"])

    @property
    def recovery(self) -> str:
        """Loss recovery."""
        return str(self.values["recovery"])

    @property
    def ecn(self) -> str:
        """Use of the ECN field."""
        return str(self.values.get("ecn", "off"))

    @property
    def pacing(self) -> str:
        """Use of pacing."""
        return str(self.values["pacing"])

    @property
    def delayed_ack_segments(self) -> int:
        """Full segments for each ACK."""
        return int(self.values["delayed_ack_segments"])

    @property
    def min_rto_ns(self) -> int:
        """Lower bound of the retransmission timeout, ns."""
        return int(self.values["min_rto_ns"])


@dataclass(frozen=True)
class Source(Component):
    """What a flow sends."""

    @property
    def is_tcp(self) -> bool:
        """Whether it is a TCP sender; else it sends datagrams."""
        return self.kind == "tcp"

    @cached_property
    def congestion(self) -> Component:
        """The congestion control algorithm of a TCP sender."""
        return Component(self.description["congestion"])

    @cached_property
    def tcp(self) -> TcpParameters:
        """The parameters of a TCP sender; none for datagrams."""
        return TcpParameters(self.get("options", {}))

    @cached_property
    def sender(self) -> str:
        """The congestion control algorithm and the parameters of a TCP sender, as one text."""
        return json.dumps([self.congestion.description, self.tcp.values], sort_keys=True)

    @property
    def window(self) -> str:
        """Kind of the receive window of a TCP flow."""
        return str((self.get("window") or {}).get("kind", "fixed"))

    @property
    def transfer_bytes(self) -> int | None:
        """Payload of a transfer of fixed size, bytes; None for others and endless flows."""
        size = self.get("transfer_bytes")
        return None if size is None else int(size)

    @property
    def has_random_size(self) -> bool:
        """Whether each flow draws the size of its transfer."""
        return "transfer" in self

    @property
    def is_transfer(self) -> bool:
        """Whether it ends after a fixed or random number of bytes."""
        return self.transfer_bytes is not None or self.has_random_size

    @property
    def is_on_off(self) -> bool:
        """Whether an application pauses it."""
        return self.get("application") is not None

    @property
    def may_abort(self) -> bool:
        """Whether its connection is aborted after a number of retransmissions."""
        return bool({"max_retries", "max_syn_retries"} & self.tcp.values.keys())

    @property
    def rate_bps(self) -> float:
        """Rate of datagrams, bit/s; 0 for TCP."""
        return float(self.get("rate_bps", 0.0))

    @property
    def packet_bytes(self) -> int:
        """A full IP packet, bytes."""
        if self.is_tcp:
            return self.tcp.mss + self.tcp.header_bytes
        return int(self.description["packet_bytes"])

    @property
    def payload_bytes(self) -> int:
        """Payload of a full IP packet, bytes."""
        if self.is_tcp:
            return self.tcp.mss
        return max(0, self.packet_bytes - _DATAGRAM_HEADER)

    @property
    def ack_bytes(self) -> int:
        """An ACK without data, bytes of IP packet; 0 for datagrams."""
        return self.tcp.header_bytes if self.is_tcp else 0


@dataclass(frozen=True)
class Flow:
    """A flow, or equal ones in a row.

    Parameters
    ----------
    description : mapping
        An entry of ``flows`` in the resolved form.
    """

    description: Mapping[str, Any]

    @property
    def group(self) -> int:
        """Number of its group in the scenario."""
        return int(self.description["group"])

    @property
    def group_name(self) -> str | None:
        """Name of its group; None if it has none."""
        return self.description.get("name")

    @property
    def count(self) -> int:
        """Number of equal flows."""
        return int(self.description["count"])

    @property
    def direction(self) -> str:
        """Direction of its data: ``forward`` or ``reverse``."""
        return str(self.description["direction"])

    @cached_property
    def source(self) -> Source:
        """What it sends."""
        return Source(self.description["source"])

    @cached_property
    def start(self) -> Start:
        """When it starts."""
        return Start.of(self.description["start"])

    @property
    def user(self) -> int | None:
        """Number of its user of a cell or station; None without one."""
        return self.description.get("user")

    @property
    def stop_ns(self) -> int | None:
        """Time after which it offers no new data, ns; None without an end."""
        return self.description.get("stop_ns")

    @cached_property
    def access(self) -> Wire:
        """The wire in front of the shared hops."""
        return Wire.of(self.description.get("access"))

    @cached_property
    def egress(self) -> Wire:
        """The wire behind the shared hops."""
        return Wire.of(self.description.get("egress"))

    @cached_property
    def ack_access(self) -> Wire:
        """The wire of its ACKs in front of the ACK path."""
        return Wire.of(self.description.get("ack_access"))

    @cached_property
    def return_wire(self) -> Wire:
        """The wire of its ACKs behind the ACK path."""
        return Wire.of(self.description.get("return_wire"))


class Flows(Sequence[Flow]):
    """The flows of a scenario by number; equal flows in a row share one object.

    Parameters
    ----------
    entries : sequence of mapping
        ``flows`` of the resolved form. An entry describes ``count`` equal flows.
    """

    def __init__(self, entries: Sequence[Mapping[str, Any]]) -> None:
        self.entries: Sequence[Flow] = [Flow(entry) for entry in entries]
        self._ends = list(accumulate(entry.count for entry in self.entries))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, number: int) -> Flow: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Flow]: ...
    def __getitem__(self, number: int | slice) -> Flow | Sequence[Flow]:
        """Return a flow; negative numbers count from the end."""
        numbers = range(len(self))[number]
        if isinstance(numbers, range):
            return [self[one] for one in numbers]
        return self.entries[bisect_right(self._ends, numbers)]

    def __iter__(self) -> Iterator[Flow]:
        for entry in self.entries:
            yield from repeat(entry, entry.count)

    def ranges(self) -> Iterator[tuple[range, Flow]]:
        """Yield the numbers of equal flows in a row, and the flow that they are."""
        begin = 0
        for end, entry in zip(self._ends, self.entries, strict=True):
            yield range(begin, end), entry
            begin = end

    @cached_property
    def groups(self) -> Mapping[int, Sequence[int]]:
        """Numbers of the flows of each group."""
        found: dict[int, list[int]] = {}
        for numbers, entry in self.ranges():
            found.setdefault(entry.group, []).extend(numbers)
        return found

    @cached_property
    def group_names(self) -> Mapping[int, str]:
        """Names of the groups that have one, by number."""
        named = ((entry.group, entry.group_name) for entry in self.entries)
        return {group: name for group, name in named if name is not None}

    def group_key(self, group: int) -> str:
        """Return the name of a group in metrics: its name, or its number without one."""
        return self.group_names.get(group, str(group))

    def group_title(self, group: int) -> str:
        """Return the name of a group in tables: its name, or ``group 0``."""
        return self.group_names.get(group, f"group {group}")

    def flow_label(self, number: int) -> str:
        """Return the label of a flow in tables: ``3``, or ``3 web`` in a named group."""
        name = self[number].group_name
        return f"{number} {name}" if name else str(number)

    def group_of(self, key: str) -> int | None:
        """Return the number of the group with a name or number; None without such a group."""
        named = next((group for group, name in self.group_names.items() if name == key), None)
        if named is not None:
            return named
        return next((group for group in self.groups if str(group) == key), None)

    @cached_property
    def first_of_groups(self) -> Mapping[int, Flow]:
        """The first flow of each group, by the number of the group."""
        found: dict[int, Flow] = {}
        for entry in self.entries:
            found.setdefault(entry.group, entry)
        return found

    def optional_quantities(self) -> list[str]:
        """Return the quantities that flows of this scenario have in addition to those of all.

        These are `transfer_bytes` where sizes are random and `aborted_at_s` where a connection may
        be aborted. In one flow or run they may be missing.
        """
        sources = [entry.source for entry in self.entries]
        found = {
            "transfer_bytes": any(source.has_random_size for source in sources),
            "aborted_at_s": any(source.may_abort for source in sources),
        }
        return [name for name, has in found.items() if has]
