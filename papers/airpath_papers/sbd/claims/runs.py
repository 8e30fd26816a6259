"""What the text says about buffers, the start, downloads, a bearer that falls (sbd-2006 §2, §6)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Final

from airpath.reproduction.claims import ClaimSpec, Finding, gathered, is_less, joined, known, means
from airpath.reproduction.measures import (
    all_timed_out,
    completion_s,
    delay_s,
    goodput_kbps,
    jain_by_run,
    overflows,
    rtt_s,
)
from airpath.reproduction.session import Session
from airpath_papers.sbd.claims.common import CLAIMS, Cases, proposals, proposed, rises, share
from airpath_papers.sbd.data import Aqm, DropTail, flows_named
from airpath_papers.sbd.scenarios import SWITCH_S, ByRate, Case, Use

__all__ = [
    "changed",
    "changed_lines",
    "first_losses",
    "jain_falls",
    "of_sizes",
    "shared",
    "starts",
    "switched",
]

# --- buffer sizes (Fig. 1) ---------------------------------------------------------------------


def of_sizes(spec: ClaimSpec) -> dict[int, list[Case]]:
    """Return drop-tail buffers of all sizes, by number of flows."""
    use = Use(duration_s=60.0, replications=20)
    return {
        n: [Case(384, n, DropTail(size), use=use) for size in spec["sizes"]] for n in spec["flows"]
    }


@CLAIMS.check("buffer-size", of_sizes)
def _buffer_size(session: Session, _spec: ClaimSpec, cases: Mapping[int, list[Case]]) -> Finding:
    def with_flows(flows: int, sizes: list[Case]) -> Finding:
        goodputs, delays = means(session, sizes, goodput_kbps), means(session, sizes, delay_s)
        benefits = is_less(session, sizes[0], sizes[-1], goodput_kbps)
        longer = all(after >= before for before, after in pairwise(delays))
        return Finding(
            benefits and longer and delays[-1] > delays[0],
            [
                f"{flows_named(flows)}: goodput {joined(goodputs, '.0f')} kbit/s, "
                f"delay {joined(delays, '.2f')} s"
            ],
            {"goodput_kbps": goodputs, "delay_s": delays},
        )

    return gathered("flows", cases, with_flows)


def shared(spec: ClaimSpec) -> dict[int, Case]:
    """Return drop-tail buffers that several flows share, by size."""
    use = Use(duration_s=60.0, replications=20, record=("delivered",))
    return {size: Case(384, spec["flows"], DropTail(size), use=use) for size in spec["sizes"]}


@CLAIMS.check("over-buffering", shared)
def _over_buffering(session: Session, spec: ClaimSpec, cases: Mapping[int, Case]) -> Finding:
    times = (spec["window_s"], 60.0)
    return jain_falls(session, cases, spec["window_s"], times, step_by_step=False)


def jain_falls(
    session: Session,
    cases: Mapping[int, Case],
    window_s: float,
    times_s: tuple[float, float],
    *,
    step_by_step: bool,
) -> Finding:
    """Return whether with the buffer the mean RTT rises and Jain's index in windows falls.

    Parameters
    ----------
    session : Session
        Has the cases.
    cases : mapping of int to Case
        By buffer, SDUs.
    window_s, times_s : float, tuple of float
        See `jain_in_windows`.
    step_by_step : bool
        Whether the index has to fall from each buffer to the next. From the smallest to the largest
        it has to, the interval of the difference run by run above 0.
    """
    rtts = dict(zip(cases, means(session, list(cases.values()), rtt_s), strict=True))
    jains = {
        size: jain_by_run(session, case, case.flows, window_s, times_s)
        for size, case in cases.items()
    }
    mean = {size: sum(found) / len(found) for size, found in jains.items()}
    first, *_, last = jains.values()
    difference = session.difference(first, last)
    falls = not step_by_step or rises([-each for each in mean.values()])
    return Finding(
        rises(list(rtts.values())) and falls and difference is not None and difference.low > 0,
        [f"{size} SDUs: mean RTT {rtts[size]:.2f} s, Jain {mean[size]:.3f}" for size in cases],
        {f"buffer={size}": {"rtt_s": rtts[size], "jain": mean[size]} for size in cases},
    )


# --- slow start and short downloads ------------------------------------------------------------


def starts(spec: ClaimSpec) -> dict[int, dict[str, Case]]:
    """Return the starts of one and two flows at 384 kbit/s, by what manages the buffer."""
    use = Use(duration_s=spec["first_s"], replications=100)
    return {flows: proposals(384, flows, use) for flows in (1, 2)}


@CLAIMS.check("slow-start", starts)
def first_losses(session: Session, spec: ClaimSpec, cases: Mapping[int, Cases]) -> Finding:
    """Return what overflows at first: with SBD hardly anything, with RED more."""

    def with_flows(flows: int, found: Cases) -> Finding:
        lost = {name: known(session, case, overflows).mean for name, case in found.items()}
        more = is_less(session, found["SBD"], found["RED"], overflows)
        names = [f"{name} {mean:.2f}" for name, mean in lost.items()]
        return Finding(
            more and lost["SBD"] <= spec["avoided"] * lost["drop-tail"],
            [f"{flows_named(flows)}: {joined(names)} SDUs"],
            lost,
        )

    return gathered("flows", cases, with_flows)


def _downloads_of_sizes(spec: ClaimSpec) -> dict[int, dict[str, Case]]:
    def use(size_kb: int) -> Use:
        return Use(duration_s=60.0, replications=100, download_kb=size_kb)

    return {size_kb: proposals(384, 4, use(size_kb)) for size_kb in spec["sizes_kb"]}


@CLAIMS.check("short-downloads", _downloads_of_sizes)
@CLAIMS.check("short-downloads-red", _downloads_of_sizes)
def _downloads(session: Session, spec: ClaimSpec, cases: Mapping[int, Cases]) -> Finding:
    def of_size(size_kb: int, found: Cases) -> Finding:
        took = {name: known(session, case, completion_s).mean for name, case in found.items()}
        runs = {name: session.values(case, completion_s) for name, case in found.items()}
        gain = session.difference(runs[spec["than"]], runs["SBD"])
        gained = "" if gain is None else f"; SBD {gain.mean:.2f} ± {gain.half_width:.2f} s shorter"
        names = [f"{name} {mean:.2f}" for name, mean in took.items()]
        return Finding(
            gain is not None and gain.low > 0,
            [f"4 downloads of {size_kb} kB: {joined(names)} s{gained} than {spec['than']}"],
            took,
        )

    return gathered("size_kb", cases, of_size)


# --- a bearer that falls from 384 to 128 kbit/s (Figs. 2, 14 and 15) ---------------------------

AFTER_S: Final = 15.0
RUNS: Final = 60


def switched() -> dict[str, Case]:
    """Return the 15 s after the change, by what manages the buffer."""
    use = Use(SWITCH_S + AFTER_S, warmup_s=SWITCH_S, replications=RUNS, switch=True)
    aqms: dict[str, Aqm | ByRate] = {
        "drop-tail": DropTail(),
        "SBD as for 384": proposed(3, 384),
        "SBD reconfigured": ByRate("sbd"),
        "RED as for 384": proposed(5, 384),
        "RED reconfigured": ByRate("red"),
    }
    return {name: Case(384, 2, aqm, use=use) for name, aqm in aqms.items()}


def _parts(spec: ClaimSpec) -> dict[str, Case]:
    part_s, runs = spec["part_s"], spec["runs"]
    start = Use(duration_s=part_s, replications=runs)
    before = Use(duration_s=SWITCH_S, warmup_s=SWITCH_S - part_s, replications=runs)
    return {
        "start": Case(384, 2, DropTail(), use=start),
        "before": Case(384, 2, DropTail(), use=before),
        "after": switched()["drop-tail"],
    }


@CLAIMS.check("drop-tail-trace", _parts)
def _drop_tail_trace(session: Session, spec: ClaimSpec, cases: Cases) -> Finding:
    several = [lost > 1 for lost in session.values(cases["start"], overflows)]
    timed_out = [count > 0 for count in session.values(cases["start"], all_timed_out)]
    start = share([a and b for a, b in zip(several, timed_out, strict=True)])
    again = share([lost > 0 for lost in session.values(cases["after"], overflows)])
    around = [cases["before"], cases["after"]]
    longer, inflated = (
        is_less(session, cases["before"], cases["after"], value) for value in (delay_s, rtt_s)
    )
    delays, rtts = means(session, around, delay_s), means(session, around, rtt_s)
    return Finding(
        start > 0.5 and again > 0.5 and longer and inflated,
        [
            f"first {spec['part_s']:g} s: more than one overflow drop in {share(several):.0%} of "
            f"the runs, both flows timed out in {share(timed_out):.0%}, both of it in {start:.0%}",
            f"after the change: overflow in {again:.0%} of the runs; delay {delays[0]:.2f} to "
            f"{delays[1]:.2f} s, mean RTT {rtts[0]:.2f} to {rtts[1]:.2f} s",
        ],
        {"start": start, "again": again, "delay_s": delays, "rtt_s": rtts},
    )


# --- reconfiguration ---------------------------------------------------------------------------


def changed(session: Session, cases: Cases) -> dict[str, dict[str, float]]:
    """Return overflow drops and delays after the change, by what manages the buffer."""
    return {
        name: {
            "overflows": known(session, case, overflows).mean,
            "delay_s": known(session, case, delay_s).mean,
        }
        for name, case in cases.items()
    }


def changed_lines(found: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return what `changed` did as lines."""
    return [
        f"{name}: {each['overflows']:.2f} overflow drops, delay {each['delay_s']:.2f} s"
        for name, each in found.items()
    ]


@CLAIMS.check("reconfiguration", lambda _spec: switched())
def _reconfiguration(session: Session, spec: ClaimSpec, cases: Cases) -> Finding:
    found = changed(session, cases)
    most = spec["avoided"] * found["drop-tail"]["overflows"]
    holds = all(
        found[f"{aqm} reconfigured"]["overflows"] <= most
        and found[f"{aqm} reconfigured"]["delay_s"] < found[f"{aqm} as for 384"]["delay_s"]
        for aqm in ("SBD", "RED")
    )
    return Finding(holds, changed_lines(found), found)
