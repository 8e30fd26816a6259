"""Ozturk and Akar 2015: the transcribed tables, the scenarios, simulated and published numbers."""

from __future__ import annotations

import json
from typing import Any

import pytest

import airpath as ap
from airpath.engine.flows import Flows
from airpath.reproduction import Effort, reproduce
from airpath.reproduction.files import read_table, read_text
from airpath.reproduction.overview import RESULTS
from airpath.reproduction.plugins import paper_directory
from airpath.reproduction.sweeps import SweepPoint
from airpath_papers.paths import QAWLA
from airpath_papers.qawla.data import (
    Published,
    inputs,
    link_rate_bps,
    mcs_table,
    published_table,
)
from airpath_papers.qawla.quantities import ANALYSIS, domain
from airpath_papers.qawla.scenarios import SWEEPS, path, published, solution
from airpath_papers.qawla.summaries import MEAN_LIMIT
from conformance import Law

CELLS = SWEEPS.cells("tables")
SHORT = Effort(replications=3, duration_s=40.0, warmup_s=10.0)

T_TOLERANCE = ANALYSIS["throughput_analysis"].relative
QUEUE_TOLERANCE = ANALYSIS["queue_analysis"].relative
ALPHA_TOLERANCE = ANALYSIS["alpha_analysis"].relative

EXACT = Law(
    area="Papers",
    source="qawla-2015 Table 5: the simulated cells without loss, printed with ± 0.0000",
    allows="where the warm-up cuts the flow",
)


def cell_of(idx: int, boundary: int) -> SweepPoint:
    [cell] = SWEEPS.cells("tables", idx=idx, B=boundary)
    return cell


def by_idx(numbers: range) -> list[Any]:
    return [pytest.param(number, id=f"idx={number}") for number in numbers]


# --- the published numbers ---------------------------------------------------------------------


def test_each_table_has_all_its_rows() -> None:
    assert list(mcs_table()) == list(range(8))
    assert list(inputs()) == list(range(1, 19))
    assert [list(published_table(b)) for b in (10, 20, 30)] == [list(range(1, 19))] * 3
    assert len(CELLS) == 54
    assert all(published(cell).boundary == cell.axes["B"] for cell in CELLS)
    assert len(read_table(QAWLA, "table6.csv")) == 10


def test_tables_3_to_5_print_boundary_with_alpha() -> None:
    for cell in CELLS:
        row = published(cell)
        assert (row.alpha is not None) == (row.domain == "B")
        assert (row.queue_packets == row.boundary) == (row.domain == "B")
        assert (row.queue_packets < row.boundary) == (row.domain == "R1")


@pytest.mark.parametrize("idx", by_idx(range(1, 19)))
def test_table2_rates_follow_from_table1(idx: int) -> None:
    case = inputs()[idx]
    computed = [link_rate_bps(mcs_table()[mcs]) / 1e6 for mcs in case.mcs]
    assert computed == pytest.approx(case.rate_mbps, rel=1e-12)


def test_table2_gives_each_mcs_one_error_rate_at_each_snr() -> None:
    seen: dict[tuple[int, int], float] = {}
    for case in inputs().values():
        assert case.per[0] <= case.per[1]
        assert case.rate_mbps[0] < case.rate_mbps[1]
        for mcs, per in zip(case.mcs, case.per, strict=True):
            assert seen.setdefault((mcs, case.snr_db), per) == per


def test_table2_is_three_snrs_of_six_traffic_scenarios() -> None:
    cases = [(case.flows, case.mean_rtt0_ms, case.snr_db) for case in inputs().values()]
    assert cases == [(n, f, snr) for n in (1, 4, 16) for f in (1, 40) for snr in (22, 26, 30)]


@pytest.mark.parametrize(
    "cell", CELLS, ids=lambda cell: f"idx={cell.axes['idx']}-B={cell.axes['B']}"
)
def test_transcribed_analysis_agrees_with_independent_solution(
    cell: SweepPoint, fake_engine: Any
) -> None:
    check_analysis(fake_engine.solve(path(**cell.axes, idealised=True)), published(cell))


# --- the scenarios -----------------------------------------------------------------------------


@pytest.mark.parametrize("idealised", [False, True])
@pytest.mark.parametrize("idx", by_idx(range(1, 19)))
def test_path_has_the_round_trip_times_of_the_paper(idx: int, idealised: bool) -> None:
    case = inputs()[idx]
    resolved = json.loads(path(idx, 20, idealised=idealised).resolve()[0])
    n, mean_ms = case.flows, case.mean_rtt0_ms
    links_ns = resolved["bottleneck"]["delay_ns"]
    if not idealised:
        links_ns += resolved["ack_path"]["delay_ns"]
    for i, flow in enumerate(Flows(resolved["flows"])):
        wires = sum(wire.delay_ns for wire in (flow.access, flow.egress, flow.return_wire))
        rtt0_ms = 2 * (i + 1) * mean_ms / (n + 1)
        # Each of three delays is rounded to a nanosecond.
        assert wires + links_ns == pytest.approx((rtt0_ms + 5) * 1e6, abs=2)
        assert flow.egress.delay_ns == pytest.approx(2 * mean_ms / (n + 1) / 4 * 1e6, abs=1)
    assert len(Flows(resolved["flows"])) == n


def test_simulated_scenario_is_the_topology_of_fig4() -> None:
    resolved = json.loads(SWEEPS.scenario(cell_of(6, 20), SHORT).resolve()[0])
    assert (resolved["duration_ns"], resolved["warmup_ns"]) == (40_000_000_000, 10_000_000_000)
    assert resolved["bottleneck"] == {
        "link": {
            "kind": "multi-regime",
            "thresholds": [20],
            "regimes": [
                {"rate_bps": 5_376_000, "per": 0.0},
                {"rate_bps": 26_880_000, "per": 0.112},
            ],
            "framing": {"overhead_bytes": 2, "block_bytes": 1, "code_rate": 1.0},
        },
        "queue": {"kind": "gred", "min_th": 30, "max_th": 90, "max_p": 0.1, "ecn": False},
        "delay_ns": 2_500_000,
    }
    assert resolved["ack_path"]["link"]["rate_bps"] == 5_376_000
    assert resolved["ack_path"]["link"]["loss"] == 0.0
    assert resolved["ack_path"]["queue"] == {"kind": "droptail", "limit": {"packets": 1000}}
    [flow] = resolved["flows"]
    wires = [flow[wire] for wire in ("access", "egress", "return_wire")]
    assert [wire["rate_bps"] for wire in wires] == [10**9] * 3
    assert [wire["delay_ns"] for wire in wires] == [10_000_000, 10_000_000, 20_000_000]
    assert flow["start"] == {"kind": "uniform", "low_ns": 0, "high_ns": 10**9}
    options = flow["source"]["options"]
    assert (options["profile"], options["recovery"]) == ("ns3-2014", "reno")


# --- the analytic columns of Tables 3, 4 and 5 -------------------------------------------------


def check_analysis(solved: Any, row: Published) -> None:
    assert domain(solved) == row.domain
    assert solved.throughput_bps / 1e6 == pytest.approx(row.analysis_mbps, rel=T_TOLERANCE)
    # If x* is printed as 0.0000, the tolerance is half of the last printed digit.
    expected = pytest.approx(row.queue_packets, rel=QUEUE_TOLERANCE, abs=5e-5)
    assert solved.queue_packets == expected
    if row.alpha is None:
        assert domain(solved) != "B"
    else:
        assert solved.alpha == pytest.approx(row.alpha, rel=ALPHA_TOLERANCE)


def check_solved_by_engine(cell: SweepPoint) -> None:
    check_analysis(solution(cell), published(cell))


@pytest.mark.parametrize("idx", by_idx(range(1, 19)))
def test_analysis_matches_table3(idx: int) -> None:
    check_solved_by_engine(cell_of(idx, 10))


@pytest.mark.parametrize("idx", by_idx(range(1, 19)))
def test_analysis_matches_table4(idx: int) -> None:
    check_solved_by_engine(cell_of(idx, 20))


@pytest.mark.parametrize("idx", by_idx(range(1, 19)))
def test_analysis_matches_table5(idx: int) -> None:
    check_solved_by_engine(cell_of(idx, 30))


# --- the simulated columns ---------------------------------------------------------------------


@pytest.mark.parametrize("idx", by_idx(range(4, 7)))
def test_table5_cells_without_loss_are_exact(idx: int) -> None:
    # The numbers of the paper are deterministic (± 0.0000). The remaining difference depends on
    # where the warm-up ends within the transfer.
    case = Effort(replications=1, duration_s=300.0, warmup_s=30.0)
    run = ap.simulate(SWEEPS.scenario(cell_of(idx, 30), case), reps=1).replications[0]
    total = sum(flow["ip_throughput_bps"] for flow in run["flows"]) / 1e6
    EXACT.close(f"T, B = 30, idx {idx}", "Mbit/s", total, 5.3673, 0.0005)


@pytest.mark.slow
def test_quick_mode_of_a_table_is_near_the_published_numbers() -> None:
    report = reproduce("qawla", ["table4"], mode="quick")
    [simulation] = [summary for summary in report.summaries if summary.key == "simulation"]
    assert simulation.values["cells"] == simulation.values["within"] == 18
    # A replication with 90 s of measured time varies about twice as much as the paper's mean of ten
    # replications.
    assert simulation.values["mean_absolute_difference"] < 2 * MEAN_LIMIT


@pytest.mark.long
def test_quick_mode_is_near_the_published_numbers() -> None:
    report = reproduce("qawla", ["table3", "table4", "table5", "fig6"], mode="quick")
    [simulation] = [summary for summary in report.summaries if summary.key == "simulation"]
    assert simulation.values["cells"] == 54
    assert simulation.values["mean_absolute_difference"] < 2 * MEAN_LIMIT
    # This is the sentence about quick mode in the README of the paper.
    readme = " ".join(read_text(paper_directory("qawla"), "README.md").split())
    apart = 100 * simulation.values["mean_absolute_difference"]
    [analysis] = [summary for summary in report.summaries if summary.key == "analysis"]
    assert simulation.values["within"] == 54
    assert f"{apart:.1f} % apart on average" in readme
    assert 100 * analysis.values["largest_difference"]["throughput_analysis"] < 0.04
    # Claims relative to the printed numbers require the longer replications of the paper.
    holds = {s.key: s.holds for s in report.claims}
    assert all(holds[key] for key in ("empty-queue", "mass-at-boundary", "optimistic-model"))
    assert holds["agreement"]


@pytest.mark.slow
@pytest.mark.paper_full
@pytest.mark.timeout(3600)
def test_full_mode_agrees_with_all_54_cells() -> None:
    report = reproduce("qawla", mode="full")
    [simulation] = [summary for summary in report.summaries if summary.key == "simulation"]
    assert simulation.values["mean_absolute_difference"] <= MEAN_LIMIT
    assert simulation.values["outside"] == []
    kept = json.loads(read_text(paper_directory("qawla"), RESULTS))["claims"]
    assert {s.key: s.outcome for s in report.claims} == {
        each["claim"]: each["outcome"] for each in kept
    }
