"""Emulations of paths with several hops: bulk transfers against simulations, and echo requests
against the delays of the hops.

The criteria were written before the first run. Only valid runs are judged.
"""

from __future__ import annotations

import bisect
import os
import re
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import airpath as ap
from emulator import cannot_emulate, judged
from required import skip_without

pytestmark = pytest.mark.realtime

GOODPUT_TOLERANCE = 0.03
"""Largest relative difference between the goodputs of emulation and simulation."""
KERNEL_S = 0.3e-3
"""Largest part of an echo's RTT that the kernel and `ping` add, s: the bound of the page
"Compared with a real kernel"."""
ROUNDING_NS = 1000
"""Rounding of computed transmission times, ns."""

RECORDED = ("Verizon-LTE-short", "TMobile-UMTS-driving")
"""Recorded traces of the hops `backhaul` and `cell`: with the suffixes ``.down`` and ``.up``."""
WITH_OUTAGE = ("Verizon-LTE-short", "ATT-LTE-driving-2016")
"""The same with a trace that has outages. Timeouts during an outage are spurious; the kernel and
the simulated sender undo them. Otherwise the simulated goodput would be 11 % (forward) and 6 %
lower."""


@pytest.fixture(autouse=True)
def _it_can_be_done() -> None:
    if reason := cannot_emulate("ping"):
        pytest.skip(reason)


def _recorded(name: str, direction: str) -> Path:
    file = Path(os.environ.get("AIRPATH_TRACES", ""), f"{name}.{direction}")
    if "AIRPATH_TRACES" not in os.environ or not file.is_file():
        skip_without("traces", f"{file.name} is missing in the directory AIRPATH_TRACES")
    return file


def _recorded_hops(names: tuple[str, str] = RECORDED) -> list[dict[str, Any]]:
    """Return two hops with different recorded traces, down and up, and delays of 10 and 15 ms."""
    hops = []
    for hop, name, delay in zip(("backhaul", "cell"), names, ("10 ms", "15 ms"), strict=True):
        sides = {
            way: {"link": {"kind": "trace", "file": str(_recorded(name, way))}}
            for way in ("down", "up")
        }
        hops.append({"name": hop, "delay": delay, **sides})
    return hops


def _fixed_hops() -> list[dict[str, Any]]:
    """Return two hops with other rates in each direction, and delays of 7 and 11 ms."""
    rates = {"backhaul": ("20 Mbit/s", "5 Mbit/s"), "cell": ("8 Mbit/s", "2 Mbit/s")}
    delays = {"backhaul": "7 ms", "cell": "11 ms"}
    return [
        {
            "name": name,
            "delay": delays[name],
            **{
                way: {"link": {"kind": "fixed", "rate": rate}}
                for way, rate in zip(("down", "up"), rates[name], strict=True)
            },
        }
        for name in rates
    ]


def _scenario(hops: Sequence[Any], *flows: dict[str, Any], **keys: Any) -> ap.Scenario:
    return ap.Scenario(hops=hops, flows=flows, **{"duration": "25 s", "warmup": "5 s"} | keys)


def _emulated(scenario: ap.Scenario) -> ap.Result:
    return judged(lambda: ap.emulate(scenario), lambda result: result.invalid)


def _goodputs(result: ap.Result) -> list[float]:
    return [flow["goodput_bps"] for flow in result.replications[0]["flows"]]


# --- bulk transfers -------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [RECORDED, WITH_OUTAGE], ids=["steady", "outage"])
@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_bulk_goodput_over_two_recorded_hops_is_that_of_the_simulation(
    direction: str, names: tuple[str, str]
) -> None:
    """The queues have space for the complete window, so that no packet is lost."""
    flow: dict[str, Any] = {"cc": "cubic", "profile": "linux", "base_rtt": "50 ms"}
    flow |= {"direction": direction, "tcp": {"receive_window": "1 MB"}}
    scenario = _scenario(_recorded_hops(names), flow)
    (simulated,) = _goodputs(ap.simulate(scenario))
    (emulated,) = _goodputs(_emulated(scenario))
    assert emulated == pytest.approx(simulated, rel=GOODPUT_TOLERANCE)


def test_cross_traffic_shares_only_the_hop_of_its_route() -> None:
    """The cross traffic is limited by the first hop, which it shares with the other flow."""
    cubic = {"cc": "cubic", "profile": "linux"}
    long = {**cubic, "base_rtt": "36 ms"}
    cross = {**cubic, "base_rtt": "14 ms", "from": "servers", "to": "backhaul"}
    scenario = _scenario(_fixed_hops(), long, cross)
    simulated, emulated = ap.simulate(scenario), _emulated(scenario)
    total = sum(_goodputs(emulated))
    assert total == pytest.approx(sum(_goodputs(simulated)), rel=GOODPUT_TOLERANCE)
    queues = {each["name"]: each["departed"] for each in emulated.replications[0]["queues"]}
    # All packets of the long flow pass both hops, those of the cross traffic only the first.
    share = _goodputs(emulated)[0] / total
    assert queues["cell"] / queues["backhaul"] == pytest.approx(share, rel=GOODPUT_TOLERANCE)


# --- echo requests --------------------------------------------------------------------------------


class Passage(NamedTuple):
    """An echo request (up) or reply (down) on the path: times of entry and departure, ns."""

    is_up: bool
    entered_ns: int
    left_ns: int


def _packets(file: Path) -> Iterator[tuple[int, bytes]]:
    """Yield time and bytes of each packet in a pcapng file, in order."""
    data, at = file.read_bytes(), 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            _, high, low, stored, _ = struct.unpack_from("<IIIII", data, at + 8)
            yield high << 32 | low, data[at + 28 : at + 28 + stored]
        at += length


def _echoes(file: Path) -> dict[tuple[bool, int], int]:
    """Return the time of each echo packet of a capture, by direction and sequence number."""
    found = {}
    for at_ns, packet in _packets(file):
        if packet[9] == 1 and packet[20] in (0, 8):
            found[packet[20] == 8, struct.unpack_from(">H", packet, 26)[0]] = at_ns
    return found


def _passages(result: ap.Result) -> list[Passage]:
    server, client = (_echoes(result.captures[side]) for side in ("server", "client"))
    assert server.keys() == client.keys()
    return [
        Passage(is_up, *((client[key], server[key]) if is_up else (server[key], client[key])))
        for key in client
        for is_up in key[:1]
    ]


class Pinged(NamedTuple):
    """A run of `ping`: the result, its packets on the path, and the mean RTT that it printed."""

    result: ap.Result
    passages: list[Passage]
    mean_rtt_s: float
    late_ns: float
    """Largest lateness in the validity report, ns."""


def _ping(
    scenario: ap.Scenario,
    directory: Path,
    capfd: pytest.CaptureFixture[str],
    interval_s: float = 0.05,
) -> Pinged:
    words = ["ping", "-c", "60", "-i", str(interval_s), "-q", "100.64.0.1"]

    def run() -> tuple[ap.Result, str]:
        capfd.readouterr()
        result = ap.emulation.run_command(scenario, words, capture_to=directory)
        return result, capfd.readouterr().out

    result, out = judged(run, lambda found: found[0].invalid)
    assert "60 packets transmitted, 60 received" in out
    found = re.search(r"= [\d.]+/([\d.]+)/", out)
    assert found is not None
    (validity,) = result.validity_reports
    late_ns = 1e9 * validity["lateness_max_s"]
    passages = _passages(result)
    assert len(passages) == 120
    return Pinged(result, passages, float(found[1]) / 1e3, late_ns)


ECHO_BITS = 84 * 8
"""Size of an echo packet with the 56 bytes of data that `ping` sends, bits."""


@pytest.mark.parametrize(
    ("route", "up_ns", "down_ns"),
    [
        # Propagation of both hops, and one transmission at each.
        ({}, 18e6 + ECHO_BITS * (1e3 / 2 + 1e3 / 5), 18e6 + ECHO_BITS * (1e3 / 20 + 1e3 / 8)),
        ({"from": "cell"}, 11e6 + ECHO_BITS * 1e3 / 2, 11e6 + ECHO_BITS * 1e3 / 8),
        ({"to": "backhaul"}, 7e6 + ECHO_BITS * 1e3 / 5, 7e6 + ECHO_BITS * 1e3 / 20),
    ],
    ids=["both hops", "second hop", "first hop"],
)
def test_echo_takes_the_sum_of_the_delays(
    route: dict[str, str],
    up_ns: float,
    down_ns: float,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    rtts = {"{}": "36 ms", "from": "22 ms", "to": "14 ms"}
    base_rtt = rtts[next(iter(route), "{}")]
    # The second flow has no part in the run: the command is like flow 0.
    flows = [{"base_rtt": base_rtt, **route}, {"base_rtt": "36 ms"}]
    pinged = _ping(_scenario(_fixed_hops(), *flows), tmp_path, capfd)
    for is_up, entered_ns, left_ns in pinged.passages:
        late_ns = left_ns - entered_ns - (up_ns if is_up else down_ns)
        assert -ROUNDING_NS <= late_ns <= pinged.late_ns + ROUNDING_NS
    sum_s = (up_ns + down_ns) / 1e9
    (validity,) = pinged.result.validity_reports
    most_s = 2 * validity["lateness_p99_s"] + KERNEL_S
    assert 0 <= pinged.mean_rtt_s - sum_s <= most_s


STEP_NS = 20_000
"""Step of the search for the start of a run, ns."""
MOST_BEFORE_NS = 3_000_000_000
"""Longest time from the start of a run to the first packet of its command, ns."""
MOST_MISSES = 6
"""Number of disagreeing echoes, of 120, with which a start is excluded from the search."""


def _opportunities(file: Path) -> tuple[list[int], int]:
    """Return the times of a trace's opportunities, ns, and its period."""
    times = [1_000_000 * int(line) for line in file.read_text().split()]
    return times, times[-1]


def test_echo_over_two_recorded_hops_waits_for_an_opportunity_of_each(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Every echo leaves at the next opportunity of one hop, then of the other. An echo that arrives
    at the time of an opportunity cannot use it.

    Captures have the time of day, so the start of the run is unknown: there must be one start with
    which all echoes agree with the traces.
    """
    scenario = _scenario(_recorded_hops(), {"base_rtt": "50 ms"})
    # 17 echoes share an opportunity; at this interval, more do not wait even in an outage of 2 s.
    pinged = _ping(scenario, tmp_path, capfd, interval_s=0.2)
    traces = {
        (name, way): _opportunities(_recorded(name, way))
        for name in RECORDED
        for way in ("down", "up")
    }

    def left_at(name: str, way: str, at_ns: int) -> int:
        times, period = traces[name, way]
        whole, rest = divmod(at_ns, period)
        return whole * period + times[bisect.bisect_right(times, rest)]

    def arrival(is_up: bool, at_ns: int) -> int:
        backhaul, cell = RECORDED
        if is_up:
            return left_at(backhaul, "up", left_at(cell, "up", at_ns) + 15_000_000) + 10_000_000
        return left_at(cell, "down", left_at(backhaul, "down", at_ns) + 10_000_000) + 15_000_000

    def misses(start_ns: int, step_ns: int) -> int:
        """Return the number of echoes that left at another time, at most `MOST_MISSES`."""
        count = 0
        for is_up, entered_ns, left_ns in pinged.passages:
            late_ns = left_ns - start_ns - arrival(is_up, entered_ns - start_ns)
            count += not -step_ns <= late_ns <= pinged.late_ns + step_ns
            if count == MOST_MISSES:
                break
        return count

    first_ns = min(passage.entered_ns for passage in pinged.passages)
    starts = range(first_ns - MOST_BEFORE_NS, first_ns, STEP_NS)
    # Within a step, an echo may enter before or after an opportunity.
    near = [start_ns for start_ns in starts if misses(start_ns, STEP_NS) < MOST_MISSES]
    assert any(
        misses(start_ns + shift_ns, ROUNDING_NS) == 0
        for start_ns in near
        for shift_ns in range(-STEP_NS, STEP_NS, ROUNDING_NS)
    )
