"""Later criteria for Table 6 and the sentences on it (sbd-2006 §2, §5 and §7)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from airpath.reproduction.claims import ClaimSpec, Finding, joined
from airpath.reproduction.published import PublishedMean
from airpath.reproduction.session import Session
from airpath_papers.sbd.claims.common import CLAIMS, Cases, proposals
from airpath_papers.sbd.data import BEARERS, drop_tail, flows_named, improvements, published_table
from airpath_papers.sbd.scenarios import Case
from airpath_papers.sbd.tables import QUANTITIES

__all__ = ["printed_average", "printed_half_width"]

Place = tuple[int, int]
"""Bearer, kbit/s, and number of flows."""

Rows = Mapping[Place, Cases]

NAMES = {"sbd": "SBD", "red": "RED"}


def _rows(_spec: ClaimSpec) -> dict[Place, dict[str, Case]]:
    """Return the rows of Table 6: drop-tail and the proposed settings."""
    return {place: proposals(*place) for place in drop_tail()}


def _of_one_flow(_spec: ClaimSpec) -> dict[Place, dict[str, Case]]:
    return {(bearer, 1): proposals(bearer, 1) for bearer in BEARERS}


# --- the printed improvements with their half-widths -------------------------------------------


def _column(quantity: str) -> str:
    return "goodput_kbps" if quantity == "goodput" else "delay_s"


def _printed(place: Place, aqm: str, quantity: str) -> tuple[PublishedMean, PublishedMean]:
    """Return what is printed of a proposed setting and of drop-tail, each with its half-width.

    With four flows Table 6 has the improvement only. The half-width is then drop-tail's, in per
    cent.
    """
    bearer, flows = place
    plain: PublishedMean = getattr(drop_tail()[place], _column(quantity))
    if flows == 1:
        row = published_table(3 if aqm == "sbd" else 5)[bearer]
        return getattr(row, _column(quantity)), plain
    factor = 1 + improvements()[bearer, flows, aqm, quantity] / 100
    return PublishedMean(factor * plain.mean, factor * plain.half_width), plain


def printed_half_width(place: Place, aqm: str, quantity: str) -> float:
    """Return the half-width of a printed improvement, percentage points."""
    managed, plain = _printed(place, aqm, quantity)
    parts = (each.half_width / each.mean for each in (managed, plain))
    return 100 * managed.mean / plain.mean * math.hypot(*parts)


def printed_average(quantity: str) -> float:
    """Return the half-width of the printed average over bearers, SBD and RED with one flow.

    SBD and RED are compared with the same drop-tail, whose half-width so counts once for both.
    """
    squares = []
    for bearer in BEARERS:
        (sbd, plain), (red, _) = (_printed((bearer, 1), aqm, quantity) for aqm in NAMES)
        both = PublishedMean(
            (sbd.mean + red.mean) / 2, math.hypot(sbd.half_width, red.half_width) / 2
        )
        relative = math.hypot(both.half_width / both.mean, plain.half_width / plain.mean)
        squares.append((100 * both.mean / plain.mean * relative) ** 2)
    return math.sqrt(sum(squares)) / len(squares)


# --- ours, run by run --------------------------------------------------------------------------


def _improved(session: Session, found: Cases, name: str, quantity: str) -> list[float]:
    """Return the change in each run, in per cent of drop-tail's mean."""
    measure = QUANTITIES[quantity].measure
    plain = session.values(found["drop-tail"], measure)
    mean = fmean(plain)
    managed = session.values(found[name], measure)
    return [100 * (a - b) / mean for a, b in zip(managed, plain, strict=True)]


def _mean_of(runs: Sequence[Sequence[float]]) -> list[float]:
    """Return the mean of several lists, run by run."""
    return [fmean(run) for run in zip(*runs, strict=True)]


@CLAIMS.check("conclusions-interval", _of_one_flow)
def _conclusions(session: Session, spec: ClaimSpec, rows: Rows) -> Finding:
    holds, lines, values = True, [], {}
    for quantity in QUANTITIES:
        changes = [
            _improved(session, found, name, quantity)
            for found in rows.values()
            for name in NAMES.values()
        ]
        ours, theirs = session.interval(_mean_of(changes)), printed_average(quantity)
        allowed = math.hypot(theirs, ours.half_width)
        holds = holds and abs(ours.mean - spec[quantity]) <= allowed
        lines.append(
            f"{quantity}: {ours.mean:+.1f} ± {ours.half_width:.1f} %, printed "
            f"{spec[quantity]:+g} ± {theirs:.1f} %: apart by "
            f"{ours.mean - spec[quantity]:+.1f}, at most ± {allowed:.1f}"
        )
        values[quantity] = {"ours": ours.mean, "half_width": ours.half_width, "allowed": allowed}
    return Finding(holds, lines, values)


@CLAIMS.check("table6-intervals", _rows)
def _intervals(session: Session, spec: ClaimSpec, rows: Rows) -> Finding:
    far = []
    for (bearer, flows, aqm, quantity), printed in improvements().items():
        place = bearer, flows
        ours = session.interval(_improved(session, rows[place], NAMES[aqm], quantity))
        # Table 6 has no decimals.
        allowed = math.hypot(printed_half_width(place, aqm, quantity), ours.half_width) + 0.5
        if abs(ours.mean - printed) > allowed:
            far.append(
                f"{quantity} by {NAMES[aqm]}, {bearer} kbit/s, {flows_named(flows)}: "
                f"{ours.mean:+.1f} %, printed {printed:+g} ± {allowed:.1f} %"
            )
    near = len(improvements()) - len(far)
    lines = [f"{near} of {len(improvements())}; the others:", *far]
    return Finding(near >= spec["least"], lines, {"near": near, "far": far})


# --- SBD or RED --------------------------------------------------------------------------------


@CLAIMS.check("sbd-or-red", _rows)
def _sbd_or_red(session: Session, _spec: ClaimSpec, rows: Rows) -> Finding:
    def lead(found: Cases) -> list[float]:
        sbd, red = (_improved(session, found, name, "delay") for name in NAMES.values())
        return [a - b for a, b in zip(sbd, red, strict=True)]

    runs = {n: _mean_of([lead(rows[bearer, n]) for bearer in BEARERS]) for n in (1, 4)}
    every, more = session.interval(_mean_of([*runs.values()])), session.difference(runs[1], runs[4])
    by_flows = {flows_named(n): session.interval(run) for n, run in runs.items()}
    named = {"eight rows": every, **by_flows}
    theirs = {
        flows_named(n): fmean(
            improvements()[b, n, "sbd", "delay"] - improvements()[b, n, "red", "delay"]
            for b in BEARERS
        )
        for n in (1, 4)
    }
    theirs["eight rows"] = fmean(theirs.values())
    return Finding(
        every.high < 0 and more is not None and more.high < 0,
        [
            f"{name}: SBD less RED {each.mean:+.1f} ± {each.half_width:.1f} points, printed "
            f"{theirs[name]:+.1f}"
            for name, each in named.items()
        ],
        {name: each.mean for name, each in named.items()},
    )


@CLAIMS.check("similar-goodput", _rows)
def _similar(session: Session, spec: ClaimSpec, rows: Rows) -> Finding:
    found = {
        aqm: session.interval(
            _mean_of([_improved(session, row, name, "goodput") for row in rows.values()])
        )
        for aqm, name in NAMES.items()
    }
    theirs = {
        aqm: fmean(improvements()[(*place, aqm, "goodput")] for place in rows) for aqm in NAMES
    }
    apart = found["sbd"].mean - found["red"].mean
    return Finding(
        abs(apart) <= spec["points"],
        [
            *(
                f"{NAMES[aqm]}: {each.mean:+.1f} ± {each.half_width:.1f} %, printed "
                f"{theirs[aqm]:+.1f} %"
                for aqm, each in found.items()
            ),
            f"SBD less RED: {apart:+.1f} points",
        ],
        {"difference": apart, **{NAMES[aqm]: each.mean for aqm, each in found.items()}},
    )


# --- jitter ------------------------------------------------------------------------------------


def _jitter_s(replication: Mapping[str, Any]) -> float:
    """Return the time from the median to the 95th percentile of the downlink delay, s."""
    found = replication["together"]["all"]
    return float(found["p95_delay_s"] - found["p50_delay_s"])


@CLAIMS.check("delay-jitter", _rows)
def _jitter(session: Session, _spec: ClaimSpec, rows: Rows) -> Finding:
    holds, lines, values = True, [], {}
    for (bearer, flows), found in rows.items():
        runs = {name: session.values(case, _jitter_s) for name, case in found.items()}
        gains = [session.difference(runs[name], runs["drop-tail"]) for name in NAMES.values()]
        holds = holds and all(gain is not None and gain.high < 0 for gain in gains)
        mean = {name: fmean(each) for name, each in runs.items()}
        listed = joined([f"{name} {each:.2f}" for name, each in mean.items()])
        lines.append(f"{bearer} kbit/s, {flows_named(flows)}: {listed} s")
        values[f"bearer={bearer}, flows={flows}"] = mean
    return Finding(holds, lines, values)
