"""Formats a comparison as texts and a table, for terminals and notebooks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from airpath.comparison.quantities import whole_runs
from airpath.present.tables import Table
from airpath.results.intervals import Interval, text

if TYPE_CHECKING:
    from airpath.comparison.answers import Answer
    from airpath.comparison.quantities import ComparedQuantity
    from airpath.comparison.result import Comparison
    from airpath.results.differences import Difference

__all__ = ["about", "explanation", "heading", "in_percent", "table", "who"]

_POINTS = "points"
"""Unit of a difference of shares in percent: percentage points."""


def heading(comparison: Comparison) -> str:
    """Return a line with the number and length of replications, the seed and the confidence."""
    resolved, about_it = comparison.resolved, comparison.provenance
    answers = map(about, comparison.answers.values())
    runs = [each["replications"] for each in answers if "replications" in each]
    warmup = resolved.warmup_s
    each = " and ".join(map(str, dict.fromkeys(runs))) or "no"
    return (
        f"{each} {'replication' if each == '1' else 'replications'} of "
        f"{resolved.duration_s:g} s"
        + (f", the first {warmup:g} s not counted" if warmup else "")
        + f"; seed {about_it['seed']}; "
        + (
            f"± is the {100 * comparison.confidence:g} % interval"
            if max(runs, default=0) > 1
            else "no intervals"
        )
    )


def about(answer: Answer) -> dict[str, Any]:
    """Return the description of an answer: the model, the kernel and its validity reports."""
    if answer.about is not None:
        return dict(answer.about)
    found: dict[str, Any] = {}
    if answer.solution is not None:
        found["model"] = answer.solution.model
    if answer.result is not None:
        found["replications"] = len(whole_runs(answer.result))
        kernel = getattr(answer.result, "kernel", None)
        validity_reports = getattr(answer.result, "validity_reports", None)
        if kernel:
            found["release"] = kernel.get("release")
        if validity_reports:
            found["valid"] = all(each.get("valid", True) for each in validity_reports)
    return found


def who(answer: Answer) -> str:
    """Return a short description of an answer: ``emulate: 5 replications, Linux 6.18, valid``."""
    details = about(answer)
    parts = []
    if "model" in details:
        parts.append(f"model {details['model']}")
    if "replications" in details:
        runs = details["replications"]
        parts.append(f"{runs} {'replication' if runs == 1 else 'replications'}")
    if details.get("release"):
        parts.append(f"Linux {details['release']}")
    if "valid" in details:
        parts.append("valid" if details["valid"] else "INVALID")
    return f"{answer.engine}: {', '.join(parts)}"


def table(comparison: Comparison) -> Table:
    """Return a row for each quantity: the answers, and the differences from the base."""
    engines, others = comparison.engines, comparison.others
    columns = ["quantity", "of", *engines]
    for name in others:
        columns += [f"{name} − {comparison.base}", "in percent"]
    rows = []
    for row in comparison.rows:
        quantity = row.quantity
        cells = [quantity.label, quantity.of]
        cells += [
            text(row.answers[name], quantity.scale, quantity.decimals, quantity.unit)
            for name in engines
        ]
        for name in others:
            found = row.differences.get(name)
            cells += ["–", "–"] if found is None else _change(found.difference, quantity)
        rows.append(cells)
    return Table("Answers", columns, rows)


def _change(difference: Difference, quantity: ComparedQuantity) -> list[str]:
    unit = _POINTS if quantity.unit == "%" else quantity.unit
    absolute = _signed(difference.absolute, quantity.scale, quantity.decimals, unit)
    return [absolute, in_percent(difference)]


def in_percent(difference: Difference) -> str:
    """Return a difference relative to the base's mean: ``+1.2 ± 0.4 %``."""
    return _signed(difference.relative, 100.0, 1, "%")


def _signed(value: Interval, scale: float, decimals: int, unit: str) -> str:
    if math.isnan(value.mean):
        return "–"
    shown = f"{value.mean * scale:+.{decimals}f}".replace("-", "−")
    if not math.isnan(value.low):
        shown += f" ± {value.half_width * scale:.{decimals}f}"
    return f"{shown} {unit}".rstrip()


_VERDICTS = {
    "explained": "explained",
    "related": "a reported fact affects them, by an unknown amount",
    "not explained": "not explained",
    "no interval": "cannot be judged: too few replications, or none that varies",
}


def explanation(comparison: Comparison) -> Iterator[str]:
    """Yield lines with the verdicts on the differences, then the facts."""
    percent = f"{100 * comparison.confidence:g} %"
    for engine in comparison.others:
        found = [
            (row.quantity, row.differences[engine])
            for row in comparison.rows
            if engine in row.differences
        ]
        noise = sum(difference.verdict == "within the noise" for _, difference in found)
        yield (
            f"{engine} less {comparison.base}: {noise} of {len(found)} differences are within the "
            f"noise (0 is in their {percent} interval)."
        )
        for verdict, words in _VERDICTS.items():
            listed: dict[tuple[str, str], list[str]] = {}
            for quantity, each in found:
                if each.verdict == verdict:
                    facts = f" [{', '.join(each.facts)}]" if each.facts else ""
                    listed.setdefault((quantity.label, facts), []).append(quantity.of)
            if listed:
                parts = (f"{label} of {', '.join(of)}{by}" for (label, by), of in listed.items())
                yield f"  {words}: {'; '.join(parts)}"
    for fact in comparison.facts:
        yield f"[{fact.code}] {fact.engine}: {fact.text}"
