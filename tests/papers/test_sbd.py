"""Alcaraz and Cerdán 2006: transcribed tables, scenarios, simulated and published numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from one_by_one import OneByOne

from airpath.reproduction import Effort, ItemResult, Row, Summary, load, reproduce
from airpath.reproduction.archive import unpacked
from airpath.reproduction.base import ClaimCheck
from airpath.reproduction.engine import Series, Simulated
from airpath.reproduction.page import page
from airpath.reproduction.session import Session
from airpath_papers.sbd.data import (
    BEARERS,
    improvements,
    published_table,
)
from airpath_papers.sbd.measures import delay_s, goodput_kbps, jain_in_windows
from airpath_papers.sbd.tables import TABLE6, keys
from studies.sbd import PAPER as STUDIES
from studies.sbd import fit

ROOT = Path(__file__).parents[2]
SHORT = Effort(replications=2, duration_s=10.0, warmup_s=0.0)


# --- measured quantities -----------------------------------------------------------------------


def test_delay_is_the_mean_over_packets_and_goodput_the_sum_over_flows() -> None:
    flows = [
        {"goodput_bps": 1e5, "mean_delay_s": 0.5, "delivered_packets": 30},
        {"goodput_bps": 2e5, "mean_delay_s": 1.0, "delivered_packets": 10},
        {"goodput_bps": 0.0, "mean_delay_s": None, "delivered_packets": 0},
    ]
    assert goodput_kbps({"flows": flows}) == 300
    assert delay_s({"flows": flows}) == pytest.approx((15 + 10) / 40)


def test_jain_index_in_windows_detects_alternating_flows() -> None:
    times = np.array([1.0, 6.0, 11.0, 16.0])
    turns = Series(times, np.array([0, 1, 0, 1], dtype=np.uint32), np.ones(4))
    assert jain_in_windows(turns, 2, 5.0, (0.0, 20.0)) == pytest.approx(0.5)
    assert jain_in_windows(turns, 2, 10.0, (0.0, 20.0)) == pytest.approx(1.0)


# --- simulated and published numbers -----------------------------------------------------------

ROWS = [(number, bearer) for number in (2, 3, 4, 5) for bearer in BEARERS]
FAR = {(3, 64): "24 % longer", (4, 64): "26 % longer"}
"""Points outside the tolerance: SBD with the proposed parameters and RED with the parameters of the
largest goodput, on the slowest bearer. Drops at these points are too rare for the published delay.
The cause, a difference from the simulator of the paper, is unknown.
"""


Results = Mapping[str, ItemResult]
"""Mapping from the key of an item to its result."""


@pytest.fixture(scope="module")
def session() -> Session:
    """Return a session in which every point of this file is simulated once."""
    sbd = load("sbd")
    return Session(sbd, sbd.modes["quick"], seed=1)


def results_of(session: Session, keys_: Sequence[str], out: Path | None = None) -> Results:
    items = {item.key: item for item in session.paper.items}
    session.simulate([cell for key in keys_ for cell in items[key].cells_of(session)])
    return {key: items[key].evaluate(session, out) for key in keys_}


@pytest.fixture(scope="module")
def tables(session: Session) -> Results:
    return results_of(session, [f"table{number}" for number in (2, 3, 4, 5, 6)])


@pytest.fixture(scope="module")
def summaries(tables: Results) -> Mapping[str, Summary]:
    return {found.key: found for found in load("sbd").summarise([*tables.values()])}


def rows_of(results: Results, item: str) -> dict[tuple[Any, ...], Row]:
    return {(*row.row.values(), row.quantity): row for row in results[item].rows}


def difference(row: Row) -> float:
    assert row.relative_difference is not None
    return abs(row.relative_difference)


def row_named(results: Results, item: str, quantity: str, **names: Any) -> Row:
    [row] = [
        row
        for row in results[item].rows
        if row.quantity == quantity and names.items() <= row.row.items()
    ]
    return row


@pytest.mark.slow
@pytest.mark.parametrize(("number", "bearer"), ROWS)
def test_goodput_matches_tables_2_to_5(tables: Results, number: int, bearer: int) -> None:
    row = row_named(tables, f"table{number}", "goodput", bearer=bearer)
    assert difference(row) <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "bearer"),
    [
        pytest.param(*row, marks=pytest.mark.xfail(strict=True, reason=FAR[row]))
        if row in FAR
        else row
        for row in ROWS
    ],
)
def test_delay_matches_tables_2_to_5(tables: Results, number: int, bearer: int) -> None:
    row = row_named(tables, f"table{number}", "delay", bearer=bearer)
    assert difference(row) <= 0.15


@pytest.mark.slow
@pytest.mark.parametrize(("bearer", "flows"), published_table(6))
def test_drop_tail_matches_table6(tables: Results, bearer: int, flows: int) -> None:
    names = {"bearer": bearer, "flows": flows, "aqm": "droptail"}
    assert difference(row_named(tables, "table6", "goodput", **names)) <= 0.15
    assert difference(row_named(tables, "table6", "delay", **names)) <= 0.30


@pytest.mark.slow
def test_table6_drop_tail_rows_are_near(summaries: Mapping[str, Summary]) -> None:
    found = summaries["droptail"].values
    assert found["rows"] == 8
    assert found["near"] >= 6


@pytest.mark.slow
@pytest.mark.parametrize(("bearer", "flows", "aqm", "quantity"), improvements())
def test_improvement_matches_table6(
    tables: Results, bearer: int, flows: int, aqm: str, quantity: str
) -> None:
    names = {"bearer": bearer, "flows": flows, "aqm": aqm.lower()}
    row = row_named(tables, "table6", f"{quantity}_improvement", **names)
    assert row.extra["same_sign"] or not row.extra["significant"]


@pytest.mark.slow
def test_table6_improvements_are_near(summaries: Mapping[str, Summary]) -> None:
    found = summaries["improvements"].values
    assert found["improvements"] == 32
    # 27 of 32 are near with the incorrect turnaround time; 29 over 400 replications.
    assert found["within_8_points"] >= 29


@pytest.mark.slow
def test_rms_difference_of_delays_of_tables_2_to_6_is_small(tables: Results) -> None:
    """The root mean square of the 32 differences was 11.1 % with the incorrect turnaround time."""
    computed = {
        tuple(row.row.values()): row.computed
        for item in tables.values()
        for row in item.rows
        if row.quantity == "delay" and row.computed is not None
    }
    differences = [
        computed[tuple(keys(target.point).values())] / target.delay_s - 1
        for target in fit.targets()
    ]
    assert len(differences) == 32
    assert np.sqrt(np.mean(np.square(differences))) <= 0.095


@pytest.fixture(scope="module")
def figures(session: Session, tmp_path_factory: pytest.TempPathFactory) -> Results:
    directory = tmp_path_factory.mktemp("sbd")
    return results_of(session, ["fig1", "fig14"], directory)


NOT_HELD = {
    "reaction-time": "128 kbit/s: with T_r of 50 ms the goodput is 94.5 % of the largest",
    "minth-bdp": "384 kbit/s: minth 20 and T_r 1100 ms leave 84 % of the goodput",
    "alpha": "less α is better: goodput over delay is the largest with α = 1",
    "slow-start": "in 10 s an eighth of drop-tail's overflow remains with one flow",
    "reconfiguration": "a fifth of drop-tail's overflow remains with SBD, an eighth with RED",
    "sbd-or-red-4": "with four flows both take a quarter off; so does the paper's own Table 6",
    "buffer-beyond-40": "three and four flows lose goodput from 40 to 100 SDUs",
    "over-buffering-each-size": "80 SDUs are shared more fairly than 40",
    "minth-bdp-384": "minth 20 leaves 84 % of the goodput, three BDP are needed",
    "conclusions-interval": "the delay falls by 41 %, printed 45 %",
    "table6-intervals": "24 of 32 are within the intervals",
    "best-settings": "three of eight printed settings are below the largest by more than ±",
}
"""Claims whose criterion does not hold with seed 1."""

WHOLE_GRIDS = {
    *("alpha", "alpha-rule", "best-settings", "minth-bdp", "minth-bdp-128", "minth-bdp-384"),
    *("minth-floor", "one-flow-worst", "reaction-time", "reaction-time-falling", "red-responsive"),
    *("red-responsive-interval", "setting-by-rate"),
}
"""Claims whose simulations are too long for the daily tests."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(spec, marks=[pytest.mark.long] if spec.key in WHOLE_GRIDS else [])
        for spec in load("sbd").claims
    ],
    ids=lambda spec: spec.key,
)
def test_claim_of_the_text_has_its_known_verdict(session: Session, spec: ClaimCheck) -> None:
    session.simulate(spec.cells)
    found = spec.check(session)
    assert found.holds == (spec.key not in NOT_HELD), found.measured


@pytest.mark.long
def test_weaker_forms_of_the_claims_hold() -> None:
    """The weaker claims hold although the criteria of the text do not hold."""
    report = reproduce(STUDIES, ["weaker"], mode="quick")
    assert [claim.key for claim in report.claims] == [
        "rising-t-r",
        "kept-goodput",
        "first-losses",
        "alpha-delay",
        "newcomer",
        "less-after-the-change",
    ]
    assert not any(claim.of_paper for claim in report.claims)
    failed = {found.key: found.measured for found in report.claims if not found.holds}
    assert failed == {}


def test_modes_state_replications_of_tables() -> None:
    """The number is part of a text in paper.toml."""
    assert {point.reps for point in TABLE6.values()} == {100}
    for effort in load("sbd").modes.values():
        assert effort.note.startswith("Tables 2 to 6: 100 runs.")


@pytest.mark.parametrize("paper", [load("sbd"), STUDIES], ids=lambda paper: paper.key)
def test_every_claim_belongs_to_an_item(paper: Any) -> None:
    belong = {key for item in paper.items for key in item.claims}
    keys_ = [spec.key for spec in paper.claims]
    assert belong == set(keys_)
    assert len(belong) == len(keys_)
    assert all(spec.cells for spec in paper.claims)
    assert paper is STUDIES or belong >= NOT_HELD.keys() | WHOLE_GRIDS


@pytest.mark.slow
def test_figures_are_written_as_png_and_svg(figures: Results) -> None:
    written = [path for item in figures.values() for path in item.figures]
    names = {path.name for path in written}
    assert names == {f"sbd-{key}.{end}" for key in ("fig1", "fig14") for end in ("png", "svg")}
    assert all(path.stat().st_size > 10_000 for path in written)


@pytest.mark.slow
def test_trace_of_fig14_has_all_parts(figures: Results) -> None:
    rows = rows_of(figures, "fig14")
    largest = {
        part: rows["sbd", part, "largest_occupancy"].computed for part in ("start", "change")
    }
    assert all(value is not None and 15 <= value <= 40 for value in largest.values())


# --- the report, with a replacement of the engine
# --------------------------------------------------


class Published(OneByOne):
    """An engine that returns the printed values for each row of Tables 2 to 6, and equal values for
    all other points."""

    def __init__(self) -> None:
        self.runs: list[tuple[str, int]] = []

    def simulate_one(self, scenario: Any, **options: Any) -> Simulated:
        reps = options["replications"]
        self.runs.append((scenario.name, reps))
        found = [
            {
                "simulated_s": 60.0,
                "flows": [
                    {
                        "goodput_bps": 1e5 + run,
                        "mean_delay_s": 1.0 + run / 100,
                        "mean_rtt_s": 1.2,
                        "delivered_packets": 100,
                        "start_s": 0.0,
                        "completed_at_s": None,
                    }
                ],
                "queues": [{"name": "bottleneck", "drops": {"overflow": 2}}],
                "together": {"all": {"p50_delay_s": 1.0, "p95_delay_s": 1.5 + run / 100}},
            }
            for run in range(reps)
        ]
        return Simulated(found)


def test_table6_reports_missing_improvement() -> None:
    engine = Published()
    report = engine.reproduce("sbd", ["table6"], effort=SHORT)
    document = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert document["provenance"]["confidence"] == 0.9
    assert document["summary"]["improvements"]["significant"] == 0
    assert document["summary"]["droptail"]["near"] == 0
    rows = [row for row in document["items"][0]["rows"] if row["quantity"] == "goodput"]
    names = {row["row"]["aqm"]: (tuple(row["row"]), row["published"] is None) for row in rows}
    assert names == {
        "droptail": (("bearer", "flows", "aqm"), False),
        "sbd": (("bearer", "flows", "aqm", "T_r_ms", "minth"), True),
        "red": (("bearer", "flows", "aqm", "maxp", "minth"), True),
    }
    assert {runs for _, runs in engine.runs} == {100}
    held = [found["claim"] for found in document["claims"] if found["holds"]]
    # Without an improvement both settings are equal.
    assert held == ["similar-goodput"]


def test_kept_results_have_every_published_number() -> None:
    kept = ROOT / "papers/airpath_papers/sbd/results.json"
    text = page(unpacked(json.loads(kept.read_text(encoding="utf-8"))))
    rows = [row for number in (2, 3, 4, 5, 6) for row in published_table(number).items()]
    for (bearer, flows), row in rows:
        goodput, delay = row.goodput_kbps, row.delay_s
        line = f"| {goodput.mean:.1f} ± {goodput.half_width:g} |"
        [found] = [each for each in text.splitlines() if line in each]
        assert found.startswith(f"| {bearer} | {flows} | ")
        assert f"| {delay.mean:.2f} ± {delay.half_width:g} |" in found
    assert text.count(" points |") == 32


def test_committed_numbers_have_same_verdicts() -> None:
    kept = json.loads((ROOT / "papers/airpath_papers/sbd/results.json").read_text(encoding="utf-8"))
    held = {found["claim"]: found["holds"] for found in kept["claims"]}
    assert len(held) >= 15
    assert held == {key: key not in NOT_HELD for key in held}


def test_kept_results_cover_the_whole_study() -> None:
    kept = json.loads((Path(fit.__file__).parent / "weaker.json").read_text("utf-8"))
    assert kept["provenance"]["mode"] == "full"
    assert [found["claim"] for found in kept["claims"]] == [spec.key for spec in STUDIES.claims]
    assert all(found["holds"] and not found["of_paper"] for found in kept["claims"])


def test_page_has_every_published_number() -> None:
    engine = Published()
    items = [f"table{number}" for number in (2, 3, 4, 5, 6)]
    provenance = {"command": "airpath"}
    report = engine.reproduce("sbd", items, effort=SHORT, provenance=provenance)
    text = page(json.loads(json.dumps(report.to_dict(), allow_nan=False)))
    assert "2 runs of 10 s; ± are 90 % intervals" in text
    for number in (2, 3, 4, 5):
        for row in published_table(number).values():
            assert f"{row.goodput_kbps.mean:.1f} ± {row.goodput_kbps.half_width:g}" in text
    assert text.count(" points |") == 32
