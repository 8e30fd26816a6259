"""Figures of a result: ``result.plot.timeline()`` and other figures.

Each method returns a matplotlib figure with labelled axes and colours for colour-blind readers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import Unpack

from airpath.arguments import error_prefix
from airpath.errors import BadValueError
from airpath.files import output_directory
from airpath.present import figure_files, style
from airpath.present.drawing import FigureOptions, drawing
from airpath.present.shares import count_drawn, draw_shares
from airpath.results.application_plot import ApplicationPlot
from airpath.results.delay_plot import DelayPlot
from airpath.results.distribution_plot import DistributionPlot
from airpath.results.labels import effort_text
from airpath.results.panel_choice import Draw, refuse_nothing_over_time, shown_panels
from airpath.results.panels import SHADES, Panels
from airpath.results.provenance import source_line
from airpath.results.recordings import check_finished
from airpath.results.schemes import regime_names, scheme_shares
from airpath.results.stations import pooled_mac_delays
from airpath.results.tables import queue_names
from airpath.results.user_plot import MOST_USERS, UserPlot
from airpath.results.users import queues_at, users_in_words
from airpath.results.window import Window, checked_window

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from airpath.results.result import Result
    from airpath.solutions import Solution

__all__ = ["Plot"]

_MOST_BARS = 400


class Plot(DistributionPlot, UserPlot, DelayPlot, ApplicationPlot):
    """Figures of one result.

    All figures have these arguments:

    * `style`: ``"column"`` for a column of a paper (3.4 in wide, serif, 8 points, no title), the
      name of a matplotlib style, a mapping of rcParams, or a list of these. Values that you change
      in ``matplotlib.rcParams`` apply too.
    * `ax`: an Axes to draw on, or a list with an Axes for each panel. Default: a new figure.
    * `figsize`: width and height, inches.
    * `title`: replaces the default title; None for no title and no subtitle.
    * `labels`: maps a text of the figure, or the key of an axis or metric, to another text.

    Parameters
    ----------
    result : Result
        Result to plot.
    """

    def __init__(self, result: Result) -> None:
        self._result = result

    # --- over time -----------------------------------------------------------------------------

    @drawing
    def timeline(
        self, replication: int = 0, window: Window | None = None, **_options: Unpack[FigureOptions]
    ) -> Figure:
        """Plot capacity, served and delivered rate, queue length and delay over time.

        A panel is shown if its series was recorded: ``delivered`` for the rates, ``queue`` for the
        queue length, ``sojourn`` for the queueing delay, ``snr`` for the SNR of a cell's users,
        ``cwnd`` for the congestion windows, ``regime`` for a multi-regime link and ``mcs`` for an
        adaptive link. The series ``drop`` adds marks to the queue panel. If each user or station
        has a queue, the panels for queue, delay and SNR have a line for each queue. For more than
        six queues, they show the median and a band from the 10 % to the 90 % quantile. For a list
        of hops, there is a panel for each queue that data traverse. Vertical lines mark scheduled
        rate changes. A triangle at the upper edge marks a curve that leaves its panel.

        Parameters
        ----------
        replication : int
            Index of the finished replication, from 0. Default 0.
        window : pair of duration or str, optional
            Start and end of the plotted interval, between 0 and the end of the run:
            ``("10 s", "20 s")`` or ``"10s..20s"``. In a pair, numbers without unit are seconds.
            Default: the whole run.

        Returns
        -------
        figure : matplotlib.figure.Figure
            The figure. The values in its heading apply to the whole replication, not to the window.

        Raises
        ------
        BadValueError
            If none of these series was recorded, the replication does not exist, or the window is
            not two ascending times within the run.
        """
        refuse_nothing_over_time(
            "timeline", self._result.resolved.recording.series, self._link_series
        )
        return self._over_time(self._shown_panels(), replication, window)

    @drawing
    def queue(
        self,
        replication: int | None = None,
        window: Window | None = None,
        **_options: Unpack[FigureOptions],
    ) -> Figure:
        """Plot the bottleneck queue: over time if it was recorded, otherwise its distribution.

        Parameters
        ----------
        replication : int, optional
            Index of the replication to plot over time. Default: the first replication if ``queue``
            was recorded.
        window : pair of duration, optional
            Start and end of the plotted interval. Default: the whole run.
        """
        if (
            replication is None
            and window is None
            and "queue" not in self._result.resolved.recording.series
        ):
            return self.pmf()
        return self._single(Panels.queue_length, 0 if replication is None else replication, window)

    @drawing
    def snr(
        self, replication: int = 0, window: Window | None = None, **_options: Unpack[FigureOptions]
    ) -> Figure:
        """Plot the SNR of each user of a cell over time; requires the series ``snr``."""
        return self._single(Panels.snr, replication, window)

    @drawing
    def cwnd(
        self, replication: int = 0, window: Window | None = None, **_options: Unpack[FigureOptions]
    ) -> Figure:
        """Plot the congestion windows over time; requires the series ``cwnd``."""
        return self._single(Panels.windows, replication, window)

    @drawing
    def delivered(
        self, replication: int = 0, window: Window | None = None, **_options: Unpack[FigureOptions]
    ) -> Figure:
        """Plot the rate of in-order delivery; requires the series ``delivered``."""
        return self._single(Panels.rates, replication, window)

    @drawing
    def delay(
        self, replication: int = 0, window: Window | None = None, **_options: Unpack[FigureOptions]
    ) -> Figure:
        """Plot the sojourn times at the bottleneck; requires the series ``sojourn``."""
        return self._single(Panels.queueing_delay, replication, window)

    @drawing
    def regimes(
        self, replication: int = 0, window: Window | None = None, **_options: Unpack[FigureOptions]
    ) -> Figure:
        """Plot the share of time in each regime of the link; requires the series ``regime``."""
        return self._single(Panels.regimes, replication, window)

    @drawing
    def mcs(
        self, replication: int = 0, window: Window | None = None, **_options: Unpack[FigureOptions]
    ) -> Figure:
        """Plot the share of time in each MCS of an adaptive link; requires the series ``mcs``."""
        return self._single(Panels.schemes, replication, window)

    # --- distributions -------------------------------------------------------------------------

    @drawing
    def pmf(
        self,
        queue: str | None = None,
        solution: Solution | None = None,
        **_options: Unpack[FigureOptions],
    ) -> Figure:
        """Plot the queue-length distribution as bars with confidence intervals.

        Parameters
        ----------
        queue : str, optional
            Name of the queue, as in `Result.pmf`. Default: the bottleneck.
        solution : Solution, optional
            Solution of an analytic model, whose queue length is marked. Default: none.
        """
        # No isinstance: a notebook may have reloaded the class of `solution`.
        if solution is not None and not hasattr(solution, "queue_packets"):
            raise BadValueError(
                f"{error_prefix('solution', solution)}: not a solution. "
                "Use a result of airpath.solve."
            )
        queue = self._result.resolved.bottleneck.name if queue is None else queue
        table = self._result.pmf(queue)
        table = table.iloc[: min(count_drawn(table["mean"].tolist()), _MOST_BARS)]
        colours = style.COLOURS
        with style.style():
            figure = style.new_figure(8.5, 3.9)
            axis = figure.subplots()
            mean, low, high = (table[name].tolist() for name in ("mean", "low", "high"))
            draw_shares(axis, mean, low, high, self._ranges(queue))
            if solution is not None:
                label = f"model: {solution.queue_packets:.2f} packets"
                if isinstance(domain := getattr(solution, "domain", None), str):
                    label += f" ({domain})"
                axis.axvline(solution.queue_packets, color=colours["red"], lw=1.8, label=label)
            axis.set(xlabel="packets waiting", ylabel="fraction of time")
            model = 0.0 if solution is None else solution.queue_packets + 0.5
            axis.set_xlim(-0.7, max(len(table) - 0.3, model))
            # Limit the height of the axis: the wide intervals of few runs would make the bars too
            # flat.
            highest = float(table["mean"].max())
            ends = table["high"].fillna(table["mean"]).clip(upper=1.0)
            axis.set_ylim(0, min(1.08 * max(ends.max(), highest), 3 * highest) or 1.0)
            style.mark_beyond(axis, table["packets"], ends, "grey", "")
            style.legend_above(axis)
            title = f"{self._name}: queue length at the {queue.replace('_', ' ')}"
            queues = queues_at(queue_names(self._result.replications), queue)
            if queues != [queue]:
                title += f", mean over the queues of {users_in_words(queues)}"
            style.heading(figure, title, self._effort())
        return figure

    def _ranges(self, queue: str) -> list[tuple[float, str, str]]:
        """Return lower end, colour and label of each range of queue lengths (regime)."""
        boundaries = self._result.resolved.link.regime_boundaries
        if queue != self._result.resolved.bottleneck.name or not boundaries:
            return [(0, "blue", "")]
        names = regime_names(self._result)
        return [
            (
                low,
                SHADES[j % len(SHADES)],
                style.literal(f"{names[j]}, from {low} packets on" if low else names[j]),
            )
            for j, low in enumerate([0, *boundaries])
        ]

    @drawing
    def mac_delays(self, **_options: Unpack[FigureOptions]) -> Figure:
        """Plot the cumulative distribution of the uplink delays of TDD links.

        Returns
        -------
        figure : matplotlib.figure.Figure
            The figure, with one step curve for each link, over all replications together.

        Raises
        ------
        BadValueError
            If no link of the scenario has stations, or no packet took the uplink.
        """
        found = pooled_mac_delays(self._result.replications)
        if not any(found.values()):
            raise BadValueError(
                "mac_delays: no packet took the uplink of a TDD link. "
                'Simulate a scenario with a link of kind "ofdma-tdd".'
            )
        with style.style():
            figure = style.new_figure(8.5, 3.9)
            axis = figure.subplots()
            for (link, rows), name in zip(found.items(), SHADES, strict=False):
                delays = [0.0, *(row["delay_s"] * 1e3 for row in rows)]
                shares = [0.0, *(row["cdf"] for row in rows)]
                packets = sum(row["packets"] for row in rows)
                mean = sum(row["packets"] * row["delay_s"] for row in rows) / packets * 1e3
                label = style.literal(f"{link}: {packets} packets, mean {mean:.1f} ms")
                colour = style.COLOURS[name]
                axis.step(delays, shares, where="post", color=colour, label=label)
            axis.set(xlabel="delay from MAC to MAC, ms", ylabel="share of packets")
            axis.set_xlim(left=0)
            axis.set_ylim(0, 1.02)
            style.legend_above(axis)
            title = f"{self._name}: delay of the uplink"
            style.heading(figure, title, self._effort(intervals=False))
        return figure

    # --- files ---------------------------------------------------------------------------------

    def defaults(self, window: Window | None = None) -> dict[str, Figure]:
        """Map file names without suffix to the figures for which the result has data.

        The figures are ``queue-lengths``, ``mac-delays`` of a TDD link, ``users`` of a cell,
        ``completion-times`` of transfers, ``applications``, ``page-load-times``,
        ``distribution-TIME`` for each time in ``record.distributions``, ``delay-parts``, and
        ``timeline`` if a series was recorded.

        Parameters
        ----------
        window : pair of duration, optional
            Start and end of the timeline. Default: the whole run.
        """
        figures = {"queue-lengths": self.pmf()}
        if any(pooled_mac_delays(self._result.replications).values()):
            figures["mac-delays"] = self.mac_delays()
        if 0 < len(self._result.intervals("users")) <= MOST_USERS:
            figures["users"] = self.users()
        if any(run.get("delay_parts") for run in self._result.replications):
            figures["delay-parts"] = self.delay_parts()
        if self._has_completion_times():
            figures["completion-times"] = self.distribution("completion_time")
        if self._has_applications():
            figures["applications"] = self.applications()
        if self._has_pages():
            figures["page-load-times"] = self.distribution("page_load_time")
        for quantity in self._result.resolved.recording.distributions:
            if self._result.distribution(quantity).total:
                figures[f"distribution-{quantity}"] = self.distribution(quantity)
        if self._shown_panels():
            figures["timeline"] = self.timeline(window=window)
        return figures

    def save(
        self,
        directory: str | Path,
        *,
        figure_formats: str | Sequence[str] = "png",
        window: Window | None = None,
    ) -> list[Path]:
        """Write all figures for which the result has data.

        Parameters
        ----------
        directory : path
            Output directory; created if it does not exist.
        figure_formats : str or sequence of str
            ``png``, ``pdf``, ``svg``, or several. Default ``png``.
        window : pair of duration, optional
            Start and end of the timeline. Default: the whole run.

        Returns
        -------
        paths : list of Path
            Paths of the written files, one per format for each figure of `defaults`.

        Raises
        ------
        BadValueError
            If a format is unknown, the window is not inside the run, nothing was recorded over
            time, or the directory is not writable.
        """
        kinds = figure_files.checked_formats(figure_formats)
        if window is not None:
            refuse_nothing_over_time(
                "window", self._result.resolved.recording.series, self._link_series
            )
        figures = self.defaults(window)
        where = output_directory(directory)
        source = source_line(self._result.provenance)
        paths = [
            path
            for stem, figure in figures.items()
            for path in figure_files.save(
                figure, where, stem, f"{self._name}: {stem}", source, kinds
            )
        ]
        self._result.files.update(paths)
        return paths

    def _shown_panels(self) -> list[tuple[str, float, Draw]]:
        resolved = self._result.resolved
        return shown_panels(resolved.recording.series, self._link_series, resolved.data_directions)

    # --- layout and headings -------------------------------------------------------------------

    def _single(self, draw: Draw, replication: int, window: Window | None) -> Figure:
        return self._over_time([("", 1.6, draw)], replication, window)

    def _over_time(
        self, panels: Sequence[tuple[str, float, Draw]], replication: int, window: Window | None
    ) -> Figure:
        check_finished(self._result.replications, replication)
        window_s = checked_window(window, self._end_s)
        drawn = Panels(self._result, replication, window_s)
        heights = [height for _, height, _ in panels]
        with style.style():
            figure = style.new_figure(10.5, 1.1 + 1.75 * sum(heights))
            axes: Any = figure.subplots(
                len(panels), 1, sharex=True, height_ratios=heights, squeeze=False
            )
            for axis, (_, _, draw) in zip(axes[:, 0], panels, strict=True):
                drawn.surround(axis, labelled=axis is axes[0, 0])
                draw(drawn, axis)
            axes[-1, 0].set(xlabel="time, s", xlim=window_s)
            figure.align_ylabels()
            self._head(figure, replication, window_s)
        return figure

    @property
    def _name(self) -> str:
        return self._result.title

    @property
    def _link_series(self) -> frozenset[str]:
        return self._result.resolved.link.series

    @property
    def _end_s(self) -> float:
        return self._result.resolved.duration_s

    @property
    def _warmup_s(self) -> float:
        return self._result.resolved.warmup_s

    def _effort(self, *, intervals: bool = True) -> str:
        result = self._result
        runs = len(result.replications)
        confidence = result.confidence if runs > 1 and intervals else None
        text = effort_text(runs, self._end_s, self._warmup_s, confidence)
        return f"{text} · seed {result.provenance['seed']}"

    def _head(self, figure: Figure, replication: int, window_s: tuple[float, float]) -> None:
        run = self._result.replications[replication]
        goodput = sum(flow["goodput_bps"] for flow in run["flows"]) / 1e6
        resolved = self._result.resolved
        bottleneck = resolved.bottleneck.name
        link = next(link for link in run["links"] if link["name"] == bottleneck)
        names = queues_at(queue_names(self._result.replications), bottleneck)
        named = "link" if resolved.is_short_form else bottleneck
        whose = f" of all {len(run['flows'])} flows" if len(names) > 1 else ""
        first, last = window_s
        is_whole = window_s == (0.0, self._end_s)
        shown = [] if is_whole else [f"{first:g} to {last:g} s of {self._end_s:g} s"]
        parts = [
            f"replication {run['replication']}, seed {self._result.provenance['seed']}",
            *shown,
            f"{'' if is_whole else 'whole run: '}goodput{whose} {goodput:.3g} Mbit/s",
            f"{named} used to {100 * link['utilisation']:.0f} %",
        ]
        parts += _wait([queue for queue in run["queues"] if queue["name"] in names])
        shares = scheme_shares(self._result, replication)
        if shares:
            parts.append(f"packets by MCS: {shares}")
        if self._warmup_s > first:
            parts.append("warm-up hatched, not counted")
        style.heading(figure, self._name, " · ".join(parts))


def _wait(queues: Sequence[Mapping[str, Any]]) -> list[str]:
    """Describe the sojourn times in the bottleneck's queue, or in the queues of its users."""
    used = [queue for queue in queues if queue["mean_sojourn_s"] is not None]
    if not used:
        return []
    total = sum(queue["departed"] for queue in used)
    mean = 1e3 * sum(queue["mean_sojourn_s"] * queue["departed"] for queue in used) / total
    p95 = [1e3 * queue["p95_sojourn_s"] for queue in used]
    if len(queues) == 1:
        return [f"sojourn time: mean {mean:.3g} ms, p95 {p95[0]:.3g} ms"]
    users = users_in_words([queue["name"] for queue in queues])
    spread = f"from {min(p95):.3g} to {max(p95):.3g} ms by {users.split()[1].removesuffix('s')}"
    return [f"sojourn time of the packets of {users}: mean {mean:.3g} ms, p95 {spread}"]
