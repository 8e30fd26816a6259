"""Base class of `Sweep` with its tables: tidy, wide, by replication, differences, LaTeX, JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from airpath.arguments import check_all, word
from airpath.sweeps import tables
from airpath.sweeps.differences import difference_table, differences
from airpath.sweeps.readings import Readings

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["SweepTables"]


class SweepTables:
    """Tables of a sweep, computed from the replications that count."""

    if TYPE_CHECKING:

        @property
        def readings(self) -> Readings:
            """The values that count at each point."""

        @property
        def provenance(self) -> dict[str, Any]:
            """Provenance of the sweep."""

    def points(self) -> pd.DataFrame:
        """Return means and intervals, with a row for each point, engine and metric.

        Returns
        -------
        table : DataFrame
            ``point``, a column with the label of each axis, ``engine``, ``metric``, ``mean``,
            ``low``, ``high``, ``reps`` (number of replications with a value) and ``advisories``.
            ``advisories`` has the codes of the advisories on the point's replications, separated by
            ``; ``, or ``not recorded`` if replications are missing or an earlier version ran them.
            Emulations also have ``valid``: whether all validity reports are valid. It is missing
            until all replications are finished. Quantities that were not measured are NaN. A model
            has no interval and no replications. Rows are in the plan's order: points, engines,
            metrics.

        Examples
        --------
        >>> table = sweep.points()  # doctest: +SKIP
        >>> table[table["metric"] == "goodput_bps"].nlargest(3, "mean")  # doctest: +SKIP
        """
        return tables.points(self.readings)

    def wide(self) -> pd.DataFrame:
        """Return means and intervals, with a row for each point and engine.

        Returns
        -------
        table : DataFrame
            ``point``, the axes, ``engine``, ``reps``, and three columns for each metric:
            ``goodput_bps``, ``goodput_bps_low``, ``goodput_bps_high``.
        """
        return tables.wide(self.readings)

    def runs(self) -> pd.DataFrame:
        """Return all replications that count.

        Returns
        -------
        table : DataFrame
            ``point``, the axes, ``replication``, and a column for each metric.
        """
        return tables.runs(self.readings)

    def failures(self) -> pd.DataFrame:
        """Return the failed replications and models.

        Returns
        -------
        table : DataFrame
            ``point``, the axes, ``engine``, ``replication`` (missing for a model) and ``message``.
        """
        return tables.failures(self.readings)

    def advisories(self) -> pd.DataFrame:
        """Return the advisories on each point, as `airpath run` prints them.

        Returns
        -------
        table : DataFrame
            ``point``, the axes, and ``code``, ``place`` and ``text`` of the `Advisory`.
        """
        return tables.advisories(self.readings)

    def differences(self, axis: str, metric: str, base: object) -> pd.DataFrame:
        """Return the differences of a metric between the values of an axis and a base value.

        With common random numbers, replication r of both points is a pair, and the interval is
        Student's over the differences within pairs. If the points have different seeds or are
        emulated, the interval is Welch's. Each interval has the sweep's confidence; there is no
        correction for multiple comparisons. Among many differences without an effect, some are
        therefore significant.

        Parameters
        ----------
        axis, metric : str
            An axis and a metric of the sweep.
        base : value
            Value to subtract: a label of the axis, or its value as in the plan.

        Returns
        -------
        table : DataFrame
            A row for each other value and each setting of the other axes: ``value``, ``base``, the
            other axes, ``point`` and ``base_point`` (their numbers), ``base_mean``, ``mean``,
            ``low``, ``high`` (of the difference, in the metric's unit), ``relative``,
            ``relative_low``, ``relative_high`` (relative to the base's mean, by the delta method),
            ``pairs``, ``method`` (``paired`` or ``Welch``), ``significant`` (a test was made, and
            the interval of the difference excludes 0), ``untested`` (reason why no test was made,
            otherwise empty) and ``variance_ratio``: the variance of the differences within pairs
            divided by the sum of both variances.

        Raises
        ------
        BadValueError
            If there is no such axis, metric or value; if no point was replicated; or if no two
            points differ only in this axis.

        Examples
        --------
        >>> sweep.differences("flows.0.cc", "goodput_bps", "newreno")  # doctest: +SKIP
        """
        return difference_table(self.readings, axis, differences(self.readings, axis, metric, base))

    def to_xarray(self) -> xr.Dataset:
        """Return means and intervals as an xarray dataset.

        Returns
        -------
        dataset : xarray.Dataset
            For each metric ``METRIC`` (the mean), ``METRIC_low``, ``METRIC_high`` and
            ``METRIC_reps``, with the axes and ``engine`` as dimensions. Missing points of the grid
            are NaN. If the points form no grid, the dimension is ``point`` and the axes are its
            coordinates.

        Raises
        ------
        BadValueError
            If xarray is not installed.
        """
        from airpath.sweeps.dataset import dataset

        return dataset(self.readings)

    def to_latex(
        self,
        metrics: str | Sequence[str] | None = None,
        *,
        columns: str | None = None,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        """Return the means and intervals of the points as LaTeX source.

        Parameters
        ----------
        metrics : str or sequence of str, optional
            Metrics of the sweep, in the order of the columns. Default: all.
        columns : str, optional
            An axis: the table then has a column for each value of the axis and each metric.
            Default: a column for each metric.
        caption, label : str, optional
            If one of them is set, the ``tabular`` is placed in a ``table`` environment.

        Returns
        -------
        source : str
            LaTeX source for the package ``booktabs``. Axes with one value have no column.

        Raises
        ------
        BadValueError
            If there is no such metric or axis.
        """
        from airpath.present.latex import latex
        from airpath.sweeps.point_table import pivot_table, point_table

        plan = self.readings.plan
        given = plan.metrics if metrics is None else metrics
        wanted: list[Any] = list(given) if isinstance(given, (list, tuple)) else [given]
        check_all(
            *(word("metrics", metric, plan.metrics) for metric in wanted),
            None if columns is None else word("columns", columns, plan.axes),
        )
        made = (
            point_table(self.readings, wanted, numbered=False)
            if columns is None
            else pivot_table(self.readings, wanted, columns)
        )
        return latex(made, caption=caption, label=label)

    def to_dict(self) -> dict[str, Any]:
        """Return the document of ``sweep --json``; it contains no NaN and no infinity."""
        from airpath.sweeps.document import document

        return document(self.readings, self.provenance)
