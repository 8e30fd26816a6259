"""``airpath sweep status | export | prune``: commands on the ledger of a sweep."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from airpath import _airpath
from airpath.cli import options, output
from airpath.errors import one_line

if TYPE_CHECKING:
    from airpath.sweeps.ledger.overview import Overview

__all__ = ["export", "prune", "status"]

LedgerArgument = Annotated[
    Path, typer.Argument(metavar="DIR", help="The directory of a sweep, or its ledger.sqlite.")
]

_MOST_FAILURES = 20
"""Maximum number of printed failures; --json has all of them."""


def status(
    ledger: LedgerArgument,
    json: options.Json = False,
) -> int:
    """Print how far a sweep is, also while it runs.

    Points, replications and failures.
    """
    from airpath.sweeps.ledger.opening import ledger_file
    from airpath.sweeps.ledger.overview import overview

    path = ledger_file(ledger)
    found = overview(path)
    if json:
        about = {"version": _airpath.version(), "commit": _airpath.commit()}
        command = {"command": output.command_line()}
        document = {"provenance": about | command, "ledger": one_line(str(path))}
        output.print_json({**document, **found.to_dict()})
        return 0
    print("\n".join(_lines(path, found)))
    return 0


def export(
    ledger: LedgerArgument,
    out: Annotated[str, typer.Option(metavar="DIR", help="Write points and runs here.")],
    format_: options.Formats = None,
) -> int:
    """Write a table of points and a table of replications.

    Points have means and intervals.
    """
    from airpath.results.export import checked_formats
    from airpath.sweeps.ledger.opening import connected, ledger_file
    from airpath.sweeps.result import load_sweep

    forms = checked_formats("csv" if format_ is None else format_)
    path = ledger_file(ledger)
    connected(path, writes=False).close()
    output.written(load_sweep(path).save(out, formats=forms, figure_formats=None))
    return 0


def prune(
    ledger: LedgerArgument,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print the entries that would be removed; do not remove."),
    ] = False,
    accept_version: options.AcceptVersion = False,
) -> int:
    """Remove replications that the sweep does not need.

    Those of other points, seeds and versions.
    """
    from airpath.sweeps.ledger import prune as pruning
    from airpath.sweeps.ledger.opening import ledger_file

    path = ledger_file(ledger)
    found = pruning.prune(path, dry_run=dry_run, accept_version=accept_version)
    verb = "would be removed" if dry_run else "removed"
    reasons = (
        (found.other_versions, "of other versions"),
        (found.not_planned, "of jobs or seeds that are not in the plan"),
        (found.beyond_most, "beyond the most that a point may have"),
    )
    why = "".join(f", {count} {reason}" for count, reason in reasons if count)
    print(
        f"{one_line(str(path))}: {found.replications} replications {verb}{why}; "
        f"{found.failures} failures {verb}; {found.kept} replications kept."
        + (f" {found.series} files of series {verb}." if found.series else "")
    )
    return 0


def _lines(path: Path, found: Overview) -> list[str]:
    builds = ", ".join(f"{build}: {count}" for build, count in found.builds.items())
    lines = [
        *_head(path, found),
        f"  failures      {len(found.failures)}",
        *([] if found.name is None else [f"  advisories    {_advisories(found)}"]),
        f"  CPU time      {found.cpu_s:.1f} s",
        f"  versions      {builds or 'none'}",
        f"  coordinator   {_coordinator(found.coordinator)}",
    ]
    for failure in found.failures[:_MOST_FAILURES]:
        point = "no point of the plan" if failure.point is None else f"point {failure.point}"
        lines.append(f"  {point}, replication {failure.replication}: {one_line(failure.message)}")
    left = len(found.failures) - _MOST_FAILURES
    return [*lines, f"  and {left} more (--json has all)"] if left > 0 else lines


def _head(path: Path, found: Overview) -> list[str]:
    if found.name is None:
        return [f"{one_line(str(path))}: no sweep", f"  replications  {found.others}"]
    least, most = found.wanted
    wanted = str(most) if least == most else f"{least} to {most}"
    others = f", and {found.others} others" if found.others else ""
    return [
        f"{one_line(str(path))}: {one_line(found.name)}",
        f"  points        {found.finished_points} of {found.points} finished",
        f"  replications  {found.replications} of {wanted}{others}",
    ]


def _advisories(found: Overview) -> str:
    from airpath.sweeps.advisories import NOT_RECORDED

    parts = [f"{code} at {_points(count)}" for code, count in found.advisories.items()]
    if found.unrecorded:
        parts.append(f"{NOT_RECORDED} at {_points(found.unrecorded)}")
    return ", ".join(parts) or "none"


def _points(count: int) -> str:
    return "1 point" if count == 1 else f"{count} points"


def _coordinator(process: int | None) -> str:
    if process is None:
        return "none"
    return f"process {process}" if process else "running"
