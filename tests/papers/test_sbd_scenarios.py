"""The published numbers of sbd-2006, its scenarios and the joint fit of the unknown parameters."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import airpath as ap
from airpath.reproduction import Effort, load
from airpath.reproduction.files import read_table
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint
from airpath_papers.paths import SBD
from airpath_papers.sbd.claims import SWEEPS
from airpath_papers.sbd.data import (
    BEARERS,
    DROP_TAIL,
    GRID_MIN_TH,
    improvements,
    published_table,
    setting_at,
)
from airpath_papers.sbd.figures import GRIDS, grid
from airpath_papers.sbd.scenarios import path
from airpath_papers.sbd.tables import TABLE6
from studies.sbd import fit
from studies.sbd.sensitivity import SWEEPS as OF_STUDY

SHORT = Effort(replications=2, duration_s=10.0, warmup_s=0.0)


# --- the published numbers ---------------------------------------------------------------------


def test_each_table_has_all_its_rows() -> None:
    assert len(read_table(SBD, "table1.csv")) == 18
    singles = [(bearer, 1) for bearer in BEARERS]
    assert [list(published_table(number)) for number in (2, 3, 4, 5)] == [singles] * 4
    assert list(published_table(6)) == [(bearer, flows) for bearer in BEARERS for flows in (1, 4)]
    assert len(improvements()) == 32


@pytest.mark.parametrize("quantity", ["goodput", "delay"])
@pytest.mark.parametrize("aqm", ["SBD", "RED"])
@pytest.mark.parametrize("bearer", BEARERS)
def test_table6_for_one_flow_follows_from_tables_3_and_5(
    bearer: int, aqm: str, quantity: str
) -> None:
    managed = published_table(3 if aqm == "SBD" else 5)[bearer, 1]
    plain = published_table(6)[bearer, 1]
    name = "goodput_kbps" if quantity == "goodput" else "delay_s"
    found = 100 * (getattr(managed, name).mean / getattr(plain, name).mean - 1)
    # The means are printed with three digits, the percentages without decimal places.
    assert found == pytest.approx(improvements()[bearer, 1, aqm, quantity], abs=1.0)


def grid_values(aqm: str, axis: str, effort: Effort | None = None) -> list[float]:
    return list(
        dict.fromkeys(p.place[axis] for p in SWEEPS.points("grids", effort=effort, aqm=aqm))
    )


@pytest.mark.parametrize("number", [2, 3, 4, 5])
def test_published_settings_are_on_the_grids(number: int) -> None:
    aqm, axis = ("SBD", "t_r_ms") if number < 4 else ("RED", "maxp")
    for row in published_table(number).values():
        assert row.setting.strength in grid_values(aqm, axis)
        assert row.setting.min_th in GRID_MIN_TH


def test_grids_cover_ranges_of_paper() -> None:
    t_r_ms, maxp = grid_values("SBD", "t_r_ms"), grid_values("RED", "maxp")
    assert (t_r_ms[0], t_r_ms[-1], maxp[0], maxp[-1]) == (50, 5000, 0.005, 1)
    assert len(t_r_ms) == len(maxp) == 20
    assert tuple(grid_values("SBD", "minth")) == GRID_MIN_TH
    sbd, cloud = load("sbd"), grid(GRIDS["fig6"]).cells
    assert grid_values("SBD", "t_r_ms", sbd.modes["quick"]) == [50, 200, 500, 1100, 2500, 5000]
    sessions = {mode: Session(sbd, effort, seed=1) for mode, effort in sbd.modes.items()}
    # Drop-tail and the settings of Tables 2 and 3 are separate points.
    assert len(cloud(sessions["full"])) == 3 + 6 * 20
    assert len(cloud(sessions["quick"])) == 3 + 6 * 6


def test_settings_of_the_tables_have_their_replications_on_the_grids() -> None:
    sbd = load("sbd")
    for table, aqm in ((2, "SBD"), (3, "SBD"), (4, "RED"), (5, "RED")):
        setting = published_table(table)[384, 1].setting
        axis = "t_r_ms" if aqm == "SBD" else "maxp"
        place = {axis: setting.strength, "minth": setting.min_th, "bearer": 384, "aqm": aqm}
        points = SWEEPS.cells("grids", **place)
        assert [
            sbd.sweeps.effort_of(point, sbd.modes["quick"]).replications for point in points
        ] == [
            100,
            100,
        ]
    other = SWEEPS.cells("grids", t_r_ms=5000, minth=5, bearer=384, flows=1)
    assert [sbd.sweeps.effort_of(point, sbd.modes["quick"]).replications for point in other] == [4]


def test_value_of_a_setting_may_be_a_name() -> None:
    sbd = {"aqm": "SBD", "bearer": 384}
    assert setting_at({"aqm": "drop-tail", "bearer": 384}) == DROP_TAIL
    assert setting_at(sbd) == ("SBD", 200, 20) == setting_at({"table": 3, "bearer": 384})
    assert setting_at({**sbd, "t_r_ms": "largest goodput"}) == ("SBD", 250, 20)
    found = [setting_at({**sbd, "minth": name}) for name in ("least", "2 BDP", "largest")]
    # 2 BDP are 16 SDUs at 384 kbit/s and 5.3 at 128 kbit/s.
    assert [each.min_th for each in found] == [5, 20, 30]
    assert setting_at({"aqm": "SBD", "bearer": 128, "minth": "2 BDP"}) == ("SBD", 1300, 10)


# --- the scenarios -----------------------------------------------------------------------------


def resolved(point: SweepPoint, effort: Effort = SHORT) -> Any:
    return json.loads(SWEEPS.scenario(point, effort).resolve()[0])


def path_of(*arguments: Any, **more: Any) -> Any:
    return json.loads(path(*arguments, **more).resolve()[0])


def test_path_matches_fig5() -> None:
    found = path_of(256, 1)
    link = found["bottleneck"]["link"]
    assert (link["kind"], link["rate_bps"]) == ("rlc-am", 256_000)
    assert found["ack_path"]["kind"] == "reverse"
    assert found["backhaul"]["rate_bps"] == 1_000_000
    [flow] = found["flows"]
    # The bearer and the backhaul account for all of the 250 ms.
    assert [flow[wire]["delay_ns"] for wire in ("access", "egress", "return_wire")] == [0, 0, 0]
    options = flow["source"]["options"]
    assert (options["recovery"], options["delayed_ack_segments"]) == ("reno", 2)


def turnaround_ms(link: Any, there: str, back: str) -> float:
    """Return the time from a poll to its response. A PDU that arrives during a TTI waits for the
    next TTI."""
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
    # 65 536 bytes are one byte more than the largest window without scaling.
    "Maximum allowed window": lambda _link, tcp, _: f"{(tcp['receive_window'] + 1) // 1024} kbytes",
    "Initial window": lambda _link, tcp, _: f"{tcp['initial_window'] / tcp['mss']:g}",
    "Wired Network Round Trip Delay": lambda _link, _tcp, wire: (
        f"{2 * wire['delay_ns'] / 1e6:g} ms"
    ),
}
"""Mapping from each row of Table 1 to a function that returns the corresponding value of a resolved
scenario.
"""


@pytest.mark.parametrize("row", read_table(SBD, "table1.csv"), ids=lambda row: row["parameter"])
def test_scenario_matches_table_1(row: dict[str, str]) -> None:
    """Regression test: the turnaround time was 55 ms, because 25 ms per direction is not a multiple
    of the TTI."""
    found = path_of(256, 1)
    tcp = found["flows"][0]["source"]["options"]
    actual = TABLE_1[row["parameter"]](found["bottleneck"]["link"], tcp, found["backhaul"])
    assert actual == row["setting"]


def test_turnaround_is_equal_in_both_directions() -> None:
    link = path_of(256, 1)["bottleneck"]["link"]
    assert turnaround_ms(link, "reverse_latency_ns", "latency_ns") == 50


def test_window_growth_is_set_explicitly() -> None:
    """The default of the profile may change; RFC 2581, in force in 2006, has only one formula."""
    found = path_of(384, 1)
    assert found["flows"][0]["source"]["options"]["window_growth"] == "bytes"


def test_status_reports_do_not_lock_into_a_cycle() -> None:
    """About 4 reports per second are required at 64 kbit/s; with a turnaround time of 55 ms there
    were 6.6."""
    scenario = SWEEPS.scenario(TABLE6[64, 4, "drop-tail"], Effort(20, 60.0, 0.0))
    found = ap.simulate(scenario, reps=20)
    reports = [
        link["counters"]["status_reports"] / 60
        for run in found.replications
        for link in run["links"]
        if link["name"] == "reverse"
    ]
    assert len(reports) == 20
    assert 3.2 <= sum(reports) / 20 <= 4.4


# --- the joint fit -----------------------------------------------------------------------------


def test_joint_fit_contains_every_combination_sorted_by_distance() -> None:
    rows = read_table(Path(fit.__file__).parent, "fit.csv")
    scores = [float(row["score"]) for row in rows]
    assert scores == sorted(scores)
    names = fit.Choice._fields
    assert {tuple(row[name] for name in names) for row in rows} == {
        tuple(map(str, choice)) for choice in fit.COMBINATIONS
    }
    assert len(rows) == len(fit.COMBINATIONS) == 64


def test_fitted_parameters_are_simulated() -> None:
    nearest = read_table(Path(fit.__file__).parent, "fit.csv")[0]
    sbd = load("sbd")
    assert {effort.duration_s for effort in sbd.modes.values()} == {float(nearest["duration_s"])}
    found = path_of(384, 1, "RED")
    tcp, bottleneck = found["flows"][0]["source"]["options"], found["bottleneck"]
    assert str(tcp["delayed_ack_segments"]) == nearest["delayed_ack_segments"]
    assert str(tcp["mss"]) == nearest["packet_bytes"]
    assert bottleneck["link"]["window_poll"] == nearest["window_poll"]
    assert bottleneck["queue"]["drop"] == nearest["red_drop"]
    assert str(bottleneck["queue"]["count"]) == nearest["red_count"]


def test_criterion_weights_goodput_and_delay_by_tolerance() -> None:
    assert fit.score([0.05, -0.05], [0.15, -0.15]) == pytest.approx(1.0)
    assert fit.score([0.1, 0.0], [0.0, 0.0]) == pytest.approx(1.0)


def test_fit_has_32_settings_with_four_flows_from_table_6() -> None:
    found = {target.point: target for target in fit.targets()}
    assert len(found) == 32
    four = found[TABLE6[128, 4, "SBD"]]
    assert four.goodput_kbps == pytest.approx(93.4 * 1.08)
    assert four.delay_s == pytest.approx(2.44 * 0.65)
    assert found[TABLE6[128, 4, "drop-tail"]].goodput_kbps == 93.4


def test_fitted_setting_is_simulated_as_selected() -> None:
    chosen = fit.COMBINATIONS[0]
    assert chosen == fit.Choice(60.0, 1460, 2, "timed", "front", False)
    point = TABLE6[384, 1, "RED"]
    computed = json.loads(fit.scenario_of(point.axes, chosen).resolve()[0])
    assert computed == resolved(point, Effort(2, 60.0, 0.0))


def test_buffer_has_40_sdus_under_every_discipline() -> None:
    for point in TABLE6.values():
        queue = resolved(point)["bottleneck"]["queue"]
        limit = queue["limit"]["packets"] if queue["kind"] == "droptail" else queue["limit"]
        assert limit == 40


@pytest.mark.parametrize("aqm", ["SBD", "RED"])
def test_traces_change_rate_and_setting_at_50_s(aqm: str) -> None:
    [point] = SWEEPS.cells("traces", aqm=f"{aqm} reconfigured")
    effort = SWEEPS.effort_of(point, SHORT)
    assert (effort.replications, effort.duration_s) == (1, 100.0)
    found = resolved(point, effort)
    [change] = found["controls"]
    assert (change["at_ns"], change["action"]["rate_bps"]) == (50 * 10**9, 128_000)
    rows = {row["rate_bps"]: row for row in found["bottleneck"]["queue"]["by_rate"]}
    assert sorted(rows) == [64_000, 128_000, 256_000, 384_000]
    for rate_bps, row in rows.items():
        proposed = setting_at({"aqm": aqm, "bearer": rate_bps // 1000})
        value = row["reaction_time_ns"] / 1e6 if aqm == "SBD" else row["max_p"]
        assert (aqm, value, row["min_th"]) == proposed


@pytest.mark.parametrize("name", OF_STUDY.changes("sensitivity"))
def test_each_change_of_study_modifies_named_parameter(name: str) -> None:
    point = OF_STUDY.cells("sensitivity", change=name, bearer=384, flows=1)[-1]
    effort = OF_STUDY.effort_of(point, SHORT)
    assert effort.replications == 20
    plain = resolved(TABLE6[384, 1, point.axes["aqm"]])
    changed = json.loads(OF_STUDY.scenario(point, effort).resolve()[0])
    entries = [axis for axis in point.axes if "." in axis]
    assert len(differences(plain, changed)) == len(entries) + (point.duration_s > 0)


def differences(one: Any, other: Any, place: str = "") -> list[str]:
    if isinstance(one, dict):
        return [d for key in one for d in differences(one[key], other[key], f"{place}.{key}")]
    if isinstance(one, list):
        pairs = enumerate(zip(one, other, strict=True))
        return [d for index, (a, b) in pairs for d in differences(a, b, f"{place}.{index}")]
    return [] if one == other else [place]


def test_newcomer_starts_at_the_given_time() -> None:
    first, second = path_of(384, 2, size=80, newcomer_s=20.0)["flows"]
    assert first["start"] == {"kind": "at", "time_ns": 0}
    assert second["start"] == {"kind": "at", "time_ns": 20 * 10**9}
