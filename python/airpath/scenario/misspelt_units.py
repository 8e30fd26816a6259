"""Spellings of units in other programs, for "Did you mean" in messages."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from decimal import Decimal

__all__ = [
    "DURATIONS",
    "LEVELS",
    "PACKETS",
    "RATES",
    "SIZES",
    "SPEEDS",
    "number_meant",
    "unit_meant",
]

DURATIONS: Mapping[str, str] = {
    **dict.fromkeys(("sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("msec", "msecs", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("usec", "usecs", "microsecond", "microseconds"), "us"),
    **dict.fromkeys(("nsec", "nsecs", "nanosecond", "nanoseconds"), "ns"),
    **dict.fromkeys(("mins", "minute", "minutes"), "min"),
    **dict.fromkeys(("hr", "hrs", "hour", "hours"), "h"),
}
RATES: Mapping[str, str] = {
    f"{prefix.lower()}{ending}": f"{prefix}bit/s"
    for prefix in ("", "k", "M", "G")
    for ending in ("", "bps", "b/s", "bit", "bits", "bits/s", "bit/sec", "bits/sec")
    if prefix or ending
}
SIZES: Mapping[str, str] = {
    "byte": "B",
    "bytes": "B",
    "kbyte": "kB",
    "kbytes": "kB",
    "k": "kB",
    "m": "MB",
    "g": "GB",
}
PACKETS: Mapping[str, str] = dict.fromkeys(("pkt", "pkts"), "packets")
SPEEDS: Mapping[str, str] = {
    **dict.fromkeys(("kmh", "kph", "kmph", "km/hr"), "km/h"),
    **dict.fromkeys(("mps", "m/sec"), "m/s"),
}
LEVELS: Mapping[str, str] = dict.fromkeys(("db", "decibel", "decibels"), "dB")
"""Accepted units by the spelling of other programs, in lower case."""


def unit_meant(unit: str, units: Collection[str], misspelt: Mapping[str, str]) -> str | None:
    """Return the accepted unit that a misspelt unit stands for; None if it is unknown.

    Parameters
    ----------
    unit : str
        The unit as written. A B is a byte and a b is a bit; they are never exchanged.
    units : collection of str
        The accepted units.
    misspelt : mapping of str to str
        Accepted units by the spelling of other programs, in lower case.
    """
    small = unit.lower()
    same_case = {each.lower(): each for each in units if each.count("B") == unit.count("B")}
    if small in same_case:
        return same_case[small]
    is_bytes = unit.endswith(("B", "Bps", "B/s"))
    return None if is_bytes else misspelt.get(small)


def number_meant(text: str) -> float | None:
    """Return the number of a text with a per cent sign; None if the text has another form.

    Parameters
    ----------
    text : str
        The text as written, ``"1%"``.
    """
    digits = text.strip().removesuffix("%").strip()
    is_number = text.strip() != digits and re.fullmatch("[0-9]{1,15}([.][0-9]{1,15})?", digits)
    return float(Decimal(digits) / 100) if is_number else None
