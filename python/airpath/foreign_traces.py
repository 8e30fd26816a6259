"""Conversion of rates that other programs measured into traces."""

from __future__ import annotations

import json
import math
from typing import Any

from airpath.errors import BadValueError, one_line

__all__ = ["csv_of_iperf3", "identify_text"]

_INTERVAL = "intervals[{}].sum"


def identify_text(text: str) -> str | None:
    """Return a description of a text that is not a trace, with a fix; None if it is unknown."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if _is_iperf3(document):
        return (
            "the JSON of iperf3. Convert it: airpath trace convert IN OUT.csv --from iperf3; in "
            'Python, Trace.load(…, format="iperf3") reads it.'
        )
    if isinstance(document, dict) and {"results", "x_values", "metadata"} <= document.keys():
        return (
            "a data file of flent. Write the rates of one of its `results` against its `x_values` "
            "into a CSV with the columns time_s,rate_bps."
        )
    return "JSON, not a trace. Use a CSV with the columns time_s,rate_bps."


def csv_of_iperf3(text: str, name: str) -> str:
    """Return the rate in each interval of ``iperf3 --json`` as a CSV of time_s,rate_bps.

    Intervals that iperf3 omitted from its results (``--omit``) are skipped; the first remaining
    interval starts at 0 s. The rates are the capacity of a path only if the flows of iperf3 filled
    it all the time.

    Parameters
    ----------
    text : str
        The file's content.
    name : str
        Prefix of each message.

    Raises
    ------
    BadValueError
        If it is not the JSON of iperf3, or has no consecutive intervals.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    if not _is_iperf3(document):
        raise BadValueError(f"{one_line(name)}: not the JSON of iperf3. Use one of iperf3 --json.")
    rows: list[tuple[float, float, float]] = []
    for number, interval in enumerate(document["intervals"]):
        place = f"{one_line(name)}: {_INTERVAL.format(number)}"
        found = _row(interval, place)
        if found is None:
            continue
        if rows and abs(found[0] - rows[-1][1]) > 1e-3:
            raise BadValueError(f"{place}: does not begin where the one before it ends.")
        rows.append(found)
    if not rows:
        error = document.get("error")
        what = f"iperf3 said: {one_line(str(error))}" if error else "no intervals"
        raise BadValueError(f"{one_line(name)}: {what}. Run iperf3 with --interval.")
    first = rows[0][0]
    # The last row is the end of the trace.
    steps = [*((start, rate) for start, _, rate in rows), rows[-1][1:]]
    lines = [f"{at - first:.6f},{rate:.0f}" for at, rate in steps]
    return "\n".join(["time_s,rate_bps", *lines, ""])


def _is_iperf3(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("intervals"), list)


def _row(interval: Any, place: str) -> tuple[float, float, float] | None:
    """Return start and end, s, and the rate, bit/s; None for an omitted interval."""
    found = interval.get("sum") if isinstance(interval, dict) else None
    if not isinstance(found, dict):
        raise BadValueError(f"{place}: missing.")
    if "sum_bidir_reverse" in interval:
        raise BadValueError(f"{place}: of two directions. Run iperf3 without --bidir.")
    if found.get("sender") and "retransmits" not in found and "packets" in found:
        sent = "what was sent, not what arrived"
        raise BadValueError(f"{place}: {sent}. Run iperf3 -u with -R, or on the receiving side.")
    if found.get("omitted"):
        return None
    values = [_number(found.get(key)) for key in ("start", "end", "bits_per_second")]
    start, end, rate = (math.nan if value is None else value for value in values)
    if None in values:
        raise BadValueError(f"{place}: without start, end and bits_per_second as numbers.")
    if not (start < end and rate >= 0):
        raise BadValueError(f"{place}: ends before it begins, or has a rate below 0.")
    return start, end, rate


def _number(value: Any) -> float | None:
    """Return a finite number; None for other values."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
