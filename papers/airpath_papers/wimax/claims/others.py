"""Other schedulers (wimax-2009 §4.2), larger ACKs (§4.1), the radio (§5.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airpath.reproduction.claims import ClaimSpec, Finding, gathered, known
from airpath.reproduction.session import Session
from airpath_papers.wimax.claims.common import CLAIMS, by_policy
from airpath_papers.wimax.data import POLICIES
from airpath_papers.wimax.measures import EFFICIENCY, GOODPUT, MAC_DELAY
from airpath_papers.wimax.scenarios import Case, Variant
from airpath_papers.wimax.variants import DISTANCES, RADIO, SCHEDULED_RTTS_MS, SCHEDULERS

Cases = Mapping[Any, Case]


@CLAIMS.check("ack-per-segment", lambda _spec: [Case("blind-bi", variant="ack-per-segment")])
def _per_segment(session: Session, spec: ClaimSpec, cases: list[Case]) -> Finding:
    found = known(session, cases[0], EFFICIENCY.measure).mean
    return Finding(found >= spec["efficiency"], [f"{found:.3f}"], {"efficiency": found})


@CLAIMS.check(
    "size-unknown",
    # Delayed ACKs give blind-BI two grants for each, of which fragments fill both.
    lambda _spec: {p: Case(p, variant="timestamps-per-segment") for p in ("blind-bi", "adapt-bi")},
)
def _size(session: Session, spec: ClaimSpec, cases: Cases) -> Finding:
    goodput = {p: known(session, case, GOODPUT.measure).mean for p, case in cases.items()}
    delay = {p: known(session, case, MAC_DELAY.measure).mean for p, case in cases.items()}
    times = delay["blind-bi"] / delay["adapt-bi"]
    return Finding(
        goodput["blind-bi"] < goodput["adapt-bi"] and times >= spec["times"],
        [
            f"blind-BI {goodput['blind-bi']:.3f} Mbit/s, {delay['blind-bi']:.1f} ms; adapt-BI "
            f"{goodput['adapt-bi']:.3f} Mbit/s, {delay['adapt-bi']:.1f} ms"
        ],
        {"goodput": goodput, "delay_ms": delay, "times": times},
    )


def _in_order(session: Session, name: str, cases: Mapping[str, Case]) -> Finding:
    """Return whether blind-BI has at least adapt-BI's goodput, and that more than UNI's."""
    found = {policy: known(session, case, GOODPUT.measure).mean for policy, case in cases.items()}
    return Finding(
        found["blind-bi"] >= found["adapt-bi"] > found["uni"],
        [f"{name}: {by_policy(found, '.3f')} Mbit/s"],
        found,
    )


@CLAIMS.check(
    "any-scheduler",
    lambda _spec: {
        f"{name}, {rtt} ms": {policy: Case(policy, rtt, variant=name) for policy in POLICIES}
        for name in SCHEDULERS
        if name != "round-robin"
        for rtt in SCHEDULED_RTTS_MS
    },
)
def _schedulers(session: Session, _spec: ClaimSpec, rows: Mapping[str, Cases]) -> Finding:
    return gathered("", rows, lambda name, cases: _in_order(session, name, cases))


def _over(variants: Mapping[str, Variant]) -> dict[str, dict[str, Case]]:
    return {
        variant.about: {policy: Case(policy, variant=name) for policy in POLICIES}
        for name, variant in variants.items()
    }


@CLAIMS.check("schemes-by-distance", lambda _spec: _over(DISTANCES))
def _schemes(session: Session, _spec: ClaimSpec, rows: Mapping[str, Cases]) -> Finding:
    return gathered("", rows, lambda name, cases: _in_order(session, name, cases))


@CLAIMS.check("over-the-radio", lambda _spec: _over(RADIO))
def _radio(session: Session, _spec: ClaimSpec, rows: Mapping[str, Cases]) -> Finding:
    return gathered("", rows, lambda name, cases: _in_order(session, name, cases))
