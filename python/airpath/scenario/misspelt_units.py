"""Unit spellings of other programs, which messages use for "Did you mean ...?" hints."""

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
"""Maps spellings from other programs, in lower case, to the accepted unit."""


def unit_meant(unit: str, units: Collection[str], misspelt: Mapping[str, str]) -> str | None:
    """Return the accepted unit that the user probably meant; None if there is no candidate.

    Parameters
    ----------
    unit : str
        The unit as written. B (byte) and b (bit) are never confused.
    units : collection of str
        All accepted units.
    misspelt : mapping of str to str
        Maps spellings from other programs, in lower case, to the accepted unit.
    """
    small = unit.lower()
    same_case = {each.lower(): each for each in units if each.count("B") == unit.count("B")}
    if small in same_case:
        return same_case[small]
    is_bytes = unit.endswith(("B", "Bps", "B/s"))
    return None if is_bytes else misspelt.get(small)


def number_meant(text: str) -> float | None:
    """Convert a percentage, ``"1%"``, to a fraction; return None if the text is no percentage.

    Parameters
    ----------
    text : str
        The text as written.
    """
    digits = text.strip().removesuffix("%").strip()
    is_number = text.strip() != digits and re.fullmatch("[0-9]{1,15}([.][0-9]{1,15})?", digits)
    return float(Decimal(digits) / 100) if is_number else None
