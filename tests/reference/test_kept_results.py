"""Results stay what they were, to the last bit, until a commit changes them on purpose.

Where a change is meant, `python tests/reference/reference_results.py` keeps the new results, and
the change has a line under *Numbers changed* in the changelog.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from reference_cases import FAMILIES, cases, kinds, write_files
from reference_results import kept, read

CASES = cases()
KEPT = read()


@pytest.fixture(autouse=True)
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)


@pytest.mark.parametrize("name", CASES)
def test_the_results_are_those_that_were_kept(name: str) -> None:
    assert kept(CASES[name]) == KEPT[name]


def test_every_kept_result_has_a_scenario() -> None:
    assert set(KEPT) == set(CASES)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_component_is_in_a_scenario(family: str) -> None:
    key = "cc" if family == "congestion" else family
    assert set(kinds(family)) <= set(named(key, list(CASES.values())))


def test_no_scenario_is_a_run_in_which_nothing_happens() -> None:
    for name, run in KEPT.items():
        assert all(sum(flows) > 0 for flows in run["goodput_bps"]), name


def named(key: str, value: Any) -> Iterator[str]:
    """Yield the kinds that stand under a key, anywhere."""
    if isinstance(value, dict):
        for name, member in value.items():
            if name == key:
                yield member["kind"] if isinstance(member, dict) else member
            yield from named(key, member)
    elif isinstance(value, list):
        for member in value:
            yield from named(key, member)
