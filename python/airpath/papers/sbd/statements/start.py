"""What the text says about buffers, the start of connections and short downloads."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Final

from airpath.papers.kit.base import Statement
from airpath.papers.kit.session import Session
from airpath.papers.kit.statements import known, means, spec
from airpath.papers.sbd.buffers import BEARER, FLOWS
from airpath.papers.sbd.buffers import SIZES as FIG1_SIZES
from airpath.papers.sbd.data import Aqm, DropTail, flows_named
from airpath.papers.sbd.measures import (
    compared,
    completion_s,
    delay_s,
    goodput_kbps,
    jain_in_windows,
    overflows,
    rtt_s,
)
from airpath.papers.sbd.scenarios import Case, Use
from airpath.papers.sbd.statements.common import is_less, proposals

__all__ = [
    "BUFFER_SIZE",
    "DOWNLOADS",
    "DOWNLOADS_AGAINST_RED",
    "OVER_BUFFERING",
    "SLOW_START",
    "START_FLOWS",
    "slow_start_statement",
]

# --- slow start --------------------------------------------------------------------------------

STARTING: Final = Use(duration_s=10.0, replications=100)
"""The first stages of the connections (sbd-2006 Figs. 2, 14 and 15)."""

START_FLOWS: Final = (1, 2)


def start_cases(flows: int, use: Use) -> dict[str, Case]:
    """Return the starts of some flows at 384 kbit/s, by what manages the buffer."""
    return {name: Case(384, flows, aqm, use=use) for name, aqm in proposals(384).items()}


def slow_start_statement(session: Session, key: str, text: str, use: Use) -> Statement:
    """Check what overflows in as long a time as `use` has."""
    measured, values, holds = [], {}, True
    for flows in START_FLOWS:
        cases = start_cases(flows, use)
        lost = {name: known(session, case, overflows).mean for name, case in cases.items()}
        holds = holds and is_less(session, cases["SBD"], cases["RED"], overflows)
        holds = holds and lost["SBD"] <= 0.1 * lost["drop-tail"]
        listed = ", ".join(f"{name} {found:.2f}" for name, found in lost.items())
        measured.append(f"{flows_named(flows)}: {listed} SDUs")
        values[f"flows={flows}"] = lost
    return Statement(
        key,
        text,
        f"384 kbit/s, settings of Tables 3 and 5, first {use.duration_s:g} s: with SBD at most a "
        "tenth of the overflow drops of drop-tail; with RED more than with SBD, the interval of "
        "the difference run by run above 0.",
        holds,
        measured,
        values,
    )


def _slow_start(session: Session) -> Statement:
    return slow_start_statement(
        session,
        "slow-start",
        "SBD avoids the overflow in slow start, RED is less capable of it (§6, Figs. 14 and 15).",
        STARTING,
    )


SLOW_START = spec(
    "slow-start",
    [case for flows in START_FLOWS for case in start_cases(flows, STARTING).values()],
    _slow_start,
)

# --- short downloads ---------------------------------------------------------------------------

DOWNLOADS_KB: Final = (50, 100, 200)


def _download(aqm: Aqm, size_kb: int) -> Case:
    return Case(384, 4, aqm, use=Use(duration_s=60.0, replications=100, download_kb=size_kb))


def _downloads(session: Session, key: str, text: str, other: str) -> Statement:
    measured, values, holds = [], {}, True
    for size_kb in DOWNLOADS_KB:
        cases = {name: _download(aqm, size_kb) for name, aqm in proposals(384).items()}
        took = {name: known(session, case, completion_s).mean for name, case in cases.items()}
        runs = {name: session.values(case, completion_s) for name, case in cases.items()}
        gain = compared(runs[other], runs["SBD"], session)
        holds = holds and gain is not None and gain.low > 0
        listed = ", ".join(f"{name} {found:.2f}" for name, found in took.items())
        gained = "" if gain is None else f"; SBD {gain.mean:.2f} ± {gain.half_width:.2f} s shorter"
        measured.append(f"4 downloads of {size_kb} kB: {listed} s{gained} than {other}")
        values[f"size_kb={size_kb}"] = took
    return Statement(
        key,
        text,
        f"384 kbit/s, four downloads at once: their mean time with SBD is shorter than with "
        f"{other}, the interval of the difference run by run above 0, for each size.",
        holds,
        measured,
        values,
    )


DOWNLOAD_CELLS: Final = [
    _download(aqm, size_kb) for size_kb in DOWNLOADS_KB for aqm in proposals(384).values()
]

DOWNLOADS = spec(
    "short-downloads",
    DOWNLOAD_CELLS,
    partial(
        _downloads,
        key="short-downloads",
        text="Multiple downloads of short files gain by SBD (§7).",
        other="drop-tail",
    ),
)

DOWNLOADS_AGAINST_RED = spec(
    "short-downloads-red",
    DOWNLOAD_CELLS,
    partial(
        _downloads,
        key="short-downloads-red",
        text="SBD is a better choice than RED for multiple downloads of short files (§7).",
        other="RED",
    ),
)

# --- over-buffering ----------------------------------------------------------------------------

SIZES: Final = (20, 40, 80, 160)
SHARING: Final = 4
WINDOW_S: Final = 5.0
SHARED: Final = Use(duration_s=60.0, replications=20, record=("delivered",))


def _buffered(size: int) -> Case:
    return Case(BEARER, SHARING, DropTail(size), use=SHARED)


def _jains(session: Session, case: Case) -> list[float]:
    return [
        jain_in_windows(
            session.series(case, "delivered", run),
            case.flows,
            WINDOW_S,
            (WINDOW_S, case.use.duration_s),
        )
        for run in range(len(session.replications(case)))
    ]


def _over_buffering(session: Session) -> Statement:
    rtts = dict(zip(SIZES, means(session, [_buffered(n) for n in SIZES], rtt_s), strict=True))
    jains = {size: _jains(session, _buffered(size)) for size in SIZES}
    mean = {size: sum(found) / len(found) for size, found in jains.items()}
    inflates = all(after > before for before, after in pairwise(rtts.values()))
    difference = compared(jains[SIZES[0]], jains[SIZES[-1]], session)
    return Statement(
        "over-buffering",
        "Too large a drop-tail buffer inflates the RTT and makes the sharing unfair (§2).",
        f"{SHARING} flows, {BEARER} kbit/s, buffers of {', '.join(map(str, SIZES))} SDUs: the mean "
        "RTT rises from each to the next; Jain's index of what the flows get in windows of "
        f"{WINDOW_S:g} s, from {WINDOW_S:g} s on, is lower with the largest than with the "
        "smallest, the interval of the difference run by run above 0.",
        inflates and difference is not None and difference.low > 0,
        [f"{size} SDUs: mean RTT {rtts[size]:.2f} s, Jain {mean[size]:.3f}" for size in SIZES],
        {f"buffer={size}": {"rtt_s": rtts[size], "jain": mean[size]} for size in SIZES},
    )


OVER_BUFFERING = spec("over-buffering", [_buffered(size) for size in SIZES], _over_buffering)

# --- Fig. 1 ------------------------------------------------------------------------------------

DRAWN: Final = Use(duration_s=60.0, replications=20)


def _of_size(flows: int) -> list[Case]:
    return [Case(BEARER, flows, DropTail(size), use=DRAWN) for size in FIG1_SIZES]


def _buffer_size(session: Session) -> Statement:
    measured, values, holds = [], {}, True
    for flows in FLOWS:
        cases = _of_size(flows)
        goodputs, delays = means(session, cases, goodput_kbps), means(session, cases, delay_s)
        holds = holds and is_less(session, cases[0], cases[-1], goodput_kbps)
        holds = holds and all(after >= before for before, after in pairwise(delays))
        holds = holds and delays[-1] > delays[0]
        measured.append(
            f"{flows_named(flows)}: goodput {', '.join(f'{one:.0f}' for one in goodputs)} kbit/s, "
            f"delay {', '.join(f'{one:.2f}' for one in delays)} s"
        )
        values[f"flows={flows}"] = {"goodput_kbps": goodputs, "delay_s": delays}
    return Statement(
        "buffer-size",
        "A larger drop-tail buffer benefits the goodput, and its over-buffering increases the "
        "latency (§2, Fig. 1).",
        f"{BEARER} kbit/s, buffers of {', '.join(map(str, FIG1_SIZES))} SDUs, each number of flows "
        "from 1 to 4: the goodput is higher with the largest than with the smallest, the interval "
        "of the difference run by run above 0; no delay is shorter than with the size before, and "
        "the last is longer than the first. (One window is 44 SDUs: one flow does not fill more.)",
        holds,
        measured,
        values,
    )


BUFFER_SIZE = spec("buffer-size", [case for n in FLOWS for case in _of_size(n)], _buffer_size)
