"""Scheduling requests and grants at regular times: hypotheses of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airpath.papers.kit.session import Session
from airpath.papers.kit.statements import Finding, Said, gathered, joined, known
from airpath.papers.wimax.accesses import PERIODS_MS, Access
from airpath.papers.wimax.data import NAMES
from airpath.papers.wimax.measures import EFFICIENCY, MAC_DELAY, total_mbps
from airpath.papers.wimax.statements.common import SAYS, gain

Cells = Mapping[Any, Access]


@SAYS.check(
    "lone-packet",
    lambda _said: {
        preset: {period: Access(preset, period, "uni", lone=True) for period in PERIODS_MS}
        for preset in ("lte", "nr")
    },
)
def _lone(session: Session, said: Said, cells: Mapping[str, Mapping[int, Access]]) -> Finding:
    def of_preset(preset: str, by_period: Mapping[int, Access]) -> Finding:
        waits = {
            period: known(session, cell, MAC_DELAY.measure).mean
            for period, cell in by_period.items()
        }
        constant = sum(wait - period / 2 for period, wait in waits.items()) / len(waits)
        off = [gain(wait, period / 2 + constant) for period, wait in waits.items()]
        shown = joined([f"{period}: {wait:.2f}" for period, wait in waits.items()])
        return Finding(
            max(map(abs, off)) <= said["within"],
            [f"{preset}: {shown} ms; constant {constant:.2f} ms, off by {joined(off, '+.1%')}"],
            {"waits_ms": list(waits.values()), "constant_ms": constant, "off": off},
        )

    return gathered("preset", cells, of_preset)


@SAYS.check(
    "scheduling-requests",
    lambda _said: {
        (period, policy): Access("lte", period, policy)
        for period in (5, 80)
        for policy in ("uni", "adapt-bi")
    },
)
def _scheduling(session: Session, said: Said, cells: Cells) -> Finding:
    total = {place: known(session, cell, total_mbps).mean for place, cell in cells.items()}
    frequent, rare = (gain(total[period, "adapt-bi"], total[period, "uni"]) for period in (5, 80))
    return Finding(
        rare >= said["rare"] and frequent <= said["frequent"],
        [f"{frequent:+.1%} with 5 ms, {rare:+.1%} with 80 ms"],
        {"frequent": frequent, "rare": rare},
    )


@SAYS.check(
    "unsolicited-costs",
    lambda _said: {
        policy: Access("wimax", 0, policy) for policy in ("blind-bi", "adapt-bi", "unsolicited")
    },
)
def _unsolicited(session: Session, _said: Said, cells: Cells) -> Finding:
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
