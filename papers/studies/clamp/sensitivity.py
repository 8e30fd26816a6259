"""The paper's claims with one choice of its README.md changed, or with another delay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from airpath.reproduction.base import Row, Table
from airpath.reproduction.claim import Finding
from airpath.reproduction.formulas import Criterion, Point
from airpath.reproduction.items import Found
from airpath.reproduction.session import Session
from airpath_papers.clamp.claims import CLAIMS, MEASURES
from airpath_papers.clamp.measures import FLOWS_MS

from .scenarios import SWEEPS

__all__ = ["found"]


def points_with(change: str, speed: str, protocol: str) -> list[Point]:
    """Return a sweep over knob values with a change; ``""``: the same values without a change."""
    if change:
        return SWEEPS.points("sensitivity", change=change, speed=speed, protocol=protocol)
    knobs = SWEEPS.points("sensitivity", speed=speed, protocol=protocol)
    chosen = tuple(dict.fromkeys(point.place["knob_bytes"] for point in knobs))
    place: dict[str, Any] = {"speed": speed, "protocol": protocol, "low_rate": False}
    return SWEEPS.points("sweeps", **place, knob_bytes=chosen)


class Evaluation(NamedTuple):
    """Evaluation of a claim: its sweeps, and the numbers in its rows.

    Parameters
    ----------
    fast : bool
        Whether the sweeps are at high speed.
    both : bool
        Whether the claim also has a sweep of New Reno.
    kept : mapping
        Numbers in rows: name and unit, with the path of the number in the criterion's findings.
    """

    fast: bool
    both: bool
    kept: Mapping[tuple[str, str], Sequence[Any]]

    def points(self, change: str) -> list[Point]:
        """Return the points of the sweeps with a change; without a change, the chosen points."""
        speed = "fast" if self.fast else "slow"
        return [
            point
            for protocol in ("CLAMP", "New Reno")[: 1 + self.both]
            for point in points_with(change, speed, protocol)
        ]


EVALUATIONS: Final[Mapping[str, Evaluation]] = {
    "clamp-slow": Evaluation(
        False, False, {(f"throughput_{flow}", "Mbit/s"): (f"rate_{flow}",) for flow in FLOWS_MS}
    ),
    "clamp-fast": Evaluation(
        True,
        False,
        {
            (f"{name}_{ms}ms", "1"): (name, f"{ms:.1f}")
            for ms in CLAIMS.specs["clamp-fast"]["delays_ms"]
            for name in ("queues_off", "flows_apart")
        },
    ),
    "timeouts": Evaluation(
        True,
        False,
        {
            (f"timeouts_10_{ms}ms", "1/s"): (name, f"{ms:.1f}")
            for name, delays_ms in (("of_10", (50, 75)), ("later", (100, 150)))
            for ms in delays_ms
        },
    ),
    "less-fair-with-delay": Evaluation(
        True,
        False,
        {
            (f"ratio_{ms}ms", "1"): ("ratio", f"{ms:.1f}")
            for ms in CLAIMS.specs["less-fair-with-delay"]["delays_ms"]
        },
    ),
    "download": Evaluation(False, True, {("download_time_ratio", "1"): ("times",)}),
}
"""Claims that are evaluated with changes, by key."""

BY_WAIT: Final = (
    *("tcp-rtt", "clamp-fast", "clamp-slow", "fairer", "timeouts", "less-fair-with-delay"),
    *("totals", "download", "knobs", "low-rate", "knee", "faster-fading"),
)
"""Keys of claims that are also evaluated at equal mean sojourn times."""

WAIT: Final = "the delay ends with the start of service (mean sojourn time)"

NAMED: Final = {"": "as chosen", **SWEEPS.changes("sensitivity")}
"""Descriptions of the changes."""


def _rows(variant: str, key: str, values: Mapping[str, Any]) -> list[Row]:
    rows = []
    for (quantity, unit), place in EVALUATIONS[key].kept.items():
        found: Any = values
        for name in place:
            found = found[name]
        about = {"variant": variant or "as chosen", "claim": key}
        rows.append(Row(about, quantity, unit, None, float(found)))
    return rows


def _waited(key: str) -> Criterion:
    """Return the criterion of a claim at equal mean sojourn times."""
    measures = {**MEASURES, "queueing_ms": MEASURES["sojourn_ms"]}
    return replace(CLAIMS.criterion(key), known=measures)


def _lines(about: str, key: str, found: Finding) -> list[list[str]]:
    """Return the table lines of a claim."""
    first, *more = found.measured
    # The finding is empty if the sweep does not cover the delays.
    holds = ("yes" if found.holds else "no") if found.values else "-"
    return [[about, key, holds, first], *(["", "", "", line] for line in more)]


def found(session: Session, title: str) -> Found:
    """Return rows and table of the claims, with changes and at equal mean sojourn times."""
    rows: list[Row] = []
    lines: list[list[str]] = []
    for name, about in NAMED.items():
        for key, evaluation in EVALUATIONS.items():
            criterion = replace(CLAIMS.criterion(key), points=evaluation.points(name))
            finding = criterion.find(session)
            lines += _lines(about, key, finding)
            rows += _rows(name, key, finding.values) if finding.values else []
    for key in BY_WAIT:
        lines += _lines(WAIT, key, _waited(key).find(session))
    columns = [("", "changed"), ("", "claim"), ("", "holds"), ("", "measured")]
    notes = [
        "Of the variants half of the runs (of two or one: of their length), over some knobs; "
        "at equal sojourn times every run."
    ]
    return rows, [Table(title, columns, lines, notes)]
