"""Alcaraz and Cerdán 2006: the transcribed tables, the scenarios, our numbers beside theirs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from airpath.papers import Effort, Report, Row, load, reproduce
from airpath.papers.kit.archive import unpacked
from airpath.papers.kit.engine import Compiled, Series, Simulated
from airpath.papers.kit.files import read_table
from airpath.papers.kit.measures import delay_s, goodput_kbps, jain_in_windows
from airpath.papers.kit.page import page
from airpath.papers.kit.session import Session
from airpath.papers.kit.settings import Settings
from airpath.papers.sbd import scenarios, table1
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
    strengths,
)
from airpath.papers.sbd.figures import GRIDS
from airpath.papers.sbd.scenarios import TABLE_RUNS, TRACE, ByRate, Case, Use, keys
from airpath.papers.sbd.tables import TABLE6_CELLS
from studies.sbd import PAPER as STUDIES
from studies.sbd import fit, variants
from studies.sbd.variants import VARIANTS

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
    sbd, cloud = load("sbd"), GRIDS["fig6"].cells
    sessions = {
        mode: Session(sbd, effort, Compiled(), seed=1) for mode, effort in sbd.modes.items()
    }
    assert len(cloud(sessions["full"])) == 1 + 6 * 20
    assert len(cloud(sessions["quick"])) == 1 + 6 * 6


# --- the scenarios -----------------------------------------------------------------------------


def resolved(case: Case, effort: Effort = SHORT) -> Any:
    return json.loads(scenarios.simulated(case, effort).resolve()[0])


def test_the_path_is_that_of_fig5() -> None:
    found = resolved(Case(256, 1, DropTail()))
    link = found["bottleneck"]["link"]
    assert (link["kind"], link["rate_bps"]) == ("rlc-am", 256_000)
    assert found["ack_path"]["kind"] == "reverse"
    assert found["backhaul"]["rate_bps"] == 1_000_000
    [flow] = found["flows"]
    # The bearer and the backhaul take all of the 250 ms.
    assert [flow[wire]["delay_ns"] for wire in ("access", "egress", "return_wire")] == [0, 0, 0]
    options = flow["source"]["options"]
    assert (options["recovery"], options["delayed_ack_segments"]) == ("reno", 2)


def turnaround_ms(link: Any, there: str, back: str) -> float:
    """Return the time from a poll to its answer: what arrives within a TTI waits for the next."""
    ttis = -(-link[there] // link["tti_ns"])
    return float(ttis * link["tti_ns"] + link[back]) / 1e6


TABLE_1: dict[str, Callable[[Any, Any, Any], Any]] = {
    "PDU payload size": lambda link, *_: f"{8 * link['pdu_payload']} bits",
    "TTI (Transm. Time Interval)": lambda link, *_: f"{link['tti_ns'] / 1e6:g} ms",
    "Transmission window": lambda link, *_: f"{link['window']} PDUs",
    "maxDAT": lambda link, *_: str(link["max_dat"]),
    "In-order-delivery": lambda *_: "true",
    "Status Prohibit Timer": lambda link, *_: f"{link['status_prohibit_ns'] / 1e6:g} ms",
    "Missing PDU detection": lambda link, *_: str(link["missing_pdu_indicator"]).lower(),
    "Poll Timer": lambda link, *_: f"{link['poll_timer_ns'] / 1e6:g} ms",
    "Wireless Round Trip Delay": lambda link, *_: (
        f"{turnaround_ms(link, 'latency_ns', 'reverse_latency_ns'):g} ms"
    ),
    "Normalized doppler frequency": lambda link, *_: f"{link['errors']['doppler']:g}",
    "Poll window": lambda link, *_: f"{100 * link['poll_window']:g} %",
    "Last PDU in buffer Poll": lambda link, *_: "yes" if link["last_pdu_poll"] else "no",
    "Last retransmitted PDU Poll": lambda link, *_: (
        "yes" if link["last_retransmission_poll"] else "no"
    ),
    "Frame Error Ratio (FER)": lambda link, *_: f"{100 * link['errors']['frame_error_rate']:g} %",
    "Maximum TCP/IP packet size": lambda _link, tcp, _: f"{tcp['mss'] + 40} bytes",
    # 65 536 bytes are one more than a window without scaling can say.
    "Maximum allowed window": lambda _link, tcp, _: f"{(tcp['receive_window'] + 1) // 1024} kbytes",
    "Initial window": lambda _link, tcp, _: f"{tcp['initial_window'] / tcp['mss']:g}",
    "Wired Network Round Trip Delay": lambda _link, _tcp, wire: (
        f"{2 * wire['delay_ns'] / 1e6:g} ms"
    ),
}
"""How a resolved scenario says what Table 1 does."""


@pytest.mark.parametrize("row", read_table("sbd", "table1.csv"), ids=lambda row: row["parameter"])
def test_the_scenario_has_what_table_1_says(row: dict[str, str]) -> None:
    """The radio's turnaround was 55 ms once, for 25 ms each way are no whole TTIs."""
    found = resolved(Case(256, 1, DropTail()))
    tcp = found["flows"][0]["source"]["options"]
    said = TABLE_1[row["parameter"]](found["bottleneck"]["link"], tcp, found["backhaul"])
    assert said == row["setting"]


def test_the_turnaround_is_the_same_the_other_way() -> None:
    link = resolved(Case(256, 1, DropTail()))["bottleneck"]["link"]
    assert turnaround_ms(link, "reverse_latency_ns", "latency_ns") == 50


def test_a_setting_in_another_unit_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = {**table1.table1().printed, "Poll Timer": "6 s"}
    monkeypatch.setattr(table1, "table1", lambda: Settings("table1.csv", changed))
    with pytest.raises(ValueError, match="Poll Timer = '6 s' is not in 'ms'"):
        table1.link_settings()


def test_the_growth_of_windows_is_named() -> None:
    """The default of the profile may change; RFC 2581, in force in 2006, has one formula."""
    assert scenarios.TCP["window_growth"] == "bytes"
    found = resolved(Case(384, 1, DropTail()))
    assert found["flows"][0]["source"]["options"]["window_growth"] == "bytes"


def test_status_reports_do_not_lock_into_a_cycle() -> None:
    """About 4 a second are due at 64 kbit/s; with a turnaround of 55 ms there were 6.6."""
    case = Case(64, 4, DropTail())
    scenario = scenarios.simulated(case, Effort(20, 60.0, 0.0))
    found = Compiled().simulate(scenario, replications=20, seed=1, threads=None, progress=None)
    reports = [
        link["counters"]["status_reports"] / 60
        for run in found.replications
        for link in run["links"]
        if link["name"] == "reverse"
    ]
    assert len(reports) == 20
    assert 3.2 <= sum(reports) / 20 <= 4.4


# --- the joint fit -----------------------------------------------------------------------------


def test_the_joint_fit_has_every_combination_once_and_the_nearest_first() -> None:
    rows = read_table(Path(fit.__file__).parent, "fit.csv")
    scores = [float(row["score"]) for row in rows]
    assert scores == sorted(scores)
    names = fit.Choice._fields
    assert {tuple(row[name] for name in names) for row in rows} == {
        tuple(map(str, choice)) for choice in fit.COMBINATIONS
    }
    assert len(rows) == len(fit.COMBINATIONS) == 64


def test_what_was_fitted_is_what_is_simulated() -> None:
    nearest = read_table(Path(fit.__file__).parent, "fit.csv")[0]
    sbd = load("sbd")
    assert {effort.duration_s for effort in sbd.modes.values()} == {float(nearest["duration_s"])}
    found = resolved(Case(384, 1, Red(0.05, 20)))
    tcp, bottleneck = found["flows"][0]["source"]["options"], found["bottleneck"]
    assert str(tcp["delayed_ack_segments"]) == nearest["delayed_ack_segments"]
    assert str(tcp["mss"]) == nearest["packet_bytes"]
    assert bottleneck["link"]["window_poll"] == nearest["window_poll"]
    assert bottleneck["queue"]["drop"] == nearest["red_drop"]
    assert str(bottleneck["queue"]["count"]) == nearest["red_count"]


def test_the_criterion_weighs_goodput_and_delay_by_what_counts_as_near() -> None:
    assert fit.score([0.05, -0.05], [0.15, -0.15]) == pytest.approx(1.0)
    assert fit.score([0.1, 0.0], [0.0, 0.0]) == pytest.approx(1.0)


def test_the_fit_has_32_settings_and_those_of_four_flows_from_table_6() -> None:
    found = {target.case: target for target in fit.targets()}
    assert len(found) == 32
    four = found[Case(128, 4, Sbd(1300, 15))]
    assert four.goodput_kbps == pytest.approx(93.4 * 1.08)
    assert four.delay_s == pytest.approx(2.44 * 0.65)


def test_a_fitted_case_is_simulated_as_it_is_chosen() -> None:
    case = Case(384, 1, Red(0.05, 20))
    chosen = fit.COMBINATIONS[0]
    assert chosen == fit.Choice(60.0, 1460, 2, "timed", "front", False)
    effort = Effort(2, 60.0, 0.0)
    ours = json.loads(scenarios.build(case, effort, fit.variant_of(chosen)).resolve()[0])
    assert ours == json.loads(scenarios.simulated(case, effort).resolve()[0])


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
def test_each_variant_changes_what_it_says(name: str) -> None:
    aqm = Red(0.05, 20) if VARIANTS[name].red else Sbd(200, 20)
    case = Case(384, 1, aqm)
    before = resolved(case, variants.effort_of(case, SHORT))
    changed = case._replace(variant=name)
    effort = variants.effort_of(changed, SHORT)
    assert effort.replications == variants.VARIANT_RUNS
    after = json.loads(variants.simulated(changed, effort).resolve()[0])
    variant = VARIANTS[name]
    entries = len(variant.tcp) + len(variant.link) + len(variant.sbd) + len(variant.red)
    assert len(differences(before, after)) == entries + bool(variant.duration_s)


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
FAR = {(3, 64): "24 % longer", (4, 64): "26 % longer"}
"""SBD's proposal and RED's largest goodput over the slowest bearer: they drop too rarely there for
the published delay; what the paper's simulator did differently is not known."""


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
    # 27 with the faulty turnaround; over 400 runs it is 29.
    assert found.values["within_8_points"] >= 29


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_delays_of_tables_2_to_6_are_near_on_the_whole(tables: Report) -> None:
    """The root mean square of the 32 differences; 11.1 % with the faulty turnaround."""
    ours = {
        tuple(row.row.values()): row.ours
        for item in tables.items
        for row in item.rows
        if row.quantity == "delay" and row.ours is not None
    }
    differences = [
        ours[tuple(keys(target.case).values())] / target.delay_s - 1 for target in fit.targets()
    ]
    assert len(differences) == 32
    assert np.sqrt(np.mean(np.square(differences))) <= 0.095


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("sbd")
    return reproduce("sbd", ["fig1", "fig2", "fig6", "fig10", "fig14"], mode="quick", out=folder)


NOT_HELD = {
    "reaction-time": "128 kbit/s: with T_r of 50 ms the goodput is 94.5 % of the largest",
    "minth-bdp": "384 kbit/s: minth 20 and T_r 1100 ms leave 84 % of the goodput",
    "alpha": "less α is better: goodput over delay is the largest with α = 1",
    "slow-start": "in 10 s an eighth of drop-tail's overflow remains with one flow",
    "reconfiguration": "a fifth of drop-tail's overflow remains with SBD, an eighth with RED",
    "sbd-or-red-4": "with four flows both take a quarter off; so does the paper's own Table 6",
}
"""Statements that do not hold with the criterion that their claim asks for."""


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "key",
    [
        pytest.param(
            spec.key,
            marks=[pytest.mark.xfail(strict=True, reason=NOT_HELD[spec.key])]
            if spec.key in NOT_HELD
            else [],
        )
        for spec in load("sbd").statements
    ],
)
def test_what_the_text_says(tables: Report, figures: Report, key: str) -> None:
    [statement] = [found for found in (*tables.statements, *figures.statements) if found.key == key]
    assert statement.of_paper
    assert statement.holds, statement.measured


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_what_is_weaker_than_the_text_holds() -> None:
    """They say that the engine behaves as it did when the text's own criteria are not met."""
    report = reproduce(STUDIES, ["weaker"], mode="quick")
    assert [statement.key for statement in report.statements] == [
        "rising-t-r",
        "kept-goodput",
        "first-losses",
        "alpha-delay",
        "newcomer",
        "less-after-the-change",
    ]
    assert not any(statement.of_paper for statement in report.statements)
    failed = {found.key: found.measured for found in report.statements if not found.holds}
    assert failed == {}


def test_the_modes_say_how_often_the_tables_are_simulated() -> None:
    """The number stands in paper.toml as text."""
    for effort in load("sbd").modes.values():
        assert effort.note.startswith(f"Tables 2 to 6: {TABLE_RUNS} runs.")


@pytest.mark.parametrize("paper", [load("sbd"), STUDIES], ids=lambda paper: paper.key)
def test_every_statement_belongs_to_an_item(paper: Any) -> None:
    belong = {key for item in paper.items for key in item.statements}
    keys_ = [spec.key for spec in paper.statements]
    assert belong == set(keys_)
    assert len(belong) == len(keys_)
    assert all(spec.cells for spec in paper.statements)
    assert paper is STUDIES or belong >= NOT_HELD.keys()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_figures_are_written_as_png_and_svg(figures: Report) -> None:
    written = [path for item in figures.items for path in item.figures]
    names = {path.name for path in written}
    assert names == {
        f"sbd-{key}.{end}"
        for key in ("fig1", "fig2", "fig6", "fig10", "fig14")
        for end in ("png", "svg")
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
    held = {found["statement"]: found["holds"] for found in document["statements"]}
    assert held == {"conclusions": False, "sbd-or-red-1": False, "sbd-or-red-4": False}


def test_what_is_kept_has_every_published_number() -> None:
    kept = ROOT / "docs/reference/papers/sbd.json"
    text = page(unpacked(json.loads(kept.read_text(encoding="utf-8"))))
    rows = [row for number in (2, 3, 4, 5) for row in published_table(number).values()]
    for row in [*rows, *drop_tail().values()]:
        goodput, delay = row.goodput_kbps, row.delay_s
        line = f"| {goodput.mean:.1f} ± {goodput.half_width:g} |"
        [found] = [each for each in text.splitlines() if line in each]
        assert found.startswith(f"| {row.bearer} | {row.flows} | ")
        assert f"| {delay.mean:.2f} ± {delay.half_width:g} |" in found
    assert text.count(" points |") == 32


def test_the_committed_page_says_what_does_not_hold() -> None:
    text = (ROOT / "docs/reference/papers/sbd.md").read_text(encoding="utf-8")
    claims = len(load("sbd").statements)
    assert f"{claims - len(NOT_HELD)} of {claims} statements hold" in text
    assert all(f"Does not hold: {key}." in text for key in NOT_HELD)


def test_what_is_kept_of_the_study_is_all_of_it() -> None:
    kept = json.loads((Path(fit.__file__).parent / "weaker.json").read_text("utf-8"))
    assert kept["provenance"]["mode"] == "full"
    assert [found["statement"] for found in kept["statements"]] == [
        spec.key for spec in STUDIES.statements
    ]
    assert all(found["holds"] and not found["of_paper"] for found in kept["statements"])


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
