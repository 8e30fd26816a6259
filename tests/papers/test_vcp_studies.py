"""Beyond the vcp paper: every scenario is valid, every variant has an effect."""

from __future__ import annotations

import json

import pytest

from airpath.reproduction.archive import text
from airpath.reproduction.files import read_text
from airpath.reproduction.overview import RESULTS
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint
from airpath_papers.vcp.failures import failure
from airpath_papers.vcp.scenarios import path
from studies.vcp import DIRECTORY, PAPER
from studies.vcp.checks import CLAIMS, SWEEPS
from studies.vcp.quantities import QUANTITIES, doppler_hz

AS_THE_PAPER = ({"ack_priority": True}, {"burst_bits": 8})
"""Changes that set the values that VCP already has. Their points are compared with other points."""


def test_burst_of_8_bits_corresponds_to_doppler_shift_of_50_khz() -> None:
    """vcp-rem section 8, item 11."""
    assert doppler_hz(8) == pytest.approx(50e3, rel=0.02)
    assert doppler_hz(80_000) == pytest.approx(doppler_hz(8) / 10_000)


def known(delivered: dict[SweepPoint, float]) -> Session:
    """Return a session that delivers the given numbers of packets at some points."""
    made = Session(PAPER, PAPER.modes["quick"])
    vars(made)["values"] = lambda cell, _value: [delivered[cell]] if cell in delivered else []
    vars(made)["finished"] = delivered.__contains__
    return made


def test_lead_is_relative_to_unchanged_transport() -> None:
    vcp, tcp = SWEEPS.cells("as-chosen", snr_db=14.0)
    [of_tcp] = SWEEPS.cells("sensitivity", change="rem-drops", snr_db=14.0)
    [of_both, other] = SWEEPS.cells("sensitivity", change="rto-6s", snr_db=14.0)
    session = known({vcp: 100.0, tcp: 50.0, of_tcp: 80.0, of_both: 120.0, other: 60.0})
    lead = QUANTITIES["lead"]
    found = [lead.text(session, cell) for cell in (vcp, of_tcp, of_both, other)]
    assert found == ["+100.0", "+25.0", "+100.0", "+100.0"]
    assert lead.text(known({vcp: 100.0, tcp: 0.0}), vcp) == ""


def test_best_code_rate_has_largest_mean() -> None:
    cells = SWEEPS.cells("code-rate", protocol="sack", snr_db=4.0)
    delivered = {cell: 10.0 + (cell.axes["code_rate"] == 0.8) for cell in cells}
    best = QUANTITIES["best_rate"]
    assert best.text(known(delivered), cells[0]) == "0.8"
    assert best.text(known(dict(list(delivered.items())[1:])), cells[0]) == ""


def test_every_point_has_a_scenario() -> None:
    found = Session(PAPER, PAPER.modes["full"], seed=1)
    cells = [cell for item in PAPER.items for cell in item.cells_of(found)]
    cells += [cell for claim in PAPER.claims for cell in claim.cells]
    assert {type(cell) for cell in cells} == {SweepPoint}
    for cell in dict.fromkeys(cells):
        found.scenario(cell).resolve()


NAMED = ("protocol", "antennas", "snr_db", "code_rate")


@pytest.mark.parametrize("sweep", ["advantage", "sensitivity", "ignoring", "bursts"])
def test_change_has_an_effect(sweep: str) -> None:
    found = [point.axes for point in SWEEPS.cells(sweep) if not set(point.axes) <= set(NAMED)]
    assert found
    for axes in found:
        plain = {name: axes[name] for name in NAMED}
        changed = {name: axes[name] for name in axes if name not in NAMED}
        scenarios = [json.loads(path(**each).resolve()[0]) for each in (plain, axes)]
        same = axes["protocol"] == "vcp" and changed in AS_THE_PAPER
        same = same or (axes["protocol"] == "tcp-rem" and changed == {"ack_priority": False})
        assert (scenarios[0] == scenarios[1]) == same, changed


def test_points_of_hypotheses_match_criteria() -> None:
    lossy = {point.place["snr_db"] for point in SWEEPS.points("transports")}
    per = {snr: failure("2x2", 1.0, snr) for snr in lossy}
    for sweep, claim in (("ignoring", "law-starves"), ("sack", "sack-beats-vcp")):
        numbers = CLAIMS.specs[claim].numbers
        below, least = numbers.get("per") or numbers["most"], numbers.get("least", 0.0)
        found = {point.place["snr_db"] for point in SWEEPS.points(sweep)}
        assert found == {snr for snr in lossy if least <= per[snr] < below}


def test_recorded_link_has_at_most_ten_replications() -> None:
    runs = {name: mode.replications for name, mode in PAPER.modes.items()}
    for cell in SWEEPS.cells("trace"):
        found = {name: PAPER.sweeps.effort_of(cell, mode) for name, mode in PAPER.modes.items()}
        assert {name: effort.replications for name, effort in found.items()} == {
            name: min(10, count) for name, count in runs.items()
        }
        assert {(effort.duration_s, effort.warmup_s) for effort in found.values()} == {(60.0, 10.0)}


def test_no_claim_belongs_to_the_paper() -> None:
    session = Session(PAPER, PAPER.modes["quick"], seed=1)
    (bursts,) = [each.check(session) for each in PAPER.claims if not each.cells]
    assert (bursts.key, bursts.holds, bursts.of_paper) == ("long-bursts", True, False)


def test_kept_results_cover_the_whole_study() -> None:
    kept = json.loads(read_text(DIRECTORY, RESULTS))
    assert read_text(DIRECTORY, RESULTS) == text(kept)
    assert [item["item"] for item in kept["items"]] == [item.key for item in PAPER.items]
    assert [each["claim"] for each in kept["claims"]] == [c.key for c in PAPER.claims]
    assert not any(each["of_paper"] for each in kept["claims"])
