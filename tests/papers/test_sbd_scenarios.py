"""The published numbers of sbd-2006, its scenarios and the joint fit of what is open."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from airpath.reproduction import Effort, load
from airpath.reproduction.engine import Compiled, Wanted
from airpath.reproduction.files import read_table
from airpath.reproduction.session import Session
from airpath_papers.paths import SBD
from airpath_papers.sbd import scenarios, table1
from airpath_papers.sbd.data import (
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
from airpath_papers.sbd.figures import GRIDS
from airpath_papers.sbd.scenarios import TRACE, ByRate, Case, Use
from airpath_papers.sbd.settings import Settings
from airpath_papers.sbd.tables import TABLE6_CELLS
from studies.sbd import fit, variants
from studies.sbd.variants import VARIANTS

SHORT = Effort(replications=2, duration_s=10.0, warmup_s=0.0)


# --- the published numbers ---------------------------------------------------------------------


def test_each_table_has_all_its_rows() -> None:
    assert len(read_table(SBD, "table1.csv")) == 18
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
    # T_r = 250 ms of Table 2 is not among every fourth value, 200 ms of Table 3 is.
    assert len(cloud(sessions["quick"])) == 1 + 6 * 6 + 1


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


@pytest.mark.parametrize("row", read_table(SBD, "table1.csv"), ids=lambda row: row["parameter"])
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
    wanted = [Wanted(scenario, 20)]
    (found,) = Compiled().simulate(wanted, seed=1, threads=None, progress=None)
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
