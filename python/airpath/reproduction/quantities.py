"""Quantities of a paper: named measures that produce estimates, rows, texts and table columns.

A paper defines each quantity once; its tables, figures and claims use the quantity.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from airpath.reproduction.base import Cell, Row
from airpath.reproduction.compare import NOT_SIMULATED, ColumnSet, number, percent, printed, spread
from airpath.reproduction.published import PublishedMean
from airpath.reproduction.session import Session
from airpath.reproduction.tolerance import Tolerance
from airpath.results.differences import paired_interval
from airpath.results.intervals import UNBOUNDED, Interval

__all__ = [
    "ComputedQuantity",
    "Improvement",
    "MeasuredQuantity",
    "PointQuantity",
    "PrintedQuantity",
    "RecordedQuantity",
    "batch_means",
    "bottleneck",
    "improvement",
    "ip_throughput_mbps",
    "utilisation",
]


def bottleneck(replication: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the measurements of the bottleneck's queue."""
    found: Mapping[str, Any] = next(
        queue for queue in replication["queues"] if queue["name"] == "bottleneck"
    )
    return found


def utilisation(replication: Mapping[str, Any]) -> float:
    """Return the share of the capacity of the bottleneck's link that was used."""
    found = next(link for link in replication["links"] if link["name"] == "bottleneck")
    return float(found["utilisation"])


def ip_throughput_mbps(replication: Mapping[str, Any]) -> float:
    """Return the rate of IP packets at the receivers of all flows, duplicates included, Mbit/s."""
    return float(sum(flow["ip_throughput_bps"] for flow in replication["flows"])) / 1e6


@dataclass(frozen=True)
class MeasuredQuantity:
    """Quantity that is measured in simulations.

    Parameters
    ----------
    name : str
        Name of the quantity: `Row.quantity`.
    unit : str
        Unit of the quantity.
    measure : callable
        Extracts the quantity from a replication's statistics.
    decimals : int
        Number of printed decimals.
    tolerance : Tolerance or callable, optional
        Accepted difference from the published number, or a function that takes the axis values of
        a point and returns it. Default: no tolerance.
    batch : int
        Number of runs from which the paper computed one number. Airpath's runs are divided into
        batches of this size, and `Row.extra` contains the mean of each batch, for example as
        ``means_of_20_runs``. Default 0: no batches.
    columns : ColumnSet, optional
        Columns of tables. Default: the published number, the computed number, the difference in per
        cent.
    bounds : pair of float
        The smallest and the largest possible value, at which confidence intervals are cut. Default:
        unbounded.
    """

    name: str
    unit: str
    measure: Callable[..., float]
    decimals: int
    tolerance: Tolerance | Callable[[Mapping[str, Any]], Tolerance] | None = None
    batch: int = 0
    columns: ColumnSet | None = None
    bounds: tuple[float, float] = UNBOUNDED

    def values(self, session: Session, cell: Cell) -> list[float]:
        """Return the number of each finished run of a cell."""
        return session.values(cell, self.measure)

    def estimate(self, session: Session, cell: Cell) -> Interval | None:
        """Return the mean over the runs of a cell; None if the cell was not simulated."""
        found = self.values(session, cell)
        return session.interval(found, self.bounds) if found else None

    def text(self, session: Session, cell: Cell) -> str:
        """Return the mean with its interval as text, or `NOT_SIMULATED`."""
        found = self.estimate(session, cell)
        if found is None:
            return NOT_SIMULATED
        return spread(found.mean, found.low, found.high, self.decimals)

    def row(
        self,
        session: Session,
        cell: Cell,
        place: Mapping[str, int | float | str],
        printed_mean: PublishedMean | None = None,
    ) -> Row:
        """Return the row of a cell; it has no computed number if the cell was not simulated.

        Parameters
        ----------
        session : Session
            Session with the simulations.
        cell : Cell
            The cell.
        place : mapping
            Entries that name the row.
        printed_mean : PublishedMean, optional
            The printed number. Default: none.
        """
        mean, ci = (None, None) if printed_mean is None else (printed_mean.mean, printed_mean.ci)
        tolerance = None if printed_mean is None else _at(self.tolerance, cell)
        about = (place, self.name, self.unit, mean, None, ci)
        row = Row(*about, tolerance=tolerance)
        found = self.estimate(session, cell)
        if found is None:
            return row
        extra: dict[str, Any] = {"replications": found.reps}
        if self.batch:
            batches = batch_means(self.values(session, cell), self.batch)
            extra[f"means_of_{self.batch}_runs"] = batches
        return row.with_computed(found, extra=extra)

    def shown(self) -> ColumnSet:
        """Return the columns of the quantity."""
        if self.columns is not None:
            return self.columns
        text = (printed(self.decimals), number(self.decimals), percent(1))
        return ColumnSet(
            self.name, f"{self.name}, {self.unit}", *text, ("paper", "Airpath", "diff %")
        )


@dataclass(frozen=True)
class RecordedQuantity(MeasuredQuantity):
    """Quantity that is measured in the statistics and the recorded series of a run.

    `measure` is a function of the session, the index of the run (from 0) and the cell
    (`formulas.of_run`).
    """

    def values(self, session: Session, cell: Cell) -> list[float]:
        """Return the number of each finished run of a cell."""
        key = (self.name, self.measure)
        return session.per_run(cell, key, lambda runs, run: self.measure(runs, run, cell))


@dataclass(frozen=True)
class ComputedQuantity:
    """Quantity that a model computes from the axis values of a point.

    Parameters
    ----------
    name, unit : str
        As in `MeasuredQuantity`.
    compute : callable
        Function of the axis values. Returns NaN if the quantity is not defined at the point.
    form : str
        Format specification for the number.
    extra : callable, optional
        Function of the session and the cell; returns `Row.extra`. Default: `Row.extra` is empty.
    tolerance, columns : optional
        As in `MeasuredQuantity`.
    """

    name: str
    unit: str
    compute: Callable[..., float]
    form: str
    extra: Callable[[Session, Cell], Mapping[str, Any]] = lambda _session, _cell: {}
    tolerance: Tolerance | Callable[[Mapping[str, Any]], Tolerance] | None = None
    columns: ColumnSet | None = None

    def value(self, _session: Session, cell: Any) -> float | None:
        """Return the number at a cell; None if there is none."""
        return _known(self.compute(cell.axes))

    def estimate(self, session: Session, cell: Any) -> Interval | None:
        """Return the number, without an interval."""
        found = self.value(session, cell)
        return None if found is None else session.interval([found])

    def text(self, session: Session, cell: Any) -> str:
        """Return the number as text; empty if there is none."""
        found = self.value(session, cell)
        return "" if found is None else format(found, self.form)

    def row(
        self,
        session: Session,
        cell: Any,
        place: Mapping[str, int | float | str],
        printed_mean: PublishedMean | None = None,
    ) -> Row:
        """Return the row of a cell; parameters as in `MeasuredQuantity.row`."""
        found = self.value(session, cell)
        mean, ci = (None, None) if printed_mean is None else (printed_mean.mean, printed_mean.ci)
        return Row(
            *(place, self.name, self.unit, mean, found),
            published_ci=ci,
            tolerance=None if printed_mean is None else _at(self.tolerance, cell),
            extra=self.extra(session, cell),
        )

    def shown(self) -> ColumnSet:
        """Return the columns of the quantity."""
        own = ColumnSet(self.name, f"{self.name}, {self.unit}", printed(4), number(4))
        return self.columns or own


@dataclass(frozen=True)
class PointQuantity(ComputedQuantity):
    """Quantity that is computed from all data of a point.

    `compute` is a function of the session and the cell. Figures show the quantity only at the
    points, not as a curve between them.
    """

    def value(self, session: Session, cell: Any) -> float | None:
        """Return the number at a cell; None if there is none."""
        return _known(self.compute(session, cell))


def _at(tolerance: Any, cell: Any) -> Tolerance | None:
    """Return the tolerance at a cell."""
    found: Tolerance | None = tolerance(cell.axes) if callable(tolerance) else tolerance
    return found


def _known(found: float) -> float | None:
    return None if isnan(found) else float(found)


@dataclass(frozen=True)
class PrintedQuantity:
    """Number that the paper prints for a point. Figures plot it like a measured number.

    Parameters
    ----------
    name, unit : str
        As in `MeasuredQuantity`.
    printed : callable
        Function of the axis values. Returns None if the paper prints no number.
    """

    name: str
    unit: str
    printed: Callable[[Mapping[str, Any]], PublishedMean | None]

    def estimate(self, session: Session, cell: Any) -> Interval | None:
        """Return the number with its interval; None if there is none."""
        found = self.printed(cell.axes)
        if found is None:
            return None
        mean, half = found
        return Interval(mean, mean - half, mean + half, session.paper.confidence, 1)


def batch_means(values: Sequence[float], size: int) -> list[float]:
    """Return the means of consecutive batches of `size` values; an incomplete batch is omitted."""
    ends = range(size, len(values) + 1, size)
    return [sum(values[end - size : end]) / size for end in ends]


# --- comparison of two cells -------------------------------------------------------------------


@dataclass(frozen=True)
class Improvement:
    """Change of a quantity between two mechanisms.

    Parameters
    ----------
    per_cent : float
        Change of the mean, per cent.
    significant : bool
        Whether the confidence interval of the paired differences excludes 0.
    per_cent_of_batches : list of float
        Change of the mean of each batch of runs, per cent.
    interval : tuple of float
        Confidence interval of the mean paired difference, per cent of the first cell's mean. NaN if
        there is only one run.
    """

    per_cent: float
    significant: bool
    per_cent_of_batches: list[float]
    interval: tuple[float, float]


def improvement(
    session: Session, cell: Cell, other: Cell, quantity: MeasuredQuantity
) -> Improvement | None:
    """Return the change of a quantity between two cells; None if one of the cells has no runs."""
    changed, base_values = (quantity.values(session, each) for each in (cell, other))
    if not changed or not base_values:
        return None
    difference = paired_interval(base_values, changed, session.paper.confidence)
    base = sum(base_values) / len(base_values)
    batches = (batch_means(each, quantity.batch or len(each)) for each in (changed, base_values))
    return Improvement(
        100 * ((sum(changed) / len(changed)) / base - 1),
        difference.low > 0 or difference.high < 0,
        [100 * (a / b - 1) for a, b in zip(*batches, strict=False)],
        (difference.low / (base / 100), difference.high / (base / 100)),
    )
