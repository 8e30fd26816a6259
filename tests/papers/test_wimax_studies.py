"""Beyond the wimax paper: every scenario is one, every variant changes something."""

from __future__ import annotations

import json

import pytest

from airpath.reproduction.archive import text
from airpath.reproduction.base import Effort
from airpath.reproduction.engine import Compiled
from airpath.reproduction.files import read_text
from airpath.reproduction.overview import RESULTS
from airpath.reproduction.session import Session
from airpath_papers.wimax.crowds import Crowd
from airpath_papers.wimax.scenarios import AS_CHOSEN, Case, build
from airpath_papers.wimax.validation import Validation
from studies.wimax import DIRECTORY, PAPER
from studies.wimax.accesses import Access
from studies.wimax.variants import SENSITIVITY


def test_every_cell_has_a_scenario() -> None:
    found = Session(PAPER, PAPER.modes["full"], Compiled(), seed=1)
    cells = [cell for item in PAPER.items for cell in item.cells_of(found)]
    cells += [cell for claim in PAPER.claims for cell in claim.cells]
    assert {type(cell) for cell in cells} == {Case, Validation, Crowd, Access}
    for cell in dict.fromkeys(cells):
        found.scenario(cell).resolve()


@pytest.mark.parametrize("name", SENSITIVITY)
def test_a_variant_changes_link_or_flow(name: str) -> None:
    effort, case = Effort(1, 60.0, 0.0), Case("adapt-bi")
    chosen, changed = (
        json.loads(build(case, effort, variant).resolve()[0])
        for variant in (AS_CHOSEN, SENSITIVITY[name])
    )
    different = {key for key in chosen if chosen[key] != changed[key]}
    assert different
    assert different <= {"bottleneck", "flows"}


def test_what_is_kept_is_the_whole_study() -> None:
    kept = json.loads(read_text(DIRECTORY, RESULTS))
    assert read_text(DIRECTORY, RESULTS) == text(kept)
    assert [item["item"] for item in kept["items"]] == [item.key for item in PAPER.items]
    assert [each["claim"] for each in kept["claims"]] == [c.key for c in PAPER.claims]
    assert not any(each["of_paper"] for each in kept["claims"])
