"""Results do not change, to the last bit, unless a commit changes them intentionally.

After an intended change, `python tests/reference/reference_results.py` stores the new results, and
the changelog lists the change under *Numbers changed*.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from reference_cases import FAMILIES, as_hops, cases, kinds, write_files
from reference_results import kept, read

CASES = cases()
KEPT = read()


@pytest.fixture(autouse=True)
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)


@pytest.mark.parametrize("name", CASES)
def test_results_equal_kept_results(name: str) -> None:
    assert kept(CASES[name]) == KEPT[name]


AS_HOPS = [
    name if number % 4 == 0 else pytest.param(name, marks=pytest.mark.long)
    for number, name in enumerate(CASES)
]
"""All scenarios; three of four are left to `make long-tests`."""


@pytest.mark.parametrize("name", AS_HOPS)
def test_results_of_a_list_of_hops_equal_kept_results(name: str) -> None:
    assert kept(as_hops(CASES[name])) == KEPT[name]


def test_every_kept_result_has_a_scenario() -> None:
    assert set(KEPT) == set(CASES)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_component_is_in_a_scenario(family: str) -> None:
    key = "cc" if family == "congestion" else family
    assert set(kinds(family)) <= set(named(key, list(CASES.values())))


def test_every_scenario_delivers_packets() -> None:
    for name, run in KEPT.items():
        assert all(sum(flows) > 0 for flows in run["goodput_bps"]), name


def named(key: str, value: Any) -> Iterator[str]:
    """Yield the kinds under a key, at any depth."""
    if isinstance(value, dict):
        for name, member in value.items():
            if name == key:
                yield member["kind"] if isinstance(member, dict) else member
            yield from named(key, member)
    elif isinstance(value, list):
        for member in value:
            yield from named(key, member)
