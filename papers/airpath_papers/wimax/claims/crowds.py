"""Stations that share the uplink: what the text says (wimax-2009 §2.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airpath.reproduction.claims import ClaimSpec, Finding, known
from airpath.reproduction.session import Session
from airpath_papers.wimax.claims.common import CLAIMS
from airpath_papers.wimax.crowds import COLLIDING, COUNTS, Crowd
from airpath_papers.wimax.data import NAMES
from airpath_papers.wimax.measures import DelayDistribution, collided_share, timeouts

Cells = Mapping[Any, Crowd]


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
