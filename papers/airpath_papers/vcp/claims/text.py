"""What the text says of sessions, larger links, short flows and capacities (vcp-2008 §IV, §V)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log, sqrt
from statistics import median
from typing import Any, Final

import numpy as np

from airpath.reproduction.claims import ClaimSpec, Finding, interval, joined, known
from airpath.reproduction.session import Session
from airpath.results.intervals import Interval
from airpath_papers.vcp.claims.common import CLAIMS, delivered_means, lead
from airpath_papers.vcp.failures import is_past
from airpath_papers.vcp.grids import FIG6_DB, PROTOCOLS, past_cases
from airpath_papers.vcp.measures import (
    first_acks_s,
    load_factor_deviation,
    mean_queue,
    queue_drops,
    share_interval,
    simulated_per,
    utilisation,
)
from airpath_papers.vcp.scenarios import Case
from airpath_papers.vcp.variants import CAPACITIES

__all__ = ["CLEAN", "LARGE", "SESSIONS", "critical_difference", "later_by"]

# --- sessions ----------------------------------------------------------------------------------

SESSIONS: Final[Mapping[float, Mapping[str, Case]]] = {
    snr: {name: Case(name, "2x2", 1.0, snr, "", ("seq_sent",)) for name in PROTOCOLS}
    for snr in (14.0, 16.0, 18.0, 20.0, 22.0)
}
"""Where TCP's lead may be widest."""


def later_by(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Return the largest difference of the distribution functions, theirs over ours."""
    places = np.unique(np.concatenate([ours, theirs]))
    first, other = (
        np.searchsorted(np.sort(each), places, "right") / len(each) for each in (ours, theirs)
    )
    return float(np.max(other - first))


def critical_difference(level: float, ours: int, theirs: int) -> float:
    """Return what `later_by` exceeds with probability `level` in samples of one distribution.

    The asymptotic form of the one-sided test of Kolmogorov and Smirnov.
    """
    return sqrt(-log(level) / 2 * (1 / ours + 1 / theirs))


@CLAIMS.check("slower-set-up", lambda _spec: SESSIONS)
def _slower(
    session: Session, spec: ClaimSpec, cells: Mapping[float, Mapping[str, Case]]
) -> Finding:
    def times(snr: float) -> float:
        vcp, tcp = delivered_means(session, [cells[snr][name] for name in PROTOCOLS])
        return tcp / vcp if vcp else 0.0

    widest = max(cells, key=times)
    vcp, tcp = (first_acks_s(session, cells[widest][name]) for name in PROTOCOLS)
    found = later_by(vcp, tcp)
    critical = critical_difference(spec["level"], len(vcp), len(tcp))
    told = (
        f"at {widest:g} dB, TCP {times(widest):.2f} times: medians {median(vcp):.3f} and "
        f"{median(tcp):.3f} s, means {np.mean(vcp):.3f} and {np.mean(tcp):.3f} s of {len(vcp)} and "
        f"{len(tcp)} flows; one-sided difference {found:.3f}, critical {critical:.3f}"
    )
    values = {
        "snr_db": widest,
        "difference": found,
        "critical": critical,
        "median_s": {"vcp": median(vcp), "tcp-rem": median(tcp)},
        "mean_s": {"vcp": float(np.mean(vcp)), "tcp-rem": float(np.mean(tcp))},
    }
    return Finding(found > critical, [told], values)


# --- larger links ------------------------------------------------------------------------------

_PAST_DB: Final = [snr for snr in FIG6_DB["2x2", 0.93] if is_past("2x2", 0.93, snr)]
_FEWER_DB: Final = _PAST_DB[:: max(1, len(_PAST_DB) - 1)]
"""The first and the last SNR past the threshold: the larger links take longer."""

LARGE: Final[Mapping[str, Mapping[str, Sequence[Case]]]] = {
    name: {
        protocol: [
            Case(protocol, "2x2", 0.93, snr, variant if protocol == "tcp-rem" else vcp)
            for snr in _FEWER_DB
        ]
        for protocol in PROTOCOLS
    }
    for name, (variant, vcp) in {
        "10 Mbit/s": ("", ""),
        "10 Mbit/s, unlimited": ("window-unlimited", ""),
        "40 Mbit/s": ("scale-4", "scale-4"),
        "40 Mbit/s, unlimited": ("scale-4-unlimited", "scale-4"),
        "RTT x 2": ("rtt-2", "rtt-2"),
        "RTT x 2, unlimited": ("rtt-2-unlimited", "rtt-2"),
        "RTT x 4": ("rtt-4", "rtt-4"),
        "RTT x 4, unlimited": ("rtt-4-unlimited", "rtt-4"),
    }.items()
}
"""VCP's window has no limit in any of them."""


@CLAIMS.check("bandwidth-delay", lambda _spec: LARGE)
def _bandwidth_delay(session: Session, spec: ClaimSpec, links: Any) -> Finding:
    leads = {}
    for name, lines in links.items():
        vcp, tcp = (delivered_means(session, lines[each]) for each in PROTOCOLS)
        found = [lead(a, b) for a, b in zip(vcp, tcp, strict=True)]
        leads[name] = sum(found) / len(found)
    told = joined([f"{name}: {value:+.1%}" for name, value in leads.items()])
    holds = leads["40 Mbit/s"] - leads["10 Mbit/s"] >= spec["points"]
    return Finding(holds, [f"VCP's lead: {told}"], leads)


# --- short flows -------------------------------------------------------------------------------


def _lengths(_spec: ClaimSpec) -> dict[str, list[Case]]:
    return {
        "long": past_cases("2x2", 0.93, "vcp"),
        "short": past_cases("2x2", 0.93, "vcp", "short"),
    }


@CLAIMS.check("short-flows", _lengths)
def _short_flows(session: Session, _spec: ClaimSpec, lines: Mapping[str, list[Case]]) -> Finding:
    pers, queues = {}, {}
    for name, line in lines.items():
        pers[name] = [simulated_per(session, case) for case in line]
        queues[name] = [known(session, case, mean_queue) for case in line]
    overlap = apart = True
    told = []
    for n, case in enumerate(lines["long"]):
        a, b = pers["long"][n], pers["short"][n]
        assert a is not None
        assert b is not None
        overlap &= _overlap(_share(session, a), _share(session, b))
        a_queue, b_queue = queues["long"][n], queues["short"][n]
        apart &= not _overlap((a_queue.low, a_queue.high), (b_queue.low, b_queue.high))
        told.append(
            f"{case.snr_db:g} dB: long {a[1]} of {a[2]} failed, queue {interval(a_queue, 2)}; "
            f"short {b[1]} of {b[2]}, {interval(b_queue, 2)}"
        )
    return Finding(overlap and apart, told, {"pers_overlap": overlap, "queues_differ": apart})


def _share(session: Session, found: tuple[float, int, int]) -> tuple[float, float]:
    return share_interval(found[1], found[2], session.paper.confidence)


def _overlap(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


# --- capacities --------------------------------------------------------------------------------

CLEAN: Final = Case("vcp", "2x2", 1.0, 40.0)
"""Nothing is lost on the air."""

_CAPACITIES: Final[Mapping[str, Case]] = {
    "+0": CLEAN,
    **{name.removeprefix("capacity"): CLEAN._replace(variant=name) for name in CAPACITIES},
}


@CLAIMS.check("misjudged-capacity", lambda _spec: _CAPACITIES)
def _misjudged(session: Session, spec: ClaimSpec, cells: Mapping[str, Case]) -> Finding:
    def of(measure: Any) -> dict[str, Interval]:
        return {name: known(session, case, measure) for name, case in cells.items()}

    spread, used = of(load_factor_deviation), of(utilisation)
    queue, drops = of(mean_queue), of(queue_drops)
    times = {name: spread[name].mean / spread["+0"].mean for name in ("-20", "+20")}
    order = sorted(cells, key=int)
    told = [
        f"{name} %: deviation of the load factor {interval(spread[name], 3)}, utilisation "
        f"{used[name].mean:.3f}, queue {queue[name].mean:.1f}, drops {drops[name].mean:.1f}"
        for name in order
    ]
    values: dict[str, Any] = {
        name: {
            "deviation": spread[name].mean,
            "utilisation": used[name].mean,
            "queue": queue[name].mean,
            "drops": drops[name].mean,
        }
        for name in order
    }
    return Finding(all(each >= spec["times"] for each in times.values()), told, values)
