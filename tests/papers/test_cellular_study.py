"""The study of recorded LTE links: scenarios of all points, and the published points."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from airpath.reproduction.session import Session
from studies.cellular import PAPER
from studies.cellular.scenarios import QUANTITIES, SCHEMES, SWEEPS, delay_ms, path, utilisation


@pytest.fixture(autouse=True)
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write two traces of 12 Mbit/s under the names of the recorded traces."""
    for direction in ("up", "down"):
        (tmp_path / f"Verizon-LTE-short.{direction}").write_text("1\n2\n3\n")
    monkeypatch.setenv("AIRPATH_TRACES", str(tmp_path))


def test_every_point_has_a_scenario() -> None:
    session = Session(PAPER, PAPER.modes["quick"], seed=1)
    cells = [cell for item in PAPER.items for cell in item.cells_of(session)]
    assert {cell.axes["scheme"] for cell in cells} == set(SCHEMES)
    for cell in dict.fromkeys(cells):
        session.scenario(cell).resolve()


def test_scheme_sets_the_discipline_and_keeps_the_path() -> None:
    droptail, codel = (
        json.loads(path(scheme, "up").resolve()[0]) for scheme in ("cubic", "cubic+codel")
    )
    assert codel["bottleneck"].pop("queue")["target_ns"] == 50_000_000
    assert droptail["bottleneck"].pop("queue")["kind"] == "droptail"
    assert droptail == codel


def test_published_points_have_the_tolerances_of_the_readme() -> None:
    [codel, *_] = SWEEPS.cells("points", scheme="cubic+codel", direction="up")
    session = Session(PAPER, PAPER.modes["quick"])
    vars(session)["values"] = lambda _cell, measure: [181.0 if measure is delay_ms else 0.67]
    printed = {"delay": "printed_delay", "utilisation": "printed_utilisation"}
    found = {}
    for name, published in printed.items():
        mean = QUANTITIES[published].printed(codel.axes)
        found[name] = QUANTITIES[name].row(session, codel, dict(codel.axes), mean).within
    assert found == {"delay": True, "utilisation": False}


def test_delay_includes_the_base_rtt() -> None:
    run = {
        "queues": [{"name": "bottleneck", "p95_sojourn_s": 0.08}],
        "links": [{"name": "bottleneck", "utilisation": 0.6}, {"name": "reverse"}],
    }
    assert (delay_ms(run), utilisation(run)) == (pytest.approx(180.0), 0.6)
