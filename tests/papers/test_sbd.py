"""Alcaraz and Cerdán 2006: the transcribed tables, the scenarios, our numbers beside theirs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from airpath.papers import Effort, Report, Row, load, reproduce
from airpath.papers._engine import Compiled, Series, Simulated
from airpath.papers.files import read_table
from airpath.papers.page import page
from airpath.papers.sbd import scenarios
from airpath.papers.sbd.clouds import CLOUDS, cells_of_cloud, strengths
from airpath.papers.sbd.data import (
    BEARERS,
    GRID_MAX_P,
    GRID_MIN_TH,
    GRID_T_R_MS,
    DropTail,
    Red,
    Sbd,
    drop_tail,
    improvements,
    published_table,
)
from airpath.papers.sbd.measures import delay_s, goodput_kbps, jain_in_windows
from airpath.papers.sbd.scenarios import TABLE_RUNS, TRACE, VARIANTS, ByRate, Case, Use
from airpath.papers.sbd.statements import STATEMENTS
from airpath.papers.sbd.tables import TABLE6_CELLS
from airpath.papers.session import Session

ROOT = Path(__file__).parents[2]
SHORT = Effort(replications=2, duration_s=10.0, warmup_s=0.0)


# --- the published numbers ---------------------------------------------------------------------


def test_each_table_has_all_its_rows() -> None:
    assert len(read_table("sbd", "table1.csv")) == 18
    assert [list(published_table(number)) for number in (2, 3, 4, 5)] == [list(BEARERS)] * 4
    assert list(drop_tail()) == [(bearer, flows) for bearer in BEARERS for flows in (1, 4)]
    assert len(improvements()) == 32


@pytest.mark.parametrize("quantity", ["goodput", "delay"])
@pytest.mark.parametrize("aqm", ["sbd", "red"])
@pytest.mark.parametrize("bearer", BEARERS)
def test_table6_for_one_flow_follows_from_tables_3_and_5(
    bearer: int, aqm: str, quantity: str
) -> None:
    managed = published_table(3 if aqm == "sbd" else 5)[bearer]
    plain = drop_tail()[bearer, 1]
    name = "goodput_kbps" if quantity == "goodput" else "delay_s"
    found = 100 * (getattr(managed, name).mean / getattr(plain, name).mean - 1)
    # The means are printed with three digits, the percentages without decimals.
    assert found == pytest.approx(improvements()[bearer, 1, aqm, quantity], abs=1.0)


@pytest.mark.parametrize("number", [2, 3, 4, 5])
def test_the_published_settings_are_on_the_grids(number: int) -> None:
    for row in published_table(number).values():
        values = GRID_T_R_MS if isinstance(row.aqm, Sbd) else GRID_MAX_P
        assert row.aqm[0] in values
        assert row.aqm[1] in GRID_MIN_TH


def test_the_grids_span_what_the_paper_says() -> None:
    assert (GRID_T_R_MS[0], GRID_T_R_MS[-1], GRID_MAX_P[0], GRID_MAX_P[-1]) == (50, 5000, 0.005, 1)
    assert len(GRID_T_R_MS) == len(GRID_MAX_P) == 20
    assert strengths("sbd", 4) == [50, 200, 500, 1100, 2500, 5000]
    sbd, cloud = load("sbd"), cells_of_cloud(CLOUDS["fig6"])
    sessions = {
        mode: Session(sbd, effort, Compiled(), seed=1) for mode, effort in sbd.modes.items()
    }
    assert len(cloud(sessions["full"])) == 1 + 6 * 20
    assert len(cloud(sessions["quick"])) == 1 + 6 * 6


# --- the scenarios -----------------------------------------------------------------------------


def resolved(case: Case, effort: Effort = SHORT) -> Any:
    return json.loads(scenarios.simulated(case, effort).resolve()[0])


def test_the_path_is_that_of_fig5_and_table1() -> None:
    found = resolved(Case(256, 1, DropTail()))
    link = found["bottleneck"]["link"]
    assert (link["kind"], link["rate_bps"]) == ("rlc-am", 256_000)
    assert (link["pdu_payload"], link["tti_ns"], link["window"]) == (40, 10_000_000, 1024)
    assert (link["max_dat"], link["poll_timer_ns"], link["status_prohibit_ns"]) == (
        10,
        60_000_000,
        60_000_000,
    )
    channel = link["channel"]
    assert (channel["kind"], channel["frame_error_rate"], channel["doppler"]) == (
        "burst",
        0.1,
        0.01,
    )
    assert found["ack_path"]["kind"] == "reverse"
    assert found["backhaul"] == {"rate_bps": 1_000_000, "delay_ns": 100_000_000}
    [flow] = found["flows"]
    # 25 ms over the bearer and 100 ms over the backhaul, each way, is all of the 250 ms.
    assert link["latency_ns"] == 25_000_000
    assert [flow[wire]["delay_ns"] for wire in ("access", "egress", "return_wire")] == [0, 0, 0]
    options = flow["source"]["options"]
    assert (options["receive_window"], options["initial_window"]) == (65_535, 1460)
    assert (options["recovery"], options["delayed_ack_segments"]) == ("reno", 2)


def test_the_buffer_has_40_sdus_whoever_manages_it() -> None:
    for case in TABLE6_CELLS:
        queue = resolved(Case(*case))["bottleneck"]["queue"]
        limit = queue["limit"]["packets"] if queue["kind"] == "droptail" else queue["limit"]
        assert limit == 40


@pytest.mark.parametrize("aqm", ["sbd", "red"])
def test_the_traces_change_rate_and_setting_at_50_s(aqm: str) -> None:
    case = Case(384, 2, ByRate(aqm), use=TRACE)
    effort = scenarios.effort_of(case, SHORT)
    assert (effort.replications, effort.duration_s) == (1, 100.0)
    found = resolved(case, effort)
    [change] = found["controls"]
    assert (change["at_ns"], change["action"]["rate_bps"]) == (50 * 10**9, 128_000)
    rows = {row["rate_bps"]: row for row in found["bottleneck"]["queue"]["by_rate"]}
    assert sorted(rows) == [64_000, 128_000, 256_000, 384_000]
    for rate_bps, row in rows.items():
        proposed = published_table(3 if aqm == "sbd" else 5)[rate_bps // 1000].aqm
        assert row["min_th"] == proposed[1]
        value = row["reaction_time_ns"] / 1e6 if aqm == "sbd" else row["max_p"]
        assert value == proposed[0]


@pytest.mark.parametrize("name", VARIANTS)
def test_each_variant_changes_one_thing(name: str) -> None:
    aqm = Red(0.05, 20) if VARIANTS[name].red else Sbd(200, 20)
    case = Case(384, 1, aqm)
    before = resolved(case, scenarios.effort_of(case, SHORT))
    changed = case._replace(variant=name)
    after = resolved(changed, scenarios.effort_of(changed, SHORT))
    assert len(differences(before, after)) == 1


def differences(one: Any, other: Any, place: str = "") -> list[str]:
    if isinstance(one, dict):
        return [d for key in one for d in differences(one[key], other[key], f"{place}.{key}")]
    if isinstance(one, list):
        pairs = enumerate(zip(one, other, strict=True))
        return [d for index, (a, b) in pairs for d in differences(a, b, f"{place}.{index}")]
    return [] if one == other else [place]


def test_a_newcomer_starts_alone() -> None:
    case = Case(384, 2, DropTail(80), use=Use(duration_s=30.0, newcomer_s=20.0))
    first, second = resolved(case, scenarios.effort_of(case, SHORT))["flows"]
    assert first["start"] == {"kind": "at", "time_ns": 0}
    assert second["start"] == {"kind": "at", "time_ns": 20 * 10**9}


# --- what is measured --------------------------------------------------------------------------


def test_delay_is_the_mean_over_packets_and_goodput_the_sum_over_flows() -> None:
    flows = [
        {"goodput_bps": 1e5, "mean_delay_s": 0.5, "delivered_packets": 30},
        {"goodput_bps": 2e5, "mean_delay_s": 1.0, "delivered_packets": 10},
        {"goodput_bps": 0.0, "mean_delay_s": None, "delivered_packets": 0},
    ]
    assert goodput_kbps({"flows": flows}) == 300
    assert delay_s({"flows": flows}) == pytest.approx((15 + 10) / 40)


def test_jain_in_windows_sees_flows_that_take_turns() -> None:
    times = np.array([1.0, 6.0, 11.0, 16.0])
    turns = Series(times, np.array([0, 1, 0, 1], dtype=np.uint32), np.ones(4))
    assert jain_in_windows(turns, 2, 5.0, (0.0, 20.0)) == pytest.approx(0.5)
    assert jain_in_windows(turns, 2, 10.0, (0.0, 20.0)) == pytest.approx(1.0)


# --- our numbers beside theirs -----------------------------------------------------------------

ROWS = [(number, bearer) for number in (2, 3, 4, 5) for bearer in BEARERS]
FAR = {(3, 128): "18 % longer", (3, 64): "46 % longer"}
"""The proposed SBD over slow bearers: with C and T_r as printed it drops too rarely there for the
published delay; what the paper's simulator did differently is not known."""


@pytest.fixture(scope="module")
def tables() -> Report:
    return reproduce("sbd", [f"table{number}" for number in (2, 3, 4, 5, 6)], mode="quick")


def rows_of(report: Report, item: str) -> dict[tuple[Any, ...], Row]:
    [found] = [result for result in report.items if result.item == item]
    return {(*row.row.values(), row.quantity): row for row in found.rows}


def difference(row: Row) -> float:
    assert row.relative_difference is not None
    return abs(row.relative_difference)


def row_named(report: Report, item: str, quantity: str, **names: Any) -> Row:
    [found] = [result for result in report.items if result.item == item]
    [row] = [
        row for row in found.rows if row.quantity == quantity and names.items() <= row.row.items()
    ]
    return row


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("number", "bearer"), ROWS)
def test_goodput_of_tables_2_to_5(tables: Report, number: int, bearer: int) -> None:
    row = row_named(tables, f"table{number}", "goodput", bearer=bearer)
    assert difference(row) <= 0.05


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("number", "bearer"),
    [
        pytest.param(*row, marks=pytest.mark.xfail(strict=True, reason=FAR[row]))
        if row in FAR
        else row
        for row in ROWS
    ],
)
def test_delay_of_tables_2_to_5(tables: Report, number: int, bearer: int) -> None:
    row = row_named(tables, f"table{number}", "delay", bearer=bearer)
    assert difference(row) <= 0.15


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("bearer", "flows"), drop_tail())
def test_table6_drop_tail(tables: Report, bearer: int, flows: int) -> None:
    names = {"bearer": bearer, "flows": flows, "aqm": "droptail"}
    assert difference(row_named(tables, "table6", "goodput", **names)) <= 0.15
    assert difference(row_named(tables, "table6", "delay", **names)) <= 0.30


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_table6_drop_tail_rows_are_near(tables: Report) -> None:
    [found] = [summary for summary in tables.summaries if summary.key == "droptail"]
    assert found.values["rows"] == 8
    assert found.values["near"] >= 6


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("bearer", "flows", "aqm", "quantity"), improvements())
def test_table6_improvement(
    tables: Report, bearer: int, flows: int, aqm: str, quantity: str
) -> None:
    names = {"bearer": bearer, "flows": flows, "aqm": aqm}
    row = row_named(tables, "table6", f"{quantity}_improvement", **names)
    assert row.extra["same_sign"] or not row.extra["significant"]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_table6_improvements_are_near(tables: Report) -> None:
    [found] = [summary for summary in tables.summaries if summary.key == "improvements"]
    assert found.values["improvements"] == 32
    assert found.values["within_8_points"] >= 24


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_averages_of_the_conclusions(tables: Report) -> None:
    [statement] = [found for found in tables.statements if found.key == "conclusions"]
    assert statement.holds, statement.measured


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("sbd")
    return reproduce("sbd", ["fig1", "fig6", "fig14"], mode="quick", out=folder)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("key", [spec.key for spec in STATEMENTS if spec.key != "conclusions"])
def test_what_the_text_says(figures: Report, key: str) -> None:
    [statement] = [found for found in figures.statements if found.key == key]
    assert statement.holds, statement.measured


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_figures_are_written_as_png_and_svg(figures: Report) -> None:
    written = [path for item in figures.items for path in item.figures]
    names = {path.name for path in written}
    assert names == {
        f"sbd-{key}.{end}" for key in ("fig1", "fig6", "fig14") for end in ("png", "svg")
    }
    assert all(path.stat().st_size > 10_000 for path in written)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_trace_of_fig14_has_its_parts(figures: Report) -> None:
    rows = rows_of(figures, "fig14")
    largest = {part: rows["sbd", part, "largest_occupancy"].ours for part in ("start", "change")}
    assert all(value is not None and 15 <= value <= 40 for value in largest.values())


# --- the report, on a stand-in for the engine --------------------------------------------------


class Published:
    """Gives each case of Tables 2 to 6 what the paper printed, and others the same numbers."""

    def __init__(self) -> None:
        self.runs: list[tuple[str, int]] = []

    def simulate(self, scenario: Any, **options: Any) -> Simulated:
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
            }
            for run in range(reps)
        ]
        return Simulated(found, False)

    def mean_interval(self, values: Any, confidence: float) -> tuple[float, float, float]:
        assert confidence == 0.9
        return Compiled().mean_interval(values, confidence)

    def describe(self, _scenario: Any) -> Any:
        return {}

    def build(self) -> Any:
        return {"version": "0.0", "commit": "none"}


def test_table6_says_when_nothing_improves() -> None:
    engine: Any = Published()
    report = reproduce("sbd", ["table6"], effort=SHORT, engine=engine)
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
    assert {runs for _, runs in engine.runs} == {TABLE_RUNS}
    [statement] = document["statements"]
    assert (statement["statement"], statement["holds"]) == ("conclusions", False)


def test_the_committed_page_has_every_published_number() -> None:
    text = (ROOT / "docs/reference/papers/sbd.md").read_text(encoding="utf-8")
    rows = [row for number in (2, 3, 4, 5) for row in published_table(number).values()]
    for row in [*rows, *drop_tail().values()]:
        goodput, delay = row.goodput_kbps, row.delay_s
        line = f"| {goodput.mean:.1f} ± {goodput.half_width:g} |"
        [found] = [each for each in text.splitlines() if line in each]
        assert found.startswith(f"| {row.bearer} | {row.flows} | ")
        assert f"| {delay.mean:.2f} ± {delay.half_width:g} |" in found
    assert text.count(" points |") == 32


def test_the_page_has_every_published_number() -> None:
    engine: Any = Published()
    items = [f"table{number}" for number in (2, 3, 4, 5, 6)]
    provenance = {"command": "airpath"}
    report = reproduce("sbd", items, effort=SHORT, engine=engine, provenance=provenance)
    text = page(json.loads(json.dumps(report.to_dict(), allow_nan=False)))
    assert "2 runs of 10 s; ± are 90 % intervals" in text
    for number in (2, 3, 4, 5):
        for row in published_table(number).values():
            assert f"{row.goodput_kbps.mean:.1f} ± {row.goodput_kbps.half_width:g}" in text
    assert text.count(" points |") == 32
