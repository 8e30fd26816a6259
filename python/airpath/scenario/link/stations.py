"""Stations of a TDD link: the available MCSs, and the parameters of single stations."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any

from pydantic import Field, PlainValidator

from airpath.scenario.base import ABSENT, Context, Maybe, Model, Path, fault, nearest
from airpath.scenario.engine_problems import rejected
from airpath.scenario.snr import SnrProcess
from airpath.scenario.units import Length
from airpath.scenario.values import Number

__all__ = ["TddUser"]

BITS = {"qpsk": 2, "16qam": 4, "64qam": 6}
DOWNLINK_MCS = (
    *("qpsk-1/12", "qpsk-1/8", "qpsk-1/4", "qpsk-1/2", "qpsk-3/4"),
    *("16qam-1/2", "64qam-2/3", "64qam-3/4", "64qam-5/6"),
)
"""MCSs of the downlink in wimax-2009 §5.1. Code rates below 1/2 are rate 1/2 with repetition."""
UPLINK_MCS = (
    *("qpsk-1/12", "qpsk-1/8", "qpsk-1/4", "qpsk-1/2", "qpsk-3/4"),
    *("16qam-1/2", "16qam-3/4"),
)
"""MCSs of the uplink in wimax-2009 §5.1."""


def _one_of(direction: str, names: tuple[str, ...]) -> PlainValidator:
    def check(value: Any) -> str:
        if not isinstance(value, str) or value not in names:
            advice = nearest(value if isinstance(value, str) else "", names)
            raise fault(f"not an MCS of the {direction}", advice)
        return value

    check.words = names  # type: ignore[attr-defined]  # read by the shell completion
    return PlainValidator(check)


def slot_bytes(mcs: str, slot_symbols: int) -> Fraction:
    """Return the number of bytes that a slot carries, as a fraction.

    Parameters
    ----------
    mcs : str
        Name of a downlink or uplink MCS.
    slot_symbols : int
        Number of data symbols in a slot.
    """
    modulation, _, rate = mcs.partition("-")
    return slot_symbols * BITS[modulation] * Fraction(rate) / 8


DownlinkMcs = Annotated[str, _one_of("downlink", DOWNLINK_MCS)]
UplinkMcs = Annotated[str, _one_of("uplink", UPLINK_MCS)]


class TddUser(Model):
    """Parameters of one station that differ from those of the link.

    Parameters
    ----------
    user : int
        Index of the station, from 0, below `stations`.
    downlink_mcs : str, optional
        MCS of the station's downlink. Default: `downlink_mcs` of the link.
    uplink_mcs : str, optional
        MCS of the station's uplink. Default: `uplink_mcs` of the link.
    distance : Length, optional
        With `radio`: distance of the station from the base station, above 0. Default: `distance` of
        the radio.
    snr : SnrProcess, optional
        With `radio`: SNR process of the station's downlink. Default: `snr` of the radio.
    """

    user: Number = Field(examples=["0"])
    downlink_mcs: Maybe[DownlinkMcs] = ABSENT
    uplink_mcs: Maybe[UplinkMcs] = ABSENT
    distance: Maybe[Length] = ABSENT
    snr: Maybe[SnrProcess] = ABSENT

    alternatives = (("distance", "snr"),)

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form, without the fields that require a radio."""
        entries = super().resolved(context, path)
        return {key: entries[key] for key in ("user", "downlink_mcs", "uplink_mcs")}


def radio_faults(users: list[TddUser], link: Mapping[str, Any]) -> list[Any]:
    """Return the faults of entries that conflict with the link's radio, or require a radio.

    Parameters
    ----------
    users : list of TddUser
        Entries of the key `users`.
    link : mapping
        Values of the link that were accepted so far.
    """
    radio = link.get("radio")
    wrong: list[Any] = []
    for index, entry in enumerate(users):
        for key in ("distance", "snr") if radio is None else ("downlink_mcs", "uplink_mcs"):
            if (value := getattr(entry, key)) is not None:
                error = (
                    fault("the link has no radio", "Set radio, or leave this key out")
                    if radio is None
                    else fault("the radio selects the MCSs", "Leave one of them out")
                )
                value = value.document() if isinstance(value, SnrProcess) else str(value)
                wrong.append(((index, key), value, error))
        if radio is not None and entry.distance is not None:
            if entry.snr is not None:
                error = fault("snr is given too", "Use one of the two")
                wrong.append(((index, "distance"), str(entry.distance), error))
            elif radio.snr is not None:
                error = fault("the radio has no distance", "Set snr")
                wrong.append(((index, "distance"), str(entry.distance), error))
            elif found := radio.distance_problem(entry.distance):
                made = rejected(entry, entry.given(), found)
                error = fault(made.what, made.accepted, made.example)
                wrong.append(((index, *made.path), made.value, error))
    return wrong


def no_station(stations: int) -> Any:
    """Return the fault for a user index to which no station belongs."""
    there = "1 station" if stations == 1 else f"{stations} stations"
    wanted = "Use 0" if stations == 1 else f"Use a number from 0 to {stations - 1}"
    return fault(f"the link has {there}", wanted)
