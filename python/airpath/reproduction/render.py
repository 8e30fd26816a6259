"""Prints a report on a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rich.console import Console
from rich.markup import escape

from airpath.present.tables import MARK
from airpath.present.terminal import print_table
from airpath.reproduction.base import ItemResult, Report, Summary
from airpath.reproduction.claim import Claim, Outcome
from airpath.reproduction.verdict import tolerances

__all__ = ["print_report"]


def print_report(report: Report, console: Console, *, brief: bool = False) -> None:
    """Print the verdict of a report, then every table, claim and summary.

    Parameters
    ----------
    report : Report
        Report of `airpath.reproduction.reproduce`.
    console : rich.console.Console
        Output. Tables that are too wide are wrapped, not cut.
    brief : bool
        True to print only the verdict, the numbers outside their tolerance, and the claims that do
        not hold. Default False.
    """
    console.print(f"[bold]{escape(report.paper.title)}[/bold]")
    console.print(escape(report.paper.citation), style="dim")
    mode, seed = report.provenance["mode"], report.provenance["seed"]
    console.print(f"{mode}: {report.effort.describe()}, seed {seed}", highlight=False)
    if report.effort.note:
        console.print(escape(report.effort.note), style="yellow", highlight=False)
    _print_verdict(report, console)
    if brief:
        for claim in report.verdict.open:
            _print_claim(claim, console)
    else:
        _print_everything(report, console)
    if report.interrupted:
        left = [item.item for item in report.items if not item.complete]
        console.print(
            f"\n[bold red]Interrupted.[/bold red] Not complete: {', '.join(left) or 'nothing'}."
        )


def _print_verdict(report: Report, console: Console) -> None:
    verdict = report.verdict
    colour = "bold green" if verdict.is_clean else "bold red"
    console.print("\n[bold]Verdict[/bold]")
    console.print(f"  [{colour}]{verdict.describe()}[/{colour}]", highlight=False, soft_wrap=True)
    for outside in verdict.outside:
        text = f"  {MARK} {escape(outside.describe())}"
        console.print(text, highlight=False, soft_wrap=True)
    for outcome, text in (("does not hold", "do not hold"), ("undecided", "undecided")):
        found = [claim.key for claim in verdict.open if claim.outcome == outcome]
        if found:
            names = escape(", ".join(found))
            console.print(f"  {text}: {names}", highlight=False, soft_wrap=True)


def _print_everything(report: Report, console: Console) -> None:
    for item in report.items:
        _print_item(item, console)
    for of_paper, heading in (
        (True, "Claims of the paper's text, checked on Airpath's numbers"),
        (False, "Further measures; the verdict does not count them"),
    ):
        found = [each for each in report.claims if each.of_paper is of_paper]
        if found:
            console.print(f"\n[bold]{heading}[/bold]")
        for claim in found:
            _print_claim(claim, console)
    for summary in report.summaries:
        _print_summary(summary, console)


def _print_item(item: ItemResult, console: Console) -> None:
    for table in item.tables:
        print_table(table, console, comparison=True)
    tolerated = tolerances(item.rows)
    if tolerated:
        text = "; ".join(f"{quantity}: {source}" for quantity, source in tolerated)
        console.print(f"  {MARK}: outside its tolerance. {text}.", style="dim", highlight=False)
    for path in item.figures:
        console.print(f"  written: {escape(str(path))}", highlight=False, soft_wrap=True)


_OUTCOMES: Final[Mapping[Outcome, str]] = {
    "holds": "[green]holds[/green]",
    "undecided": "[bold yellow]UNDECIDED[/bold yellow]",
    "does not hold": "[bold red]DOES NOT HOLD[/bold red]",
}


def _print_claim(claim: Claim, console: Console) -> None:
    verdict = _OUTCOMES[claim.outcome]
    console.print(f"  {verdict}: {escape(claim.text)}", highlight=False)
    for line in (claim.criterion, *claim.about()):
        console.print(f"    {escape(line)}", style="dim", highlight=False)
    for line in claim.measured:
        console.print(f"    {escape(line)}", highlight=False)


def _print_summary(summary: Summary, console: Console) -> None:
    console.print(f"\n[bold]{escape(summary.title)}[/bold]")
    for line in summary.lines:
        console.print(f"  {escape(line)}", highlight=False)
