"""Access to the flows of a resolved scenario: sources, start times and wires."""

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
"""Size of an IPv4 header without options (RFC 791 §3.1) and a UDP header (RFC 768), bytes."""
_TIMESTAMPS = 12
"""Size of the TCP timestamps option with its padding (RFC 7323 §3.2), bytes."""


@dataclass(frozen=True)
class Wire:
    """A wired hop with a constant delay and an optional rate.

    Parameters
    ----------
    rate_bps : int or None
        Bit rate; None means infinite.
    delay_ns : int
        One-way propagation delay, ns.
    is_limited : bool
        True if the queue of the wire has a limit.
    """

    rate_bps: int | None = None
    delay_ns: int = 0
    is_limited: bool = False

    @classmethod
    def of(cls, description: Mapping[str, Any] | None) -> Wire:
        """Create a wire from its resolved form; None gives a wire without rate and delay."""
        found = description or {}
        is_limited = found.get("limit") is not None
        return cls(found.get("rate_bps"), int(found.get("delay_ns", 0)), is_limited)


@dataclass(frozen=True)
class Start:
    """Start times of the flows of an entry.

    Parameters
    ----------
    earliest_ns, latest_ns : int
        Range of the start times, ns. For Poisson arrivals, both are the start of the arrival
        process.
    gap_ns : int or None
        Mean time between Poisson arrivals, ns; None without an arrival process.
    until_ns : int or None
        End of the arrival process, ns; None if it does not end.
    """

    earliest_ns: int
    latest_ns: int
    gap_ns: int | None = None
    until_ns: int | None = None

    @classmethod
    def of(cls, description: Mapping[str, Any]) -> Start:
        """Create the start times from their resolved form."""
        if description["kind"] == "poisson":
            begin = description["from_ns"]
            return cls(begin, begin, description["gap_ns"], description.get("until_ns"))
        if description["kind"] == "uniform":
            return cls(description["low_ns"], description["high_ns"])
        return cls(description["time_ns"], description["time_ns"])


@dataclass(frozen=True)
class TcpParameters:
    """The TCP parameters of a flow, with quantities as integers in base units.

    Parameters
    ----------
    values : mapping
        Maps names in the resolved form (`Parameter.resolved`) to values.
    """

    values: Mapping[str, Any]

    def get(self, name: str, default: Any = None) -> Any:
        """Return a parameter by its name in the resolved form; `default` if it is absent."""
        return self.values.get(name, default)

    @property
    def profile(self) -> str:
        """Name of the profile that provides the defaults."""
        return str(self.values["profile"])

    @property
    def mss(self) -> int:
        """Payload of a full-sized segment, bytes."""
        return int(self.values["mss"])

    @property
    def stamp_bytes(self) -> int:
        """Size of the timestamps option in each segment, bytes; 0 without timestamps."""
        return _TIMESTAMPS if self.values.get("timestamps") else 0

    @property
    def header_bytes(self) -> int:
        """Size of IP and TCP headers, including the timestamps option, bytes."""
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
        """Value of the TCP parameter `window_scaling`."""
        return str(self.values["window_scaling"])

    @property
    def recovery(self) -> str:
        """Value of the TCP parameter `recovery`."""
        return str(self.values["recovery"])

    @property
    def ecn(self) -> str:
        """ECN mode in the resolved form."""
        return str(self.values.get("ecn", "off"))

    @property
    def pacing(self) -> str:
        """Value of the TCP parameter `pacing`."""
        return str(self.values["pacing"])

    @property
    def delayed_ack_segments(self) -> int:
        """Number of full-sized segments per ACK."""
        return int(self.values["delayed_ack_segments"])

    @property
    def min_rto_ns(self) -> int:
        """Lower bound of the retransmission timeout, ns."""
        return int(self.values["min_rto_ns"])


@dataclass(frozen=True)
class Source(Component):
    """Traffic source of a flow."""

    @property
    def is_tcp(self) -> bool:
        """True for a TCP sender, False for a sender of datagrams."""
        return self.kind == "tcp"

    @cached_property
    def congestion(self) -> Component:
        """The congestion control algorithm of a TCP sender."""
        return Component(self.description["congestion"])

    @cached_property
    def tcp(self) -> TcpParameters:
        """The parameters of a TCP sender; empty for datagrams."""
        return TcpParameters(self.get("options", {}))

    @cached_property
    def sender(self) -> str:
        """Congestion control and parameters of a TCP sender as one text, to compare senders."""
        return json.dumps([self.congestion.description, self.tcp.values], sort_keys=True)

    @property
    def window(self) -> str:
        """Kind of the receive-window policy of a TCP flow."""
        return str((self.get("window") or {}).get("kind", "fixed"))

    @property
    def transfer_bytes(self) -> int | None:
        """Payload of a transfer of fixed size, bytes; None for random sizes and endless flows."""
        size = self.get("transfer_bytes")
        return None if size is None else int(size)

    @property
    def has_random_size(self) -> bool:
        """True if each flow has a transfer of random size."""
        return "transfer" in self

    @property
    def is_transfer(self) -> bool:
        """True if the source ends after a fixed or random number of bytes."""
        return self.transfer_bytes is not None or self.has_random_size

    @property
    def has_pauses(self) -> bool:
        """True if the application pauses between the data that it writes."""
        keys = ("application", "video", "requests")
        return any(self.get(key) is not None for key in keys)

    @property
    def application(self) -> str | None:
        """Name of the table with the quality of the application; None if there is none."""
        if self.kind == "voice":
            return "voice"
        clients = ("video", "requests")
        return next((key for key in clients if self.get(key) is not None), None)

    @property
    def may_abort(self) -> bool:
        """True if the number of retransmissions before an abort is limited."""
        return bool({"max_retries", "max_syn_retries"} & self.tcp.values.keys())

    @property
    def rate_bps(self) -> float:
        """Rate of datagrams, bit/s; 0 for TCP."""
        if self.kind == "voice":
            return 8e9 * self.packet_bytes / float(self.description["interval_ns"])
        return float(self.get("rate_bps", 0.0))

    @property
    def packet_bytes(self) -> int:
        """Size of a full-sized IP packet, bytes."""
        if self.is_tcp:
            return self.tcp.mss + self.tcp.header_bytes
        return int(self.description["packet_bytes"])

    @property
    def payload_bytes(self) -> int:
        """Payload of a full-sized IP packet, bytes."""
        if self.is_tcp:
            return self.tcp.mss
        return max(0, self.packet_bytes - _DATAGRAM_HEADER)

    @property
    def ack_bytes(self) -> int:
        """Size of the IP packet of an ACK without data, bytes; 0 for datagrams."""
        return self.tcp.header_bytes if self.is_tcp else 0


@dataclass(frozen=True)
class Flow:
    """A flow, or several consecutive flows with equal parameters.

    Parameters
    ----------
    description : mapping
        An entry of ``flows`` in the resolved form.
    """

    description: Mapping[str, Any]

    @property
    def group(self) -> int:
        """Index of the flow's group in the scenario."""
        return int(self.description["group"])

    @property
    def group_name(self) -> str | None:
        """Name of the flow's group; None if the group has no name."""
        return self.description.get("name")

    @property
    def count(self) -> int:
        """Number of equal flows."""
        return int(self.description["count"])

    @property
    def direction(self) -> str:
        """Direction of the data: ``forward`` or ``reverse``."""
        return str(self.description["direction"])

    @cached_property
    def source(self) -> Source:
        """Traffic source of the flow."""
        return Source(self.description["source"])

    @cached_property
    def start(self) -> Start:
        """The start time of the flow."""
        return Start.of(self.description["start"])

    @property
    def user(self) -> int | None:
        """Index of the user or station to which the flow belongs; None without users."""
        return self.description.get("user")

    @property
    def hops(self) -> tuple[str, str] | None:
        """Names of the first and the last hop that the flow crosses; None for all hops."""
        found = self.description.get("hops")
        return None if found is None else (str(found[0]), str(found[1]))

    @property
    def stop_ns(self) -> int | None:
        """Time after which the source offers no new data, ns; None if it never stops."""
        return self.description.get("stop_ns")

    @cached_property
    def access(self) -> Wire:
        """Wire before the shared hops."""
        return Wire.of(self.description.get("access"))

    @cached_property
    def egress(self) -> Wire:
        """Wire after the shared hops."""
        return Wire.of(self.description.get("egress"))

    @cached_property
    def ack_access(self) -> Wire:
        """Wire of the ACKs before the ACK path."""
        return Wire.of(self.description.get("ack_access"))

    @cached_property
    def return_wire(self) -> Wire:
        """Wire of the ACKs after the ACK path."""
        return Wire.of(self.description.get("return_wire"))


class Flows(Sequence[Flow]):
    """Sequence of all flows of a scenario; consecutive equal flows share one object.

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
        """Return a flow; negative indices count from the end."""
        numbers = range(len(self))[number]
        if isinstance(numbers, range):
            return [self[one] for one in numbers]
        return self.entries[bisect_right(self._ends, numbers)]

    def __iter__(self) -> Iterator[Flow]:
        for entry in self.entries:
            yield from repeat(entry, entry.count)

    def ranges(self) -> Iterator[tuple[range, Flow]]:
        """Yield the indices of consecutive equal flows, and the object that they share."""
        begin = 0
        for end, entry in zip(self._ends, self.entries, strict=True):
            yield range(begin, end), entry
            begin = end

    @cached_property
    def groups(self) -> Mapping[int, Sequence[int]]:
        """Maps the index of each group to the indices of its flows."""
        found: dict[int, list[int]] = {}
        for numbers, entry in self.ranges():
            found.setdefault(entry.group, []).extend(numbers)
        return found

    @cached_property
    def group_names(self) -> Mapping[int, str]:
        """Maps the index of each group with a name to this name."""
        named = ((entry.group, entry.group_name) for entry in self.entries)
        return {group: name for group, name in named if name is not None}

    def group_key(self, group: int) -> str:
        """Return the identifier of a group in metrics: its name, or its index without a name."""
        return self.group_names.get(group, str(group))

    def group_title(self, group: int) -> str:
        """Return the label of a group in tables: its name, or ``group 0``."""
        return self.group_names.get(group, f"group {group}")

    def flow_label(self, number: int) -> str:
        """Return the label of a flow in tables: ``3``, or ``3 web`` in a named group."""
        name = self[number].group_name
        return f"{number} {name}" if name else str(number)

    def group_of(self, key: str) -> int | None:
        """Return the index of the group with this name or index; None if no such group exists."""
        named = next((group for group, name in self.group_names.items() if name == key), None)
        if named is not None:
            return named
        return next((group for group in self.groups if str(group) == key), None)

    @cached_property
    def first_of_groups(self) -> Mapping[int, Flow]:
        """Maps the index of each group to its first flow."""
        found: dict[int, Flow] = {}
        for entry in self.entries:
            found.setdefault(entry.group, entry)
        return found

    def optional_quantities(self) -> list[str]:
        """Return the quantities that only some flows of this scenario have.

        The quantities are `transfer_bytes` if sizes are random, and `aborted_at_s` if a connection
        may be aborted. A flow or a replication may lack them.
        """
        sources = [entry.source for entry in self.entries]
        found = {
            "transfer_bytes": any(source.has_random_size for source in sources),
            "aborted_at_s": any(source.may_abort for source in sources),
        }
        return [name for name, has in found.items() if has]
