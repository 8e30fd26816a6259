"""Distributions over packets and transfers, pooled over replications."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from airpath.arguments import check_all, error_prefix, fraction
from airpath.engine.resolved import ResolvedScenario
from airpath.errors import BadValueError
from airpath.results.applications import application_groups
from airpath.results.intervals import POSITIVE, SHARE, mean_interval
from airpath.results.quantities import resolution
from airpath.results.transfers import ALL_SIZES, SizeClass, transfer_groups, transfers_of
from airpath.results.users import queues_at

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "LEVELS",
    "QUANTITIES",
    "Counts",
    "Distribution",
    "checked_levels",
    "counts_of",
    "default_owner",
    "owners",
]

LEVELS = (0.5, 0.9, 0.95, 0.99)
"""Default levels of quantiles."""

QUANTITIES = {
    "sojourn": ("sojourn time", "packets", "s"),
    "delay": ("one-way delay", "packets", "s"),
    "ack_delay": ("one-way delay of ACKs", "ACKs", "s"),
    "completion_time": ("completion time", "transfers", "s"),
    "slowdown": ("slowdown", "transfers", ""),
    "object_load_time": ("object load time", "objects", "s"),
    "page_load_time": ("page load time", "pages", "s"),
}
"""Maps each quantity to its readable name, the name of the counted objects, and the unit."""

_OF_PACKETS = ("sojourn", "delay", "ack_delay")
_OF_CLIENTS = {"object_load_time": "object_s", "page_load_time": "page_s"}
"""Maps the times of clients that request objects to their lists in the reports."""
_NS = 1e9

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Counts:
    """Histogram of the values of one or several replications.

    Parameters
    ----------
    bucket : ndarray of int
        Indices of the buckets, ascending. An index means the same bucket in all replications.
    least, greatest : ndarray
        Smallest and largest value in each bucket.
    count : ndarray of int
        Number of values in each bucket, above 0.
    """

    bucket: npt.NDArray[np.int64]
    least: Floats
    greatest: Floats
    count: npt.NDArray[np.int64]

    @classmethod
    def of_values(cls, values: Floats) -> Counts:
        """Return the histogram of values, with a bucket for each distinct value."""
        known = np.sort(values[~np.isnan(values)])
        distinct, count = np.unique(known, return_counts=True)
        return cls(np.round(distinct * _NS).astype(np.int64), distinct, distinct, count)

    @classmethod
    def pooled(cls, several: Sequence[Counts]) -> Counts:
        """Return the sum of several histograms."""
        numbers = np.concatenate([each.bucket for each in several] or [np.array([], np.int64)])
        bucket, place = np.unique(numbers, return_inverse=True)
        least, greatest = np.full(len(bucket), np.inf), np.full(len(bucket), -np.inf)
        count = np.zeros(len(bucket), np.int64)
        if several:
            np.minimum.at(least, place, np.concatenate([each.least for each in several]))
            np.maximum.at(greatest, place, np.concatenate([each.greatest for each in several]))
            np.add.at(count, place, np.concatenate([each.count for each in several]))
        return cls(bucket, least, greatest, count)

    @property
    def total(self) -> int:
        """Number of values."""
        return int(self.count.sum())

    def cdf(self, values: npt.ArrayLike) -> Floats:
        """Return the share of counted values up to each of `values`; NaN if nothing is counted."""
        if not self.total:
            return np.full(np.shape(values), math.nan)
        given = np.asarray(values, dtype=float)
        before = np.concatenate(([0], np.cumsum(self.count)))
        place = np.searchsorted(self.greatest, given, side="right")
        inside = np.minimum(place, len(self.count) - 1)
        width = self.greatest[inside] - self.least[inside]
        above = np.clip(given - self.least[inside], 0.0, None)
        part = np.divide(above, width, out=np.zeros_like(above), where=width > 0)
        part = np.where(place < len(self.count), np.minimum(part, 1.0), 0.0)
        found: Floats = (before[place] + part * self.count[inside]) / self.total
        return found

    def quantile(self, level: float) -> float:
        """Return the smallest x such that a share `level` of the values is at most x, or NaN.

        Within a bucket, values are assumed to be evenly spaced from the smallest to the largest
        value.
        """
        if not self.total:
            return math.nan
        rank = max(math.ceil(level * self.total), 1)
        until = np.cumsum(self.count)
        place = int(np.searchsorted(until, rank))
        count = int(self.count[place])
        share = (rank - (int(until[place]) - count) - 1) / max(count - 1, 1)
        least, greatest = float(self.least[place]), float(self.greatest[place])
        return least + share * (greatest - least)


class Distribution:
    """Distribution over packets or transfers, from the end of the warm-up on.

    The values of all replications are pooled. Confidence intervals belong to the mean over the
    replications.

    Parameters
    ----------
    quantity : str
        One of `QUANTITIES`.
    of : str
        The queue, the group of flows or transfers, or ``all``.
    by_replication : sequence of Counts
        Histogram of each replication.
    confidence : float
        Confidence of the intervals, in (0, 1).
    """

    def __init__(
        self, quantity: str, of: str, by_replication: Sequence[Counts], confidence: float
    ) -> None:
        self.quantity = quantity
        self.of = of
        self.by_replication = [each for each in by_replication if each.total]
        self.confidence = confidence

    def __repr__(self) -> str:
        name, over, _ = QUANTITIES[self.quantity]
        runs = f"{self.reps} replication{'' if self.reps == 1 else 's'}"
        return f"<Distribution of {name}, {self.of}: {self.total} {over} of {runs}>"

    @cached_property
    def pooled(self) -> Counts:
        """Histogram of all replications together."""
        return Counts.pooled(self.by_replication)

    @property
    def total(self) -> int:
        """Number of packets or transfers in all replications."""
        return self.pooled.total

    @property
    def reps(self) -> int:
        """Number of replications with at least one value."""
        return len(self.by_replication)

    def quantile(self, level: float) -> float:
        """Return a quantile of the pooled values.

        Parameters
        ----------
        level : float
            Level in (0, 1).

        Returns
        -------
        quantile : float
            Quantile in the unit of the quantity; NaN without values.

        Raises
        ------
        BadValueError
            If the level is not in (0, 1).
        """
        check_all(fraction("level", level))
        return self.pooled.quantile(level)

    def quantiles(self, levels: Sequence[float] = LEVELS) -> pd.DataFrame:
        """Return quantiles of the pooled values, with confidence intervals over the replications.

        Parameters
        ----------
        levels : sequence of float
            Levels in (0, 1). Default 0.5, 0.9, 0.95 and 0.99.

        Returns
        -------
        quantiles : DataFrame
            Columns ``level`` and ``pooled`` (the quantile of the pooled values), and ``mean``,
            ``low`` and ``high`` of the quantiles of the replications.

        Raises
        ------
        BadValueError
            If a level is not in (0, 1).
        """
        import pandas as pd

        rows = []
        for level in checked_levels(levels):
            each = [counts.quantile(level) for counts in self.by_replication]
            within = resolution("p50_delay_s") if self.quantity in _OF_PACKETS else 0.0
            over = mean_interval(each, self.confidence, POSITIVE, within)
            row = {"level": level, "pooled": self.pooled.quantile(level)}
            rows.append({**row, "mean": over.mean, "low": over.low, "high": over.high})
        return pd.DataFrame(rows, columns=["level", "pooled", "mean", "low", "high"])

    def cdf(self) -> pd.DataFrame:
        """Return the empirical distribution function of the pooled values, with a confidence band.

        Returns
        -------
        cdf : DataFrame
            Columns ``value``, ``cdf`` (the share of values up to ``value``), and ``low`` and
            ``high``, the pointwise confidence interval of the mean of this share over the
            replications (NaN for fewer than two replications). There are rows for the smallest and
            the largest value of each bucket.
        """
        import pandas as pd

        pooled = self.pooled
        value = np.unique(np.concatenate([pooled.least, pooled.greatest]))
        each = np.array([counts.cdf(value) for counts in self.by_replication])
        columns = each.T.tolist() if len(each) else []
        bands = [mean_interval(column, self.confidence, SHARE) for column in columns]
        return pd.DataFrame(
            {
                "value": value,
                "cdf": pooled.cdf(value) if pooled.total else [],
                "low": [band.low for band in bands],
                "high": [band.high for band in bands],
            }
        )


def checked_levels(levels: object) -> list[float]:
    """Return the levels of quantiles as a list, after a check.

    Raises
    ------
    BadValueError
        If a level is not a number in (0, 1).
    """
    given: list[Any] = list(levels) if isinstance(levels, (list, tuple)) else [levels]
    check_all(*(fraction("levels", level) for level in given))
    return given


# --- replications --------------------------------------------------------------------------------


def counts_of(
    resolved: ResolvedScenario, run: Mapping[str, Any], quantity: str, of: str | None
) -> Counts:
    """Return the histogram of a quantity in one replication.

    Parameters
    ----------
    resolved : ResolvedScenario
        The resolved scenario.
    run : mapping
        Measurements of the replication.
    quantity : str
        One of `QUANTITIES`.
    of : str or None
        Queue or group, as in `Result.distribution`.

    Raises
    ------
    BadValueError
        If the quantity was not recorded, or there is no such queue or group.
    """
    if quantity in _OF_CLIENTS:
        return _of_clients(resolved, run, quantity, of)
    if quantity not in _OF_PACKETS:
        return _of_transfers(resolved, run, quantity, of)
    if quantity not in resolved.recording.distributions:
        raise BadValueError(
            f"{error_prefix('quantity', quantity)}: not recorded. Set record.distributions = "
            f'["{quantity}"].'
        )
    entries = [each for each in run.get("distributions", ()) if each["quantity"] == quantity]
    known = {each["of"] for each in entries}
    if quantity == "sojourn":
        names = [queue["name"] for queue in run["queues"]]
        wanted = queues_at(names, of or resolved.bottleneck.name)
    elif of is None:
        wanted = sorted(known)
    else:
        wanted = [str(resolved.flows.group_of(of))]
    if not known.issuperset(wanted):
        raise _unknown(resolved, run, quantity, of)
    return Counts.pooled([_counts(each) for each in entries if each["of"] in wanted])


def default_owner(resolved: ResolvedScenario, quantity: str) -> str:
    """Return the default `of` of `Result.distribution`: the bottleneck, or all flows."""
    return resolved.bottleneck.name if quantity == "sojourn" else "all"


def owners(resolved: ResolvedScenario, run: Mapping[str, Any], quantity: str) -> Iterator[str]:
    """Yield the names of the queues or groups that have a distribution of a quantity."""
    if quantity == "sojourn":
        yield from (queue["name"] for queue in run["queues"])
        return
    if quantity in _OF_PACKETS:
        groups: Iterable[int] = resolved.flows.groups
    elif quantity in _OF_CLIENTS:
        groups = application_groups(resolved, "requests")
    else:
        groups = transfer_groups(resolved)
    yield from map(resolved.flows.group_key, groups)


def _counts(entry: Mapping[str, Any]) -> Counts:
    return Counts(
        np.array(entry["bucket"], dtype=np.int64),
        np.array(entry["least_s"], dtype=float),
        np.array(entry["greatest_s"], dtype=float),
        np.array(entry["count"], dtype=np.int64),
    )


def _of_clients(
    resolved: ResolvedScenario, run: Mapping[str, Any], quantity: str, of: str | None
) -> Counts:
    groups = application_groups(resolved, "requests")
    group = None if of is None else resolved.flows.group_of(of)
    if not groups or (of is not None and group not in groups):
        raise _unknown(resolved, run, quantity, of)
    chosen = groups.values() if group is None else [groups[group]]
    members = {number for numbers in chosen for number in numbers}
    reports = [report for report in run["requests"] if report["flow"] in members]
    times = [time for report in reports for time in report[_OF_CLIENTS[quantity]]]
    return Counts.of_values(np.array(times, dtype=float))


def _of_transfers(
    resolved: ResolvedScenario, run: Mapping[str, Any], quantity: str, of: str | None
) -> Counts:
    groups = transfer_groups(resolved)
    key, _, name = (of or "").partition(".")
    which = SizeClass.named(name) if name else ALL_SIZES
    group = resolved.flows.group_of(key) if key else None
    if not groups or which is None or (of is not None and group not in groups):
        raise _unknown(resolved, run, quantity, of)
    chosen = groups.values() if group is None else [groups[group]]
    members = [number for numbers in chosen for number in numbers]
    found = transfers_of(resolved, run, members).of_class(which)
    return Counts.of_values(found.time_s if quantity == "completion_time" else found.slowdown)


def _unknown(
    resolved: ResolvedScenario, run: Mapping[str, Any], quantity: str, of: str | None
) -> BadValueError:
    known = " or ".join(owners(resolved, run, quantity))
    if of is None or not known:
        what = "the scenario has none. Use another quantity"
        return BadValueError(f"{error_prefix('quantity', quantity)}: {what}.")
    accepted = f"Use {known}"
    return BadValueError(f"{error_prefix('of', of)}: does not exist. {accepted}.")
