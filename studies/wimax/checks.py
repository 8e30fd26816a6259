"""The checks of ``claims.toml``: hypotheses, written before the first run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from airpath.reproduction.claims import Claims, ClaimSpec, Finding, gathered, joined, known
from airpath.reproduction.session import Session
from airpath_papers.wimax.claims.common import by_policy, gain
from airpath_papers.wimax.crowds import COUNTS, SIZES_KB, Crowd
from airpath_papers.wimax.data import NAMES, POLICIES
from airpath_papers.wimax.measures import (
    EFFICIENCY,
    MAC_DELAY,
    collided_share,
    completion_ms,
    contention_share,
    total_mbps,
)

from .accesses import PERIODS_MS, Access

__all__ = ["CLAIMS"]

CLAIMS: Final = Claims(Path(__file__).parent)

Cells = Mapping[Any, Crowd]

CCS: Final = ("newreno", "cubic")

# --- stations that share the uplink --------------------------------------------------------------


def _crowds(*policies: str, counts: tuple[int, ...] = COUNTS) -> dict[tuple[int, str], Crowd]:
    return {(n, policy): Crowd(policy, n) for n in counts for policy in policies}


@CLAIMS.check("stations-delay", lambda _spec: _crowds("uni", "adapt-bi"))
def _delay(session: Session, _spec: ClaimSpec, cells: Cells) -> Finding:
    found = {place: known(session, cell, MAC_DELAY.measure).mean for place, cell in cells.items()}
    shown = [
        f"{n}: UNI {found[n, 'uni']:.1f} ms, adapt-BI {found[n, 'adapt-bi']:.1f} ms" for n in COUNTS
    ]
    return Finding(
        all(found[n, "adapt-bi"] < found[n, "uni"] for n in COUNTS),
        [joined(shown)],
        {f"{n}_{policy}": each for (n, policy), each in found.items()},
    )


@CLAIMS.check("stations-gain", lambda _spec: _crowds("uni", "adapt-bi", counts=(1, 40)))
def _gain(session: Session, spec: ClaimSpec, cells: Cells) -> Finding:
    total = {place: known(session, cell, total_mbps).mean for place, cell in cells.items()}
    few, many = (gain(total[n, "adapt-bi"], total[n, "uni"]) for n in (1, 40))
    return Finding(
        few >= spec["few"] and many <= spec["many"],
        [f"{few:+.1%} with one station, {many:+.1%} with 40"],
        {"few": few, "many": many},
    )


@CLAIMS.check("stations-collisions", lambda _spec: _crowds("uni", "adapt-bi", counts=(10, 40)))
def _shares(session: Session, _spec: ClaimSpec, cells: Cells) -> Finding:
    found = {place: known(session, cell, collided_share).mean for place, cell in cells.items()}
    return Finding(
        found[40, "uni"] > found[10, "uni"] and found[40, "adapt-bi"] <= found[40, "uni"] / 2,
        [
            f"UNI {found[10, 'uni']:.1%} with 10, {found[40, 'uni']:.1%} with 40; adapt-BI "
            f"{found[40, 'adapt-bi']:.1%} with 40"
        ],
        {f"{n}_{policy}": each for (n, policy), each in found.items()},
    )


def _both(_spec: ClaimSpec) -> dict[int, dict[str, dict[str, Crowd]]]:
    return {
        n: {cc: {policy: Crowd(policy, n, cc) for policy in POLICIES} for cc in CCS} for n in COUNTS
    }


@CLAIMS.check("stations-cubic", _both)
def _cubic(session: Session, spec: ClaimSpec, cells: Mapping[int, Mapping[str, Cells]]) -> Finding:
    def with_stations(n: int, by_cc: Mapping[str, Cells]) -> Finding:
        total = {
            cc: {policy: known(session, cell, total_mbps).mean for policy, cell in found.items()}
            for cc, found in by_cc.items()
        }
        best = {cc: max(found, key=found.__getitem__) for cc, found in total.items()}
        near = all(
            abs(gain(found[best[CCS[0]]], found[best[CCS[1]]])) <= spec["within"]
            for found in total.values()
        )
        shown = [f"{cc}: {by_policy(found, '.2f')}" for cc, found in total.items()]
        return Finding(
            best[CCS[0]] == best[CCS[1]] or near, [f"{n}: {'; '.join(shown)} Mbit/s"], total
        )

    return gathered("stations", cells, with_stations)


@CLAIMS.check(
    "upload-beside",
    lambda _spec: {policy: Crowd(policy, upload=True) for policy in ("uni", "adapt-bi")},
)
def _upload(session: Session, spec: ClaimSpec, cells: Cells) -> Finding:
    total = {policy: known(session, cell, total_mbps).mean for policy, cell in cells.items()}
    share = known(session, cells["uni"], contention_share).mean
    more = gain(total["adapt-bi"], total["uni"])
    return Finding(
        share <= spec["share"] and more <= spec["gain"],
        [f"{share:.1%} of UNI's requests by contention; gain {more:+.1%}"],
        {"share": share, "gain": more},
    )


@CLAIMS.check(
    "short-transfers",
    lambda _spec: {
        (size, policy): Crowd(policy, size_kb=size)
        for size in SIZES_KB
        for policy in ("uni", "adapt-bi")
    },
)
def _short(session: Session, spec: ClaimSpec, cells: Cells) -> Finding:
    found = {place: known(session, cell, completion_ms).mean for place, cell in cells.items()}
    below = {size: 1 - found[size, "adapt-bi"] / found[size, "uni"] for size in SIZES_KB}
    shown = joined([f"{size} kB: {each:.1%}" for size, each in below.items()])
    return Finding(
        spec["low"] <= min(below.values()) and max(below.values()) <= spec["high"],
        [f"below by {shown}"],
        {f"{size}_kb": each for size, each in below.items()},
    )


# --- scheduling requests, grants at regular times ------------------------------------------------


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
def _scheduling(session: Session, spec: ClaimSpec, cells: Mapping[Any, Access]) -> Finding:
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
def _unsolicited(session: Session, _spec: ClaimSpec, cells: Mapping[Any, Access]) -> Finding:
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
