"""Quality of applications by group of flows: voice calls, video clients and web pages.

Each kind of application has a table with the same name. A row aggregates the flows of a group in
one replication.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from airpath.engine.resolved import ResolvedScenario

__all__ = [
    "APPLICATIONS",
    "Application",
    "application_groups",
    "application_rows",
    "group_quality",
]

Reports = Sequence[Mapping[str, Any]]
"""Reports of the flows of a group, as the engine writes them."""


@dataclass(frozen=True)
class Application:
    """A kind of application whose quality is measured.

    Parameters
    ----------
    title : str
        Title of the table.
    quantities : mapping
        Maps each quantity to the function that computes its value for a group.
    columns : mapping
        Maps the columns of the terminal's table to a quantity, the factor and the number of
        decimals of its displayed value, and its unit.
    shown : tuple of str
        The two quantities of the figure.
    """

    title: str
    quantities: Mapping[str, Callable[[Reports], float | None]]
    columns: Mapping[str, tuple[str, float, int, str]]
    shown: tuple[str, str]

    def format_of(self, quantity: str) -> tuple[float, str]:
        """Return the factor and the unit of the displayed values of a quantity."""
        rows = self.columns.values()
        return next((factor, unit) for name, factor, _, unit in rows if name == quantity)


def _mean(name: str) -> Callable[[Reports], float | None]:
    """Return the mean of a quantity over the flows that have a value."""

    def of(reports: Reports) -> float | None:
        known = [report[name] for report in reports if report.get(name) is not None]
        return math.fsum(known) / len(known) if known else None

    return of


def _share(part: str, *whole: str) -> Callable[[Reports], float | None]:
    """Return the sum of `part` over all flows, divided by the sum of `whole`."""

    def of(reports: Reports) -> float | None:
        total = math.fsum(report[name] for report in reports for name in whole)
        return math.fsum(report[part] for report in reports) / total if total else None

    return of


def _count(reports: Reports) -> float | None:
    return float(len(reports))


_VOICE = Application(
    "Voice calls",
    {
        "calls": _count,
        "mouth_to_ear_s": _mean("mouth_to_ear_s"),
        "loss_ratio": _share("lost_packets", "played_packets", "lost_packets"),
        "late_ratio": _share("late_packets", "played_packets", "lost_packets"),
        "burst_ratio": _mean("burst_ratio"),
        "rating": _mean("rating"),
        "mos": _mean("mos"),
    },
    {
        "calls": ("calls", 1, 0, ""),
        "mouth to ear": ("mouth_to_ear_s", 1e3, 1, "ms"),
        "loss": ("loss_ratio", 100, 2, "%"),
        "late": ("late_ratio", 100, 2, "%"),
        "R": ("rating", 1, 1, ""),
        "MOS": ("mos", 1, 2, ""),
    },
    ("mos", "mouth_to_ear_s"),
)

_VIDEO = Application(
    "Video clients",
    {
        "clients": _count,
        "bitrate_bps": _mean("bitrate_bps"),
        "stalls": _mean("stalls"),
        "stall_s": _mean("stall_s"),
        "stall_ratio": _share("stall_s", "stall_s", "played_s"),
        "switches": _mean("switches"),
        "segments": _mean("segments"),
        "startup_s": _mean("startup_s"),
    },
    {
        "clients": ("clients", 1, 0, ""),
        "bitrate": ("bitrate_bps", 1e-6, 3, "Mbit/s"),
        "stalls": ("stalls", 1, 1, ""),
        "stalled": ("stall_ratio", 100, 2, "%"),
        "switches": ("switches", 1, 1, ""),
        "start-up": ("startup_s", 1, 2, "s"),
    },
    ("bitrate_bps", "stall_ratio"),
)

_LEVELS = {"median": 0.5, "p95": 0.95, "p99": 0.99}


def _times(name: str, level: str) -> Callable[[Reports], float | None]:
    """Return the mean or a quantile of the times of all flows together."""

    def of(reports: Reports) -> float | None:
        known = [value for report in reports for value in report[name]]
        if not known:
            return None
        if level == "mean":
            return math.fsum(known) / len(known)
        return float(np.quantile(known, _LEVELS[level]))

    return of


def _number_of(name: str) -> Callable[[Reports], float | None]:
    return lambda reports: float(sum(len(report[name]) for report in reports))


def _given_up(reports: Reports) -> float | None:
    """Return the number of clients that gave up a page."""
    return float(sum("given_up_s" in report for report in reports))


def _mean_given_up_s(reports: Reports) -> float | None:
    """Return the mean time until a page was given up."""
    known = [report["given_up_s"] for report in reports if "given_up_s" in report]
    return math.fsum(known) / len(known) if known else None


_REQUESTS = Application(
    "Requests",
    {
        "clients": _count,
        "objects": _number_of("object_s"),
        **{f"{level}_object_s": _times("object_s", level) for level in ("mean", *_LEVELS)},
        "pages": _number_of("page_s"),
        **{f"{level}_page_s": _times("page_s", level) for level in ("mean", *_LEVELS)},
        "given_up_pages": _given_up,
        "mean_given_up_s": _mean_given_up_s,
    },
    {
        "clients": ("clients", 1, 0, ""),
        "objects": ("objects", 1, 1, ""),
        "median": ("median_object_s", 1, 3, "s"),
        "p99": ("p99_object_s", 1, 3, "s"),
        "pages": ("pages", 1, 1, ""),
        "median of pages": ("median_page_s", 1, 3, "s"),
        "p99 of pages": ("p99_page_s", 1, 3, "s"),
    },
    ("median_page_s", "p99_page_s"),
)

APPLICATIONS: Mapping[str, Application] = {
    "voice": _VOICE,
    "video": _VIDEO,
    "requests": _REQUESTS,
}
"""Maps the name of each table to its kind of application."""


def application_groups(resolved: ResolvedScenario, name: str) -> dict[int, list[int]]:
    """Map each group with the application `name` to the indices of its flows."""
    groups: dict[int, list[int]] = {}
    for numbers, entry in resolved.flows.ranges():
        if entry.source.application == name:
            groups.setdefault(entry.group, []).extend(numbers)
    return groups


def group_quality(
    run: Mapping[str, Any], name: str, members: Sequence[int]
) -> dict[str, float | None]:
    """Map the quantities of the application `name` to their values for the flows `members`."""
    inside = set(members)
    reports = [report for report in run.get(name, ()) if report["flow"] in inside]
    return {key: of(reports) for key, of in APPLICATIONS[name].quantities.items()}


def application_rows(
    resolved: ResolvedScenario, runs: Sequence[Mapping[str, Any]], name: str
) -> Iterator[dict[str, Any]]:
    """Yield a row for each replication and group with the application `name`."""
    groups, names = application_groups(resolved, name), resolved.flows.group_names
    for run in runs:
        for group, members in groups.items():
            title = {"name": names.get(group, "")} if names else {}
            quality = group_quality(run, name, members)
            yield {"replication": run["replication"], "group": group, **title, **quality}
