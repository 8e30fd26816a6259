"""Measurements of the users of cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from airpath.engine.vocabulary import names
from airpath.results.fairness import jain_of

__all__ = ["USER_QUANTITIES", "jain_of_users", "user_measurements", "user_rows"]

USER_QUANTITIES = names("user")
"""Quantities measured for each user of a cell, in the order of the table columns."""


def user_rows(replications: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield a row for each user of each cell and replication."""
    for run in replications:
        for user in run.get("users", ()):
            yield {
                "replication": run["replication"],
                "link": user["link"],
                "user": user["user"],
            } | {name: user[name] for name in USER_QUANTITIES}


def user_measurements(
    replications: Iterable[Mapping[str, Any]],
) -> dict[tuple[str, int], list[Mapping[str, Any]]]:
    """Map each pair of link and user to its measurements, one for each replication."""
    found: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for run in replications:
        for user in run.get("users", ()):
            found.setdefault((user["link"], user["user"]), []).append(user)
    return found


def jain_of_users(run: Mapping[str, Any], link: str) -> float:
    """Return Jain's index of the throughputs of the users of a cell in one replication."""
    got = [user["throughput_bps"] for user in run["users"] if user["link"] == link]
    return jain_of(got)
