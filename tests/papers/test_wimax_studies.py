"""Beyond the wimax paper: every scenario is valid, every change has an effect."""

from __future__ import annotations

import json
from typing import Any

import pytest

from airpath.reproduction.archive import text
from airpath.reproduction.files import read_text
from airpath.reproduction.overview import RESULTS
from airpath.reproduction.session import Session
from studies.wimax import DIRECTORY, PAPER
from studies.wimax.quantities import total_mbps
from studies.wimax.scenarios import SWEEPS

FULL = Session(PAPER, PAPER.modes["full"], seed=1)


def test_every_cell_has_a_scenario() -> None:
    cells: list[Any] = [cell for item in PAPER.items for cell in item.cells_of(FULL)]
    cells += [cell for claim in PAPER.claims for cell in claim.cells]
    assert {cell.scenario for cell in cells} == {"download", "model", "crowd", "access"}
    for cell in dict.fromkeys(cells):
        FULL.scenario(cell).resolve()


@pytest.mark.parametrize("name", SWEEPS.changes("sensitivity"))
def test_change_modifies_link_or_flow(name: str) -> None:
    cells = SWEEPS.cells("table1")[2], SWEEPS.cells("sensitivity", change=name)[2]
    chosen, changed = (json.loads(FULL.scenario(cell).resolve()[0]) for cell in cells)
    different = {key for key in chosen if chosen[key] != changed[key]}
    assert different
    assert different <= {"bottleneck", "flows"}


def test_piggyback_request_adds_10_ms_to_frames() -> None:
    own, plain = SWEEPS.cells("piggyback-on-top"), SWEEPS.cells("fig3")
    for cell, of_paper in zip(own, plain, strict=True):
        links = [
            json.loads(FULL.scenario(each).resolve()[0])["bottleneck"]["link"]
            for each in (cell, of_paper)
        ]
        assert links[0]["request"].pop("piggyback") == {"low_ns": 10_000_000, "high_ns": 10_000_000}
        assert links[1]["request"].pop("piggyback") == {"low_ns": 0, "high_ns": 0}
        assert links[0] == links[1]


def test_kept_results_cover_the_whole_study() -> None:
    kept = json.loads(read_text(DIRECTORY, RESULTS))
    assert read_text(DIRECTORY, RESULTS) == text(kept)
    assert [item["item"] for item in kept["items"]] == [item.key for item in PAPER.items]
    assert [each["claim"] for each in kept["claims"]] == [c.key for c in PAPER.claims]
    assert not any(each["of_paper"] for each in kept["claims"])


def test_total_excludes_uploads() -> None:
    flows = [{"goodput_bps": rate} for rate in (1e6, 2e6, 7e6, 8e6)]
    assert total_mbps({"flows": flows, "stations": [{}, {}]}) == pytest.approx(3.0)
