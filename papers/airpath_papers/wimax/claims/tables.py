"""What the text says about Tables 1 and 2 (wimax-2009 §5.2, §5.3), and the abstract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from airpath.reproduction.claims import ClaimSpec, Finding, gathered, joined, known
from airpath.reproduction.session import Session
from airpath_papers.wimax.analysis import printed_ideal_mbps
from airpath_papers.wimax.claims.common import CLAIMS, by_policy, gain
from airpath_papers.wimax.claims.losses import CURVES, LOSSES, relative_gains
from airpath_papers.wimax.data import BASE_RTTS_MS, IDEAL, NAMES, POLICIES, table1, table2
from airpath_papers.wimax.measures import (
    ALLOCATED,
    EFFICIENCY,
    GOODPUT,
    QUANTITIES,
    USED,
)
from airpath_papers.wimax.scenarios import Case, places

__all__ = ["of_tables"]

Cases = Mapping[Any, Case]


def _table1(_spec: ClaimSpec) -> Cases:
    return {policy: Case(policy) for policy in POLICIES}


def _table2(_spec: ClaimSpec) -> Cases:
    return places()


def of_tables(session: Session, cases: Cases, quantity: str) -> dict[Any, float]:
    """Return the mean of a quantity in each cell."""
    measure = QUANTITIES[quantity].measure
    return {place: known(session, case, measure).mean for place, case in cases.items()}


def _own(spec: ClaimSpec, policy: str) -> float:
    return float(
        spec.numbers.get("adapt", spec["within"]) if policy == "adapt-bi" else spec["within"]
    )


# --- Table 1 -----------------------------------------------------------------------------------


@CLAIMS.check("table1-bytes", _table1)
def _bytes(session: Session, spec: ClaimSpec, cases: Cases) -> Finding:
    def of_policy(policy: str, case: Case) -> Finding:
        off = {}
        for quantity in (ALLOCATED, USED):
            ours = known(session, case, quantity.measure).mean
            off[quantity.name] = gain(ours, table1()[policy][quantity.name])
        limits = {"allocated": _own(spec, policy), "used": spec["within"]}
        shown = joined([f"{name} {each:+.1%}" for name, each in off.items()])
        holds = all(abs(off[name]) <= limits[name] for name in off)
        return Finding(holds, [f"{NAMES[policy]}: {shown}"], off)

    return gathered("policy", cases, of_policy)


@CLAIMS.check("table1-efficiency", _table1)
def _efficiency(session: Session, spec: ClaimSpec, cases: Cases) -> Finding:
    def of_policy(policy: str, case: Case) -> Finding:
        ours = known(session, case, EFFICIENCY.measure).mean
        off = ours - table1()[policy]["efficiency"]
        return Finding(
            abs(off) <= _own(spec, policy),
            [f"{NAMES[policy]}: {ours:.3f}, {off:+.3f}"],
            {"efficiency": ours, "off": off},
        )

    return gathered("policy", cases, of_policy)


@CLAIMS.check("half-is-wasted", _table1)
def _half(session: Session, spec: ClaimSpec, cases: Cases) -> Finding:
    found = of_tables(session, cases, "efficiency")
    holds = spec["low"] <= found["blind-bi"] <= spec["high"] and found["uni"] < found["adapt-bi"]
    return Finding(holds, [by_policy(found, ".3f")], found)


@CLAIMS.check("tradeoff", _table1)
def _tradeoff(session: Session, spec: ClaimSpec, cases: Cases) -> Finding:
    goodput = of_tables(session, cases, "goodput")
    efficiency = of_tables(session, cases, "efficiency")
    ahead = gain(goodput["blind-bi"], goodput["adapt-bi"])
    points = 100 * (efficiency["adapt-bi"] - efficiency["blind-bi"])
    return Finding(
        0 < ahead <= spec["ahead"] and points >= spec["points"],
        [f"blind-BI {ahead:.1%} ahead; efficiency {points:.1f} points above"],
        {"ahead": ahead, "points": points},
    )


@CLAIMS.check("gain-table1", _table1)
def _gain_table1(session: Session, spec: ClaimSpec, cases: Cases) -> Finding:
    goodput = of_tables(session, cases, "goodput")
    found = gain(goodput["adapt-bi"], goodput["uni"])
    return Finding(
        abs(found - spec["gain"]) <= spec["within"],
        [f"{goodput['adapt-bi']:.3f} and {goodput['uni']:.3f} Mbit/s: {found:+.1%}"],
        {"gain": found},
    )


@CLAIMS.check("ahead-table1", _table1)
def _ahead_table1(session: Session, spec: ClaimSpec, cases: Cases) -> Finding:
    goodput = of_tables(session, cases, "goodput")
    found = gain(goodput["blind-bi"], goodput["adapt-bi"])
    return Finding(
        abs(found - spec["ahead"]) <= spec["within"],
        [f"{goodput['blind-bi']:.3f} and {goodput['adapt-bi']:.3f} Mbit/s: {found:+.1%}"],
        {"ahead": found},
    )


@CLAIMS.check("two-times", _table1)
def _two_times(session: Session, spec: ClaimSpec, cases: Cases) -> Finding:
    found = of_tables(session, cases, "efficiency")
    times = found["adapt-bi"] / found["blind-bi"]
    return Finding(spec["low"] <= times <= spec["high"], [f"{times:.2f} times"], {"times": times})


# --- Table 2 -----------------------------------------------------------------------------------


def _near(
    session: Session, spec: ClaimSpec, cases: Cases, policies: Sequence[str], quantity: str
) -> Finding:
    """Return whether a quantity is near in all cells of some policies, relatively."""
    ours = of_tables(session, cases, quantity)

    def of_policy(policy: str, _case: object) -> Finding:
        off = {
            rtt: gain(ours[rtt, policy], table2()[rtt, policy][quantity]) for rtt in BASE_RTTS_MS
        }
        shown = joined([f"{each:+.1%}" for each in off.values()])
        most = max(map(abs, off.values()))
        return Finding(
            most <= _own(spec, policy),
            [f"{NAMES[policy]}: {joined([ours[rtt, policy] for rtt in off], '.4g')}; {shown}"],
            {"off": {f"{rtt}_ms": each for rtt, each in off.items()}, "most": most},
        )

    return gathered("policy", dict.fromkeys(policies), of_policy)


@CLAIMS.check("table2-delay", _table2)
def _delay(session: Session, spec: ClaimSpec, cases: Cases) -> Finding:
    return _near(session, spec, cases, POLICIES, "mac_delay")


@CLAIMS.check("table2-efficiency", _table2)
def _points(session: Session, spec: ClaimSpec, cases: Cases) -> Finding:
    ours = of_tables(session, cases, "efficiency")

    def of_policy(policy: str, _case: object) -> Finding:
        off = [
            100 * (ours[rtt, policy] - table2()[rtt, policy]["efficiency"]) for rtt in BASE_RTTS_MS
        ]
        found = joined([100 * ours[rtt, policy] for rtt in BASE_RTTS_MS], ".1f")
        return Finding(
            max(map(abs, off)) <= _own(spec, policy),
            [f"{NAMES[policy]}: {found} %; {joined(off, '+.1f')} points"],
            {"off_points": off},
        )

    return gathered("policy", dict.fromkeys(POLICIES), of_policy)


@CLAIMS.check("table2-fitted", _table2)
def _fitted(session: Session, spec: ClaimSpec, cases: Cases) -> Finding:
    return _near(session, spec, cases, ("uni", "blind-bi"), "goodput")


@CLAIMS.check("table2-predicted", _table2)
def _predicted(session: Session, spec: ClaimSpec, cases: Cases) -> Finding:
    return _near(session, spec, cases, ("adapt-bi",), "goodput")


@CLAIMS.check("rtt-hardly-matters", _table2)
def _hardly(session: Session, spec: ClaimSpec, cases: Cases) -> Finding:
    delay = of_tables(session, cases, "mac_delay")
    efficiency = of_tables(session, cases, "efficiency")

    def of_policy(policy: str, _case: object) -> Finding:
        delays = [delay[rtt, policy] for rtt in BASE_RTTS_MS]
        shares = [efficiency[rtt, policy] for rtt in BASE_RTTS_MS]
        apart, points = gain(max(delays), min(delays)), 100 * (max(shares) - min(shares))
        return Finding(
            apart < spec["delay"] and points < spec["points"],
            [f"{NAMES[policy]}: delays {apart:.1%} apart, efficiencies {points:.1f} points"],
            {"delay": apart, "points": points},
        )

    return gathered("policy", dict.fromkeys(POLICIES), of_policy)


@CLAIMS.check("order", _table2)
def _order(session: Session, spec: ClaimSpec, cases: Cases) -> Finding:
    found = of_tables(session, cases, "goodput")

    def of_row(base_rtt_ms: int, _row: object) -> Finding:
        row = {policy: found[base_rtt_ms, policy] for policy in POLICIES}
        ahead = gain(row["blind-bi"], row["adapt-bi"])
        return Finding(
            row["adapt-bi"] > row["uni"] and 0 <= ahead <= spec["ahead"],
            [f"{base_rtt_ms} ms: {by_policy(row, '.3f')} Mbit/s; blind-BI {ahead:.1%} ahead"],
            {**row, "ahead": ahead},
        )

    return gathered("base_rtt_ms", dict.fromkeys(BASE_RTTS_MS), of_row)


def _gains(session: Session, cases: Cases) -> tuple[bool, dict[int, float], Finding]:
    """Return whether the gains fall from row to row, the gains, and their text."""
    goodput = of_tables(session, cases, "goodput")
    found = {rtt: gain(goodput[rtt, "adapt-bi"], goodput[rtt, "uni"]) for rtt in BASE_RTTS_MS}
    falls = all(later < before for before, later in pairwise(found.values()))
    shown = joined([f"{each:.1%} at {rtt} ms" for rtt, each in found.items()])
    return falls, found, Finding(falls, [shown], {f"{rtt}_ms": each for rtt, each in found.items()})


@CLAIMS.check("gain-falls", _table2)
def _falls(session: Session, spec: ClaimSpec, cases: Cases) -> Finding:
    falls, found, told = _gains(session, cases)
    holds = (
        falls
        and found[spec["first_ms"]] >= spec["first"]
        and found[spec["last_ms"]] >= spec["last"]
    )
    return told._replace(holds=holds)


@CLAIMS.check("gain-falls-as-printed", _table2)
def _falls_as_printed(session: Session, spec: ClaimSpec, cases: Cases) -> Finding:
    falls, found, told = _gains(session, cases)
    off = [abs(found[spec[f"{end}_ms"]] - spec[end]) for end in ("first", "last")]
    return told._replace(holds=falls and max(off) <= spec["within"])


# --- the ideal ---------------------------------------------------------------------------------


@CLAIMS.check("table2-ideal")
def _ideal(_session: Session, spec: ClaimSpec, _cells: object) -> Finding:
    ours = [printed_ideal_mbps(rtt) for rtt in BASE_RTTS_MS]
    printed = [table2()[rtt, IDEAL]["goodput"] for rtt in BASE_RTTS_MS]
    off = [gain(each, theirs) for each, theirs in zip(ours, printed, strict=True)]
    return Finding(
        max(map(abs, off)) <= spec["within"],
        [f"{joined(ours, '.3f')} Mbit/s; {joined(off, '+.1%')}"],
        {"mbps": ours, "off": off},
    )


def _near_ideal(session: Session, spec: ClaimSpec, cases: Cases, policy: str) -> Finding:
    """Return whether a policy's share of the ideal is near to the printed one at every RTT_min."""
    ours = of_tables(session, cases, "goodput")
    lines, off = [], []
    for rtt in BASE_RTTS_MS:
        found = ours[rtt, policy] / printed_ideal_mbps(rtt)
        theirs = table2()[rtt, policy]["goodput"] / table2()[rtt, IDEAL]["goodput"]
        lines.append(f"{rtt} ms: {found:.3f} of it (printed {theirs:.3f})")
        off.append(found - theirs)
    return Finding(max(map(abs, off)) <= spec["within"], lines, {"off": off})


@CLAIMS.check("adapt-near-ideal", _table2)
def _adapt_near_ideal(session: Session, spec: ClaimSpec, cases: Cases) -> Finding:
    return _near_ideal(session, spec, cases, "adapt-bi")


@CLAIMS.check("blind-near-ideal", _table2)
def _blind_near_ideal(session: Session, spec: ClaimSpec, cases: Cases) -> Finding:
    return _near_ideal(session, spec, cases, "blind-bi")


# --- the abstract ------------------------------------------------------------------------------


@CLAIMS.check(
    "up-to-40",
    lambda _spec: {
        "table2": places(),
        "fig7": {name: dict(zip(LOSSES, cases, strict=True)) for name, cases in CURVES.items()},
    },
)
def _up_to_40(session: Session, spec: ClaimSpec, cases: Mapping[str, Cases]) -> Finding:
    goodput = {
        place: known(session, case, GOODPUT.measure).mean for place, case in cases["table2"].items()
    }
    of_table2 = max(gain(goodput[rtt, "adapt-bi"], goodput[rtt, "uni"]) for rtt in BASE_RTTS_MS)
    of_fig7 = max(max(found) for found in relative_gains(session).values())
    largest = max(of_table2, of_fig7)
    return Finding(
        spec["low"] <= largest <= spec["high"],
        [f"at most {of_table2:.1%} in Table 2, {of_fig7:.1%} in Fig. 7"],
        {"table2": of_table2, "fig7": of_fig7},
    )
