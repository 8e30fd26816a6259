"""Shows the state of a running emulation: a live view on a terminal, else lines of text."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from airpath.cli import output

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["Watcher", "watch"]

Watcher = Callable[[int, Mapping[str, Any]], None]
"""Function that receives the index of a replication, from 0, and an event."""

_LINES = 10
"""Number of progress lines for each replication, if there is no terminal."""


@contextmanager
def watch(replications: int, live: bool | None) -> Iterator[Watcher]:
    """Show events while the block runs.

    Parameters
    ----------
    replications : int
        Number of replications.
    live : bool or None
        Whether to use a live view. None: if there is a terminal.
    """
    if not (sys.stderr.isatty() if live is None else live):
        yield _lines(replications, quiet=live is False and sys.stderr.isatty())
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), transient=True, auto_refresh=False) as view:

        def notify(number: int, event: Mapping[str, Any]) -> None:
            if event["event"] == "progress":
                view.update(_table(number, replications, event), refresh=True)

        yield notify


def _lines(replications: int, *, quiet: bool) -> Watcher:
    last: dict[int, int] = {}

    def notify(number: int, event: Mapping[str, Any]) -> None:
        until = event.get("until_s")
        if quiet or event["event"] != "progress" or not until:
            return
        part = int(_LINES * event["at_s"] / until)
        if part > last.get(number, -1):
            last[number] = part
            values = ", ".join(f"{name} {value}" for name, value in _values(event).items())
            output.note(f"{_where(number, replications, event)}: {values}")

    return notify


def _where(number: int, replications: int, event: Mapping[str, Any]) -> str:
    of = f"replication {number + 1} of {replications}, " if replications > 1 else ""
    until = event.get("until_s")
    return f"{of}{event['at_s']:.1f} s" + (f" of {until:g} s" if until else "")


def _values(event: Mapping[str, Any]) -> dict[str, str]:
    late = event.get("lateness_p99_s")
    found = {
        "rate": f"{event['rate_bps'] / 1e6:.2f} Mbit/s",
        "back": f"{event['reverse_rate_bps'] / 1e6:.2f} Mbit/s",
        "queue": f"{event['queue_packets']} packets",
        "dropped": str(event["drops"]),
        "marked": str(event["marks"]),
        "late p99": "–" if late is None else f"{1e3 * late:.2f} ms",
        "most": f"{1e3 * event['lateness_max_s']:.2f} ms",
    }
    if event.get("regime") is not None:
        found["regime"] = f"R{event['regime'] + 1}"
    return found


def _table(number: int, replications: int, event: Mapping[str, Any]) -> Table:
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, title=_where(number, replications, event), title_style="bold")
    values = _values(event)
    for name in values:
        made.add_column(name, justify="right", no_wrap=True)
    made.add_row(*values.values())
    return made
