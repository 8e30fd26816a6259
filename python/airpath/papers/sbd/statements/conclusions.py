"""What the conclusions say about Table 6 (sbd-2006 §5 and §7)."""

from __future__ import annotations

from functools import partial
from statistics import fmean
from typing import Final

from airpath.papers.kit.base import Statement
from airpath.papers.kit.session import Session
from airpath.papers.kit.statements import known, spec
from airpath.papers.sbd.data import BEARERS, flows_named, improvements
from airpath.papers.sbd.measures import delay_s
from airpath.papers.sbd.scenarios import Case
from airpath.papers.sbd.statements.common import proposals
from airpath.papers.sbd.tables import TABLE6_CELLS, averages

__all__ = ["CONCLUSIONS", "SBD_OR_RED"]

CONCLUDED: Final = {"goodput": 12.0, "delay": -45.0}
"""Average improvements for one flow, per cent (sbd-2006 §7)."""

POINTS: Final = 8.0


def _conclusions(session: Session) -> Statement:
    found = averages(session)
    assert found is not None
    both = {
        quantity: sum(each[quantity] for each in found.values()) / len(found)
        for quantity in CONCLUDED
    }
    holds = all(abs(both[quantity] - CONCLUDED[quantity]) <= POINTS for quantity in CONCLUDED)
    return Statement(
        "conclusions",
        "Compared to drop-tail, delay falls by about 45 % and goodput rises by 12 % for one flow "
        "(§7).",
        f"The averages over the bearers and over SBD and RED are within {POINTS:g} percentage "
        "points of that.",
        holds,
        [
            *(
                f"{aqm.upper()}: goodput {each['goodput']:+.1f} %, delay {each['delay']:+.1f} %"
                for aqm, each in found.items()
            ),
            f"both: goodput {both['goodput']:+.1f} %, delay {both['delay']:+.1f} %",
        ],
        {**found, "both": both},
    )


CONCLUSIONS = spec("conclusions", TABLE6_CELLS, _conclusions)

# --- SBD against RED ---------------------------------------------------------------------------


def _cases(bearer: int, flows: int) -> dict[str, Case]:
    return {name: Case(bearer, flows, aqm) for name, aqm in proposals(bearer).items()}


def _reductions(session: Session, flows: int, name: str) -> list[float]:
    """Return what a discipline changes of the delay in each run, averaged over the bearers.

    In per cent of the mean delay of drop-tail.
    """
    by_bearer = []
    for bearer in BEARERS:
        cases = _cases(bearer, flows)
        plain = known(session, cases["drop-tail"], delay_s).mean
        by_bearer.append(
            [100 * (value / plain - 1) for value in session.values(cases[name], delay_s)]
        )
    return [fmean(run) for run in zip(*by_bearer, strict=True)]


def _sbd_or_red(session: Session, flows: int) -> Statement:
    found = {name: _reductions(session, flows, name) for name in ("SBD", "RED")}
    pairs = zip(found["SBD"], found["RED"], strict=True)
    difference = session.interval([sbd - red for sbd, red in pairs])
    theirs = {
        aqm: fmean(improvements()[bearer, flows, aqm, "delay"] for bearer in BEARERS)
        for aqm in ("sbd", "red")
    }
    special = ", especially with one flow" if flows == 1 else ""
    return Statement(
        f"sbd-or-red-{flows}",
        f"{flows_named(flows)}: SBD reduces the delay more than RED{special} (§5, §7).",
        "The average over the bearers of what SBD takes off drop-tail's delay is more than what "
        "RED takes off, the interval of the difference run by run on SBD's side of 0.",
        difference.high < 0,
        [
            *(f"{name}: {fmean(values):+.1f} %" for name, values in found.items()),
            f"SBD less RED: {difference.mean:+.1f} ± {difference.half_width:.1f} points",
            f"the paper's Table 6: SBD {theirs['sbd']:+.1f} %, RED {theirs['red']:+.1f} %",
        ],
        {
            **{name: fmean(values) for name, values in found.items()},
            "difference": difference.mean,
            "published": theirs,
        },
    )


SBD_OR_RED = tuple(
    spec(
        f"sbd-or-red-{flows}",
        [case for bearer in BEARERS for case in _cases(bearer, flows).values()],
        partial(_sbd_or_red, flows=flows),
    )
    for flows in (1, 4)
)
