"""Standard figures of a sweep, with confidence intervals.

Each method returns a matplotlib figure. Colour-blind readers can distinguish the series; axes have
units. The marker, cell or curve of point n has the identifier ``point-n``, also in SVG files. The
marker of an analytic model has the identifier ``point-n-solve``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import Unpack

from airpath.arguments import error_prefix
from airpath.errors import BadValueError
from airpath.present import style
from airpath.present.drawing import FigureOptions, drawing
from airpath.sweeps.differences import checked_axis, checked_metric, checked_value
from airpath.sweeps.plot import choice
from airpath.sweeps.plot.selection import Selection, Where, selected

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from airpath.sweeps.result import Sweep

__all__ = ["SweepPlot", "rendered"]


class SweepPlot:
    """Figures of one sweep.

    All figures have the argument `where`, which selects points by axis values: it maps an axis to a
    label or a list of labels, for example ``where={"flows.0.cc": ["newreno", "cubic"]}``. Each
    combination of values of the axes that a figure does not use has a separate panel. All figures
    also have the arguments `style`, `ax`, `figsize`, `title` and `labels`; see `Plot`.

    Parameters
    ----------
    sweep : Sweep
        The sweep to plot.
    """

    def __init__(self, sweep: Sweep) -> None:
        self._sweep = sweep
        self._left_out: dict[str, str] = {}

    @drawing
    def lines(
        self,
        metric: str,
        over: str | None = None,
        by: str | None = None,
        *,
        bands: bool = True,
        where: Where | None = None,
        **_options: Unpack[FigureOptions],
    ) -> Figure:
        """Plot a metric over an axis, with a line for each value of another axis, and intervals.

        Parameters
        ----------
        metric : str
            Metric of the sweep.
        over : str, optional
            The x-axis. Numbers and quantities are on a linear scale, or on a logarithmic scale if
            they span a factor of fifteen or more. Text values are evenly spaced. Default: the
            numeric axis with the most values; if there is no numeric axis, the axis with the most
            values.
        by : str, optional
            The axis with a colour for each value. With more than eight values, each value has a
            panel, in which the other values are grey. Default: the text axis (if there is none, the
            numeric axis) with the most values up to eight.
        bands : bool
            True to plot intervals as bands if the x-axis is numeric. False: as bars. Default True.
        where : mapping, optional
            Values of axes that select the points to plot. Default: all points.

        Returns
        -------
        figure : matplotlib.figure.Figure
            The figure. Dashed lines and open markers show the analytic model, if there is one.

        Raises
        ------
        BadValueError
            If there is no such axis, metric or value, or there are more than 24 panels.

        Examples
        --------
        >>> sweep.plot.lines("goodput_bps", over="bottleneck.limit")  # doctest: +SKIP
        """
        from airpath.sweeps.plot.lines import draw_lines

        chosen = self._chosen(where, metric=metric)
        over = self._axis(chosen, "over", over) or choice.abscissa(chosen)
        if over is None:
            raise BadValueError("lines: the sweep has no axis to draw over.")
        by = self._axis(chosen, "by", by) or choice.series(chosen, [over])
        by = None if by == over else by
        return draw_lines(chosen, metric, over, by, bands=bands)

    @drawing
    def pareto(
        self,
        rate: str | None = None,
        delay: str | None = None,
        *,
        by: str | None = None,
        shape: str | None = None,
        panels: str | Sequence[str] | None = None,
        where: Where | None = None,
        **_options: Unpack[FigureOptions],
    ) -> Figure:
        """Plot a rate against a delay, with intervals in both directions and the Pareto front.

        Points are better towards the top right. The black line through the ringed points is the
        Pareto front: no other point of the panel has both a mean rate at least as high and a mean
        delay at most as long.

        Parameters
        ----------
        rate, delay : str, optional
            Metric to maximize, and metric to minimize. Default: the first metric whose name ends
            with ``_bps``, and the first metric that is a delay, a sojourn time or an RTT.
        by, shape : str, optional
            Axes with a colour and a marker for each value, up to eight. Default: the first two axes
            with at most eight values that are not in `panels`.
        panels : str or sequence of str, optional
            Axes with a panel for each value: conditions that a designer cannot choose. Default:
            axes of the path and the traffic (``trace``, ``rate``, ``loss``, ``base_rtt``, ``count``
            …); none if all axes are conditions.
        where : mapping, optional
            Values of axes that select the points to plot. Default: all points.

        Raises
        ------
        BadValueError
            If there is no such axis, metric or value, there are more than 24 panels, eight
            colours or markers, or 1000 points.
        """
        from airpath.sweeps.plot.pareto import draw_pareto

        metrics = self._sweep.plan.metrics
        names = {
            "rate": choice.rate(metrics) if rate is None else rate,
            "delay": choice.delay(metrics) if delay is None else delay,
        }
        for argument, name in names.items():
            if name is None:
                raise BadValueError(
                    f"pareto: no metric of the sweep is a {argument} by its name. Use "
                    f"{argument} = one of {', '.join(metrics)}."
                )
        chosen = self._chosen(where, **names)
        several: Sequence[Any] = panels if isinstance(panels, (list, tuple)) else [panels]
        given = [("by", by), ("shape", shape), *(("panels", name) for name in several)]
        for argument, axis in given:
            self._axis(chosen, argument, axis)
        apart = choice.conditions(chosen) if panels is None else [axis for axis in several if axis]
        apart = [axis for axis in apart if axis in chosen.varied and axis not in (by, shape)]
        by = by or choice.first(chosen, [*apart, shape])
        shape = shape or choice.first(chosen, [*apart, by])
        for argument, axis in (("by", by), ("shape", shape)):
            if axis is not None and (count := len(chosen.values(axis))) > len(style.SERIES):
                raise BadValueError(
                    f"{error_prefix(argument, axis)}: {count} values are more than the "
                    f"{len(style.SERIES)} that can be distinguished. "
                    "Use another axis, or choose some with where."
                )
        both = (str(names["rate"]), str(names["delay"]))
        return draw_pareto(chosen, both, (by, shape), apart)

    @drawing
    def heatmap(
        self,
        metric: str,
        x: str | None = None,
        y: str | None = None,
        *,
        where: Where | None = None,
        **_options: Unpack[FigureOptions],
    ) -> Figure:
        """Plot a metric over two axes as coloured cells.

        Parameters
        ----------
        metric : str
            Metric of the sweep.
        x, y : str, optional
            Horizontal and vertical axis. Default: the axes with the most values, numeric axes
            first.
        where : mapping, optional
            Values of axes that select the points to plot. Default: all points.

        Raises
        ------
        BadValueError
            If there is no such axis, metric or value, fewer than two axes vary, or there are more
            than 24 panels.
        """
        from airpath.sweeps.plot.heatmap import draw_heatmap

        chosen = self._chosen(where, metric=metric)
        for argument, axis in (("x", x), ("y", y)):
            self._axis(chosen, argument, axis)
        order = [axis for axis in choice.sort_by_size(chosen) if axis not in (x, y)]
        x = x or (order.pop(0) if order else None)
        y = y or (order.pop(0) if order else None)
        if x is None or y is None or x == y:
            raise BadValueError(
                "heatmap: needs two axes that vary. Draw lines, or choose others with where."
            )
        return draw_heatmap(chosen, metric, x, y)

    @drawing
    def ecdf(
        self,
        metric: str,
        by: str | None = None,
        *,
        where: Where | None = None,
        **_options: Unpack[FigureOptions],
    ) -> Figure:
        """Plot the distribution of a metric over the replications, a curve for each point.

        Parameters
        ----------
        metric : str
            Metric of the sweep.
        by : str, optional
            The axis with a colour for each value, up to eight. Default: the text axis (if there is
            none, the numeric axis) with the most values up to eight.
        where : mapping, optional
            Values of axes that select the points to plot. Default: all points.

        Raises
        ------
        BadValueError
            If there is no such axis, metric or value, or there are more than 24 panels, or more
            than eight curves in a panel.
        """
        from airpath.sweeps.plot.ecdf import draw_ecdf

        chosen = self._chosen(where, metric=metric)
        by = self._axis(chosen, "by", by) or choice.series(chosen, [])
        return draw_ecdf(chosen, metric, by)

    @drawing
    def distribution(
        self,
        quantity: str,
        of: str | None = None,
        by: str | None = None,
        *,
        complementary: bool = False,
        where: Where | None = None,
        **_options: Unpack[FigureOptions],
    ) -> Figure:
        """Plot the distribution of a time over packets or transfers, a curve for each point.

        Parameters
        ----------
        quantity, of
            As in `Sweep.distribution`.
        by : str, optional
            The axis with a colour for each value, as in `ecdf`.
        complementary : bool
            Whether to plot the tail: the share of larger values, on a logarithmic scale. Default
            False.
        where : mapping, optional
            Values of axes that select the points to plot. Default: all points.

        Returns
        -------
        figure : matplotlib.figure.Figure
            The figure. Values of all replications are pooled; bands are the intervals of the mean
            over the replications.

        Raises
        ------
        BadValueError
            As in `Sweep.distribution`, or if there is no such axis or value, or there are more than
            24 panels, or more than eight curves in a panel.
        """
        from airpath.sweeps.plot.distribution import draw_distribution

        chosen = self._chosen(where)
        by = self._axis(chosen, "by", by) or choice.series(chosen, [])
        found = self._sweep.distribution(quantity, of)
        return draw_distribution(chosen, found, quantity, by, complementary=complementary)

    @drawing
    def forest(
        self,
        metric: str,
        axis: str | None = None,
        compare_to: object = None,
        *,
        relative: bool = True,
        where: Where | None = None,
        **_options: Unpack[FigureOptions],
    ) -> Figure:
        """Plot the differences of a metric to one value of an axis, with their intervals.

        Parameters
        ----------
        metric : str
            Metric of the sweep.
        axis : str, optional
            Axis whose values are compared. Default: the first axis with text values that is not a
            condition.
        compare_to : value, optional
            Value to subtract: a label of the axis, or its value as in the plan. Default: the first
            value of the axis.
        relative : bool
            True to plot differences in percent of the mean of `compare_to`; False: in the unit of
            the metric. Default True.
        where : mapping, optional
            Values of axes that select the points to plot. Default: all points.

        Returns
        -------
        figure : matplotlib.figure.Figure
            The figure. It has a panel for each condition. A row is a value of `axis` (except
            `compare_to`), at one combination of values of the other axes. Without conditions, each
            value of `axis` has a panel; if each panel would have only one row, all rows are in one
            panel. Markers are filled if the plotted interval excludes 0. A row shows the text *no
            value* if the difference is missing. With relative differences, it shows *uncertain
            mean* if the mean of `compare_to` is within three standard errors of 0, because the
            ratio then has no usable interval.

        Raises
        ------
        BadValueError
            If there is no such axis, metric or value, nothing to compare, or there are more than
            60 rows or eight panels.
        """
        from airpath.sweeps.plot.forest import draw_forest

        chosen = self._chosen(where, metric=metric)
        axis = self._axis(chosen, "axis", axis) or choice.designed(chosen)
        if axis is None:
            raise BadValueError("forest: the sweep has no axis with values to compare.")
        if compare_to is None:
            first = next(iter(chosen.values(axis)))
            at = next(place for place in chosen.places if chosen.key(place, axis) == first)
            compare_to = chosen.point(at).labels.get(axis, "")
        else:
            checked_value(chosen.readings.plan, "compare_to", axis, compare_to)
        return draw_forest(chosen, axis, metric, compare_to, relative=relative)

    # --- files ---------------------------------------------------------------------------------

    def defaults(self) -> dict[str, Figure]:
        """Return the default figures of the sweep, by name.

        The figures are: ``pareto``; ``lines-METRIC`` and ``heatmap-METRIC`` for each metric;
        ``forest-METRIC`` for each metric along a design axis; ``ecdf-METRIC`` for the first metric,
        with ten or more replications; ``distribution-TIME`` for each time in
        ``record.distributions``. Figures without data and figures that are too large to read are
        omitted; see `left_out`. In file names, a slash becomes a hyphen and a space an underscore.
        """
        found = {}
        self._left_out = {}
        for stem, draw in choice.wanted(self).items():
            try:
                found[stem] = draw()
            except BadValueError as error:
                # The figure is too large; the user can select a part of it.
                self._left_out[stem] = str(error)
        return found

    def left_out(self) -> dict[str, str]:
        """Return the reasons why `defaults` omitted figures, by name."""
        return dict(self._left_out)

    def save(
        self, directory: str | Path, *, figure_formats: str | Sequence[str] = "png"
    ) -> list[Path]:
        """Write the default figures of the sweep.

        Parameters
        ----------
        directory : path
            Directory; created if it does not exist.
        figure_formats : str or sequence of str
            ``png``, ``pdf``, ``svg``, or several. Default ``png``.

        Returns
        -------
        paths : list of Path
            Files of the figures that `defaults` returns.

        Raises
        ------
        BadValueError
            If a format is unknown, or the directory is not writable.
        """
        from airpath.files import output_directory, write_file
        from airpath.present import figure_files

        kinds = figure_files.checked_formats(figure_formats)
        where = output_directory(directory)
        paths = []
        for stem, files in rendered(self, kinds):
            for kind, data in files.items():
                paths.append(where / figure_files.file_name(stem, kind))
                write_file(paths[-1], data)
        return paths

    # --- internal ------------------------------------------------------------------------------

    @property
    def sweep(self) -> Sweep:
        """The plotted sweep."""
        return self._sweep

    def _chosen(self, where: Where | None, **metrics: str | None) -> Selection:
        readings = self._sweep.readings
        for argument, metric in metrics.items():
            checked_metric(readings.plan, argument, metric)
        return selected(readings, where)

    def _axis(self, chosen: Selection, argument: str, axis: str | None) -> str | None:
        if axis is not None:
            checked_axis(chosen.readings.plan, argument, axis)
        return axis


def rendered(plot: SweepPlot, kinds: Iterable[str]) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Yield the default figures of a sweep as file contents.

    Parameters
    ----------
    plot : SweepPlot
        Metric of the sweep.
    kinds : iterable of str
        Formats, any of ``png``, ``pdf``, ``svg``; the first determines the layout.

    Yields
    ------
    stem : str
        Name of the figure; see `figure_files.file_name`.
    files : dict of str to bytes
        Contents of the files by format.
    """
    from airpath.present import figure_files

    about, name = plot.sweep.provenance, plot.sweep.plan.name
    source = f"airpath {about['version']} ({about['commit']}), seed {about['seed']}"
    for stem, figure in plot.defaults().items():
        yield stem, figure_files.rendered(figure, f"{name}: {stem}", source, [*kinds])
