"""What is simulated: the paper's cell with other parts, saturated users, a link of one rate."""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from typing import Any, Final, NamedTuple

import airpath as ap
from airpath.reproduction.base import Cell, Effort
from airpath_papers.clamp.scenarios import (
    AS_CHOSEN,
    FAST,
    NEWRENO,
    OF_CLAIMS,
    SLOW,
    Case,
    Saturated,
    Variant,
    build,
    build_saturated,
    half,
)

from .today import Today, build_today

__all__ = [
    "AT_50_MS",
    "CHANGED",
    "PARTS_S",
    "PERIOD",
    "PERIODS",
    "RETURN_S",
    "VARIANTS",
    "Combined",
    "OnLink",
    "effort_of",
    "on_link",
    "simulated",
]

AT_50_MS: Final = {
    (True, True): 7000,
    (True, False): 18_500,
    (False, True): 17_500,
    (False, False): 31_500,
}
"""a of CLAMP and buffer of New Reno, bytes, that give about 50 ms, by (fast, CLAMP)."""

LARGE: Final = ap.aqm.DropTail(limit="6 MB")


def _unequal(doppler: str) -> dict[str, Any]:
    """Return users whose mean SNRs are 3 dB apart."""
    means = ("9 dB", "6 dB", "3 dB")
    return {
        "users": [
            ap.link.CellUser(user=user, snr=ap.snr.Jakes(mean=mean, doppler=doppler))
            for user, mean in enumerate(means)
        ]
    }


SCHEDULERS: Final[Mapping[str, Mapping[str, Any]]] = {
    "proportional-fair": {},
    "max-rate": {"scheduler": ap.scheduler.MaxRate()},
    "alpha-0.5": {"scheduler": ap.scheduler.AlphaFair(alpha=0.5)},
    "alpha-2": {"scheduler": ap.scheduler.AlphaFair(alpha=2)},
    "round-robin": {"scheduler": ap.scheduler.RoundRobin()},
}
"""Entries of the cell by the scheduler's name."""

TARGETS_MS: Final = (30, 50, 100)
SCALABLE: Final = {"recovery": "sack", "receive_window": "6 MB"}

PERIOD: Final = "300 ms"
PERIODS: Final = ("100 ms", PERIOD, "1 s")
"""Of the powers of two antennas. The claim is about 300 ms, three times the time constant of
the scheduler's averages, which was chosen before any number was seen."""

CHANGED: Final[Mapping[str, Variant]] = {
    **OF_CLAIMS,
    "margin-0.5": Variant("the margin is 0.5", link={"margin": 0.5}),
    "margin-per-user": Variant(
        "a margin for each user",
        link={"margin": ap.link.AdaptiveMargin(target_loss=1e-3, per_user=True)},
    ),
    "natural-log": Variant(
        "the natural logarithm in Eq. 18: the bandwidth times ln 2",
        rate={"bandwidth": f"{round(4.3e6 * log(2))} Hz"},
    ),
    "min-rto": Variant("the smallest timeout is 0.2 s", tcp={"min_rto": "200 ms"}),
    "ssthresh": Variant("ssthresh is half of CWND", tcp={"flight_bound": "replaced"}),
    "rate-0.1s": Variant("μ_c over 0.1 s", queue={"rate_time_constant": "100 ms"}),
    "rate-5s": Variant("μ_c over 5 s", queue={"rate_time_constant": "5 s"}),
    "available": Variant(
        "r of Eq. 19 from the rate that was available", scheduler={"average": "available"}
    ),
    "rayleigh": Variant("Clarke's fading, circular", fading=ap.snr.Rayleigh),
    "alpha-100": Variant("α = 100 packets", window={"average_packets": 100}),
    "delayed-acks": Variant("an ACK for every second packet", tcp={"delayed_ack_segments": 2}),
}
"""Choices of the paper's README.md, each changed by itself."""

VARIANTS: Final[Mapping[str, Variant]] = {
    "": AS_CHOSEN,
    **CHANGED,
    "sender": Variant("CLAMP at the sender", cc="clamp"),
    **{f"harq-{harq}": Variant(harq, link={"harq": harq}) for harq in ("chase", "incremental")},
    **{
        f"target-{ms}": Variant(
            f"a moves until the mean delay is {ms} ms",
            aqm=ap.aqm.Clamp(target_delay=f"{ms} ms", inner=LARGE),
        )
        for ms in TARGETS_MS
    },
    "one-antenna": Variant("Clarke's fading", fading=ap.snr.Rayleigh),
    **{
        f"two-antennas-{period}": Variant(
            f"two antennas, {period}", fading=ap.snr.Beamforming, snr={"period": period}
        )
        for period in PERIODS
    },
    "codel": Variant("New Reno, CoDel", aqm=ap.aqm.CoDel()),
    "fq-codel": Variant("New Reno, FQ-CoDel", aqm=ap.aqm.FqCoDel()),
    "pie": Variant("New Reno, PIE", aqm=ap.aqm.Pie()),
    "dualpi2": Variant(
        "DCTCP, DualPI2", aqm=ap.aqm.DualPi2(any_ect=True), cc="dctcp", tcp=SCALABLE
    ),
    **{
        f"{name}-{spread}-{speed}": Variant(
            f"{name}, {spread} mean SNRs",
            link={**entries, **(_unequal(doppler) if spread == "unequal" else {})},
        )
        for name, entries in SCHEDULERS.items()
        for spread in ("equal", "unequal")
        for speed, doppler in (("fast", FAST[0]), ("slow", SLOW[0]))
    },
}
"""The paper's cell with one part changed, by name; of schedulers with the speed."""


class Combined(NamedTuple):
    """Three saturated users, a fixed margin, and what becomes of a failed block.

    Parameters
    ----------
    fast : bool
        10 m/s, else 0.1 m/s.
    harq : str
        ``off``, ``chase`` or ``incremental``.
    margin : float
        m of Eq. 18.
    """

    fast: bool
    harq: str
    margin: float


class OnLink(NamedTuple):
    """CLAMP on a link of constant rate.

    Parameters
    ----------
    study : str
        ``equilibrium``: flows from the beginning to the end. ``joins``: 1, 3, 8 and 3 flows one
        after the other. ``elsewhere``: the first flow has an access link of 1 Mbit/s.
        ``returns``: the first flow has an access link of 4 Mbit/s and is alone until 100 s.
        ``window``: two flows with windows of `amount` times the limit of the sliding window.
    flows : int
        How many.
    sender : bool
        CLAMP at the sender, else at the receiver.
    headroom : float
        At the sender: of the price's window over New Reno's; 0 is none.
    amount : float
        ``joins``: the target of the mean delay, s; 0 is a fixed a of 5500 B. ``window``: as above.
    """

    study: str
    flows: int
    sender: bool = False
    amount: float = 0.0
    headroom: float = 0.0


PARTS_S: Final = (0.0, 60.0, 120.0, 180.0, 240.0)
"""Where the parts of ``joins`` begin, and the end, s."""

WINDOW_LIMIT_BYTES: Final = 12_328.0
"""√(2 α τ s)/π of the paper's values: docs/reference/models/clamp-fluid.md."""

RATE_BPS: Final = 10e6
RETURN_S: Final = 100.0
"""When the bottleneck of the first flow of ``returns`` becomes the link that it shares."""
SERIES: Final = {
    "joins": ["sojourn"],
    "window": ["awnd"],
    "elsewhere": ["awnd"],
    "returns": ["awnd", "delivered"],
}
"""What is recorded, by study."""


def _far_away(case: OnLink, rate: str) -> dict[str, Any]:
    """Return the entries of a flow whose bottleneck is its access link."""
    slow = ap.Wire(rate=rate, delay="25 ms", limit="30 kB")
    return {**_same(case), "access": slow, "return": ap.Wire(delay="25 ms")}


def _same(case: OnLink) -> dict[str, Any]:
    same: dict[str, Any] = {"cc": "newreno", "tcp": NEWRENO}
    if case.headroom:
        same["cc"] = ap.cc.Clamp(headroom=case.headroom)
    elif case.sender:
        same["cc"] = "clamp"
    else:
        same["window"] = ap.window.Clamp()
    return same


def _queue(case: OnLink) -> ap.aqm.QueueDisc:
    if case.study == "joins" and case.amount:
        return ap.aqm.Clamp(target_delay=f"{case.amount * 1e3:g} ms", inner=LARGE)
    return ap.aqm.Clamp(a="5500 B", inner=LARGE)


def _rtt_s(case: OnLink) -> float:
    """Return the base RTT; of ``window`` that which makes the windows as large as they are."""
    if case.study != "window":
        return 0.05
    sent = case.flows * case.amount * WINDOW_LIMIT_BYTES * 1500 / 1460
    return (sent - 5500 - 500 * case.flows) / (RATE_BPS / 8)


def _flows(case: OnLink) -> list[ap.traffic.Tcp]:
    near = {**_same(case), "base_rtt": f"{1e3 * _rtt_s(case):.3f} ms"}
    match case.study:
        case "joins":
            _, second, third, fourth, end = PARTS_S
            spans = [(0.0, end), *2 * [(second, end)], *5 * [(third, fourth)]]
            return [ap.traffic.Tcp(start=start, stop=stop, **near) for start, stop in spans]
        case "elsewhere":
            return [
                ap.traffic.Tcp(**_far_away(case, "1 Mbit/s")),
                *(ap.traffic.Tcp(**near) for _ in range(case.flows - 1)),
            ]
        case "returns":
            later = [ap.traffic.Tcp(start=RETURN_S, **near) for _ in range(case.flows - 1)]
            return [ap.traffic.Tcp(**_far_away(case, "4 Mbit/s")), *later]
        case _:
            return [ap.traffic.Tcp(**near) for _ in range(case.flows)]


def on_link(case: OnLink, effort: Effort) -> ap.Scenario:
    """Return the scenario of a case."""
    return ap.Scenario(
        name=f"clamp {case.study}",
        duration=effort.duration_s,
        warmup=effort.warmup_s,
        bottleneck=ap.Bottleneck(
            aqm=_queue(case), link=ap.link.Fixed(rate=f"{RATE_BPS:.0f} bit/s")
        ),
        flows=_flows(case),
        record=ap.Record(series=SERIES.get(case.study, [])),
    )


def combined(case: Combined, effort: Effort) -> ap.Scenario:
    """Return the scenario of a case: the paper's radio with 15 attempts."""
    link = {"harq": case.harq, "margin": case.margin, "attempts": 15}
    return build_saturated(Saturated(case.fast), effort, Variant(case.harq, link=link))


def effort_of(cell: Cell, effort: Effort) -> Effort:
    """Return how long and how often a cell is simulated, given the mode's effort."""
    match cell:
        case OnLink(study="joins"):
            return Effort(replications=1, duration_s=PARTS_S[-1], warmup_s=0.0)
        case OnLink():
            return Effort(replications=1, duration_s=300.0, warmup_s=RETURN_S)
        case Today():
            return Effort(replications=effort.replications, duration_s=80.0, warmup_s=20.0)
        case Combined():
            shorter = min(effort.duration_s - effort.warmup_s, 600.0)
            return Effort(replications=1, duration_s=shorter + 20.0, warmup_s=20.0)
        case Case() if cell.variant in CHANGED:
            return half(effort)
        case _:
            return effort


def simulated(cell: Cell, effort: Effort) -> Any:
    """Return the scenario of a cell, which may take as long as `effort` says."""
    match cell:
        case OnLink():
            return on_link(cell, effort)
        case Combined():
            return combined(cell, effort)
        case Today():
            return build_today(cell, effort)
        case _:
            case = Case(*cell)
            return build(case, effort, VARIANTS[case.variant])
