"""Makes the report of a result from the output of `airpath run` or `airpath emulate --out`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from airpath.errors import AirpathError, one_line
from airpath.present import figure_files
from airpath.present.tables import MARK, Tone
from airpath.report.blocks import Block, Facts, Figure, Line, Lines, Page, Section, anchor
from airpath.report.figures import data_uri, inlined
from airpath.report.page import html
from airpath.report.provenance import execution_facts, made_by, provenance
from airpath.report.report_files import ReportFiles
from airpath.report.sorting import sortable_table
from airpath.results.overview import heading, source_name, tables
from airpath.results.provenance import source_line
from airpath.results.save import FIGURES

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn

    from airpath.engine.advisory import Advisory
    from airpath.engine.path import ResolvedHop
    from airpath.engine.resolved import ResolvedScenario
    from airpath.results.result import Result

__all__ = ["advisory_section", "report_of_result", "scenario_facts"]

_OVER_TIME: Final = "One replication over time"
"""Title for a figure whose heading contains only the name of the result."""


def report_of_result(
    result: Result, *, directory: Path | None = None, out: Path | None = None
) -> str:
    """Return a result's report: advisories, figures, tables, scenario, provenance.

    Parameters
    ----------
    result : Result
        The result.
    directory : Path, optional
        Directory of the result's files, for links to existing files. Default: no links.
    out : Path, optional
        Directory of the report. Default: `directory`.

    Returns
    -------
    report : str
        One HTML document. The same result and files give the same text.
    """
    report_files = ReportFiles(directory, out)
    figures = list(_figures(result, report_files)) if result.replications else []
    results = [
        Section(anchor("table", table.title), table.title, [replace(table, title="")])
        for table in map(sortable_table, tables(result, "its files") if figures else ())
    ]
    made = result.provenance
    names = sorted(path.name for path in result.files)
    sections = [
        Section("summary", "Summary", [Facts(_facts(result))]),
        *advisory_section((advisory, "") for advisory in result.advisories),
        *([Section("figures", "Figures", figures)] if figures else []),
        *([Section("results", "Results", (), results)] if results else []),
        provenance(
            made,
            ["result.json", *names],
            report_files,
            more=execution_facts(result.execution),
            scenario="The scenario, all keys",
        ),
    ]
    return html(
        Page(
            title=result.title,
            subtitle=heading(result),
            verdict=_verdict(result, report_files),
            sections=sections,
            made_by=made_by(made),
        )
    )


def _verdict(result: Result, report_files: ReportFiles) -> Line:
    runs = len(result.replications)
    verb = "simulated" if result.engine == "simulate" else "emulated"
    text = f"{runs} {'replication' if runs == 1 else 'replications'} {verb}"
    details = [f"{MARK} INVALID: {reason}" for reason in result.invalid]
    if not result.complete:
        details.append(f"{MARK} Incomplete: {runs} of {result.requested} were finished.")
    details += [f"{MARK} Not drawn: {reason}" for reason in report_files.missing]
    tone: Tone = "bad" if details else "" if result.advisories else "good"
    codes = Counter(advisory.code for advisory in result.advisories)
    if codes:
        details.append(f"Advisories: {', '.join(codes)}.")
    state = ["complete" if result.complete else "incomplete"]
    if result.engine == "emulate":
        state.append("valid" if result.valid else "INVALID")
    return Line(f"{text}, {', '.join(state)}.", tone, details)


def _facts(result: Result) -> list[tuple[str, str]]:
    facts = scenario_facts(result.resolved)
    overrides = result.provenance.get("overrides")
    if overrides:
        facts.append(("changed by --set", ", ".join(overrides)))
    return facts


def scenario_facts(resolved: ResolvedScenario) -> list[tuple[str, str]]:
    """Return the facts of a scenario: flows, bottleneck, path of the ACKs, durations."""
    sources: Counter[str] = Counter()
    for members in resolved.flows.groups.values():
        sources[source_name(resolved, members[0])] += len(members)
    facts = [
        ("flows", ", ".join(f"{count} {name}" for name, count in sources.items())),
        *_path_facts(resolved),
        ("duration", f"{resolved.duration_s:g} s"),
    ]
    if resolved.warmup_ns:
        facts.append(("warm-up, not counted", f"{resolved.warmup_s:g} s"))
    return facts


def _path_facts(resolved: ResolvedScenario) -> list[tuple[str, str]]:
    """Return the facts of the path: one line for each hop, or queue, link and ACKs of one hop."""
    kind = resolved.ack_path_kind
    if kind is not None:
        return [
            ("queue discipline", resolved.queue.kind),
            ("link", resolved.link.kind),
            ("path of the ACKs", kind),
        ]
    return [(f"hop {hop.name}", _hop_text(hop)) for hop in resolved.hops]


def _hop_text(hop: ResolvedHop) -> str:
    if hop.wire is not None:
        return "wire"
    texts = {name: f"{each.link.kind}, {each.queue.kind}" for name, each in hop.by_name.items()}
    if len(set(texts.values())) == 1 and len(texts) == 2:
        return f"{next(iter(texts.values()))}, both directions"
    return "; ".join(f"{name}: {text}" for name, text in texts.items())


def advisory_section(found: Iterable[tuple[Advisory, str]]) -> Iterator[Section]:
    """Yield the section of advisories, if any. Each is listed once, with its kind and engines."""
    engines: dict[Advisory, list[str]] = {}
    for advisory, engine in found:
        engines.setdefault(advisory, []).append(engine)
    lines = [
        Line(str(advisory), details=[": ".join(filter(None, (advisory.code, ", ".join(of))))])
        for advisory, of in engines.items()
    ]
    if lines:
        yield Section("advisories", "Advisories", [Lines(lines)])


def _figures(result: Result, report_files: ReportFiles) -> Iterator[Block]:
    """Plot the figures again; if their data is missing, yield the PNG files of the run."""
    source = source_line(result.provenance)
    try:
        figures = result.plot.defaults()
    except AirpathError as error:
        # For example a changed trace, or a removed table of a series.
        report_files.missing.append(one_line(str(error)))
        figures = {}
    for stem, figure in figures.items():
        name = f"{result.title}: {stem}"
        svg = figure_files.rendered(figure, name, source, ["svg"])["svg"]
        title = _title(result, figure)
        drawn = inlined(svg, f"{anchor('figure', stem)}-", title)
        yield Figure(title, svg=drawn, links=report_files.links_of_figure(stem))
    for stem in () if figures else dict.fromkeys(Path(name).stem for name in FIGURES):
        if report_files.has(f"{stem}.png"):
            title = stem.replace("-", " ").capitalize()
            image = data_uri(report_files.read(f"{stem}.png"))
            yield Figure(title, image=image, links=report_files.links_of_figure(stem))


def _title(result: Result, figure: Drawn) -> str:
    """Return the title of a figure without the name of the result."""
    title = str(figure.get_label()).removeprefix(result.title).removeprefix(": ")
    return f"{title[:1].upper()}{title[1:]}" or _OVER_TIME
