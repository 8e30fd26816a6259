"""Advisories: each one appears in its situation and in no other."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import airpath as ap
from airpath.results import mean_interval
from airpath.results.remarks import RunOutline, measurement_advisories

RANDOM = {"start": {"uniform": ["0 s", "1 s"]}}
WIDE = {"receive_window": "4 MB"}


def make(flows: list[Any], **changes: Any) -> ap.Scenario:
    keys: dict[str, Any] = {
        "flows": flows,
        "bottleneck": ap.Bottleneck(
            aqm=ap.aqm.DropTail(limit="50 packets"), link=ap.link.Fixed(rate="10 Mbit/s")
        ),
        "duration": "10 s",
        "warmup": "2 s",
    }
    return ap.Scenario(**(keys | changes))


def tcp(count: int = 1, **keys: Any) -> list[Any]:
    return ap.flows(count, **({"base_rtt": "40 ms", "tcp": WIDE} | RANDOM | keys))


def advisories_of(scenario: ap.Scenario, reps: int = 5) -> dict[str, str]:
    """Return a mapping from the code of each advisory of a run to its printed text."""
    result = ap.simulate(scenario, reps=reps)
    # A sweep reads the statistics only if an outline shows that they are needed.
    if measurement_advisories(result.resolved, result.replications):
        runs = result.replications
        assert any(RunOutline.of(result.resolved, run).may_concern for run in runs)
    return {advisory.code: str(advisory) for advisory in result.advisories}


def test_unremarkable_run_has_no_advisory() -> None:
    result = ap.simulate(make(tcp(2)), reps=5)
    assert result.advisories == []
    assert "advisor" not in repr(result)
    assert result.to_dict()["advisories"] == []


def test_advisory_reports_a_group_without_deliveries() -> None:
    """Regression: a group without deliveries was a row of zeros without an advisory."""
    lost = ap.Bottleneck(aqm="droptail", link=ap.link.Fixed(rate="10 Mbit/s", loss=1.0))
    texts = advisories_of(make(tcp(2, name="web"), bottleneck=lost))
    assert texts["nothing-delivered"].startswith(
        "flows.web: nothing got through after the warm-up, "
        "for 2 of its 2 flows in 5 of 5 replications."
    )
    # No advisory for flows that end before the measurement, start at the end, or stop at its start.
    early, late = tcp(size="10 kB"), tcp(start="9.5 s")
    stopped = tcp(start="0 s", stop="1.5 s")
    assert "nothing-delivered" not in advisories_of(make(tcp() + early + late + stopped))


def test_datagrams_in_flight_at_the_warm_up_do_not_count_as_delivered() -> None:
    """Their bytes count in the goodput. Regression: a sweep did not report a flow without later
    deliveries.
    """
    call = ap.flows(source="cbr", rate="1 Mbit/s", packet="1200 B", base_rtt="140 ms")
    silent = make(call, control=[{"at": "2 s", "rate": "0 bit/s"}], warmup="2 s")
    assert "nothing-delivered" in advisories_of(silent)


def test_advisory_reports_a_limiting_receive_window() -> None:
    """Regression: a window of 65535 bytes per RTT of 300 ms used 17 % of a link of 10 Mbit/s,
    without an advisory.
    """
    result = ap.simulate(
        make(tcp(base_rtt="300 ms", tcp={}), duration="60 s", warmup="10 s"), reps=5
    )
    [advisory] = result.advisories
    assert (advisory.code, advisory.place) == ("receive-window", "flows.0")
    assert "the receive window, 65535 B, was the limit for" in advisory.text
    assert result.table("flows")["rwnd_limited_share"].between(0.9, 1.0).all()
    goodput = result.table("flows")["goodput_bps"]
    assert goodput.to_numpy() == pytest.approx(8 * 44 * 1460 / 0.3, rel=0.02)


LARGE: dict[str, Any] = {
    "bottleneck": ap.Bottleneck(
        aqm=ap.aqm.DropTail(limit="400 packets"), link=ap.link.Fixed(rate="10 Mbit/s")
    )
}


@pytest.mark.parametrize(
    ("flows", "changes"),
    [
        (tcp(4, tcp={}), LARGE),
        # The link was full for 8 of 40 s, and there was no data afterwards.
        (tcp(4, tcp={}, stop="8 s"), LARGE | {"duration": "40 s"}),
        (tcp(2, tcp={}, access={"rate": "2 Mbit/s"}), LARGE),
        (tcp(4, tcp={}), {"backhaul": {"rate": "6 Mbit/s"}}),
        (tcp(4, tcp={}) + ap.flows(source="cbr", rate="1 Mbit/s"), LARGE),
    ],
)
def test_window_that_fills_the_link_has_no_warning(
    flows: list[Any], changes: dict[str, Any]
) -> None:
    """Regression: a larger window was recommended although it would only make the queue longer."""
    scenario = make(flows, **changes)
    result = ap.simulate(scenario, reps=5)
    limited = [flow["rwnd_limited_share"] or 0 for flow in result.replications[0]["flows"]]
    assert sum(share > 0.5 for share in limited) >= 2
    assert "receive-window" not in {advisory.code for advisory in result.advisories}
    larger = flows[0].model_copy(update={"tcp": {"receive_window": "200 kB"}})
    more = ap.simulate(scenario.model_copy(update={"flows": [larger, *flows[1:]]}), reps=5)
    before, after = (r.intervals("flows")[-1]["goodput_bps"].mean for r in (result, more))
    assert after < 1.03 * before


def test_window_that_leaves_a_full_link_to_others_has_a_warning() -> None:
    small, large = tcp(tcp={}), tcp()
    texts = advisories_of(make(small + large, **LARGE, duration="30 s"))
    assert texts["receive-window"].endswith(
        'A larger one: tcp = {receive_window = "1 MB"}; the link was full, '
        "so it takes from the other flows."
    )
    assert texts["receive-window"].startswith("flows.0: ")


@pytest.mark.parametrize("profile", ["rfc", "linux", "ns3", "ns3-2014"])
def test_rwnd_limited_share_is_one_if_rwnd_limits_and_zero_if_cwnd_limits(profile: str) -> None:
    """The profiles cover each procedure that sends segments."""

    def share(window: str) -> float:
        flow = tcp(profile=profile, tcp={"receive_window": window}, base_rtt="100 ms")
        result = ap.simulate(make(flow, duration="40 s", warmup="10 s"), reps=1)
        return float(result.table("flows")["rwnd_limited_share"].iloc[0])

    assert share("20 kB") > 0.98
    assert share("4 MB") == 0.0
    # Bandwidth-delay product 125 kB, queue 75 kB: the receive window is the limit between these
    # values.
    assert share("100 kB") > 0.9


@pytest.mark.parametrize(("warmup", "share"), [("0 s", 0.9), ("10 s", None)])
def test_stopped_flow_is_limited_only_while_it_sends(warmup: str, share: float | None) -> None:
    """Regression: 7.5 s of the flow's 8 s were reported as a share of 0.19 of the run of 40 s."""
    flow = tcp(stop="8 s", base_rtt="100 ms", tcp={"receive_window": "20 kB"})
    result = ap.simulate(make(flow, duration="40 s", warmup=warmup), reps=1)
    found = result.replications[0]["flows"][0]["rwnd_limited_share"]
    assert found is None if share is None else share < found <= 1


def test_sender_without_data_is_not_limited() -> None:
    flow = tcp(on_off={"burst": "5 kB", "off": "200 ms"}, tcp={"receive_window": "10 kB"})
    result = ap.simulate(make(flow), reps=1)
    assert result.table("flows")["rwnd_limited_share"].iloc[0] == 0.0
    reader = tcp(window={"kind": "drain", "rate": "1 Mbit/s"}, tcp={"receive_window": "64 kB"})
    slow = ap.simulate(make(reader), reps=5)
    assert (slow.table("flows")["rwnd_limited_share"] > 0.9).all()
    assert slow.advisories == [], "a slow reader is meant to be the limit"


def test_advisory_reports_two_names_of_one_congestion_control() -> None:
    """Regression: `reno` and `newreno` of `linux` gave the same curve twice."""
    two = tcp(cc="reno", profile="linux") + tcp(cc="newreno", profile="linux")
    scenario = make(two)
    [advisory] = ap.check(scenario).advisories
    assert str(advisory) == (
        'flows.1: cc = "newreno" is what flows.0\'s "reno" is: under profile = "linux" both '
        'recover by "prr". tcp = {recovery = …} distinguishes them.'
    )
    assert advisory in ap.simulate(scenario, reps=1).advisories
    for others in (tcp(cc="reno") + tcp(cc="newreno"), tcp(cc="reno") + tcp(cc="reno")):
        assert ap.check(make(others)).advisories == []


def test_advisory_reports_arrivals_limited_by_count() -> None:
    def arriving(count: int) -> ap.Scenario:
        return make(ap.flows(count, base_rtt="40 ms", size="10 kB", arrivals={"poisson": "5 /s"}))

    texts = advisories_of(arriving(10))
    assert texts["arrivals-ended"].startswith("flows.0: the last of its 10 flows arrived at ")
    assert "count = 86 or more" in texts["arrivals-ended"]
    assert "arrivals-ended" not in advisories_of(arriving(86))


def test_advisory_reports_ecn_at_a_queue_that_does_not_mark() -> None:
    """Regression: the advisory named flows instead of the groups of the scenario file."""
    asks = tcp(3) + tcp(tcp={**WIDE, "ecn": "on"})
    [advisory] = ap.check(make(asks)).advisories
    assert (advisory.code, advisory.place) == ("ecn-without-marks", "flows.1")
    marking = ap.Bottleneck(aqm=ap.aqm.CoDel(ecn=True), link=ap.link.Fixed(rate="10 Mbit/s"))
    assert ap.check(make(asks, bottleneck=marking)).advisories == []
    codel = ap.aqm.CoDel(ce_threshold="1 ms")
    threshold = ap.Bottleneck(aqm=codel, link=ap.link.Fixed(rate="10 Mbit/s"))
    assert ap.check(make(asks, bottleneck=threshold)).advisories == []


def test_advisory_about_ecn_names_a_discipline_for_ect1_only_if_prague_sends_it() -> None:
    """`ecn = true` would mark Prague's packets as classic ones; without accurate feedback it is
    Reno on ECT(0).
    """
    [advisory] = ap.check(make(tcp(cc="prague"))).advisories
    assert (advisory.code, str(advisory)) == (
        "ecn-without-marks",
        'flows.0: cc = "prague" sends ECT(1), but nothing marks at the bottleneck, so that only '
        'losses reduce its window. Set bottleneck.aqm = {kind = "dualpi2"}.',
    )
    [classic] = ap.check(make(tcp(cc="prague", tcp={**WIDE, "ecn": "on"}))).advisories
    assert str(classic).startswith("flows.0: ECN is on, but nothing marks at the bottleneck")
    both = ap.check(make(tcp(cc="prague") + tcp(tcp={**WIDE, "ecn": "on"}))).advisories
    assert [each.place for each in both] == ["flows.1", "flows.0"]
    link = ap.link.Fixed(rate="10 Mbit/s")
    marking = ap.Bottleneck(aqm="dualpi2", link=link)
    assert ap.check(make(tcp(cc="prague"), bottleneck=marking)).advisories == []


@pytest.mark.parametrize("kind", ["droptail", "red", "ared", "codel", "fq-codel", "pie", "dualpi2"])
def test_advisory_reports_disciplines_that_never_mark(kind: str) -> None:
    bottleneck = ap.Bottleneck(aqm=kind, link=ap.link.Fixed(rate="10 Mbit/s"))
    result = ap.simulate(make(tcp(4, tcp={**WIDE, "ecn": "on"}), bottleneck=bottleneck), reps=1)
    has_marks = bool(result.table("queues")["marks"].sum() > 0)
    codes = {advisory.code for advisory in result.advisories}
    assert ("ecn-without-marks" not in codes) is has_marks
    assert has_marks is (kind in ("fq-codel", "dualpi2"))


def test_advisory_reports_a_limit_below_one_packet() -> None:
    small = ap.Bottleneck(aqm=ap.aqm.DropTail(limit="1499 B"), link=ap.link.Fixed(rate="10 Mbit/s"))
    scenario = make(tcp() + ap.flows(source="cbr", rate="1 Mbit/s", packet="500 B"))
    assert ap.check(scenario).advisories == []
    [advisory] = ap.check(scenario.model_copy(update={"bottleneck": small})).advisories
    assert str(advisory) == (
        'bottleneck.aqm: limit = "1499 B" is less than a packet of flows.0 (1500 B): all of them '
        'are dropped. Use at least "1500 B".'
    )


@pytest.mark.parametrize(("reps", "codes"), [(1, []), (2, ["few-replications"]), (5, [])])
def test_advisory_reports_intervals_from_few_replications(reps: int, codes: list[str]) -> None:
    assert list(advisories_of(make(tcp()), reps)) == codes


# --- intervals end where a quantity ends -------------------------------------------------------


def test_interval_is_cut_at_the_bounds_of_the_quantity() -> None:
    """Regression: an interval of a goodput began at -0.35 Mbit/s, an interval of a utilisation
    ended at 1.2.
    """
    values = [0.0, 0.1, 0.9]
    full, cut = mean_interval(values, 0.99), mean_interval(values, 0.99, (0.0, 1.0))
    assert (full.low < 0, full.high > 1) == (True, True)
    assert (cut.mean, cut.low, cut.high) == (full.mean, 0.0, 1.0)
    assert np.isnan(mean_interval([1.0], 0.99, (0.0, 1.0)).low)


def test_intervals_of_a_result_stay_within_possible_values() -> None:
    rare = ap.Bottleneck(
        aqm=ap.aqm.DropTail(limit="5 packets"), link=ap.link.Fixed(rate="10 Mbit/s")
    )
    flows = tcp(2, size="3 MB", start={"uniform": ["0 s", "9 s"]})
    result = ap.simulate(make(flows, bottleneck=rare), reps=2, seed=3)
    rows = [*result.intervals("flows"), *result.intervals("queues"), *result.intervals("links")]
    found = [value for row in rows for value in row.values() if isinstance(value, ap.Interval)]
    assert any(value.low == 0 < value.mean for value in found)
    assert all(value.low >= 0 for value in found if not np.isnan(value.low))
    assert all(link["utilisation"].high <= 1 for link in result.intervals("links"))
    fair = ap.simulate(make(tcp(2), bottleneck=rare), reps=2, seed=3).jain()
    assert 0.5 <= fair.low <= fair.high <= 1
    assert (result.pmf()[["low", "high"]].stack().between(0, 1)).all()


# --- groups ------------------------------------------------------------------------------------


def test_groups_sum_the_values_of_their_flows() -> None:
    """Regression: 3000 web flows and a bulk flow were combined into one row."""
    web = ap.flows(20, base_rtt="40 ms", size="30 kB", arrivals={"poisson": "3 /s"})
    result = ap.simulate(make(tcp() + web), reps=2)
    groups = result.table("groups").set_index(["replication", "group"])
    assert groups["flows"].tolist() == [1, 20, 1, 20]
    flows = result.table("flows")
    flows["group"] = np.where(flows["flow"] == 0, 0, 1)
    for key, members in flows.groupby(["replication", "group"]):
        row = groups.loc[key]
        assert row["goodput_bps"] == pytest.approx(members["goodput_bps"].sum())
        weights = members["delivered_packets"]
        delay = (members["mean_delay_s"] * weights).sum() / weights.sum()
        assert row["mean_delay_s"] == pytest.approx(delay)
    printed = result.to_dict()["groups"]
    assert [group["flows"] for group in printed] == [1, 20]
    mean = groups.xs(1, level="group")["goodput_bps"].mean()
    assert printed[1]["goodput_bps"]["mean"] == pytest.approx(mean)


# --- Ctrl-C ------------------------------------------------------------------------------------


def test_ctrl_c_in_a_sweep_ends_it_with_the_partial_result() -> None:
    """Regression: Ctrl-C was ignored, and a point with fewer replications entered the table."""
    rows: list[ap.Result] = []

    def stop(finished: int, _total: int, _fraction: float) -> None:
        if finished and rows:
            os.kill(os.getpid(), signal.SIGINT)

    def sweep() -> None:
        for reps in (1, 2000, 1):
            result = ap.simulate(scenario, reps=reps, threads=1, progress=stop)
            rows.append(result)

    scenario = make(tcp(), duration="300 s")
    with pytest.raises(KeyboardInterrupt) as raised:
        sweep()
    assert len(rows) == 1
    assert isinstance(raised.value, ap.errors.Interrupted)
    part = raised.value.result
    assert part.interrupted
    assert not part.complete
    assert 0 < len(part.replications) < 2000 == part.requested
    full = ap.simulate(scenario, reps=len(part.replications), threads=1)
    assert part.replications == full.replications


def test_ctrl_c_before_a_replication_is_finished(tmp_path: Path) -> None:
    def stop(_finished: int, _total: int, _fraction: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(ap.errors.Interrupted, match="0 of 2 replications were finished") as raised:
        ap.simulate(make(tcp(), duration="100000 s"), reps=2, progress=stop)
    assert raised.value.result.replications == []
    assert raised.value.result.advisories == []


def test_advisory_reports_too_many_slots() -> None:
    """Regression: a cell with slots of 1 us took minutes without a message."""

    def cell(slot: str) -> ap.Scenario:
        link = ap.link.Cell(
            slot=slot,
            rate={"kind": "shannon", "bandwidth": "5 MHz"},
            snr={"kind": "constant", "mean": "10 dB"},
        )
        return make(tcp(), bottleneck=ap.Bottleneck(aqm="droptail", link=link), duration="11 s")

    [advisory] = ap.check(cell("1 us")).advisories
    assert (advisory.code, str(advisory)) == (
        "many-slots",
        'bottleneck.link: slot = "1 us": 1.1e+07 slots in a replication, each of which takes up '
        "to 1 us of processor time while a user has data. Set a longer slot.",
    )
    assert ap.check(cell("10 us")).advisories == []
