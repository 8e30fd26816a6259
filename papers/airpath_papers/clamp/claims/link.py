"""What the text says about the link of constant rate (clamp-2008 §5.1, Fig. 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from airpath.reproduction.claims import ClaimSpec, Finding, gathered, joined
from airpath.reproduction.measures import bottleneck
from airpath.reproduction.session import Session
from airpath_papers.clamp.claims.common import check
from airpath_papers.clamp.link import JOINS_S, LinkCase, fluid_queue_bytes

__all__ = ["shares_in_windows"]


def _steady(spec: ClaimSpec) -> dict[int, LinkCase]:
    counts = range(1, 4) if spec.key == "queue" else range(2, 4)
    return {flows: LinkCase(clamp=True, flows=flows) for flows in counts}


@check("queue", _steady)
def _queue(session: Session, spec: ClaimSpec, cases: Mapping[int, LinkCase]) -> Finding:
    def with_flows(flows: int, case: LinkCase) -> Finding:
        run = session.replications(case)[0]
        found = bottleneck(run)["measured"]["clamp_queue_bytes"]
        fluid = fluid_queue_bytes(flows)
        return Finding(
            abs(found / fluid - 1) <= spec["within"],
            [f"{flows} flows: {found:.0f} B, kτ + a = {fluid:.0f} B"],
            {"queue_bytes": found},
        )

    return gathered("flows", cases, with_flows)


@check("shares", _steady)
def _shares(session: Session, spec: ClaimSpec, cases: Mapping[int, LinkCase]) -> Finding:
    def with_flows(flows: int, case: LinkCase) -> Finding:
        run = session.replications(case)[0]
        rates = [flow["ip_throughput_bps"] / 1e6 for flow in run["flows"]]
        mean = sum(rates) / flows
        off = max(abs(rate / mean - 1) for rate in rates)
        return Finding(
            off <= spec["within"],
            [f"{flows} flows: {joined(rates, '.3f')} Mbit/s"],
            {"mbps": rates, "off": off},
        )

    return gathered("flows", cases, with_flows)


def shares_in_windows(
    session: Session, case: LinkCase, window_s: float
) -> list[tuple[float, float, float]]:
    """Return windows of Fig. 2: begin, end, and how far the rates are from equal shares at most."""
    delivered = session.series(case, "delivered")
    flows = [delivered.of(flow) for flow in range(len(JOINS_S))]
    found = []
    for begin in np.arange(0.0, JOINS_S[0][1], window_s / 4):
        end = begin + window_s
        there = [n for n, (start, stop) in enumerate(JOINS_S) if start <= begin and end <= stop]
        changes = {time for span in JOINS_S for time in span}
        if not there or any(begin < time < end for time in changes):
            continue
        got = [
            values[(times >= begin) & (times < end)].sum()
            for times, values in (flows[n] for n in there)
        ]
        mean = sum(got) / len(got)
        off = max(abs(each / mean - 1) for each in got) if mean > 0 else 1.0
        found.append((float(begin), float(end), float(off)))
    return found


@check("tracks", lambda _spec: [LinkCase(clamp=True)])
def _tracks(session: Session, spec: ClaimSpec, cases: Sequence[LinkCase]) -> Finding:
    windows = shares_in_windows(session, cases[0], spec["window_s"])
    # Of one flow every share is equal: what joins and leaves is looked at between 50 and 200 s.
    changes = sorted({time for span in JOINS_S[1:] for time in span})
    settled = {}
    for change, after in zip(changes, [*changes[1:], JOINS_S[0][1]], strict=True):
        off = [w for w in windows if change <= w[0] and w[1] <= after and w[2] > spec["within"]]
        settled[change] = max((begin for begin, _end, _off in off), default=change) - change
    shown = [f"after {change:g} s: {time:.1f} s" for change, time in settled.items()]
    return Finding(
        max(settled.values()) <= spec["settled_s"],
        [f"last window of {spec['window_s']:g} s that is off begins {joined(shown)}"],
        {f"at_{change:g}_s": time for change, time in settled.items()},
    )


def _deviation(session: Session, case: LinkCase, series: str) -> float:
    """Return the standard deviation over time of a flow's window from the warm-up on, bytes."""
    times, values = session.series(case, series).of(0)
    grid = np.arange(100.0, 300.0, 0.01)
    return float(np.std(values[np.maximum(np.searchsorted(times, grid, "right") - 1, 0)]))


@check("smooth", lambda _spec: [LinkCase(clamp, 1) for clamp in (True, False)])
def _smooth(session: Session, spec: ClaimSpec, cases: Sequence[LinkCase]) -> Finding:
    ours, theirs = cases
    deviations = _deviation(session, ours, "awnd"), _deviation(session, theirs, "cwnd")
    runs = [session.replications(case)[0] for case in cases]
    idle = [1 - run["links"][0]["utilisation"] for run in runs]
    delays = [bottleneck(run)["mean_sojourn_s"] for run in runs]
    apart = max(delays) / min(delays)
    return Finding(
        deviations[0] <= spec["share"] * deviations[1]
        and idle[1] >= spec["tcp_idle"]
        and idle[0] <= spec["clamp_idle"]
        and apart <= spec["factor"],
        [
            f"sd of AWND {deviations[0]:.0f} B, of CWND {deviations[1]:.0f} B; link idle "
            f"{idle[0]:.2%} and {idle[1]:.2%}; mean waits {1e3 * delays[0]:.2f} and "
            f"{1e3 * delays[1]:.2f} ms"
        ],
        {"deviations": deviations, "idle": idle, "delays_s": delays},
    )


# --- what was asked later ----------------------------------------------------------------------


def _stretches() -> list[tuple[float, float, list[int]]]:
    """Return the parts of Fig. 2 with more than one flow: begin, end, flows."""
    changes = sorted({time for span in JOINS_S for time in span})
    found = []
    for begin, end in pairwise(changes):
        flows = [n for n, (start, stop) in enumerate(JOINS_S) if start <= begin and end <= stop]
        if len(flows) > 1:
            found.append((begin, end, flows))
    return found


@check("newreno-shares", lambda _spec: [LinkCase(clamp=False)])
def _newreno_shares(session: Session, spec: ClaimSpec, cases: Sequence[LinkCase]) -> Finding:
    delivered = session.series(cases[0], "delivered")
    flows = [delivered.of(flow) for flow in range(len(JOINS_S))]
    worst, shown, found = 0.0, [], {}
    for begin, end, there in _stretches():
        first = begin + spec["settled_s"]
        got = [
            values[(times >= first) & (times < end)].sum()
            for times, values in (flows[n] for n in there)
        ]
        shares = [float(each / (sum(got) / len(got))) for each in got]
        worst = max(worst, *(abs(share - 1) for share in shares))
        shown.append(f"{first:g} to {end:g} s: {joined(shares, '.3f')} of an equal share")
        found[f"from_{first:g}_s"] = shares
    return Finding(worst <= spec["within"], shown, {**found, "off": worst})


@check(
    "nonfading",
    lambda spec: [LinkCase(clamp=True, flows=1, rate=rate) for rate in spec["rates"]],
)
def _nonfading(session: Session, spec: ClaimSpec, cases: Sequence[LinkCase]) -> Finding:
    queues, delays, busy = [], [], []
    for case in cases:
        run = session.replications(case)[0]
        queues.append(bottleneck(run)["measured"]["clamp_queue_bytes"])
        delays.append(bottleneck(run)["mean_sojourn_s"])
        busy.append(run["links"][0]["utilisation"])
    holds = (
        abs(queues[1] / queues[0] - 1) <= spec["within"]
        and delays[1] >= spec["times"] * delays[0]
        and min(busy) >= spec["busy"]
    )
    shown = [
        f"{case.rate}: averaged queue {queue:.0f} B, mean sojourn time {1e3 * delay:.2f} ms, "
        f"link used {share:.2%}"
        for case, queue, delay, share in zip(cases, queues, delays, busy, strict=True)
    ]
    return Finding(holds, shown, {"queue_bytes": queues, "delay_s": delays, "busy": busy})


@check(
    "instability",
    lambda spec: [
        LinkCase(clamp=True, flows=1, rtt_ms=spec["rtt_ms"], gain=gain)
        for gain in (1, spec["gain"])
    ],
)
def _instability(session: Session, spec: ClaimSpec, cases: Sequence[LinkCase]) -> Finding:
    spreads = []
    for case in cases:
        mean = np.average(session.series(case, "awnd").of(0)[1])
        spreads.append(_deviation(session, case, "awnd") / float(mean))
    return Finding(
        spreads[0] <= spec["stable"] and spreads[1] >= spec["times"] * spreads[0],
        [
            f"gain {case.gain}: standard deviation of AWND {spread:.2%} of its mean"
            for case, spread in zip(cases, spreads, strict=True)
        ],
        {f"gain={case.gain}": spread for case, spread in zip(cases, spreads, strict=True)},
    )
