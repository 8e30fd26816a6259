"""Replacement of the compiled engine, so that tests of the paper framework do not depend on it.

Its analytic solver is an independent, plain implementation of qawla-2015 Algorithm 1 from the
equations of the paper. Tests compare the transcribed tables with it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import pytest
from one_by_one import OneByOne

import airpath as ap
from airpath.engine.flows import Flows
from airpath.reproduction.engine import Simulated
from airpath_papers.qawla.scenarios import solution

WINDOW_PACKETS = 65536 / 1500
MIN_RTO_S = 1.0
PACKET_BITS = 12_000.0
Q_MAX = 180.0


class Solved(NamedTuple):
    """The fields of a fixed point that tests read."""

    domain: str
    throughput_bps: float
    queue_packets: float
    alpha: float | None
    average_throughput_bps: float | None = None


def timeout_share(p: float, w: float) -> float:
    """Return Eq. 5, in the form of the original PFTK paper (see the errata in the README)."""
    s = 1 - p
    share = (1 - s**3) * (1 + s**3 * (1 - math.pow(s, w - 3))) / (1 - math.pow(s, w))
    return min(1.0, share)


def sending_rate(p: float, rtt_s: float) -> float:
    """Return the rate of Eqs. 3, 4 and 6 with b = 2 packets per ACK, packets/s."""
    if p == 0:
        return WINDOW_PACKETS / rtt_s
    if p >= 1:
        return 0.0
    free = 2 / 3 + math.sqrt(4 * (1 - p) / (3 * p) + 4 / 9)
    f = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    w = min(free, WINDOW_PACKETS)
    share = timeout_share(p, w)
    rounds = free + 1 if free < WINDOW_PACKETS else w / 4 + (1 - p) / (p * w) + 2
    waiting = share * MIN_RTO_S * f / (1 - p)
    return ((1 - p) / p + w + share / (1 - p)) / (rtt_s * rounds + waiting)


def gentle_red(x: float) -> float:
    """Return the drop probability of Eq. 1 with th_min = 30, th_max = 90, p_max = 0.1."""
    if x < 30:
        return 0.0
    return (x - 30) / 60 * 0.1 if x < 90 else min(0.1 + (x - 90) / 90 * 0.9, 1.0)


def root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Return the zero of a decreasing function, by bisection."""
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return low


@cache
def fixed_point(
    base_rtts_s: tuple[float, ...],
    rates_bps: tuple[float, float],
    pers: tuple[float, float],
    boundary: float,
) -> Solved:
    """Solve the fixed point by Algorithm 1."""

    def excess(x: float, alpha: float) -> float:
        rate, per = service(alpha)
        delay = (x + 1) * PACKET_BITS / rate
        drop = gentle_red(x)
        loss = 1 - (1 - per) * (1 - drop)
        sent = sum(sending_rate(loss, rtt + delay) for rtt in base_rtts_s)
        return PACKET_BITS * (1 - drop) * sent - rate

    def service(alpha: float) -> tuple[float, float]:
        rate = rates_bps[0] * (1 - alpha) + rates_bps[1] * alpha
        lost = pers[0] * rates_bps[0] * (1 - alpha) + pers[1] * rates_bps[1] * alpha
        return rate, lost / rate

    def answer(domain: str, x: float, alpha: float) -> Solved:
        rate, per = service(alpha)
        admitted = excess(x, alpha) + rate
        return Solved(domain, (1 - per) * admitted, x, alpha if domain == "B" else None)

    if excess(0, 0) < 0:
        return answer("empty", 0.0, 0)
    if excess(boundary, 0) < 0:
        return answer("R1", root(lambda x: excess(x, 0), 0, boundary), 0)
    if excess(boundary, 1) < 0:
        return answer("B", boundary, root(lambda a: excess(boundary, a), 0, 1))
    return answer("R2", root(lambda x: excess(x, 1), boundary, Q_MAX), 1)


class FakeEngine(OneByOne):
    """An engine that solves in Python; its simulations return random values around a throughput."""

    def __init__(self) -> None:
        self.runs: list[dict[str, Any]] = []
        self.throughput: Callable[[str], float] = lambda _name: 10e6
        self.pmf: Callable[[str], list[float]] = lambda _name: [0.1, 0.6, 0.3]
        self.interrupt_at: int | None = None
        """Index of the run, from 0, that is ended after its first replication."""
        self.raise_at: int | None = None
        """Index of the run, from 0, that raises KeyboardInterrupt."""

    def simulate_one(
        self,
        scenario: Any,
        *,
        replications: int,
        seed: int,
    ) -> Simulated:
        resolved = json.loads(scenario.resolve()[0])
        index = len(self.runs)
        if index == self.raise_at:
            raise KeyboardInterrupt
        self.runs.append({"name": resolved["name"], "reps": replications, "seed": seed})
        self.interrupted = index == self.interrupt_at
        done = 1 if self.interrupted else replications
        flows = len(Flows(resolved["flows"]))
        total = self.throughput(resolved["name"])
        found = []
        for replication in range(done):
            factor = 1 + 0.01 * (replication - (replications - 1) / 2)
            flow = {"ip_throughput_bps": total * factor / flows}
            pmf = self.pmf(resolved["name"])
            queue = {"name": "bottleneck", "pmf": pmf, "arrived": 1000, "drops": {"early": 1}}
            regimes = len(resolved["bottleneck"]["link"]["regimes"])
            link = {
                "name": "bottleneck",
                "utilisation": 1.0,
                "regime_packets": [999 // regimes] * regimes,
            }
            found.append(
                {
                    "replication": replication,
                    "measured_s": 1.0,
                    "flows": [flow] * flows,
                    "queues": [queue],
                    "links": [link],
                }
            )
        return Simulated(found)

    def solve(self, scenario: Any, **_arguments: Any) -> Solved:
        resolved = json.loads(scenario.resolve()[0])
        link = resolved["bottleneck"]["link"]
        wires = ("access", "egress", "return_wire")
        rtts = [
            (
                sum(getattr(flow, wire).delay_ns for wire in wires)
                + resolved["bottleneck"]["delay_ns"]
            )
            / 1e9
            for flow in Flows(resolved["flows"])
        ]
        if len(link["regimes"]) > 2:
            return Solved("R1", 9e6, 5.0, None, 9.5e6)
        low, high = link["regimes"][0], link["regimes"][-1]
        return fixed_point(
            tuple(rtts),
            (low["rate_bps"], high["rate_bps"]),
            (low["per"], high["per"]),
            # A link with one regime has no boundary, so any value is correct.
            (link["thresholds"] or [20])[0],
        )


@pytest.fixture
def fake_engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeEngine]:
    engine = FakeEngine()
    monkeypatch.setattr(ap, "solve", engine.solve)
    solution.cache_clear()
    yield engine
    solution.cache_clear()


@pytest.fixture
def second_solution() -> Callable[..., Solved]:
    """Return the independent implementation of Algorithm 1."""
    return fixed_point
