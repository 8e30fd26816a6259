"""Statements on the pages of two studies agree with the tables of the pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from studies import cellular, fairness

Lines = dict[str, dict[str, float]]

EARLY = ["gred", "red", "ared", "codel", "pie", "dualpi2", "sbd", "rlc-red", "rem"]
"""Disciplines of the tables that drop early, without FQ-CoDel."""


def page(directory: Path) -> str:
    return (directory / "README.md").read_text("utf-8")


def number(text: str) -> float:
    """Return the mean in a table cell such as ``**0.50 ± 0.02**``."""
    found = re.match(r"[*]*(-?[0-9.]+)", text)
    assert found, text
    return float(found[1])


def tables(text: str) -> list[list[list[str]]]:
    """Return the cells of all tables, by line; the first line has the headings."""
    blocks = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    rows = [[line.strip("| ").split(" | ") for line in block.splitlines()] for block in blocks]
    return [[head, *lines] for head, _rule, *lines in rows]


def by_control(text: str) -> list[Lines]:
    """Return each table of controls and disciplines: the mean by control and discipline."""
    found = []
    for head, *lines in tables(text):
        if head[:2] == ["control", "droptail"]:
            cells = {name: map(number, of) for name, *of in lines}
            found.append({name: dict(zip(head[1:], of, strict=True)) for name, of in cells.items()})
    return found


def stated(text: str, pattern: str) -> list[float]:
    """Return the numbers in the groups of the only match."""
    [found] = re.findall(pattern, text)
    return list(map(float, [found] if isinstance(found, str) else found))


def ends(values: list[float]) -> list[float]:
    return [min(values), max(values)]


def test_fairness_page_has_a_line_for_each_control() -> None:
    share, jain, delay = by_control(page(fairness.DIRECTORY))
    assert list(share) == list(jain) == list(delay)
    assert all(
        0 <= mean <= 1 for line in [*share.values(), *jain.values()] for mean in line.values()
    )


@pytest.mark.parametrize(
    ("pattern", "controls", "disciplines"),
    [
        (r"FQ-CoDel gives every control (\S+) to (\S+) of", None, ["fq-codel"]),
        (r"LEDBAT\+\+ gets (\S+) to (\S+):", ["LEDBAT++"], None),
        (r"BBR v1 (\S+) to (\S+) through all", ["BBR v1"], EARLY),
    ],
)
def test_fairness_statement_has_the_ends_of_the_table(
    pattern: str, controls: list[str] | None, disciplines: list[str] | None
) -> None:
    text = page(fairness.DIRECTORY)
    share = by_control(text)[0]
    lines = [share[name] for name in controls or share]
    assert stated(text, pattern) == ends(
        [line[name] for line in lines for name in disciplines or line]
    )


def test_fairness_statements_about_marks_and_vegas() -> None:
    text = page(fairness.DIRECTORY)
    share = by_control(text)[0]
    marking = [name for name in EARLY if name not in ("dualpi2", "rem")]
    means = [share[name][aqm] for name in ("DCTCP", "Prague") for aqm in marking]
    assert stated(text, r"DCTCP and Prague take (\S+) to (\S+) of") == ends(means)
    assert stated(text, r"DualPI2 with Prague \(([0-9.]+)\)") == [share["Prague"]["dualpi2"]]
    assert max(share[name]["rem"] for name in ("DCTCP", "Prague")) < 0.1
    vegas = [share["Vegas"][aqm] for aqm in ("droptail", "codel", "red")]
    assert stated(text, r"queues \(([0-9.]+) through.* it gets ([0-9.]+) and ([0-9.]+)\.") == vegas


def test_fairness_pairs_count_the_points_outside_the_tolerance() -> None:
    """The tables have 3 of 5 numbers of flows; bold is outside the tolerance of the study."""
    text = page(fairness.DIRECTORY)
    pairs = [table for table in tables(text) if table[0][0] == "buffer, BDP"]
    for table, tolerance in zip(pairs, (1.0, 1.5), strict=True):
        for _, *cells in table[1:]:
            published = [number(cell) for cell in cells[:6:2]]
            simulated = [*zip(cells[1:6:2], published, strict=True)]
            simulated += [
                (cell, at) for cell, at in zip(cells[6:], published, strict=False) if cell
            ]
            for cell, at in simulated:
                outside = abs(number(cell) - at) > tolerance
                assert cell.startswith("**") == outside, (cell, at)


def test_cellular_statements_agree_with_the_table() -> None:
    text = page(cellular.DIRECTORY)
    [published] = [table for table in tables(text) if table[0][0] == "direction"]
    [others] = [table for table in tables(text) if table[0][0] == "scheme"]
    delay = {(line[0], line[1]): (number(line[2]), number(line[3])) for line in published[1:]}
    used = {(line[0], line[1]): (number(line[4]), number(line[5])) for line in published[1:]}
    rest = {line[0]: list(map(number, line[1:])) for line in others[1:]}
    both = [rest[name] for name in ("Copa", "C2TCP")]
    parts = [
        round(line[n] / delay[direction, "CUBIC"][1], 2)
        for line in both
        for n, direction in enumerate(("up", "down"))
    ]
    about = r"C2TCP have ([0-9.]+) to ([0-9.]+) of CUBIC's delay and ([0-9.]+) to ([0-9.]+) of"
    shares = [round(each, 2) for line in both for each in line[2:]]
    assert stated(text, about) == [*ends(parts), *ends(shares)]
    pie = [delay[direction, "CUBIC, PIE"] for direction in ("up", "down")]
    longer = [round(100 * (got / printed - 1)) for printed, got in pie]
    assert stated(text, r"its delay is (\d+) and (\d+) % longer") == longer
    more = [used[direction, "CUBIC, PIE"] for direction in ("up", "down")]
    higher = [round(got - printed, 2) for printed, got in more]
    assert stated(text, r"its utilisation ([0-9.]+) and ([0-9.]+) higher\. The") == higher
