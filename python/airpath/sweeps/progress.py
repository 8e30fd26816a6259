"""Progress line of a sweep: points, replications, speed, failures."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

from airpath.present.progress import Paced
from airpath.sweeps.plan import Rule
from airpath.sweeps.targets import Target

__all__ = ["Progress"]


class Progress:
    """Counts finished replications and reports them, at most ten times a second.

    Parameters
    ----------
    notify : callable or None
        Called with the finished fraction, in [0, 1], and a line of text. None: no reports.
    """

    def __init__(self, notify: Callable[[float, str], None] | None = None) -> None:
        self._notify = Paced(notify)
        self._targets = self._done = 0
        self._wanted = self._seen = 0
        self._unopened = 0
        self._replications = self._failures = 0
        self._simulated_s = 0.0
        self._began = time.monotonic()

    def expect(self, rules: Collection[Rule]) -> None:
        """Set the number of replications of each distinct point."""
        self._targets = len(rules)
        self._unopened = sum(rule.least for rule in rules)
        self._began = time.monotonic()

    def opened(self, target: Target) -> None:
        """Count a point, with its stored replications."""
        self._unopened -= target.rule.least
        self._wanted += target.stopping.wanted
        self._seen += target.stopping.seen
        self._done += target.is_done

    def finished(self, target: Target, wanted_before: int) -> None:
        """Count a finished replication."""
        self._replications += 1
        self._seen += 1
        self._wanted += target.stopping.wanted - wanted_before
        self._done += target.is_done
        self._simulated_s += target.simulated_s

    def failed(self) -> None:
        """Count a failed point."""
        self._failures += 1

    def slice(self, seconds: float) -> float:
        """Return the target duration of a task, s: shorter near the end to keep workers busy."""
        spent = time.monotonic() - self._began
        if self._replications < 1:
            return seconds
        left = max(0, self._total() - self._seen) * spent / self._replications
        return min(max(left / 3, seconds / 20), seconds)

    def show(self) -> None:
        """Report the finished replications."""
        if not self._notify.is_due():
            return
        speed = self._simulated_s / max(time.monotonic() - self._began, 1e-9)
        text = (
            f"{self._done} of {self._targets} points, {self._replications} replications, "
            f"{_speed(speed)} simulated s/s"
        )
        if self._failures:
            text += f", {self._failures} failed"
        self._notify(min(self._seen / max(self._total(), 1), 1.0), text)

    def _total(self) -> int:
        return self._wanted + self._unopened


def _speed(value: float) -> str:
    """Return three digits of a speed, without an exponent."""
    return f"{float(f'{value:.3g}'):,.10g}"
