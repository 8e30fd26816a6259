"""Figure with the quality of the applications of each group of flows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import Unpack

from airpath.arguments import error_prefix
from airpath.errors import BadValueError
from airpath.present import style
from airpath.present.drawing import FigureOptions, drawing
from airpath.results.applications import APPLICATIONS
from airpath.results.labels import label_of_quantity
from airpath.results.quantities import bounds
from airpath.scenario.faults import nearest

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from airpath.results.result import Result

__all__ = ["ApplicationPlot"]

_MOST_GROUPS = 12
_LONG_LABEL = 32
"""Characters of a label that fit next to a panel; a longer one has two lines."""
_COLOURS = ("blue", "orange")


class ApplicationPlot:
    """Method of `Plot` that plots the quality of applications."""

    _result: Result

    if TYPE_CHECKING:

        @property
        def _name(self) -> str: ...
        def _effort(self, *, intervals: bool = True) -> str: ...

    @drawing
    def applications(
        self, application: str | None = None, **_options: Unpack[FigureOptions]
    ) -> Figure:
        """Plot the quality of voice calls, video clients and web pages by group of flows.

        Parameters
        ----------
        application : {"voice", "video", "requests"}, optional
            The application. Default: every application of the scenario.

        Returns
        -------
        figure : matplotlib.figure.Figure
            Two panels for each application, with a point and a confidence interval for each group:
            MOS and mouth-to-ear delay; bitrate and share of time in stalls; median and 99th
            percentile of page load times.

        Raises
        ------
        BadValueError
            If the application is unknown, the scenario does not have it, or more than 12 groups
            have it.
        """
        is_known = isinstance(application, str) and application in APPLICATIONS
        if application is not None and not is_known:
            advice = nearest(application if isinstance(application, str) else "", APPLICATIONS)
            wrong = f"{error_prefix('application', application)}: not one of the accepted words"
            raise BadValueError(f"{wrong}. {advice}.")
        names = list(APPLICATIONS) if application is None else [application]
        found = {name: rows for name in names if (rows := self._groups(name))}
        if not found:
            raise BadValueError(
                "applications: the scenario has none. Add a group with source = "
                '"voice", video or requests.'
            )
        with style.style():
            figure = style.new_figure(8.5, 0.7 + 2.6 * len(found))
            axes: Any = figure.subplots(len(found), 2, squeeze=False)
            for pair, (name, rows) in zip(axes, found.items(), strict=True):
                for axis, quantity, colour in zip(
                    pair, APPLICATIONS[name].shown, _COLOURS, strict=True
                ):
                    _draw(axis, APPLICATIONS[name].format_of(quantity), rows, quantity, colour)
            style.heading(figure, f"{self._name}: applications", self._effort())
        return figure

    def _has_applications(self) -> bool:
        numbers = [len(self._result.intervals(name)) for name in APPLICATIONS]
        return 0 < max(numbers) <= _MOST_GROUPS

    def _groups(self, application: str) -> Sequence[Mapping[str, Any]]:
        """Return the rows of the groups that have an application, with a `title` each."""
        flows = self._result.resolved.flows
        rows = self._result.intervals(application)
        if len(rows) > _MOST_GROUPS:
            raise BadValueError(
                f"applications: {len(rows)} groups are more than the {_MOST_GROUPS} drawn."
            )
        return [{**row, "title": flows.group_title(row["group"])} for row in rows]


def _draw(
    axis: Axes,
    scaled: tuple[float, str],
    rows: Sequence[Mapping[str, Any]],
    quantity: str,
    colour: str,
) -> None:
    scale, unit = scaled
    values = [row[quantity] for row in rows]
    at = np.arange(len(rows))
    means = np.array([scale * value.mean for value in values])
    lows, highs = (np.array([scale * getattr(v, end) for v in values]) for end in ("low", "high"))
    has_interval = ~np.isnan(lows)
    errors = np.where(has_interval, [means - lows, highs - means], 0.0)
    axis.errorbar(at, means, errors, fmt="o", ms=6, color=style.COLOURS[colour], capsize=3)
    axis.set_xticks(at, [style.literal(row["title"]) for row in rows])
    axis.set_xlim(-0.6, len(rows) - 0.4)
    label = label_of_quantity(quantity)
    if len(label) > _LONG_LABEL:
        label = label.replace(" of ", " of\n", 1)
    axis.set_ylabel(f"{label}, {unit}" if unit else label)
    lowest, highest = bounds(quantity)
    axis.set_ylim(bottom=lowest)
    if quantity == "mos":
        axis.set_ylim(lowest, highest)
