"""Reproduces the papers of the demonstration: one process per paper, several concurrently."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from threading import Lock
from typing import Any, Final

from airpath.api import cores
from airpath.cli import INTERRUPTED
from airpath.errors import RunError
from airpath.files import LARGEST, read_bytes
from airpath.present.progress import ProgressCallback
from airpath.present.tables import Table
from airpath.reproduction.overview import RESULTS, overview_of
from airpath.reproduction.plugins import papers_with

__all__ = ["REPLICATIONS", "reproduced", "summary"]

REPLICATIONS: Final = 2
"""Maximum number of replications of each point."""


def reproduced(
    papers: Sequence[str], directory: Path, progress: ProgressCallback | None = None
) -> dict[str, Any]:
    """Reproduce papers with quick runs; return the document of each paper, by name.

    Parameters
    ----------
    papers : sequence of str
        Names of installed papers.
    directory : Path
        Directory of the output, with a subdirectory and a ledger for each paper.
    progress : callable, optional
        Function that is called with the finished share of the papers.

    Raises
    ------
    RunError
        If a command fails.
    KeyboardInterrupt
        After Ctrl-C; all commands were stopped.
    """
    at_once = min(cores(), len(papers)) or 1
    commands = _Commands()
    with ThreadPoolExecutor(at_once) as pool:
        jobs = {
            pool.submit(commands.run, _command(paper, directory, cores() // at_once)): paper
            for paper in papers
        }
        left = dict.fromkeys(papers)
        try:
            _report(progress, len(papers), left)
            for job in as_completed(jobs):
                job.result()
                del left[jobs[job]]
                _report(progress, len(papers), left)
        except BaseException:
            commands.stop()
            raise
    documents = ((paper, directory / paper / f"{paper}.json") for paper in papers)
    return {paper: json.loads(read_bytes(path, LARGEST)) for paper, path in documents}


def _command(paper: str, directory: Path, threads: int) -> list[str]:
    options = {"--reps": REPLICATIONS, "--threads": threads, "--figure-format": "svg"}
    words = [str(word) for option in options.items() for word in option]
    return ["reproduce", paper, "--quick", *words, "--out", str(directory / paper)]


def _report(progress: ProgressCallback | None, papers: int, left: Mapping[str, None]) -> None:
    if progress is not None and left:
        progress(1 - len(left) / papers, f"reproducing {', '.join(left)}")


class _Commands:
    """Runs ``airpath`` commands as child processes, and can stop all of them."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = Lock()
        self._is_stopped = False

    def run(self, arguments: Sequence[str]) -> None:
        """Run a command to its end, unless `stop` was called.

        Raises
        ------
        RunError
            If the command fails, with its standard error.
        KeyboardInterrupt
            If Ctrl-C interrupted the command.
        """
        with self._lock:
            if self._is_stopped:
                return
            child = subprocess.Popen(
                [sys.executable, "-m", "airpath", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
            )
            self._running.add(child)
        _, written = child.communicate()
        with self._lock:
            self._running.discard(child)
            is_stopped = self._is_stopped
        if child.returncode == INTERRUPTED:
            raise KeyboardInterrupt
        if child.returncode and not is_stopped:
            raise RunError(f"airpath {' '.join(arguments)}: {written.strip()}")

    def stop(self) -> None:
        """End all commands, and start no others. Ledgers keep finished replications."""
        with self._lock:
            self._is_stopped = True
            for child in self._running:
                child.terminate()


def summary(documents: Mapping[str, Any]) -> Table:
    """Return the table of verdicts for these runs, and for the last full run of each paper."""
    full = {paper: overview_of(paper).to_dict() for paper in papers_with(RESULTS)}
    rows = []
    for paper, document in documents.items():
        verdict, last = document["verdict"], full.get(paper)
        current = verdict["with_later"] or verdict
        rows.append(
            [paper, _numbers(verdict), _numbers(last), *_claims(current), *_claims(last)],
        )
    outcomes = ("hold", "undecided", "do not")
    columns = [
        ("", "paper"),
        *(("numbers within", name) for name in ("now", "full")),
        *((f"claims {name}", outcome) for name in ("now", "full") for outcome in outcomes),
    ]
    notes = [
        f"now: quick runs, at most {REPLICATIONS} replications of each point. "
        "full: the last runs that are as long as the paper's.",
    ]
    return Table(
        "Published numbers within tolerance, and claims of the papers", columns, rows, notes
    )


def _numbers(verdict: Mapping[str, Any] | None) -> str:
    return f"{verdict['within']} of {verdict['numbers']}" if verdict and verdict["numbers"] else "-"


def _claims(tally: Mapping[str, Any] | None) -> list[str]:
    """Return three counts: claims that hold, are undecided, do not hold."""
    if tally is None:
        return ["-"] * 3
    return [str(tally["hold"]), *(str(len(tally[name])) for name in ("undecided", "do_not_hold"))]
