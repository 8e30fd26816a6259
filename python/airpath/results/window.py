"""Check of the time window that a figure or table of a run covers."""

from __future__ import annotations

from airpath.arguments import error_prefix
from airpath.errors import BadValueError
from airpath.scenario.units import Duration

__all__ = ["Window", "checked_window"]

Window = tuple[object, object] | str
"""Two times of a run: ``("10 s", "20 s")`` or ``"10s..20s"``. Plain numbers are seconds."""


def checked_window(window: Window | None, end_s: float) -> tuple[float, float]:
    """Check a window of a run, and return it in seconds. None means the whole run.

    Parameters
    ----------
    window : pair of duration or str, optional
        Start and end.
    end_s : float
        End of the run, s.

    Raises
    ------
    BadValueError
        If the window is not two ascending times between 0 and the end of the run.
    """
    if window is None:
        return 0.0, end_s
    head = error_prefix("window", window)
    example = (
        f'for example ("{end_s / 4:g} s", "{end_s / 2:g} s") or "{end_s / 4:g}s..{end_s / 2:g}s"'
    )
    try:
        first, last = window.split("..") if isinstance(window, str) else window
        start, end = (Duration.of(instant) / 1e9 for instant in (first, last))
    except (BadValueError, TypeError, ValueError):
        raise BadValueError(
            f"{head}: not two instants. Use its begin and end, {example}."
        ) from None
    if not start < end or start >= end_s:
        raise BadValueError(
            f"{head}: nothing of the run. Use two ascending instants from 0 to "
            f"{end_s:g} s, {example}."
        )
    return start, min(end, end_s)
