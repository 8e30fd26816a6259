"""The TDD link: frames of slots for both directions, stations that ask for their uplink."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    Field,
    PlainValidator,
    ValidationInfo,
    field_validator,
    model_validator,
)
from typing_extensions import Self

from airpath.scenario.base import (
    ABSENT,
    Context,
    ListOf,
    Maybe,
    Model,
    Path,
    fault,
    faults_at,
    usual,
)
from airpath.scenario.frame_errors import ErrorProcess
from airpath.scenario.grant import GrantPolicy, Uni
from airpath.scenario.link.base import Link
from airpath.scenario.link.radio import Radio
from airpath.scenario.link.retransmission import Arq, Harq
from airpath.scenario.link.stations import (
    DOWNLINK_MCS,
    MOST_STATIONS,
    UPLINK_MCS,
    DownlinkMcs,
    TddUser,
    UplinkMcs,
    no_station,
    radio_faults,
    slot_bytes,
)
from airpath.scenario.request import NoRequest, RandomDelay, RequestProcedure
from airpath.scenario.scheduler import RoundRobin, Scheduler
from airpath.scenario.units import Duration, Size
from airpath.scenario.values import PositiveDuration, Truth, _whole, choice

__all__ = ["Fragmentation", "InOrder", "MapOverhead", "OfdmaTdd", "Packing"]

LEAST_ROOM = 8
"""Bytes of a packet without which a frame carries nothing."""
MOST_SYMBOLS = 47
"""OFDM symbols of a frame of 5 ms without its gaps (wimax-2009 §5.1)."""
MOST_SLOTS = 1_000_000
SHORTEST_FRAME = Duration.parse("1 us")
LONGEST_FRAME = Duration.parse("1 h")
"""The longest offset too."""


class MapOverhead(Model):
    """What the maps of a frame take of its downlink.

    Parameters
    ----------
    slots : int
        In every frame that carries something, from 0. Default 60.
    per_burst : int
        For each burst of either direction that they announce, from 0. Default 0.
    """

    slots: Annotated[int, PlainValidator(_whole(0, MOST_SLOTS, 60))] = 60
    per_burst: Annotated[int, PlainValidator(_whole(0, MOST_SLOTS, 0))] = 0


def _map_overhead(value: Any, info: ValidationInfo) -> int | MapOverhead:
    if isinstance(value, (MapOverhead, Mapping)):
        return MapOverhead.model_validate(value, context=info.context)
    return _whole(0, MOST_SLOTS, 60)(value)


if TYPE_CHECKING:
    from airpath.scenario.typed import Takes

    Overhead = Takes[int | Mapping[str, Any] | MapOverhead, int | MapOverhead]
else:
    Overhead = Annotated[int | MapOverhead, PlainValidator(_map_overhead)]


def _at_most_an_hour(time: Duration) -> Duration:
    if time > LONGEST_FRAME:
        raise fault("longer than 1 h", 'Write at most "1 h"', '"5 ms"')
    return time


Offset = Annotated[Duration, AfterValidator(_at_most_an_hour)]
Symbols = Annotated[int, PlainValidator(_whole(1, MOST_SYMBOLS, 18))]
Slots = Annotated[int, PlainValidator(_whole(1, MOST_SLOTS, 175))]


class Fragmentation(Model):
    """Whether a packet may be sent in parts, each with a header and a subheader of 2 octets.

    Parameters
    ----------
    down, up : bool
        In that direction. Default True.
    """

    down: Truth = True
    up: Truth = True


class Packing(Model):
    """Whether packets may share an MPDU, each with a subheader of 2 octets.

    Parameters
    ----------
    down, up : bool
        In that direction. Default False.
    """

    down: Truth = False
    up: Truth = False


class InOrder(Model):
    """Whether packets are released in order, so that one that is repeated holds up later ones.

    Parameters
    ----------
    down : bool
        In the downlink. Default True (wimax-2009 §5.1).
    up : bool
        In the uplink. Default False: ACKs are cumulative.
    """

    down: Truth = True
    up: Truth = False


class OfdmaTdd(Link):
    """A TDD link of frames and slots, on which stations ask for their uplink (wimax-2009 §2, §5.1).

    Both directions in one link: it needs ``ack_path = {kind = "reverse"}``, whose `aqm` is that of
    each station's uplink. A station is a `user`; a flow without one is that of its number modulo
    `stations`. Waiting for frames is no part of `delay`, nor of a flow's `base_rtt`. Defaults are
    802.16e with 10 MHz and PUSC.

    Parameters
    ----------
    frame : Duration
        Length of a frame, from 1 us up to 1 h. Default 5 ms (wimax-2009 §5.1).
    stations : int
        Stations, each with a queue for either direction, 1 to 1000. Default 1.
    downlink_symbols : int
        OFDM symbols of the downlink with the preamble, of which every two more give 30 slots; with
        `uplink_symbols` at most 47. Default 29 (wimax-2009 §5.1): 420 slots.
    uplink_symbols : int
        OFDM symbols of the uplink with three for ranging and feedback, of which every three more
        give 35 slots. Default 18 (wimax-2009 §5.1): 175 slots.
    downlink_slots : int, optional
        Slots of a frame's downlink, in the place of `downlink_symbols`. Default: by the symbols.
    uplink_slots : int, optional
        Slots of a frame's uplink, in the place of `uplink_symbols`. Default: by the symbols.
    slot_symbols : int
        Data symbols of a slot, subcarriers times OFDM symbols, 1 to 1000000. Default 48 (PUSC).
    map_overhead : int or MapOverhead
        Downlink slots for the maps of a frame, or ``{slots = 60, per_burst = 2}``. Default 60.
    map_relevance : int
        How many frames later a map grants the uplink, 0 to 1000; 0: in its own frame. Default 1.
    decoded : Duration
        When a frame's downlink bursts are decoded at the station, from its start; it may exceed the
        frame. Default 3 ms.
    closed : Duration
        When a frame's uplink bursts are closed: what arrives later waits for another frame.
        Default 3 ms.
    received : Duration
        When a frame's uplink bursts are received at the base station, not before `closed`: what
        they carry, requests among it, is known from then on. Default 4.94 ms.
    downlink_mcs : {"qpsk-1/12", "qpsk-1/8", "qpsk-1/4", "qpsk-1/2", "qpsk-3/4", "16qam-1/2", \
"64qam-2/3", "64qam-3/4", "64qam-5/6"}
        MCS of the downlink. Default ``"qpsk-3/4"``.
    uplink_mcs : {"qpsk-1/12", "qpsk-1/8", "qpsk-1/4", "qpsk-1/2", "qpsk-3/4", "16qam-1/2", \
"16qam-3/4"}
        MCS of the uplink. Default ``"qpsk-1/2"``.
    radio : Radio, optional
        Schemes that follow the SNR of each station, in the place of `downlink_mcs` and
        `uplink_mcs`. Default: they stay.
    users : list of TddUser
        Stations that differ. Default none.
    crc : bool
        Whether each MPDU ends with a CRC of 4 octets beside its header of 6. Default False.
    fragmentation : Fragmentation
        Whether packets may be sent in parts.
    packing : Packing
        Whether packets may share an MPDU.
    harq : Harq, optional
        What repeats MPDUs that were not received. Default: nothing.
    arq : Arq, optional
        The second loop, behind HARQ. Default: none.
    in_order : InOrder
        Whether packets are released in order.
    request : RequestProcedure
        How stations ask for their uplink. Default ``"random-delay"``.
    piggyback_read : {"at-once", "with-mpdu"}
        When a piggyback request is read: as the burst that carries it is received; or as the last
        MPDU of that burst is received, after its repetitions. Default ``"at-once"``.
    grant : GrantPolicy
        What is granted unasked. Default ``"uni"``.
    scheduler : Scheduler
        Who is served in a frame that has no room for all. Default ``"round-robin"``.
    delay : Duration
        One-way propagation delay, from 0, of either direction. Default 0 s.
    errors : ErrorProcess, optional
        What destroys MPDUs of the downlink; with `harq` it destroys attempts. Default: nothing.
    reverse_errors : ErrorProcess, optional
        What destroys those of the uplink. Default: nothing.
    """

    is_duplex = True
    has_stations = True

    kind: Literal["ofdma-tdd"] = "ofdma-tdd"
    frame: PositiveDuration = Duration.parse("5 ms")
    stations: Annotated[int, PlainValidator(_whole(1, MOST_STATIONS, 1))] = 1
    downlink_symbols: Symbols = 29
    uplink_symbols: Symbols = 18
    downlink_slots: Maybe[Slots] = ABSENT
    uplink_slots: Maybe[Slots] = ABSENT
    slot_symbols: Annotated[int, PlainValidator(_whole(1, MOST_SLOTS, 48))] = 48
    map_overhead: Overhead = usual(60)
    map_relevance: Annotated[int, PlainValidator(_whole(0, 1000, 1))] = 1
    decoded: Offset = Duration.parse("3 ms")
    closed: Offset = Duration.parse("3 ms")
    received: Offset = Duration.parse("4.94 ms")
    downlink_mcs: DownlinkMcs = "qpsk-3/4"
    uplink_mcs: UplinkMcs = "qpsk-1/2"
    radio: Maybe[Radio] = ABSENT
    users: ListOf[TddUser] = usual([])
    crc: Truth = False
    fragmentation: Fragmentation = Field(default_factory=Fragmentation)
    packing: Packing = Field(default_factory=Packing)
    harq: Maybe[Harq] = ABSENT
    arq: Maybe[Arq] = ABSENT
    in_order: InOrder = Field(default_factory=InOrder)
    request: RequestProcedure = RandomDelay()
    piggyback_read: Annotated[str, choice("at-once", "with-mpdu")] = "at-once"
    grant: GrantPolicy = Uni()
    scheduler: Scheduler = RoundRobin()
    reverse_errors: Maybe[ErrorProcess] = ABSENT

    alternatives = (
        ("downlink_symbols", "downlink_slots"),
        ("uplink_symbols", "uplink_slots"),
        ("downlink_mcs", "radio"),
        ("uplink_mcs", "radio"),
    )

    @field_validator("frame")
    @classmethod
    def _in_range(cls, frame: Duration) -> Duration:
        if frame < SHORTEST_FRAME:
            raise fault("shorter than 1 us", 'Write at least "1 us"', '"5 ms"')
        return _at_most_an_hour(frame)

    @field_validator("harq")
    @classmethod
    def _as_many_processes_as_it_takes(cls, harq: Harq | None) -> Harq | None:
        if harq is not None and harq.processes is not None:
            error = fault("a frame's MPDUs have as many as it takes", "Leave it out")
            raise faults_at((("processes",), harq.processes, error))
        return harq

    @field_validator("users")
    @classmethod
    def _each_once_and_there(cls, users: list[TddUser], info: ValidationInfo) -> list[TddUser]:
        wrong: list[Any] = radio_faults(users, info.data)
        stations = info.data.get("stations", MOST_STATIONS)
        for index, entry in enumerate(users):
            if any(before.user == entry.user for before in users[:index]):
                error = fault("named before", "Write one entry for each station")
                wrong.append(((index, "user"), entry.user, error))
            elif entry.user >= stations:
                wrong.append(((index, "user"), entry.user, no_station(stations)))
        if wrong:
            raise faults_at(*wrong)
        return users

    @model_validator(mode="after")
    def _fits_the_frame(self) -> Self:
        if wrong := [*self._symbol_faults(), *self._offset_faults(), *self._scheme_faults()]:
            raise faults_at(*wrong)
        if wrong := self._map_faults() or self._room_faults():
            raise faults_at(*wrong)
        if wrong := [*self._grant_faults(), *self._period_faults()]:
            raise faults_at(*wrong)
        return self

    def _symbol_faults(self) -> list[Any]:
        """Return what is wrong with the symbols of the directions whose slots they give."""
        wrong: list[Any] = []
        used = 0
        for name, least in (("downlink", 3), ("uplink", 6)):
            key, symbols = f"{name}_symbols", getattr(self, f"{name}_symbols")
            if getattr(self, f"{name}_slots") is not None:
                if key in self.model_fields_set:
                    error = fault(f"{name}_slots is given too", "Write one of the two")
                    wrong.append(((key,), symbols, error))
                continue
            used += symbols
            if symbols < least:
                error = fault("without a slot", f"Write {least} or more", str(least))
                wrong.append(((key,), symbols, error))
        if used > MOST_SYMBOLS and not wrong:
            what = f"{used} symbols in a frame that has {MOST_SYMBOLS}"
            key = next(
                (key for key in ("downlink_symbols", "uplink_symbols") if self._is_given(key)),
                "downlink_symbols",
            )
            error = fault(what, f"Write counts that add up to {MOST_SYMBOLS} at most")
            wrong.append(((key,), getattr(self, key), error))
        return wrong

    def _scheme_faults(self) -> list[Any]:
        error = fault("schemes follow the radio", "Leave one of them out")
        return [
            ((key,), getattr(self, key), error)
            for key in ("downlink_mcs", "uplink_mcs")
            if self.radio is not None and self._is_given(key)
        ]

    def _offset_faults(self) -> list[Any]:
        if self.received >= self.closed:
            return []
        error = fault(f"before the bursts are closed, {self.closed}", "Write at least that")
        return [(("received",), str(self.received), error)]

    def _map_faults(self) -> list[Any]:
        overhead, slots = self.map_overhead, self.slots_of("downlink")
        if isinstance(overhead, MapOverhead):
            least, burst = overhead.slots, overhead.per_burst
            path: Path = ("map_overhead", "slots" if least >= burst else "per_burst")
        else:
            path, least, burst = ("map_overhead",), overhead, 0
        if least + burst < slots:
            return []
        error = fault(f"leaves no room in a downlink of {slots} slots", "Write a smaller number")
        return [(path, max(least, burst), error)]

    def _room_faults(self) -> list[Any]:
        """Return the directions of which a frame does not carry a header and a bit of a packet."""
        wrong: list[Any] = []
        overhead = self.map_overhead
        needed = (10 if self.crc else 6) + LEAST_ROOM
        directions: list[tuple[Literal["downlink", "uplink"], Sequence[str]]]
        directions = [("downlink", DOWNLINK_MCS), ("uplink", UPLINK_MCS)]
        for name, schemes in directions:
            key, slots = f"{name}_mcs", self.slots_of(name)
            if name == "downlink":
                slots -= overhead.slots if isinstance(overhead, MapOverhead) else overhead
            usual_mcs = schemes[0] if self.radio is not None else getattr(self, key)
            used = {usual_mcs, *(getattr(entry, key) or usual_mcs for entry in self.users)}
            room = min(int(slot_bytes(mcs, self.slot_symbols) * slots) for mcs in used)
            if room < needed:
                paths: list[Path] = [(f"{name}_slots",), (f"{name}_symbols",), (key,)]
                if name == "downlink":
                    paths.append(("map_overhead",))
                path = next((path for path in paths if self._is_given(str(path[0]))), paths[-1])
                value = getattr(self, str(path[0]))
                if isinstance(value, MapOverhead):
                    path, value = (*path, "slots"), value.slots
                error = fault(
                    f"leaves {room} bytes of a frame's {name}",
                    f"Write what leaves {needed} or more",
                )
                wrong.append((path, value, error))
        return wrong

    def _grant_faults(self) -> list[Any]:
        if isinstance(self.grant, Uni) and isinstance(self.request, NoRequest):
            what = "with request none and grant uni no station is ever given an uplink"
            error = fault(what, "Write another request or another grant")
            return [(("request",), "none", error)]
        size = getattr(self.grant, "size", None)
        if not isinstance(size, Size):
            return []
        robust = self.radio is not None
        schemes = (
            [UPLINK_MCS[0]]
            if robust
            else [self.uplink_mcs, *(entry.uplink_mcs or self.uplink_mcs for entry in self.users)]
        )
        slots = self.slots_of("uplink")
        room = min(slot_bytes(mcs, self.slot_symbols) * slots for mcs in schemes)
        if size <= room:
            return []
        error = fault(f"more than a frame's uplink of {int(room)} bytes", "Write a smaller grant")
        return [(("grant", "size"), str(size), error)]

    def _period_faults(self) -> list[Any]:
        wrong: list[Any] = []
        for path in (("request", "period"), ("grant", "period"), ("scheduler", "time_constant")):
            part, key = path
            time = getattr(getattr(self, part), key, None)
            if isinstance(time, Duration) and time < self.frame:
                error = fault(f"shorter than a frame, {self.frame}", "Write at least that")
                wrong.append((path, str(time), error))
        return wrong

    def slots_of(self, direction: Literal["downlink", "uplink"]) -> int:
        """Return the slots of a frame in a direction (wimax-mac §1).

        Parameters
        ----------
        direction : {"downlink", "uplink"}
            Which.
        """
        if direction == "downlink":
            columns = (self.downlink_symbols - 1) // 2
            return 30 * columns if self.downlink_slots is None else self.downlink_slots
        columns = (self.uplink_symbols - 3) // 3
        return 35 * columns if self.uplink_slots is None else self.uplink_slots

    def document(self) -> dict[str, Any]:
        """Return the table as plain values, quantities as text: what a TOML file would say."""
        entries = super().document()
        for name in ("downlink", "uplink"):
            if getattr(self, f"{name}_slots") is not None:
                del entries[f"{name}_symbols"]
            if self.radio is not None:
                del entries[f"{name}_mcs"]
        return entries

    def mean_snr_db(self, user: int) -> float | None:
        """Return the mean SNR of a station's downlink, dB; None of one from a file.

        Parameters
        ----------
        user : int
            The station, of a link with a radio.
        """
        own = next((entry for entry in self.users if entry.user == user), TddUser(user=user))
        if self.radio is None:
            return None
        try:
            return self.radio.mean_db(own.distance, own.snr)
        except ValueError:
            return None

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form: symbols as slots, the overhead of the maps as a table."""
        entries = super().resolved(context, path)
        del entries["downlink_symbols"], entries["uplink_symbols"]
        entries["downlink_slots"] = self.slots_of("downlink")
        entries["uplink_slots"] = self.slots_of("uplink")
        if not isinstance(self.map_overhead, MapOverhead):
            entries["map_overhead"] = {"slots": self.map_overhead, "per_burst": 0}
        if self.radio is None:
            del entries["radio"]
            return entries
        # The fastest say the nominal rate.
        entries |= {"downlink_mcs": DOWNLINK_MCS[-1], "uplink_mcs": UPLINK_MCS[-1]}
        for index, (entry, own) in enumerate(zip(entries["users"], self.users, strict=True)):
            if own.distance is not None or own.snr is not None:
                place = (*path, "users", index, "snr")
                entry["snr"] = self.radio.snr_of(own.distance, own.snr, context, place)
        return entries

    @classmethod
    def known_rates_bps(cls, resolved: Mapping[str, Any]) -> list[float]:
        """Return what the slots of the downlink carry; none if stations differ."""
        differ = "radio" in resolved or any(user["downlink_mcs"] for user in resolved["users"])
        return [] if differ else [cls.largest_rate_bps(resolved)]

    @classmethod
    def largest_rate_bps(cls, resolved: Mapping[str, Any]) -> float:
        """Return what the downlink's slots for data carry with the MCS of the link, bit/s."""
        slots = resolved["downlink_slots"] - resolved["map_overhead"]["slots"]
        bits = 8 * slots * slot_bytes(resolved["downlink_mcs"], resolved["slot_symbols"])
        return float(bits / Fraction(resolved["frame_ns"], 10**9))
