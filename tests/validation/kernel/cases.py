"""Cases of the comparison with the kernel, and their bounds.

Cases and bounds were committed before the first run.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import airpath as ap
from airpath_papers.qawla.data import published_table
from airpath_papers.qawla.scenarios import path

# --- bounds --------------------------------------------------------------------------------------

PAPER_BOUNDS = {9: 0.04, 2: 0.08, 3: 0.08, 6: 0.08, 12: 0.08, 15: 0.08}
"""Bounds for T of a row of Table 2, relative to the value published for ns-3; for row 9 also
relative to Airpath."""
FIXED_GOODPUT_BOUND = 0.03
"""Bound for the goodput of one cubic flow, relative to the payload rate of the link."""
PING_BOUND_S = 0.3e-3
"""Bound for the mean RTT, relative to the configured RTT plus the time of the reply."""
TRACE_SHARE = 0.98
"""Smallest fraction of the trace's opportunities that a backlogged flow must use."""
GOODPUT_BOUND, GOODPUT_LEAST = 0.05, 13
"""Bound for the goodput relative to the simulation, and the smallest number of the sixteen cases
that must meet it."""
QUEUE_BOUND = 0.20
"""Bound for the mean queue length, relative to the simulation."""
BBR_GOODPUT_LEAST, BBR_QUEUE_LEAST = 10, 8
"""Smallest numbers of the twelve cases with BBR that must meet `GOODPUT_BOUND`, applied to the BBR
flow, and `QUEUE_BOUND`."""
FAST_GOODPUT_BOUND = 0.03
"""Bound for the goodput of one cubic flow at 300 Mbit/s, relative to the payload rate."""
SOAK_MEMORY_BYTES = 1 << 20
"""Largest growth of the program's resident memory, from the fifth minute to the end."""
SOAK_DRIFT = 1e-4
"""Bound for the delivered bytes of a backlog, relative to rate times time."""

TRIES = 3
"""Largest number of attempts of a run until it is valid."""

# --- parts of scenarios --------------------------------------------------------------------------

PACKET = 1500
PAYLOAD = 1448
"""Size of a full packet, and its payload with timestamps, bytes."""
PING_BYTES = 84
"""Size of an echo request or reply with 56 bytes of data, including headers."""

KERNEL_CUBIC: dict[str, Any] = {"kind": "cubic", "hystart": "classic"}
"""CUBIC of the kernel, which leaves slow start by HyStart."""

NEAR_KERNEL: dict[str, Any] = {
    "recovery": "newreno",
    "mss": "1460 B",
    "timestamps": False,
    "receive_window": "65535 B",
    "window_scaling": "off",
    "initial_window": "1 segments",
    "min_rto": "1 s",
    "loss_detection": "sack",
    "tail_loss_probe": False,
}
"""Profile ``linux`` with the settings of the paper, as set in the kernel. The window grows by all
segments that an ACK covers (b = 1), as it always does in the kernel."""


class Case(NamedTuple):
    """One comparison.

    Parameters
    ----------
    id : str
        Name of the case in all files.
    part : str
        ``paper``, ``fixed``, ``trace``, ``matrix``, ``bbr`` or ``fast``.
    kernel : Scenario
        Emulated scenario.
    simulated : dict of str to Scenario
        Simulated scenarios, by variant.
    runs : int
        Number of emulations.
    """

    id: str
    part: str
    kernel: ap.Scenario
    simulated: dict[str, ap.Scenario]
    runs: int


def packets(rate_bps: float, rtt_s: float) -> int:
    """Return the bandwidth-delay product in packets."""
    return int(rate_bps * rtt_s / (8 * PACKET))


def tcp(cc: str, rtt_ms: float, *, count: int = 1, ecn: bool = False) -> list[ap.traffic.Source]:
    """Return flows with the profile ``linux``."""
    return list(
        ap.flows(
            count,
            cc=KERNEL_CUBIC if cc == "cubic" else cc,
            profile="linux",
            base_rtt=f"{rtt_ms} ms",
            tcp={"ecn": "on"} if ecn else {},
            start={"uniform": ["0 s", "1 s"]} if count > 1 else "0 s",
        )
    )


# --- 1: the paper's dual-regime links ------------------------------------------------------------


def with_tcp(scenario: ap.Scenario, **tcp: Any) -> ap.Scenario:
    """Return the scenario with other TCP parameters."""
    wires = ("access", "egress", "return_wire", "start")
    flows = [
        ap.traffic.Tcp(**{key: getattr(flow, key) for key in wires}, **tcp)
        for flow in scenario.flows
    ]
    return scenario.model_copy(update={"flows": flows})


def paper_cases() -> list[Case]:
    """Return rows 9, 2, 3, 6, 12, 15 at B = 20 with the paper's TCP; 9 also with Linux's TCP."""
    found = []
    for idx in PAPER_BOUNDS:
        full = path(idx, 20)
        short = full.model_copy(update={"duration": "75 s", "warmup": "15 s"})
        near = with_tcp(full, cc="newreno", profile="linux", tcp=NEAR_KERNEL)
        simulated = {"ns3-2014": full, "near-kernel": near}
        found.append(Case(f"paper-{idx}", "paper", short, simulated, 5 if idx == 9 else 3))
        if idx == 9:
            linux = {"linux": with_tcp(full, cc="reno", profile="linux")}
            kernel = with_tcp(short, cc="reno", profile="linux")
            found.append(Case("paper-9-defaults", "paper", kernel, linux, 3))
    return found


def published_mbps(idx: int) -> tuple[float, float]:
    """Return T of ns-3 at B = 20 and the half-width of its 99 % interval, Mbit/s (Table 4)."""
    row = published_table(20)[idx]
    return row.ns3_mbps, row.ns3_half_width_mbps


# --- 2 and 6: fixed links ------------------------------------------------------------------------


def fixed(rate_mbps: int, rtt_ms: int, times_s: tuple[float, float]) -> ap.Scenario:
    """Return one cubic flow with a drop-tail queue of one bandwidth-delay product, at least 20
    packets."""
    limit = max(20, packets(rate_mbps * 1e6, rtt_ms * 1e-3))
    return ap.Scenario(
        flows=tcp("cubic", rtt_ms),
        bottleneck=ap.Bottleneck(
            aqm=ap.aqm.DropTail(limit=f"{limit} packets"),
            link=ap.link.Fixed(rate=f"{rate_mbps} Mbit/s"),
        ),
        duration=times_s[0],
        warmup=times_s[1],
    )


def fixed_cases() -> list[Case]:
    found = []
    for rate in (5, 20, 100):
        for rtt in (10, 40, 100):
            scenario = fixed(rate, rtt, (25.0, 10.0))
            found.append(Case(f"fixed-{rate}-{rtt}", "fixed", scenario, {"linux": scenario}, 2))
    return found


def fast_cases() -> list[Case]:
    scenario = fixed(300, 20, (25.0, 5.0))
    return [Case("fast-300-20", "fast", scenario, {"linux": scenario}, 3)]


SOAK_RATE_BPS = 50e6


def soak() -> ap.Scenario:
    """Return half an hour at 50 Mbit/s. The queue is long enough that it never becomes empty."""
    return ap.Scenario(
        flows=tcp("cubic", 20, count=2),
        bottleneck=ap.Bottleneck(
            aqm=ap.aqm.DropTail(limit="400 packets"), link=ap.link.Fixed(rate="50 Mbit/s")
        ),
        duration=1800.0,
        warmup=10.0,
    )


# --- 3: a recorded trace -------------------------------------------------------------------------

TRACES = {"verizon": "Verizon-LTE-short.down", "tmobile": "TMobile-LTE-short.down"}


def trace_cases() -> list[Case]:
    """Return one cubic flow over two traces, with a queue that holds its complete window."""
    found = []
    for name, file in TRACES.items():
        scenario = ap.Scenario(
            flows=tcp("cubic", 40),
            bottleneck=ap.Bottleneck(
                aqm=ap.aqm.DropTail(limit="3000 packets"),
                link=ap.link.Trace(file=f"traces:{file}", delay="10 ms"),
            ),
            duration=70.0,
            warmup=10.0,
            record=ap.Record(series=["sojourn"]),
        )
        found.append(Case(f"trace-{name}", "trace", scenario, {"linux": scenario}, 1))
    return found


# --- 4: the matrix -------------------------------------------------------------------------------

RED: dict[str, Any] = {
    "min_th": 10,
    "max_th": 30,
    "max_p": 0.1,
    "weight": 0.002,
    "ecn": True,
    "limit": 200,
}
LINKS = {"20M": (20, 40), "10M": (10, 60)}
"""Rate (Mbit/s) and base RTT (ms)."""

# Number, congestion control, queue, loss, flows, link.
MATRIX: list[tuple[int, str, str, float, int, str]] = [
    (1, "reno", "droptail", 0.0, 1, "20M"),
    (2, "cubic", "droptail", 0.0, 4, "10M"),
    (3, "reno", "droptail", 0.01, 4, "20M"),
    (4, "cubic", "droptail", 0.03, 16, "10M"),
    (5, "cubic", "droptail", 0.005, 1, "20M"),
    (6, "reno", "red-ecn", 0.0, 4, "10M"),
    (7, "cubic", "red-ecn", 0.0, 1, "20M"),
    (8, "reno", "red-ecn", 0.01, 16, "10M"),
    (9, "cubic", "red-ecn", 0.003, 4, "20M"),
    (10, "reno", "codel", 0.0, 1, "10M"),
    (11, "cubic", "codel", 0.0, 16, "20M"),
    (12, "cubic", "codel", 0.02, 4, "10M"),
    (13, "reno", "fq-codel", 0.0, 4, "20M"),
    (14, "cubic", "fq-codel", 0.01, 16, "10M"),
    (15, "reno", "sbd", 0.0, 1, "3G"),
    (16, "cubic", "sbd", 0.0, 4, "3G"),
]


def matrix_scenario(cc: str, queue: str, loss: float, flows: int, link: str) -> ap.Scenario:
    if link == "3G":
        return bearer(cc, flows)
    rate, rtt = LINKS[link]
    limit = packets(rate * 1e6, rtt * 1e-3)
    discipline: dict[str, ap.aqm.QueueDisc] = {
        "droptail": ap.aqm.DropTail(limit=f"{limit} packets"),
        "red-ecn": ap.aqm.Red(**RED),
        "codel": ap.aqm.CoDel(),
        "fq-codel": ap.aqm.FqCoDel(),
    }
    return ap.Scenario(
        flows=tcp(cc, rtt, count=flows, ecn=queue == "red-ecn"),
        bottleneck=ap.Bottleneck(
            aqm=discipline[queue], link=ap.link.Fixed(rate=f"{rate} Mbit/s", loss=loss)
        ),
        duration=70.0,
        warmup=10.0,
    )


def bearer(cc: str, flows: int) -> ap.Scenario:
    """Return a 3G bearer of 384 kbit/s that loses a tenth of its frames, in bursts, under SBD."""
    return ap.Scenario(
        flows=tcp(cc, 250, count=flows),
        bottleneck=ap.Bottleneck(
            aqm=ap.aqm.Sbd(limit=40, min_th=20, reaction_time="200 ms"),
            link=ap.link.RlcAm(
                rate="384 kbit/s",
                delay="20 ms",
                reverse_delay="30 ms",
                window_poll="timed",
                errors={"kind": "burst", "frame_error_rate": 0.1, "doppler": 0.01},
            ),
        ),
        ack_path=ap.ack_path.Reverse(),
        duration=80.0,
        warmup=20.0,
    )


def matrix_cases() -> list[Case]:
    found = []
    for number, cc, queue, loss, flows, link in MATRIX:
        scenario = matrix_scenario(cc, queue, loss, flows, link)
        found.append(Case(f"matrix-{number}", "matrix", scenario, {"linux": scenario}, 3))
    return found


# --- 7: BBR --------------------------------------------------------------------------------------

# Number, rate (Mbit/s), base RTT (ms), buffer (bandwidth-delay products), loss, with a CUBIC flow.
BBR: list[tuple[int, int, int, float, float, bool]] = [
    (1, 5, 100, 1.0, 0.0, False),
    (2, 5, 40, 4.0, 0.0, True),
    (3, 10, 20, 4.0, 0.01, False),
    (4, 10, 40, 2.0, 0.0, True),
    (5, 10, 100, 0.5, 0.0, False),
    (6, 20, 20, 2.0, 0.0, False),
    (7, 20, 40, 1.0, 0.01, True),
    (8, 20, 40, 4.0, 0.01, False),
    (9, 20, 100, 2.0, 0.0, True),
    (10, 50, 20, 4.0, 0.0, True),
    (11, 50, 40, 0.5, 0.01, False),
    (12, 50, 100, 1.0, 0.0, False),
    (13, 20, 40, 4.0, 0.05, False),
    (14, 50, 40, 4.0, 0.05, False),
]
BBR_LOSS = (13, 14)
"""Numbers of the scenarios with a loss of 5 %, for which a separate criterion applies."""


def bbr_cases() -> list[Case]:
    """Return one BBR v1 flow, alone or with a CUBIC flow, over a drop-tail queue."""
    found = []
    for number, rate, rtt, buffer, loss, is_shared in BBR:
        limit = round(buffer * rate * 1e6 * rtt * 1e-3 / (8 * PACKET))
        scenario = ap.Scenario(
            flows=tcp("bbr1", rtt) + (tcp("cubic", rtt) if is_shared else []),
            bottleneck=ap.Bottleneck(
                aqm=ap.aqm.DropTail(limit=f"{limit} packets"),
                link=ap.link.Fixed(rate=f"{rate} Mbit/s", loss=loss),
            ),
            duration=70.0,
            warmup=10.0,
        )
        found.append(Case(f"bbr-{number}", "bbr", scenario, {"linux": scenario}, 1))
    return found


def all_cases() -> list[Case]:
    """Return every case, in the order of execution."""
    parts = (fixed_cases, fast_cases, trace_cases, paper_cases, matrix_cases, bbr_cases)
    return [case for part in parts for case in part()]
