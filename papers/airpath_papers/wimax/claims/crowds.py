"""Stations that share the uplink: what the text says (wimax-2009 §2.2), and hypotheses of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from airpath.reproduction.claims import ClaimSpec, Finding, gathered, joined, known
from airpath.reproduction.session import Session
from airpath_papers.wimax.claims.common import CLAIMS, by_policy, gain
from airpath_papers.wimax.crowds import COLLIDING, COUNTS, SIZES_KB, Crowd
from airpath_papers.wimax.data import NAMES, POLICIES
from airpath_papers.wimax.measures import (
    MAC_DELAY,
    DelayDistribution,
    collided_share,
    completion_ms,
    contention_share,
    timeouts,
    total_mbps,
)

Cells = Mapping[Any, Crowd]

CCS: Final = ("newreno", "cubic")


def _crowds(*policies: str, counts: tuple[int, ...] = COUNTS) -> dict[tuple[int, str], Crowd]:
    return {(n, policy): Crowd(policy, n) for n in counts for policy in policies}


@CLAIMS.check("collisions-time-out", lambda _spec: COLLIDING)
def _collisions(session: Session, _spec: ClaimSpec, cells: Cells) -> Finding:
    found = {policy: known(session, cell, timeouts).mean for policy, cell in cells.items()}
    shares = {policy: known(session, cell, collided_share).mean for policy, cell in cells.items()}
    shown = [
        f"{NAMES[policy]}: {found[policy]:.1f} time-outs in a run, {shares[policy]:.1%} of the "
        "codes collide"
        for policy in cells
    ]
    return Finding(
        found["uni"] > 0 and found["adapt-bi"] == 0,
        shown,
        {"timeouts": found, "collided": shares},
    )


@CLAIMS.check("few-hundred-ms", lambda _spec: [Crowd("uni", COUNTS[-1])])
def _few_hundred(session: Session, spec: ClaimSpec, cells: list[Crowd]) -> Finding:
    found = DelayDistribution(session, cells[0])
    longer, most = 1 - found.at(spec["from_ms"]), found.quantile(spec["share"])
    return Finding(
        spec["least"] <= longer <= spec["most"] and most <= spec["to_ms"],
        [f"{longer:.2%} longer than {spec['from_ms']:g} ms; {spec['share']:.1%} up to {most:.0f}"],
        {"longer": longer, "most_ms": most},
    )


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
