"""Report of a sweep, from its ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from airpath.errors import one_line
from airpath.present.tables import Cell, Table, Tone
from airpath.report.advisories import advisories, advisory_details
from airpath.report.blocks import (
    MOST_ROWS,
    Block,
    Facts,
    Figure,
    Line,
    Lines,
    Page,
    Section,
    anchor,
    cut,
    some_points,
)
from airpath.report.differences import differences_along
from airpath.report.figures import inlined
from airpath.report.metrics import Metrics
from airpath.report.page import html
from airpath.report.provenance import execution_facts, made_by, provenance
from airpath.report.report_files import ReportFiles
from airpath.report.scenarios import scenarios
from airpath.results.distributions import QUANTITIES
from airpath.results.estimates import EQUAL, EQUAL_NOTE
from airpath.sweeps.scales import metric_style

if TYPE_CHECKING:
    from airpath.sweeps.readings import PointData, Readings
    from airpath.sweeps.result import Sweep

__all__ = ["report_of_sweep"]

_FILES: Final = ("points.csv", "runs.csv", "ledger.sqlite")
_MOST_MESSAGES: Final = 5
"""Maximum number of messages in the verdict; the table of failures has all of them."""
_TITLES: Final[Mapping[str, str]] = {
    "pareto": "Rate against delay",
    "lines": "{} along an axis",
    "heatmap": "{} over two axes",
    "distribution": "Distribution of {}",
    "ecdf": "Distribution of {} over the replications",
    "forest": "Differences of {}",
}
"""Titles of figures, by the first part of a figure's name."""
_MOST_DRAWN: Final = 2000
"""Maximum number of points of a sweep with figures."""


def report_of_sweep(
    sweep: Sweep,
    *,
    directory: Path | None = None,
    out: Path | None = None,
    figures: Mapping[str, bytes] | None = None,
    left_out: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return a sweep's report: figures, points, differences, scenarios, provenance.

    Parameters
    ----------
    sweep : Sweep
        The sweep; if it is unfinished, the report states this.
    directory : Path, optional
        Directory of the sweep's files, for links to existing files. Default: the ledger's
        directory.
    out : Path, optional
        Directory of the report. Default: `directory`.
    figures : mapping of str to bytes, optional
        SVG files by name without ending, from `rendered` of `airpath.sweeps.plot.figures`. Default:
        the figures are plotted.
    left_out : mapping of str to str, optional
        Reasons for figures missing from `figures`, from `SweepPlot.left_out`. Default: none is
        missing.

    Returns
    -------
    report : str
        One HTML document. Equal ledgers and files give equal texts.
    """
    from airpath.sweeps.plot.figures import rendered

    report_files = ReportFiles(sweep.path.parent if directory is None else directory, out)
    readings = sweep.readings
    plan = readings.plan
    if len(plan.points) > _MOST_DRAWN:
        figures = {}
    if figures is None:
        plot = sweep.plot
        figures = {stem: files["svg"] for stem, files in rendered(plot, ["svg"])}
        left_out = plot.left_out()
    failures = sweep.failures()
    metrics = Metrics(readings)
    sections = [
        _summary(readings, metrics),
        *_figures(readings, metrics, figures, left_out, report_files),
        *_failures(failures),
        *advisories(readings),
        _points(readings, metrics),
        *differences_along(readings, list(metrics.styles)),
        *scenarios(plan),
        _provenance(sweep, report_files),
    ]
    made = sweep.provenance
    return html(
        Page(
            title=plan.name or "Sweep",
            subtitle=_axes_text(readings),
            verdict=_verdict(readings, failures),
            sections=sections,
            made_by=made_by(made),
        )
    )


# --- verdict -----------------------------------------------------------------------------------


def _axes_text(readings: Readings) -> str:
    plan = readings.plan
    counts = [f"{name} ({len(_labels(readings, axis))})" for axis, name in plan.names.items()]
    return f"{_several(len(plan.points), 'point')}: {' × '.join(counts)}" if counts else "one point"


def _labels(readings: Readings, axis: str) -> list[str]:
    return list(dict.fromkeys(of.point.labels.get(axis, "") for of in readings.points))


def _verdict(readings: Readings, failures: Any) -> Line:
    plan = readings.plan
    runs = sum(len(of.values) for of in readings.points)
    parts = [_several(len(plan.points), "point")]
    if plan.replicated:
        parts.append(_several(runs, "replication"))
    left = [of.point.number for of in readings.points if not of.complete]
    simulated = failures[failures["engine"] != "solve"]
    details = []
    if left:
        details.append(f"! Unfinished: {some_points(left)}.")
    if len(simulated):
        details += [f"! Failed: {message}" for message in _messages(simulated)]
    wide = [of.point.number for of in readings.points if _is_too_wide(readings, of)]
    if wide:
        rule = plan.rule
        details.append(
            f"! {_several(rule.most, 'replication')} were not enough for the target interval "
            f"of {_named(readings, rule.metric or '')}: {some_points(wide)}."
        )
    noted = advisory_details(readings)
    tone: Tone = "bad" if details else "" if noted else "good"
    details += noted
    unsolved = failures[failures["engine"] == "solve"]
    if len(unsolved):
        details += [f"No analytic model: {message}" for message in _messages(unsolved)]
    if not left:
        parts.append("all replications are stored")
    return Line(", ".join(parts) + ".", tone, details)


def _messages(failures: Any) -> list[str]:
    """Return each message once, with its points, the most frequent first."""
    counts: dict[str, list[int]] = {}
    for number, message in zip(failures["point"], failures["message"], strict=True):
        counts.setdefault(str(message), []).append(int(number))
    ranked = sorted(counts.items(), key=lambda each: -len(each[1]))
    listed = [
        f"{message} ({some_points(list(dict.fromkeys(numbers)))})"
        for message, numbers in ranked[:_MOST_MESSAGES]
    ]
    left = len(ranked) - len(listed)
    return [*listed, f"and {_several(left, 'other message')}."] if left else listed


def _is_too_wide(readings: Readings, of: PointData) -> bool:
    """Return whether a point has all its replications and its interval is still too wide."""
    rule = readings.plan.rule
    if rule.metric is None or len(of.values) < rule.most:
        return False
    found = readings.interval(of.point.number, rule.metric)
    half = (found.high - found.low) / 2
    fine = [half <= rule.relative * abs(found.mean)] if rule.relative is not None else []
    fine += [half <= rule.absolute] if rule.absolute is not None else []
    return not any(fine)


def _several(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


# --- sections ----------------------------------------------------------------------------------


def _summary(readings: Readings, metrics: Metrics) -> Section:
    plan = readings.plan
    facts = [(name, ", ".join(_labels(readings, axis))) for axis, name in plan.names.items()]
    facts.append(("metrics", ", ".join(_named(readings, metric) for metric in plan.metrics)))
    if metrics.constant:
        facts.append(("the same everywhere", f"{'; '.join(metrics.constant.values())}; no column"))
    facts.append(("replications", _rule(readings)))
    shared = "each point its own"
    if plan.common_random_numbers and plan.replicated == "emulate":
        shared = "the models draw the same at all points, the kernel's runs are independent"
    elif plan.common_random_numbers:
        shared = "the same for all points, so that differences are paired"
    if plan.replicated is not None:
        facts += [
            ("random numbers", f"seed {plan.seed}, {shared}"),
            ("intervals", f"± are {100 * plan.confidence:g} % intervals"),
        ]
    facts.append(("answered by", ", ".join(plan.engines)))
    return Section("summary", "Summary", [Facts(facts)])


def _named(readings: Readings, metric: str) -> str:
    """Return the readable name of a metric."""
    return metric_style(metric, [], readings.plan.metric_labels).name


def _rule(readings: Readings) -> str:
    rule = readings.plan.rule
    if readings.plan.replicated is None:
        return "none, only the analytic model"
    reps = f"{rule.least} to {rule.most} of each point"
    if rule.metric is None:
        return f"{rule.most} of each point" if rule.least == rule.most else reps
    wanted = [] if rule.relative is None else [f"{100 * rule.relative:g} % of its mean"]
    wanted += [] if rule.absolute is None else [f"{rule.absolute:g}"]
    name = _named(readings, rule.metric)
    until = f"until half the interval of {name} is at most {' or '.join(wanted)}"
    return f"{reps}, {until}"


def _figures(
    readings: Readings,
    metrics: Metrics,
    drawn: Mapping[str, bytes],
    left_out: Mapping[str, str],
    report_files: ReportFiles,
) -> Iterator[Section]:
    count = len(readings.plan.points)
    if count > _MOST_DRAWN:
        few = (
            f"Not drawn: {count} points are more than the {_MOST_DRAWN} that can be distinguished."
        )
        yield Section("figures", "Figures", [Lines([Line(few)])])
    if not drawn and not left_out:
        return
    hints = _hints(readings, metrics)
    figures: list[Block] = []
    for stem, data in drawn.items():
        links = report_files.links_of_figure(stem)
        kind, _, metric = stem.partition("-")
        of_packets = QUANTITIES[metric][0] if kind == "distribution" else ""
        name = of_packets or (_named(readings, metric) if metric else "")
        title = _TITLES.get(kind, kind).format(name)
        title = f"{title[:1].upper()}{title[1:]}"
        svg = inlined(data, f"{anchor('figure', stem)}-", title, hints)
        figures.append(Figure(title, svg=svg, links=links))
    if left_out:
        figures.append(Lines([Line(f"Not drawn: {why}") for why in left_out.values()]))
    yield Section("figures", "Figures", figures)


def _hints(readings: Readings, metrics: Metrics) -> dict[str, str]:
    """Return the hover texts of points, by the identifiers in the figures."""
    plan = readings.plan
    found = {}
    for place, of in enumerate(readings.points):
        labels = [f"{plan.names[axis]}: {label}" for axis, label in of.point.labels.items()]
        for engine in plan.engines:
            name = f"point-{of.point.number}" + ("-solve" if engine == "solve" else "")
            lines = [f"point {of.point.number}" + (", model" if engine == "solve" else "")]
            lines += labels
            for metric, style in metrics.styles.items():
                cell = metrics.cell(place, metric, engine)
                lines.append(f"{style.name}: {cell.text or '–'} {style.unit}".rstrip())
            found[name] = "\n".join(lines)
    return found


def _points(readings: Readings, metrics: Metrics) -> Section:
    plan = readings.plan
    several = len(plan.engines) > 1
    heads = ["point", *plan.names.values(), *(["engine"] if several else []), "reps"]
    columns = [
        ("", name) for name in (*heads, *(style.short_label for style in metrics.styles.values()))
    ]
    rows = [
        [
            Cell(str(of.point.number), of.point.number),
            *(Cell(of.point.labels.get(axis, "")) for axis in plan.axes),
            *([Cell(engine)] if several else []),
            _reps(of) if engine != "solve" else Cell(""),
            *(metrics.cell(place, metric, engine) for metric in metrics.styles),
        ]
        for place, of in enumerate(readings.points[:MOST_ROWS])
        for engine in plan.engines
    ]
    body, notes = cut(rows, "points.csv", len(readings.points) * len(plan.engines))
    about = "± is half the interval; its ends show on hover."
    if any(cell.hint == EQUAL for row in body for cell in row):
        about += f" {EQUAL_NOTE}"
    if metrics.without_value:
        why = "nothing measured it, or it is a function, whose values are not in the ledger"
        notes.append(f"Without a value: {', '.join(metrics.without_value)}; {why}.")
    table = Table("Means over the replications that count", columns, body, [about, *notes])
    return Section("points", "Points", [table])


def _reps(of: PointData) -> Cell:
    count = len(of.values)
    if of.complete:
        return Cell(str(count), count)
    return Cell(f"! {count}", count, "bad", "fewer than requested")


def _failures(failures: Any) -> Iterator[Section]:
    if not len(failures):
        return
    import pandas as pd

    axes = [name for name in failures.columns if name not in {"engine", "replication", "message"}]
    columns = [("", name) for name in (*axes, "engine", "replication", "message")]
    rows = []
    for record in failures.to_dict("records"):
        replication = record["replication"]
        number = None if pd.isna(replication) else int(replication)
        rows.append(
            [
                Cell(str(record[axes[0]]), float(record[axes[0]])),
                *(Cell(str(record[axis])) for axis in axes[1:]),
                Cell(str(record["engine"])),
                Cell("" if number is None else str(number), number),
                Cell(one_line(str(record["message"])), tone="bad"),
            ]
        )
    body, notes = cut(rows, "ledger.sqlite")
    yield Section("failures", "What failed", [Table("", columns, body, notes)])


def _provenance(sweep: Sweep, report_files: ReportFiles) -> Section:
    without = {"axes", "metrics", "engines"}
    commands = dict.fromkeys(session.command for session in sweep.sessions if session.command)
    more = [("command", "; ".join(commands))] if commands else []
    count = sum(session.replications for session in sweep.sessions)
    more += execution_facts(sweep.execution, count)
    title = "The base scenario"
    found = provenance(
        sweep.provenance, _FILES, report_files, more=more, without=without, scenario=title
    )
    if sweep.plan.base:
        return found
    line = Lines([Line("The base is a function of the parameters.")])
    return replace(found, blocks=[*found.blocks, line])
