"""Beyond the vcp paper: every scenario is one, every variant changes something."""

from __future__ import annotations

import json

import pytest

from airpath.reproduction.archive import text
from airpath.reproduction.base import Effort
from airpath.reproduction.engine import Compiled
from airpath.reproduction.files import read_text
from airpath.reproduction.overview import RESULTS
from airpath.reproduction.session import Session
from airpath_papers.vcp.scenarios import AS_CHOSEN, Case, build
from studies.vcp import DIRECTORY, PAPER
from studies.vcp.burst_failures import doppler_hz
from studies.vcp.lte import Recorded
from studies.vcp.variants import BURSTS, IGNORING, OF_PROTOCOL, PRIORITY, SENSITIVITY

EFFORT = Effort(1, 20.0, 10.0)
VARIANTS = {**PRIORITY, **SENSITIVITY, **IGNORING, **BURSTS}
AS_THE_PAPER = ("ack-priority", "bursts-8")
"""What VCP has anyway: these are there to be compared with others."""


def test_a_burst_of_8_bits_is_a_doppler_shift_of_50_khz() -> None:
    """vcp-rem section 8, item 11."""
    assert doppler_hz(8) == pytest.approx(50e3, rel=0.02)
    assert doppler_hz(80_000) == pytest.approx(doppler_hz(8) / 10_000)


def test_every_cell_has_a_scenario() -> None:
    found = Session(PAPER, PAPER.modes["full"], Compiled(), seed=1)
    cells = [cell for item in PAPER.items for cell in item.cells_of(found)]
    cells += [cell for claim in PAPER.claims for cell in claim.cells]
    assert {type(cell) for cell in cells} == {Case, Recorded}
    for cell in dict.fromkeys(cells):
        found.scenario(cell).resolve()


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_changes_what_it_is_meant_for(name: str) -> None:
    for protocol in OF_PROTOCOL.get(name, ("vcp",)):
        case = Case(protocol, "2x2", 0.93, 14.0)
        chosen, changed = (
            json.loads(build(case, EFFORT, variant).resolve()[0])
            for variant in (AS_CHOSEN, VARIANTS[name])
        )
        assert (chosen == changed) == (name in AS_THE_PAPER)


def test_no_claim_is_the_papers() -> None:
    session = Session(PAPER, PAPER.modes["quick"], Compiled(), seed=1)
    (bursts,) = [each.check(session) for each in PAPER.claims if not each.cells]
    assert (bursts.key, bursts.holds, bursts.of_paper) == ("long-bursts", True, False)


def test_what_is_kept_is_the_whole_study() -> None:
    kept = json.loads(read_text(DIRECTORY, RESULTS))
    assert read_text(DIRECTORY, RESULTS) == text(kept)
    assert [item["item"] for item in kept["items"]] == [item.key for item in PAPER.items]
    assert [each["claim"] for each in kept["claims"]] == [c.key for c in PAPER.claims]
    assert not any(each["of_paper"] for each in kept["claims"])
