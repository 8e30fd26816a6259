"""The stored comparison of the network fixed point with simulation, and its page."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest

from script_files import load_script

HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs" / "explanation" / "network-fixed-point-validity.md"


random_paths = load_script(HERE / "random_paths.py", "random_paths")


def stored(name: str) -> list[dict[str, str]]:
    with (HERE / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def groups() -> list[Any]:
    rows = stored("groups.csv")
    return [
        random_paths.Group(
            int(row["path"]),
            int(row["group"]),
            row["route"],
            int(row["flows"]),
            float(row["solved"]),
            float(row["simulated"]),
        )
        for row in rows
    ]


def hops() -> list[Any]:
    return [
        random_paths.Hop(
            int(row["path"]),
            row["hop"],
            row["aqm"],
            int(row["flows"]),
            float(row["solved_queue"]),
            float(row["simulated_queue"]),
            float(row["solved_utilisation"]),
            float(row["simulated_utilisation"]),
        )
        for row in stored("hops.csv")
    ]


def test_page_has_the_numbers_of_the_stored_comparison() -> None:
    found = random_paths.summary(groups(), hops())
    page = PAGE.read_text(encoding="utf-8")
    for name, label in [("throughput", "throughput of TCP groups"), ("utilisation", "utilisation")]:
        middle, most, holds = found[name]
        verdict = "holds" if holds else "does not hold"
        row = rf"\| {label} \|.*\| {100 * middle:.1f} % \| {100 * most:.1f} % \| {verdict} \|"
        assert re.search(row, page), row
    share, _, holds = found["queue"]
    verdict = "holds" if holds else "does not hold"
    assert re.search(
        rf"\| mean queue \|.*\| {100 * share:.0f} % of the hops .*\| {verdict} \|", page
    )


def test_first_stored_path_is_found_again() -> None:
    document = next(random_paths.draw(1, 1))
    new_groups, new_hops = random_paths.compare(0, document, 3)
    old_groups = [group for group in groups() if group.path == 0]
    old_hops = [hop for hop in hops() if hop.path == 0]
    for new, old in zip([*new_groups, *new_hops], [*old_groups, *old_hops], strict=True):
        numbers = [value for value in new if isinstance(value, float)]
        expected = [value for value in old if isinstance(value, float)]
        assert numbers == pytest.approx(expected, rel=6e-4, abs=1e-9)


@pytest.mark.long
def test_all_paths_are_found_again_with_the_same_verdicts() -> None:
    new_groups: list[Any] = []
    new_hops: list[Any] = []
    for path, document in enumerate(random_paths.draw(40, 1)):
        of_path = random_paths.compare(path, document, 3)
        new_groups += of_path[0]
        new_hops += of_path[1]
    new, old = random_paths.summary(new_groups, new_hops), random_paths.summary(groups(), hops())
    for name, values in old.items():
        assert new[name] == pytest.approx(values, rel=2e-3, abs=1e-4), name
