"""Choice of the panels of a timeline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from airpath.engine.path import ResolvedDirection
from airpath.errors import BadValueError
from airpath.results.panels import Panels
from airpath.scenario.link.base import Link

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Draw", "refuse_nothing_over_time", "shown_panels"]

Draw = Callable[[Panels, "Axes"], None]

Panel = tuple[str, float, Draw]
"""Required series, relative height, and drawing method of a panel."""

_PANELS: Sequence[Panel] = (
    ("delivered", 1.5, Panels.rates),
    ("queue", 1.0, Panels.queue_length),
    ("sojourn", 1.0, Panels.queueing_delay),
    ("snr", 1.0, Panels.snr),
    ("cwnd", 1.0, Panels.windows),
    ("regime", 0.8, Panels.regimes),
    ("mcs", 0.8, Panels.schemes),
)
"""Panels over time, in order."""


def shown_panels(
    recorded: Sequence[str], link_series: frozenset[str], hops: Sequence[ResolvedDirection]
) -> list[Panel]:
    """Return the panels whose series was recorded.

    Parameters
    ----------
    recorded : sequence of str
        Names of the recorded series.
    link_series : frozenset of str
        Link-specific series that the bottleneck's link can record.
    hops : sequence of ResolvedDirection
        Directions of hops that data traverse; each has its own panels of queue and delay.
    """
    shown = _shown(recorded, link_series)
    return [each for panel in shown for each in _by_hop(panel, hops)]


def _by_hop(panel: Panel, hops: Sequence[ResolvedDirection]) -> Iterator[Panel]:
    """Yield a panel, or one panel for each direction of a hop if data traverse several queues."""
    series, height, draw = panel
    if len(hops) < 2 or draw not in (Panels.queue_length, Panels.queueing_delay):
        yield panel
        return
    for hop in hops:
        yield series, 0.8 * height, partial(draw, at=hop)


def _shown(recorded: Sequence[str], link_series: frozenset[str]) -> list[Panel]:
    """Return the panels whose series was recorded."""
    return [
        panel
        for panel in _PANELS
        if panel[0] in recorded and panel[0] not in Link.all_series() - link_series
    ]


def refuse_nothing_over_time(
    what: str, recorded: Sequence[str], link_series: frozenset[str]
) -> None:
    """Raise an error if no series for a plot over time was recorded.

    Parameters
    ----------
    what : str
        Name of the calling method or argument, for the message: ``timeline``.
    recorded : sequence of str
        Names of the recorded series.
    link_series : frozenset of str
        Names of the link-specific series that the bottleneck link can record.

    Raises
    ------
    BadValueError
        If no recorded series has a panel.
    """
    if not _shown(recorded, link_series):
        names = ", ".join(name for name, _, _ in _PANELS if name not in Link.all_series())
        raise BadValueError(
            f"{what}: nothing is recorded that is drawn over time. "
            f"Add at least one of {names} to record.series."
        )
