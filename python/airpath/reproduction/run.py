"""`reproduce`: from a paper's name to a report."""

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
"""Next to the document that it shows."""


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
    """Make a paper's tables and figures again.

    Parameters
    ----------
    paper : str or Paper
        An installed paper, the path of a directory as `load` takes it, or a paper.
    items : sequence of str
        Which of its items, ``["table3", "fig5"]``. Default: all.
    mode : {"quick", "default", "full"}
        How much is simulated; the paper says what each means.
    reps : int, optional
        Largest number of replications of each point, 1 to 1 000 000. Default: those of the mode.
    out : str or Path, optional
        Directory for figures, for the report as JSON, and for ``report.html``, which shows both;
        created if missing. Default: no files. After Ctrl-C no figure is drawn. Finished
        replications are kept there in ``ledger.sqlite`` and ``series``, and not run again.
    seed : int
        Master seed, 0 to 2^64 - 1. Default 1.
    threads : int, optional
        Worker threads, 1 to 10 000. Default: one for each core.
    progress : callable, ``"auto"`` or None
        Called with the finished fraction in [0, 1] and what is being done. Default ``"auto"``: a
        bar in a notebook and in an interactive interpreter.
    provenance : mapping, optional
        What to put at the front of the report's provenance, for example the command line.
    effort : Effort, optional
        Replications and durations in place of the mode's.
    figure_formats : str or sequence of str
        Of the figures: ``png``, ``pdf``, ``svg``, or several. Default PNG and SVG.
    accept_version : bool
        Use the replications in `out` that other versions made. Default False: they are left alone.

    Returns
    -------
    report : Report
        After Ctrl-C with `interrupted` set and everything that was finished until then.

    Raises
    ------
    BadValueError
        If the paper, an item, the mode or a format is not known, `reps`, `seed` or `threads` is not
        accepted, or `out` cannot be written to or has a damaged ledger.
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
    """Return the cells to simulate; none after Ctrl-C while the items list them."""
    try:
        wanted = [item.cells_of(session) for item in items] + [spec.cells for spec in specs]
    except KeyboardInterrupt:
        session.interrupted = True
        return []
    return [cell for cells in wanted for cell in cells]


def _checkable(paper: Paper, wanted: Sequence[ClaimCheck], session: Session) -> list[ClaimCheck]:
    """Return the claims whose cells are all simulated, even if their item was not requested.

    Those without cells are checked if they were requested and nothing was interrupted.
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
    """Evaluate an item; after Ctrl-C, also one while it is drawn, without its figures.

    An item that needs more than was computed then has nothing.
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
