"""Runs the emulation program once, and reads its report and captures."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import IO, Any

from airpath.emulation import process, reports

__all__ = ["run_once"]


@contextmanager
def run_once(
    document: Mapping[str, Any],
    listener: process.Listener,
    *,
    series: Sequence[str] = (),
    captures: Sequence[str] = (),
) -> Iterator[tuple[process.EmulationOutcome, reports.Report, Mapping[str, IO[bytes]]]]:
    """Run the program once; yield the outcome, the report, and a mapping from side to capture.

    Parameters
    ----------
    document : mapping
        Document from `airpath.emulation.document.document_of`.
    listener : callable
        Function that receives each event. An exception that it raises ends the program.
    series : sequence of str
        Names of the series to read from the results. Default: no series.
    captures : sequence of str
        Ends of the path at which packets are captured. Default: no capture.

    Raises
    ------
    BadValueError, RunError, KeyboardInterrupt
        As in `airpath.emulation.process.run` and `airpath.emulation.reports.read`.
    """
    has_command = document["traffic"]["kind"] == "commands"
    with ExitStack() as at_end:
        # Unnamed files, so that no file remains if this process is killed.
        results = at_end.enter_context(tempfile.TemporaryFile())
        captured: dict[str, IO[bytes]]
        captured = {side: at_end.enter_context(tempfile.TemporaryFile()) for side in captures}
        files = {"results": results, **{f"{side}-capture": captured[side] for side in captures}}
        outcome = process.run(document, files, listener, has_command=has_command)
        yield outcome, reports.read(results, document["replication"], series), captured
