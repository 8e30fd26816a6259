"""Scheduling requests and grants at regular times: hypotheses of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airpath.reproduction.claims import ClaimSpec, Finding, gathered, joined, known
from airpath.reproduction.session import Session
from airpath_papers.wimax.accesses import PERIODS_MS, Access
from airpath_papers.wimax.claims.common import CLAIMS, gain
from airpath_papers.wimax.data import NAMES
from airpath_papers.wimax.measures import EFFICIENCY, MAC_DELAY, total_mbps

Cells = Mapping[Any, Access]


@CLAIMS.check(
    "lone-packet",
    lambda _spec: {
        preset: {period: Access(preset, period, "uni", lone=True) for period in PERIODS_MS}
        for preset in ("lte", "nr")
    },
)
def _lone(session: Session, spec: ClaimSpec, cells: Mapping[str, Mapping[int, Access]]) -> Finding:
    def of_preset(preset: str, by_period: Mapping[int, Access]) -> Finding:
        waits = {
            period: known(session, cell, MAC_DELAY.measure).mean
            for period, cell in by_period.items()
        }
        constant = sum(wait - period / 2 for period, wait in waits.items()) / len(waits)
        off = [gain(wait, period / 2 + constant) for period, wait in waits.items()]
        shown = joined([f"{period}: {wait:.2f}" for period, wait in waits.items()])
        return Finding(
            max(map(abs, off)) <= spec["within"],
            [f"{preset}: {shown} ms; constant {constant:.2f} ms, off by {joined(off, '+.1%')}"],
            {"waits_ms": list(waits.values()), "constant_ms": constant, "off": off},
        )

    return gathered("preset", cells, of_preset)


@CLAIMS.check(
    "scheduling-requests",
    lambda _spec: {
        (period, policy): Access("lte", period, policy)
        for period in (5, 80)
        for policy in ("uni", "adapt-bi")
    },
)
def _scheduling(session: Session, spec: ClaimSpec, cells: Cells) -> Finding:
    total = {place: known(session, cell, total_mbps).mean for place, cell in cells.items()}
    frequent, rare = (gain(total[period, "adapt-bi"], total[period, "uni"]) for period in (5, 80))
    return Finding(
        rare >= spec["rare"] and frequent <= spec["frequent"],
        [f"{frequent:+.1%} with 5 ms, {rare:+.1%} with 80 ms"],
        {"frequent": frequent, "rare": rare},
    )


@CLAIMS.check(
    "unsolicited-costs",
    lambda _spec: {
        policy: Access("wimax", 0, policy) for policy in ("blind-bi", "adapt-bi", "unsolicited")
    },
)
def _unsolicited(session: Session, _spec: ClaimSpec, cells: Cells) -> Finding:
    delay = {name: known(session, cell, MAC_DELAY.measure).mean for name, cell in cells.items()}
    efficiency = {
        name: known(session, cell, EFFICIENCY.measure).mean for name, cell in cells.items()
    }
    shown = [
        f"{NAMES.get(name, name)} {delay[name]:.1f} ms, efficiency {efficiency[name]:.3f}"
        for name in cells
    ]
    return Finding(
        delay["unsolicited"] <= delay["adapt-bi"]
        and efficiency["unsolicited"] < efficiency["blind-bi"],
        [joined(shown)],
        {"delay_ms": delay, "efficiency": efficiency},
    )
