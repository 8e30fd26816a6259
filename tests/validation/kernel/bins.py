"""Bytes received by a client in each 100 ms (from its capture), and bytes allowed by the trace."""

from __future__ import annotations

import csv
import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airpath.engine.prepared import prepare

if TYPE_CHECKING:
    import cases

BIN_NS = 100_000_000
OPPORTUNITY = 1504
"""Size of an opportunity, bytes."""
OVERHEAD = 4
"""Overhead of a packet in an opportunity, bytes."""
FIELDS = ["case", "run", "bin", "delivered_bytes", "opportunity_bytes", "allowed_bytes"]

_SECTION, _ENHANCED = 0x0A0D0D0A, 6
_INBOUND = 1
_TCP = 6


def packets(file: Path) -> Iterator[tuple[int, bool, bytes]]:
    """Yield time (ns since the epoch), direction (true: towards the device), and bytes of each
    packet."""
    data = file.read_bytes()
    at = 0
    while at + 12 <= len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == _ENHANCED:
            _, high, low, stored, _ = struct.unpack_from("<IIIII", data, at + 8)
            body = data[at + 28 : at + 28 + stored]
            options = at + 28 + (stored + 3) // 4 * 4
            yield high << 32 | low, _is_inbound(data, options, at + length - 4), body
        at += length


def _is_inbound(data: bytes, at: int, end: int) -> bool:
    while at + 4 <= end:
        code, length = struct.unpack_from("<HH", data, at)
        if code == 2:
            flags: int = struct.unpack_from("<I", data, at + 4)[0]
            return flags & 3 == _INBOUND
        at += 4 + (length + 3) // 4 * 4
    return False


def is_tcp(packet: bytes) -> bool:
    return packet[0] >> 4 == 4 and packet[9] == _TCP


def time_zero_ns(server: Path, result: Any) -> int:
    """Return the start of the run, ns since the epoch.

    The first packet in the capture of the server is the first packet that enters the bottleneck.
    The series of sojourn times contains the corresponding simulation time.
    """
    first = next(at for at, inbound, body in packets(server) if not inbound and is_tcp(body))
    sojourn = result.series("sojourn").iloc[0]
    return first - round(float(sojourn["time_s"] - sojourn["value"]) * 1e9)


def opportunities_ns(case: cases.Case, until_ns: int) -> list[int]:
    """Return the times of the opportunities, ns since the start of the run."""
    [text] = prepare(case.kernel).inputs.texts.values()
    times_ms = [int(line) for line in text.split()]
    period_ms = times_ms[-1]
    rounds = until_ns // (period_ms * 1_000_000) + 1
    return [
        (period_ms * n + at) * 1_000_000
        for n in range(rounds)
        for at in times_ms
        if (period_ms * n + at) * 1_000_000 < until_ns
    ]


def write(directory: Path, case: cases.Case, run: str, captures: Path, result: Any) -> None:
    """Add the bins of a run to `bins.csv`, from the end of the warm-up to the end of the run.

    `allowed_bytes` also includes the opportunities just before the bin, within the largest
    lateness.
    """
    scenario = result.resolved
    start_ns, end_ns = scenario.warmup_ns, scenario.duration_ns
    delay_ns = scenario.bottleneck.delay_ns + scenario.flows[0].egress.delay_ns
    zero = time_zero_ns(captures / "server.pcapng", result) + delay_ns
    late_ns = round(1e9 * (result.validity_reports[0].get("lateness_max_s") or 0))
    delivered: Counter[int] = Counter()
    for at, inbound, body in packets(captures / "client.pcapng"):
        if inbound and is_tcp(body):
            delivered[(at - zero) // BIN_NS] += int.from_bytes(body[2:4], "big") + OVERHEAD
    times = opportunities_ns(case, end_ns)
    of_bin = Counter(at // BIN_NS for at in times)
    path = directory / "bins.csv"
    is_new = not path.exists()
    with path.open("a", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        for number in range(start_ns // BIN_NS, end_ns // BIN_NS):
            begin = number * BIN_NS
            before = sum(begin - late_ns <= at < begin for at in times)
            writer.writerow(
                {
                    "case": case.id,
                    "run": run,
                    "bin": number,
                    "delivered_bytes": delivered[number],
                    "opportunity_bytes": of_bin[number] * OPPORTUNITY,
                    "allowed_bytes": (of_bin[number] + before) * OPPORTUNITY,
                }
            )
