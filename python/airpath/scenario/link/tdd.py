"""The TDD link, with slots for both directions in a frame and bandwidth requests."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    Field,
    PlainValidator,
    ValidationInfo,
    field_validator,
)

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
from airpath.scenario.engine_problems import EngineProblem
from airpath.scenario.frame_errors import ErrorProcess
from airpath.scenario.grant import GrantPolicy, Uni
from airpath.scenario.link.base import Link
from airpath.scenario.link.radio import Radio
from airpath.scenario.link.retransmission import Arq, Harq
from airpath.scenario.link.stations import (
    DOWNLINK_MCS,
    UPLINK_MCS,
    DownlinkMcs,
    TddUser,
    UplinkMcs,
    radio_faults,
    slot_bytes,
)
from airpath.scenario.request import RandomDelay, RequestProcedure
from airpath.scenario.scheduler import RoundRobin, Scheduler
from airpath.scenario.units import Duration
from airpath.scenario.values import Number, Truth, choice, integer_of, whole

__all__ = ["Fragmentation", "InOrder", "MapOverhead", "OfdmaTdd", "Packing"]

MOST_SYMBOLS = 47
"""Number of OFDM symbols in a frame of 5 ms, without the gaps (wimax-2009 §5.1)."""


class MapOverhead(Model):
    """Number of downlink slots that the maps of a frame occupy.

    Parameters
    ----------
    slots : int
        Number of slots for the maps in every frame with data, from 0. Default 60.
    per_burst : int
        Number of additional slots for each downlink or uplink burst that the maps announce, from 0.
        Default 0.
    """

    slots: Number = 60
    per_burst: Number = 0


def _map_overhead(value: Any, info: ValidationInfo) -> int | MapOverhead:
    if isinstance(value, (MapOverhead, Mapping)):
        return MapOverhead.model_validate(value, context=info.context)
    return integer_of(32)(value)


if TYPE_CHECKING:
    from airpath.scenario.typed import Takes

    Overhead = Takes[int | Mapping[str, Any] | MapOverhead, int | MapOverhead]
else:
    Overhead = Annotated[int | MapOverhead, PlainValidator(_map_overhead)]


Symbols = Annotated[int, PlainValidator(whole(1, MOST_SYMBOLS, 18))]


class Fragmentation(Model):
    """Fragmentation of packets. Each fragment has a header, and a subheader of 2 octets.

    Parameters
    ----------
    down, up : bool
        True: packets of this direction may be fragmented. Default True.
    """

    down: Truth = True
    up: Truth = True


class Packing(Model):
    """Packing of packets into shared MPDUs, each packet with a subheader of 2 octets.

    Parameters
    ----------
    down, up : bool
        True: packets of this direction may share an MPDU. Default False.
    """

    down: Truth = False
    up: Truth = False


class InOrder(Model):
    """Release of packets in order, so that a retransmission blocks later packets.

    Parameters
    ----------
    down : bool
        True: in the downlink, packets are released in order. Default True (wimax-2009 §5.1).
    up : bool
        True: in the uplink, packets are released in order. Default False, because ACKs are
        cumulative.
    """

    down: Truth = True
    up: Truth = False


class OfdmaTdd(Link):
    """A TDD link of frames and slots with bandwidth requests (wimax-2009 §2, §5.1).

    The link serves both directions. It requires ``ack_path = {kind = "reverse"}``, whose `aqm` is
    the queue discipline of each station's uplink. The key `user` of a flow selects its station.
    Without `user`, the station is the index of the flow modulo `stations`. `delay` and a flow's
    `base_rtt` do not include the waiting time for frames. The defaults describe IEEE 802.16e with
    10 MHz and PUSC.

    Parameters
    ----------
    frame : Duration
        Length of a frame, from 1 us up to 1 h. Default 5 ms (wimax-2009 §5.1).
    stations : int
        Number of stations, each with a queue per direction, 1 to 1000. Default 1.
    downlink_symbols : int
        Number of downlink OFDM symbols, including the preamble. Every two symbols after the
        preamble give 30 slots. The sum with `uplink_symbols` is at most 47. Default 29 (wimax-2009
        §5.1): 420 slots.
    uplink_symbols : int
        Number of uplink OFDM symbols, including three for ranging and feedback. Every three symbols
        after these give 35 slots. Default 18 (wimax-2009 §5.1): 175 slots.
    downlink_slots : int, optional
        Number of downlink slots per frame, instead of `downlink_symbols`. Default: computed from
        the symbols.
    uplink_slots : int, optional
        Number of uplink slots per frame, instead of `uplink_symbols`. Default: computed from the
        symbols.
    slot_symbols : int
        Number of data symbols per slot (subcarriers times OFDM symbols), 1 to 1000000. Default 48
        (PUSC).
    map_overhead : int or MapOverhead
        Downlink slots for the maps of a frame, or ``{slots = 60, per_burst = 2}``. Default 60.
    map_relevance : int
        Number of frames between a map and the uplink frame in which its grants apply, 0 to 1000.
        With 0, grants apply in the same frame. Default 1.
    decoded : Duration
        Time from the start of a frame until the station has decoded its downlink bursts. It may be
        longer than the frame. Default 3 ms.
    closed : Duration
        Time from the start of a frame until its uplink bursts are closed. Packets that arrive later
        wait for another frame. Default 3 ms.
    received : Duration
        Time from the start of a frame until the base station has received its uplink bursts, with
        their data and requests; not before `closed`. Default 4.94 ms.
    downlink_mcs : {"qpsk-1/12", "qpsk-1/8", "qpsk-1/4", "qpsk-1/2", "qpsk-3/4", "16qam-1/2", \
"64qam-2/3", "64qam-3/4", "64qam-5/6"}
        MCS of the downlink. Default ``"qpsk-3/4"``.
    uplink_mcs : {"qpsk-1/12", "qpsk-1/8", "qpsk-1/4", "qpsk-1/2", "qpsk-3/4", "16qam-1/2", \
"16qam-3/4"}
        MCS of the uplink. Default ``"qpsk-1/2"``.
    radio : Radio, optional
        Radio whose MCSs follow the SNR of each station, instead of `downlink_mcs` and `uplink_mcs`.
        Default: fixed MCSs.
    users : list of TddUser
        Stations whose parameters differ from the parameters of the link. Default none.
    crc : bool
        True: each MPDU has a CRC of 4 octets in addition to its header of 6 octets. Default False.
    fragmentation : Fragmentation
        Fragmentation of packets, per direction.
    packing : Packing
        Packing of several packets into an MPDU, per direction.
    harq : Harq, optional
        Retransmission of corrupted MPDUs by HARQ. Default: none.
    arq : Arq, optional
        Retransmission by ARQ, above HARQ. Default: none.
    in_order : InOrder
        Release of packets in order, per direction.
    request : RequestProcedure
        Procedure by which stations request uplink bandwidth. Default ``"random-delay"``.
    piggyback_read : {"at-once", "with-mpdu"}
        Time at which the base station reads a piggyback request. ``"at-once"``: when it receives
        the burst with the request. ``"with-mpdu"``: when it has received the last MPDU of that
        burst, including retransmissions. Default ``"at-once"``.
    grant : GrantPolicy
        Policy for proactive grants. Default ``"uni"``.
    scheduler : Scheduler
        Scheduler that orders the stations in a frame that is too small for all. Default
        ``"round-robin"``.
    delay : Duration
        One-way propagation delay, from 0, of either direction. Default 0 s.
    errors : ErrorProcess, optional
        Error process of downlink MPDUs, or of HARQ attempts with `harq`. Default: no errors.
    reverse_errors : ErrorProcess, optional
        Error process of uplink MPDUs. Default: no errors.
    """

    is_duplex = True
    has_stations = True

    kind: Literal["ofdma-tdd"] = "ofdma-tdd"
    frame: Duration = Duration.parse("5 ms")
    stations: Number = 1
    downlink_symbols: Symbols = 29
    uplink_symbols: Symbols = 18
    downlink_slots: Maybe[Number] = ABSENT
    uplink_slots: Maybe[Number] = ABSENT
    slot_symbols: Number = 48
    map_overhead: Overhead = usual(60)
    map_relevance: Number = 1
    decoded: Duration = Duration.parse("3 ms")
    closed: Duration = Duration.parse("3 ms")
    received: Duration = Duration.parse("4.94 ms")
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

    @field_validator("users")
    @classmethod
    def _check_radio(cls, users: list[TddUser], info: ValidationInfo) -> list[TddUser]:
        # If the radio has faults, the rules for user entries cannot be checked.
        if "radio" in info.data and (wrong := radio_faults(users, info.data)):
            raise faults_at(*wrong)
        return users

    def _check_alternatives(self) -> None:
        super()._check_alternatives()
        if wrong := [*self._symbol_faults(), *self._scheme_faults()]:
            raise faults_at(*wrong)

    def _engine_problems(self) -> list[EngineProblem]:
        """Return the engine's problems, except problems of values computed from a link budget."""
        found = super()._engine_problems()
        return [problem for problem in found if not self._is_of_budget(problem[0])]

    def _is_of_budget(self, engine_path: str) -> bool:
        first, _, rest = engine_path.partition(".")
        if first == "users":
            number, _, key = rest.partition(".")
            return key.startswith("snr.") and self.users[int(number)].snr is None
        is_derived = engine_path.startswith(("radio.snr.", "radio.uplink_db"))
        return is_derived and self.radio is not None and self.radio.snr is None

    def _user_path(self, engine_path: str) -> list[str]:
        """Return the user's keys of an engine field; slots may have been set as symbols."""
        if engine_path not in ("downlink_slots", "uplink_slots"):
            return super()._user_path(engine_path)
        name = engine_path.removesuffix("_slots")
        keys = [engine_path, f"{name}_symbols", f"{name}_mcs"]
        if name == "downlink" and not any(map(self._is_given, keys)):
            return ["map_overhead", "slots"]
        return [next((key for key in keys if self._is_given(key)), keys[-1])]

    def _symbol_faults(self) -> list[Any]:
        """Return the faults in numbers of symbols from which slots are computed."""
        wrong: list[Any] = []
        used = 0
        for name, least in (("downlink", 3), ("uplink", 6)):
            key, symbols = f"{name}_symbols", getattr(self, f"{name}_symbols")
            if getattr(self, f"{name}_slots") is not None:
                if key in self.model_fields_set:
                    error = fault(f"{name}_slots is given too", "Use one of the two")
                    wrong.append(((key,), symbols, error))
                continue
            used += symbols
            if symbols < least:
                error = fault("without a slot", f"Use {least} or more", str(least))
                wrong.append(((key,), symbols, error))
        if used > MOST_SYMBOLS and not wrong:
            what = f"{used} symbols in a frame that has {MOST_SYMBOLS}"
            key = next(
                (key for key in ("downlink_symbols", "uplink_symbols") if self._is_given(key)),
                "downlink_symbols",
            )
            error = fault(what, f"Use counts that add up to {MOST_SYMBOLS} at most")
            wrong.append(((key,), getattr(self, key), error))
        return wrong

    def _scheme_faults(self) -> list[Any]:
        error = fault("the radio selects the MCSs", "Leave one of them out")
        return [
            ((key,), getattr(self, key), error)
            for key in ("downlink_mcs", "uplink_mcs")
            if self.radio is not None and self._is_given(key)
        ]

    def slots_of(self, direction: Literal["downlink", "uplink"]) -> int:
        """Return the number of slots per frame in one direction (wimax-mac §1).

        Parameters
        ----------
        direction : {"downlink", "uplink"}
            Direction of the link.
        """
        if direction == "downlink":
            columns = (self.downlink_symbols - 1) // 2
            return 30 * columns if self.downlink_slots is None else self.downlink_slots
        columns = (self.uplink_symbols - 3) // 3
        return 35 * columns if self.uplink_slots is None else self.uplink_slots

    def document(self) -> dict[str, Any]:
        """Return the table as plain values for a TOML file; quantities are texts."""
        entries = super().document()
        for name in ("downlink", "uplink"):
            if getattr(self, f"{name}_slots") is not None:
                del entries[f"{name}_symbols"]
            if self.radio is not None:
                del entries[f"{name}_mcs"]
        return entries

    def mean_snr_db(self, user: int) -> float | None:
        """Return the mean SNR of a station's downlink, dB; None for an SNR from a file.

        Parameters
        ----------
        user : int
            Index of the station. The link must have a radio.
        """
        own = next((entry for entry in self.users if entry.user == user), TddUser(user=user))
        if self.radio is None:
            return None
        try:
            return self.radio.mean_db(own.distance, own.snr)
        except ValueError:
            return None

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; symbols become slots, and the map overhead a table."""
        entries = super().resolved(context, path)
        del entries["downlink_symbols"], entries["uplink_symbols"]
        entries["downlink_slots"] = self.slots_of("downlink")
        entries["uplink_slots"] = self.slots_of("uplink")
        if not isinstance(self.map_overhead, MapOverhead):
            entries["map_overhead"] = {"slots": self.map_overhead, "per_burst": 0}
        if self.radio is None:
            del entries["radio"]
            return entries
        # With a radio, the fastest MCSs determine the nominal rate.
        entries |= {"downlink_mcs": DOWNLINK_MCS[-1], "uplink_mcs": UPLINK_MCS[-1]}
        for index, (entry, own) in enumerate(zip(entries["users"], self.users, strict=True)):
            if own.distance is not None or own.snr is not None:
                place = (*path, "users", index, "snr")
                entry["snr"] = self.radio.snr_of(own.distance, own.snr, context, place)
        return entries

    @classmethod
    def known_rates_bps(cls, resolved: Mapping[str, Any]) -> list[float]:
        """Return a list with the rate of the downlink slots, bit/s; empty if stations differ."""
        differ = "radio" in resolved or any(user["downlink_mcs"] for user in resolved["users"])
        return [] if differ else [cls.largest_rate_bps(resolved)]

    @classmethod
    def largest_rate_bps(cls, resolved: Mapping[str, Any]) -> float:
        """Return the rate of all downlink data slots with the link's own MCS, bit/s."""
        slots = resolved["downlink_slots"] - resolved["map_overhead"]["slots"]
        bits = 8 * slots * slot_bytes(resolved["downlink_mcs"], resolved["slot_symbols"])
        return float(bits / Fraction(resolved["frame_ns"], 10**9))
