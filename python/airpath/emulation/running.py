"""One run of the emulation program, with unnamed temporary files for its report and captures."""

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
    """Run the program once; yield its outcome, its report, and the captured packets by side.

    Parameters
    ----------
    document : mapping
        Document from `airpath.emulation.document.document_of`.
    listener : callable
        Function that receives each event. An exception that it raises ends the program.
    series : sequence of str
        Names of the series in the report. Default: none.
    captures : sequence of str
        Sides whose packets are captured. Default: none.

    Raises
    ------
    BadValueError, RunError, KeyboardInterrupt
        As `airpath.emulation.process.run` and `airpath.emulation.reports.read`.
    """
    has_command = document["traffic"]["kind"] == "commands"
    with ExitStack() as at_end:
        # Unnamed files: none remains if this process is killed.
        results = at_end.enter_context(tempfile.TemporaryFile())
        captured: dict[str, IO[bytes]]
        captured = {side: at_end.enter_context(tempfile.TemporaryFile()) for side in captures}
        files = {"results": results, **{f"{side}-capture": captured[side] for side in captures}}
        outcome = process.run(document, files, listener, has_command=has_command)
        yield outcome, reports.read(results, document["replication"], series), captured
