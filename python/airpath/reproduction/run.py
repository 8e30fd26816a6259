"""`reproduce`: runs a paper and returns a report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from airpath import _airpath
from airpath.arguments import (
    check_all,
    error_prefix,
    master_seed,
    path_like,
    replication_count,
    worker_threads,
)
from airpath.errors import BadValueError, show
from airpath.files import output_directory, write_file
from airpath.present.figure_files import checked_formats
from airpath.present.progress import Auto, ProgressCallback, progress_line, reporting_to
from airpath.reproduction.base import (
    Cell,
    ClaimCheck,
    Effort,
    Item,
    ItemResult,
    Mode,
    Paper,
    Report,
)
from airpath.reproduction.half_widths import half_widths
from airpath.reproduction.session import Session
from airpath.reproduction.strength import checked

__all__ = ["REPORT", "reproduce_paper"]

REPORT: Final = "report.html"
"""Name of the HTML report, which is written next to the JSON document."""


def reproduce_paper(
    paper: str | Paper,
    items: Sequence[str] = (),
    *,
    mode: Mode = "default",
    reps: int | None = None,
    out: str | Path | None = None,
    seed: int = 1,
    threads: int | None = None,
    progress: ProgressCallback | Auto | None = "auto",
    provenance: Mapping[str, Any] | None = None,
    effort: Effort | None = None,
    figure_formats: str | Sequence[str] = ("png", "svg"),
    accept_version: bool = False,
) -> Report:
    """Reproduce the tables and figures of a paper.

    Parameters
    ----------
    paper : str or Paper
        Name of an installed paper, path of a directory as in `load`, or a `Paper`.
    items : sequence of str
        Items to reproduce, for example ``["table3", "fig5"]``. Default: all items.
    mode : {"quick", "default", "full"}
        Amount of simulation; the paper defines each mode.
    reps : int, optional
        Upper limit of the number of replications of each point, 1 to 1 000 000. Default: the mode's
        number without a limit.
    out : str or Path, optional
        Directory for the figures, for the report as JSON, and for ``report.html``, which shows
        both. It is created if it does not exist. Finished replications are stored there in
        ``ledger.sqlite`` and ``series``; later calls reuse them. After Ctrl-C, no figures are
        written. Default: no files.
    seed : int
        Master seed, 0 to 2^64 - 1. Default 1.
    threads : int, optional
        Worker threads, 1 to 10 000. Default: one for each core.
    progress : callable, ``"auto"`` or None
        Called with the finished fraction in [0, 1] and a text about the current step. Default
        ``"auto"``: a progress bar in a notebook and in an interactive interpreter.
    provenance : mapping, optional
        Additional entries at the beginning of the report's provenance, for example the command
        line.
    effort : Effort, optional
        Number of replications and durations that replace the mode's. Default: the mode's effort.
    figure_formats : str or sequence of str
        Formats of the figures: one or several of ``png``, ``pdf``, ``svg``. Default PNG and SVG.
    accept_version : bool
        True to use replications in `out` that were run by other versions of Airpath. Default False:
        they are ignored.

    Returns
    -------
    report : Report
        The report. After Ctrl-C, `interrupted` is True and the report has the finished results.

    Raises
    ------
    BadValueError
        If the paper, an item, the mode or a format is unknown, if `reps`, `seed` or `threads` is
        not accepted, or if `out` is not writable or has a damaged ledger.
    """
    check_all(
        None if out is None else path_like("out", out),
        master_seed(seed),
        worker_threads(threads),
        None if reps is None else replication_count(reps),
        progress_line(progress),
    )
    if not isinstance(paper, Paper):
        from airpath.reproduction.plugins import load

        paper = load(paper)
    chosen = _chosen_items(paper, items)
    if not isinstance(mode, str) or mode not in paper.modes:
        raise BadValueError(
            f"{error_prefix('mode', mode)}: not a mode. Expected one of: {', '.join(paper.modes)}."
        )
    effort = effort or paper.modes[mode]
    if reps is not None:
        effort = effort.limited_to(reps)
    kinds = checked_formats(figure_formats)
    directory = None if out is None else output_directory(out, "out")
    with reporting_to(progress) as notify:
        session = Session(paper, effort, seed, threads, notify, kinds, directory, accept_version)
        specs = paper.claims_of(item.key for item in chosen)
        session.simulate(_wanted_cells(chosen, specs, session))
        results = [_evaluate(item, session, directory) for item in chosen]
        claims = checked(session, _checkable(paper, specs, session))
    report = Report(
        paper=paper,
        provenance=_provenance(session, mode, provenance or {}),
        items=results,
        claims=claims,
        summaries=[*paper.summarise(results), *half_widths(results, session)],
        interrupted=session.interrupted,
        effort=effort,
    )
    if directory is not None:
        from airpath.report.paper import report_of_paper

        text = json.dumps(report.to_dict(), allow_nan=False) + "\n"
        write_file(directory / f"{paper.key}.json", text.encode())
        shown = report_of_paper(json.loads(text), directory=directory)
        write_file(directory / REPORT, shown.encode())
    return report


def _chosen_items(paper: Paper, names: Sequence[str]) -> list[Item]:
    by_key = {item.key: item for item in paper.items}
    if isinstance(names, str) or not isinstance(names, Sequence):
        wrong = f"{error_prefix('items', names)}: not a list of items"
        raise BadValueError(f"{wrong}. Expected one of: {', '.join(by_key)}.")
    unknown = [name for name in names if not isinstance(name, str) or name not in by_key]
    if unknown:
        listed = ", ".join(map(show, unknown))
        verb = "not an item" if len(unknown) == 1 else "not items"
        raise BadValueError(
            f"{listed}: {verb} of {paper.key}. Expected one of: {', '.join(by_key)}."
        )
    return [by_key[name] for name in dict.fromkeys(names or by_key)]


def _wanted_cells(
    items: Sequence[Item], specs: Sequence[ClaimCheck], session: Session
) -> list[Cell]:
    """Return the cells to simulate; empty if Ctrl-C interrupts the computation of the cells."""
    try:
        wanted = [item.cells_of(session) for item in items] + [spec.cells for spec in specs]
    except KeyboardInterrupt:
        session.interrupted = True
        return []
    return [cell for cells in wanted for cell in cells]


def _checkable(paper: Paper, wanted: Sequence[ClaimCheck], session: Session) -> list[ClaimCheck]:
    """Return the claims that can be checked.

    A claim with cells can be checked if all its cells are simulated, even if its item was not
    requested. A claim without cells can be checked if it was requested and the run was not
    interrupted.
    """
    return [
        spec
        for spec in paper.claims
        if (
            session.complete(spec.cells)
            if spec.cells
            else spec in wanted and not session.interrupted
        )
    ]


def _evaluate(item: Item, session: Session, directory: Path | None) -> ItemResult:
    """Evaluate an item. After Ctrl-C (also while figures are plotted), evaluate without figures.

    If an interrupted evaluation needs further computations, its result is empty.
    """
    if not session.interrupted:
        try:
            return item.evaluate(session, directory)
        except KeyboardInterrupt:
            session.interrupted = True
    try:
        return item.evaluate(session, None)
    except KeyboardInterrupt:
        return ItemResult(item.key, item.title, [], complete=False)


def _provenance(session: Session, mode: Mode, given: Mapping[str, Any]) -> dict[str, Any]:
    effort = session.effort
    others = [{**vars(build), "replications": n} for build, n in sorted(session.others.items())]
    return {
        "version": _airpath.version(),
        "commit": _airpath.commit(),
        **given,
        **({"other_versions": others} if others else {}),
        "paper": session.paper.citation,
        "mode": mode,
        "replications": effort.replications,
        "duration_s": effort.duration_s,
        "warmup_s": effort.warmup_s,
        "note": effort.note,
        "seed": session.seed,
        "confidence": session.paper.confidence,
        "scenarios": session.scenarios(),
    }
