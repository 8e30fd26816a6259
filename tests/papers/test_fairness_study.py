"""The study of shared bottlenecks: scenarios of all points, published numbers, measures."""

from __future__ import annotations

import json

import pytest

import airpath as ap
from airpath import _airpath
from airpath.reproduction.names import CONTROLS, DISCIPLINES
from airpath.reproduction.quantities import MeasuredQuantity
from airpath.reproduction.session import Session
from studies.fairness import PAPER
from studies.fairness.quantities import QUANTITIES, first_mbps, jain, loss, share
from studies.fairness.scenarios import SWEEPS, path, ten, versus


def test_every_point_has_a_scenario() -> None:
    session = Session(PAPER, PAPER.modes["quick"], seed=1)
    cells = [cell for item in PAPER.items for cell in item.cells_of(session)]
    for cell in dict.fromkeys(cells):
        session.scenario(cell).resolve()


@pytest.mark.parametrize("sweep", ["disciplines", "same"])
def test_grid_has_every_control_and_every_discipline(sweep: str) -> None:
    """Without CLAMP and VCP, which require a queue of their kind, and variants of CUBIC; without
    L4Span for flows that it neither marks nor drops.
    """
    registry = json.loads(_airpath.registry())
    found = {name: {cell.axes[name] for cell in SWEEPS.cells(sweep)} for name in ("aqm", "cc")}
    assert found["aqm"] | {"l4span"} == {kind for kind, _ in registry["aqm"]}
    controls = {"newreno" if kind == "reno" else kind for kind, _ in registry["congestion"]}
    assert found["cc"] == controls - {"clamp", "vcp", "cubic-linux", "cubic-ns3"}


@pytest.mark.parametrize(("bdp", "packets"), [(1, 33), (2, 67), (64, 2133)])
def test_buffer_is_a_multiple_of_the_bandwidth_delay_product(bdp: float, packets: int) -> None:
    """10 Mbit/s times 40 ms are 50 kB, or 33.3 packets of 1500 bytes."""
    queue = json.loads(versus("newreno", 1, bdp).resolve()[0])["bottleneck"]["queue"]
    assert queue["limit"] == {"packets": packets}


def test_ten_flows_have_the_rtts_of_both_groups() -> None:
    flows = ten("newreno", "cubic", 8).flows
    assert [str(flow.base_rtt) for flow in flows] == [f"{ms} ms" for ms in (31, 33, 35, 37, 39)] * 2
    assert [type(flow.cc).__name__ for flow in flows] == ["NewReno"] * 5 + ["Cubic"] * 5


def test_cubic_may_start_first_and_bbr_is_that_of_the_testbed() -> None:
    together, later = versus("bbr", 2, 4), versus("bbr", 2, 4, ahead_s=2.0)
    assert later.flows[0].cc == ap.cc.Bbr(variant="linux")
    starts = [[str(flow.start) for flow in each.flows] for each in (together, later)]
    assert starts[0] == [starts[0][1]] * 2
    assert starts[1][1] == starts[0][1] != starts[1][0]


@pytest.mark.long
@pytest.mark.parametrize("cc", ["bbr1", "bbr"])
def test_shares_of_pairs_are_as_published(cc: str) -> None:
    """One flow, up to 16 BDP: the mean of ten seeds is within the tolerance of the study."""
    found = {}
    for cell in SWEEPS.cells("pairs", cc=cc, count=1, bdp=[1, 2, 4, 8, 16]):
        published = QUANTITIES["printed_first"].printed(cell.axes).mean
        runs = ap.simulate(versus(cc, 1, cell.axes["bdp"]), reps=10).replications
        mean = sum(first_mbps(run) for run in runs) / len(runs)
        found[cell.axes["bdp"]] = (mean, published)
    allowed = 1.0 if cc == "bbr1" else 1.5
    assert all(abs(mean - published) <= allowed for mean, published in found.values()), found


def test_alone_a_control_has_no_competitors() -> None:
    assert sum(flow.count for flow in path("cubic", count=4).flows) == 4
    assert sum(flow.count for flow in path("cubic", other="newreno", others=2).flows) == 3


def test_published_pair_has_a_tolerance_of_a_tenth_of_the_capacity() -> None:
    [cell, *_] = SWEEPS.cells("pairs", cc="bbr1", count=2, bdp=4)
    session = Session(PAPER, PAPER.modes["quick"])
    printed = QUANTITIES["printed_first"].printed(cell.axes)
    assert printed.mean == 5.59
    for simulated, within in ((6.5, True), (6.7, False)):
        vars(session)["values"] = lambda _cell, _measure, found=simulated: [found]
        row = QUANTITIES["first"].row(session, cell, dict(cell.axes), printed)
        assert row.within == within


def test_interval_of_the_index_is_cut_at_one() -> None:
    """Two runs with 0.9 and 1.0: the Student-t interval reaches from 0.315 to 1.585."""
    [cell, *_] = SWEEPS.cells("same", cc="cubic", aqm="droptail")
    session = Session(PAPER, PAPER.modes["quick"])
    vars(session)["values"] = lambda _cell, _measure: [0.9, 1.0]
    index = QUANTITIES["jain"]
    found = index.estimate(session, cell)
    assert isinstance(index, MeasuredQuantity)
    assert found is not None
    assert (found.mean, found.high) == (pytest.approx(0.95), 1.0)
    assert found.low == pytest.approx(0.95 - 12.7062 * 0.05, abs=1e-4)
    assert index.text(session, cell) == "0.950 (0.315 … 1.000)"


def test_every_control_and_every_discipline_has_a_display_name() -> None:
    registry = json.loads(_airpath.registry())
    assert set(CONTROLS) == {kind for kind, _ in registry["congestion"]} | {"newreno"}
    assert set(DISCIPLINES) == {kind for kind, _ in registry["aqm"]}


@pytest.mark.long
def test_setpoint_of_c2tcp_depends_on_the_order_of_starts() -> None:
    """README.md: 0.06 if C2TCP starts a second before CUBIC, 0.61 if it starts a second later."""
    pair = path("c2tcp", other="cubic", rate_mbps=20.0, rtt_ms=40.0)
    shares = []
    for starts in (("0 s", "1 s"), ("1 s", "0 s")):
        keys = {f"flows.{number}.start": start for number, start in enumerate(starts)}
        made = pair.replace({**keys, "duration": "70 s", "warmup": "10 s"})
        shares += [round(share(run), 2) for run in ap.simulate(made, reps=1).replications]
    assert shares == [0.06, 0.61]


def test_measures_of_three_flows() -> None:
    run = {
        "flows": [{"goodput_bps": rate} for rate in (3e6, 2e6, 1e6)],
        "queues": [{"name": "bottleneck", "drops": {"overflow": 3, "early": 2}, "arrived": 100}],
    }
    assert (first_mbps(run), share(run), loss(run)) == (5.0, 0.5, 0.05)
    assert jain(run) == pytest.approx(36 / (3 * 14))
