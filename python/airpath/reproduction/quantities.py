"""Quantities: how a paper calls a measure, and rows, texts and columns of it.

A paper names its quantities once; tables, figures and claims take estimates and rows from them.
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
from airpath.results.intervals import Interval

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
]


def bottleneck(replication: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the measurements of the bottleneck's queue."""
    found: Mapping[str, Any] = next(
        queue for queue in replication["queues"] if queue["name"] == "bottleneck"
    )
    return found


def ip_throughput_mbps(replication: Mapping[str, Any]) -> float:
    """IP packets that reach the receivers of all flows, duplicates included, Mbit/s."""
    return float(sum(flow["ip_throughput_bps"] for flow in replication["flows"])) / 1e6


@dataclass(frozen=True)
class MeasuredQuantity:
    """A quantity that is read off simulations.

    Parameters
    ----------
    name : str
        What it is called: `Row.quantity`.
    unit : str
        Its unit.
    measure : callable
        Takes it out of a replication's statistics.
    decimals : int
        How many are printed.
    tolerance : Tolerance or callable, optional
        Accepted difference from the published number, or a function of the values by axis.
        Default: not judged.
    batch : int
        Runs of the paper for one number, from 1: a row has the means of that many of our runs each,
        as ``means_of_20_runs``. Default 0: none.
    columns : ColumnSet, optional
        Of a table. Default: the published and the computed number, the difference in per cent.
    """

    name: str
    unit: str
    measure: Callable[..., float]
    decimals: int
    tolerance: Tolerance | Callable[[Mapping[str, Any]], Tolerance] | None = None
    batch: int = 0
    columns: ColumnSet | None = None

    def values(self, session: Session, cell: Cell) -> list[float]:
        """Return the number of each finished run of a cell."""
        return session.values(cell, self.measure)

    def estimate(self, session: Session, cell: Cell) -> Interval | None:
        """Return the mean over the runs of a cell; None when it was not simulated."""
        found = self.values(session, cell)
        return session.interval(found) if found else None

    def text(self, session: Session, cell: Cell) -> str:
        """Return the mean with its ±, or that there is none."""
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
        """Return the row of a cell; without a computed number if it was not simulated.

        Parameters
        ----------
        session : Session
            Has the simulations.
        cell : Cell
            Which scenario.
        place : mapping
            What names the row.
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
        """Return the columns of it."""
        if self.columns is not None:
            return self.columns
        text = (printed(self.decimals), number(self.decimals), percent(1))
        return ColumnSet(
            self.name, f"{self.name}, {self.unit}", *text, ("paper", "Airpath", "diff %")
        )


@dataclass(frozen=True)
class RecordedQuantity(MeasuredQuantity):
    """A quantity that is read off a run and its recorded series.

    `measure` gets the session, the number of the run and the cell (`formulas.of_run`).
    """

    def values(self, session: Session, cell: Cell) -> list[float]:
        """Return the number of each finished run of a cell."""
        key = (self.name, self.measure)
        return session.per_run(cell, key, lambda runs, run: self.measure(runs, run, cell))


@dataclass(frozen=True)
class ComputedQuantity:
    """A quantity that follows from the values of a point: a model.

    Parameters
    ----------
    name, unit : str
        As of `MeasuredQuantity`.
    compute : callable
        Gets the values by axis. Returns NaN where there is no number.
    form : str
        How it is written, a specification of `format`.
    extra : callable, optional
        Gets the session and the cell; returns `Row.extra`. Default: nothing.
    tolerance, columns : optional
        As of `MeasuredQuantity`.
    """

    name: str
    unit: str
    compute: Callable[..., float]
    form: str
    extra: Callable[[Session, Cell], Mapping[str, Any]] = lambda _session, _cell: {}
    tolerance: Tolerance | Callable[[Mapping[str, Any]], Tolerance] | None = None
    columns: ColumnSet | None = None

    def value(self, _session: Session, cell: Any) -> float | None:
        """Return the number at a cell; None where there is none."""
        return _known(self.compute(cell.axes))

    def estimate(self, session: Session, cell: Any) -> Interval | None:
        """Return the number, without an interval."""
        found = self.value(session, cell)
        return None if found is None else session.interval([found])

    def text(self, session: Session, cell: Any) -> str:
        """Return the number as text; empty where there is none."""
        found = self.value(session, cell)
        return "" if found is None else format(found, self.form)

    def row(
        self,
        session: Session,
        cell: Any,
        place: Mapping[str, int | float | str],
        printed_mean: PublishedMean | None = None,
    ) -> Row:
        """Return the row of a cell; parameters as of `MeasuredQuantity.row`."""
        found = self.value(session, cell)
        mean, ci = (None, None) if printed_mean is None else (printed_mean.mean, printed_mean.ci)
        return Row(
            *(place, self.name, self.unit, mean, found),
            published_ci=ci,
            tolerance=None if printed_mean is None else _at(self.tolerance, cell),
            extra=self.extra(session, cell),
        )

    def shown(self) -> ColumnSet:
        """Return the columns of it."""
        own = ColumnSet(self.name, f"{self.name}, {self.unit}", printed(4), number(4))
        return self.columns or own


@dataclass(frozen=True)
class PointQuantity(ComputedQuantity):
    """A quantity that follows from all that is known of a point.

    `compute` gets the session and the cell. Figures have it at the points only.
    """

    def value(self, session: Session, cell: Any) -> float | None:
        """Return the number at a cell; None where there is none."""
        return _known(self.compute(session, cell))


def _at(tolerance: Any, cell: Any) -> Tolerance | None:
    """Return the tolerance at a cell."""
    found: Tolerance | None = tolerance(cell.axes) if callable(tolerance) else tolerance
    return found


def _known(found: float) -> float | None:
    return None if isnan(found) else float(found)


@dataclass(frozen=True)
class PrintedQuantity:
    """A number that the paper prints of a point, drawn like a measured one.

    Parameters
    ----------
    name, unit : str
        As of `MeasuredQuantity`.
    printed : callable
        Gets the values by axis. Returns None where there is no number.
    """

    name: str
    unit: str
    printed: Callable[[Mapping[str, Any]], PublishedMean | None]

    def estimate(self, session: Session, cell: Any) -> Interval | None:
        """Return the number with its interval; None where there is none."""
        found = self.printed(cell.axes)
        if found is None:
            return None
        mean, half = found
        return Interval(mean, mean - half, mean + half, session.paper.confidence, 1)


def batch_means(values: Sequence[float], size: int) -> list[float]:
    """Return the means of `size` values each, one batch after the other; a rest is left out."""
    ends = range(size, len(values) + 1, size)
    return [sum(values[end - size : end]) / size for end in ends]


# --- one cell against another ------------------------------------------------------------------


@dataclass(frozen=True)
class Improvement:
    """What a mechanism changes against another one.

    Parameters
    ----------
    per_cent : float
        Of the means.
    significant : bool
        Whether the interval of the differences, run by run, excludes 0.
    per_cent_of_batches : list of float
        Of the means of each batch of runs.
    interval : tuple of float
        Of the mean difference run by run, per cent of the other one's mean; NaN for one run.
    """

    per_cent: float
    significant: bool
    per_cent_of_batches: list[float]
    interval: tuple[float, float]


def improvement(
    session: Session, cell: Cell, other: Cell, quantity: MeasuredQuantity
) -> Improvement | None:
    """Return the change of a quantity between two cells; None if one has no runs."""
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
