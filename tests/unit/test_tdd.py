"""The TDD link in scenarios and results: keys, error messages, tables and figures."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

import airpath as ap
from airpath.results.overview import tables
from airpath.scenario import loads

GOOD = """\
duration = "10 s"
ack_path = {kind = "reverse"}
[bottleneck]
aqm = "droptail"
[bottleneck.link]
kind = "ofdma-tdd"
stations = 2
[[flows]]
count = 2
base_rtt = "40 ms"
"""
LINK = "bottleneck.link"


def link(changes: list[tuple[str, str]] | None = None) -> dict[str, Any]:
    """Return the resolved link of the valid scenario with changed keys."""
    overrides = [(f"{LINK}.{key}", value) for key, value in changes or []]
    resolved = json.loads(loads(GOOD, overrides=overrides).resolve()[0])
    found: dict[str, Any] = resolved["bottleneck"]["link"]
    return found


def problems(overrides: list[tuple[str, str]]) -> list[str]:
    with pytest.raises(ap.errors.ScenarioError) as caught:
        loads(GOOD, place="tdd.toml", overrides=overrides)
    return str(caught.value).splitlines()


# --- the resolved form -------------------------------------------------------------------------


def test_defaults_are_those_of_the_paper() -> None:
    assert link() == {
        "kind": "ofdma-tdd",
        "frame_ns": 5_000_000,
        "stations": 2,
        "downlink_slots": 420,
        "uplink_slots": 175,
        "slot_symbols": 48,
        "map_overhead": {"slots": 60, "per_burst": 0},
        "map_relevance": 1,
        "decoded_ns": 3_000_000,
        "closed_ns": 3_000_000,
        "received_ns": 4_940_000,
        "downlink_mcs": "qpsk-3/4",
        "uplink_mcs": "qpsk-1/2",
        "users": [],
        "crc": False,
        "fragmentation": {"down": True, "up": True},
        "packing": {"down": False, "up": False},
        "harq": None,
        "arq": None,
        "in_order": {"down": True, "up": False},
        "request": {
            "kind": "random-delay",
            "delay": {"low_ns": 25_000_000, "high_ns": 50_000_000},
            "collision": 0.01,
            "timer_ns": 100_000_000,
            "per": "queue",
            "piggyback": {"low_ns": 0, "high_ns": 0},
        },
        "piggyback_read": "at-once",
        "grant": {"kind": "uni"},
        "scheduler": {"kind": "round-robin"},
        "reverse_errors": None,
    }


@pytest.mark.parametrize(
    ("down", "up", "slots"),
    [(29, 18, (420, 175)), (3, 6, (30, 35)), (26, 21, (360, 210)), (35, 12, (510, 105))],
)
def test_symbols_determine_slots(down: int, up: int, slots: tuple[int, int]) -> None:
    """wimax-mac §1: two symbols of the downlink after the preamble are 30 slots, three are 35."""
    made = ap.link.OfdmaTdd(downlink_symbols=down, uplink_symbols=up, map_overhead=0)
    assert (made.slots_of("downlink"), made.slots_of("uplink")) == slots


def test_slots_replace_symbols() -> None:
    changes = [("downlink_slots", "600"), ("uplink_slots", "20")]
    found = link(changes)
    assert (found["downlink_slots"], found["uplink_slots"]) == (600, 20)
    overrides = [(f"{LINK}.{key}", value) for key, value in changes]
    scenario = loads(GOOD, overrides=overrides)
    assert loads(scenario.to_toml()).resolve()[0] == scenario.resolve()[0]
    with pytest.raises(ap.errors.ScenarioError, match="downlink_slots is given too"):
        ap.link.OfdmaTdd(downlink_slots=600, downlink_symbols=29)


@pytest.mark.parametrize(
    ("key", "value", "resolved"),
    [
        ("map_overhead", "0", {"slots": 0, "per_burst": 0}),
        ("map_overhead", "{per_burst = 3}", {"slots": 60, "per_burst": 3}),
        ("packing", "{down = true}", {"down": True, "up": False}),
        ("fragmentation", "{up = false}", {"down": True, "up": False}),
        ("in_order", "{up = true}", {"down": True, "up": True}),
        ("arq", '{delay = "80 ms"}', {"delay_ns": 80_000_000}),
        (
            "users",
            '[{user = 1, uplink_mcs = "qpsk-1/12"}]',
            [{"user": 1, "downlink_mcs": None, "uplink_mcs": "qpsk-1/12"}],
        ),
        (
            "grant",
            '{kind = "adapt-bi", size = "58 B", when = "delivered", fallback = "50 ms"}',
            {
                "kind": "adapt-bi",
                "size_bytes": 58,
                "when": "delivered",
                "fallback_ns": 50_000_000,
            },
        ),
        (
            "grant",
            "blind-bi",
            {
                "kind": "blind-bi",
                "size_bytes": 46,
                "when": "served",
                "fallback_ns": 100_000_000,
            },
        ),
        (
            "grant",
            '{kind = "unsolicited", period = "20 ms"}',
            {
                "kind": "unsolicited",
                "period_ns": 20_000_000,
                "size_bytes": 46,
                "fallback_ns": 100_000_000,
            },
        ),
        (
            "request",
            "ranging",
            {"kind": "ranging", "codes": 8, "timer_ns": 100_000_000, "backoff": [2, 64]},
        ),
        (
            "request",
            '{kind = "scheduling-request", period = "10 ms"}',
            {"kind": "scheduling-request", "period_ns": 10_000_000},
        ),
    ],
)
def test_key_is_resolved_to_its_value(key: str, value: str, resolved: Any) -> None:
    assert link([(key, value)])[key] == resolved


def test_request_without_grants_sends_nothing() -> None:
    found = link([("request", "none"), ("grant", "adapt-bi")])
    assert found["request"] == {"kind": "none"}


def test_single_delay_is_constant() -> None:
    request = link([("request.delay", "30 ms"), ("request.piggyback", '["0 s", "5 ms"]')])[
        "request"
    ]
    assert request["delay"] == {"low_ns": 30_000_000, "high_ns": 30_000_000}
    assert request["piggyback"] == {"low_ns": 0, "high_ns": 5_000_000}


def test_file_gives_the_same_scenario_again() -> None:
    overrides = [
        (f"{LINK}.map_overhead", "{slots = 30, per_burst = 2}"),
        (f"{LINK}.request", '{kind = "ranging", backoff = [4, 32]}'),
        (f"{LINK}.grant", "adapt-bi"),
        (f"{LINK}.users", '[{user = 0, downlink_mcs = "64qam-5/6"}]'),
        ("flows.0.user", "1"),
    ]
    scenario = loads(GOOD, overrides=overrides)
    assert loads(scenario.to_toml()).resolve()[0] == scenario.resolve()[0]


def test_wires_are_on_the_other_side_of_the_link() -> None:
    """The station is the receiver of a download and the sender of an upload."""
    for direction, delays in (("forward", (20, 0, 20)), ("reverse", (0, 40, 0))):
        scenario = loads(GOOD, overrides=[("flows.0.direction", direction)])
        (flow,) = json.loads(scenario.resolve()[0])["flows"]
        wires = (flow[name]["delay_ns"] / 1e6 for name in ("access", "egress", "return_wire"))
        assert tuple(wires) == delays


# --- invalid input -----------------------------------------------------------------------------

DOWN = (
    "qpsk-1/12, qpsk-1/8, qpsk-1/4, qpsk-1/2, qpsk-3/4, 16qam-1/2, 64qam-2/3, 64qam-3/4, 64qam-5/6"
)
UP = "qpsk-1/12, qpsk-1/8, qpsk-1/4, qpsk-1/2, qpsk-3/4, 16qam-1/2, 16qam-3/4"
PAIR = "Set the lower end first, then the upper end."


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("stations", "0", "stations = 0: below 1. Use an integer from 1 to 1000, "
         "for example 1."),
        ("stations", "1001", "stations = 1001: above 1000. Use an integer from 1 to 1000, "
         "for example 1."),
        ("downlink_mcs", "16qam-3/4", 'downlink_mcs = "16qam-3/4": not an MCS of the downlink. '
         f"The nearest is 64qam-3/4; expected one of: {DOWN}."),
        ("uplink_mcs", "64qam-2/3", 'uplink_mcs = "64qam-2/3": not an MCS of the uplink. '
         f"The nearest is 16qam-3/4; expected one of: {UP}."),
        ("users", '[{user = 0, uplink_mcs = "64qam-3/4"}]',
         'users.0.uplink_mcs = "64qam-3/4": not an MCS of the uplink. '
         f"The nearest is 16qam-3/4; expected one of: {UP}."),
        ("users", "[{user = 2}]", "users.0.user = 2: the link has no such station. Use an "
         "integer from 0 to 1."),
        ("users", "[{user = 1}, {user = 1}]", "users.1.user = 1: named before. Use one entry for "
         "each station."),
        ("map_overhead", "420", "map_overhead = 420: leaves no slots for data in the downlink. "
         "Use an integer below 420, for example 60."),
        ("map_overhead", "{slots = 400, per_burst = 20}", "map_overhead.slots = 400: leaves no "
         "slots for data in the downlink. Use an integer below 400, for example 60."),
        ("map_overhead", "{slots = 2, per_burst = 420}", "map_overhead.per_burst = 420: leaves "
         "no slots for data in the downlink. Use an integer below 418, for example 0."),
        ("map_overhead", "419", "map_overhead = 419: leaves 9 bytes of a frame's downlink. Set "
         "a number that leaves 14 or more."),
        ("map_overhead", "{slots = 419}", "map_overhead.slots = 419: leaves 9 bytes of a frame's "
         "downlink. Set a number that leaves 14 or more."),
        ("uplink_slots", "2", "uplink_slots = 2: leaves 12 bytes of a frame's uplink. Set a number "
         "that leaves 14 or more."),
        ("piggyback_read", "later", 'piggyback_read = "later": not one of the accepted words. '
         "Expected one of: at-once, with-mpdu."),
        ("grant", '{kind = "blind-bi", size = "1051 B"}', 'grant.size = "1051 B": more than a '
         "frame's uplink. Use a size up to \"1050 B\", for example \"46 B\"."),
        ("grant", '{kind = "unsolicited", period = "4 ms"}', 'grant.period = "4 ms": shorter '
         'than a frame. Use a duration from "5 ms" on.'),
        ("grant", '{kind = "blind-bi", size = "0 B"}', 'grant.size = "0 B": not above 0. Use '
         'a size above 0 and at most "65535 B", for example "46 B".'),
        ("uplink_symbols", "19", "uplink_symbols = 19: 48 symbols in a frame that has 47. "
         "Use counts that add up to 47 at most."),
        ("downlink_symbols", "30", "downlink_symbols = 30: 48 symbols in a frame that has 47. "
         "Use counts that add up to 47 at most."),
        ("uplink_symbols", "5", "uplink_symbols = 5: without a slot. Use 6 or more, "
         "for example 6."),
        ("request.delay", '["50 ms", "25 ms"]', 'request.delay = ["50 ms", "25 ms"]: the first is '
         f"above the second. {PAIR}"),
        ("request.delay", '["50 ms"]', 'request.delay = ["50 ms"]: not a pair. Set the lower '
         'end first, then the upper end, for example ["25 ms", "50 ms"].'),
        ("request.collision", "1", "request.collision = 1: not below 1. Use a number from 0 "
         "to below 1, for example 0.01."),
        ("request", '{kind = "ranging", codes = 0}', "request.codes = 0: below 1. Use an "
         "integer from 1 to 65535, for example 8."),
        ("request", '{kind = "ranging", backoff = [64, 2]}', "request.backoff.1 = 2: smaller "
         "than the first window. Use an integer from 64 to 65536."),
        ("request", '{kind = "ranging", backoff = [0, 2]}', "request.backoff.0 = 0: below 1. "
         "Use an integer from 1 to 65536."),
        ("request", '{kind = "none", piggyback = "0 s"}', 'request.piggyback = "0 s": unknown key. '
         "Expected one of: kind."),
        ("request", '{kind = "scheduling-request", period = "1 ms"}', 'request.period = "1 '
         'ms": shorter than a frame. Use a duration from "5 ms" on.'),
        ("scheduler", '{kind = "proportional-fair", time_constant = "1 ms"}',
         'scheduler.time_constant = "1 ms": shorter than a slot. Use a duration from "5 ms" '
         'on, for example "100 ms".'),
        ("frame", "0 s", 'frame = "0 s": below 1 us. Use a duration from "1 us" to "3600 s", '
         'for example "5 ms".'),
        ("frame", "2 h", 'frame = "2 h": above 3600 s. Use a duration from "1 us" to "3600 '
         's", for example "5 ms".'),
        ("received", "2 ms", 'received = "2 ms": before closed. Use a duration from "3 ms" '
         'on, for example "4.94 ms".'),
    ],
)  # fmt: skip
def test_invalid_value_is_reported(key: str, value: str, line: str) -> None:
    assert problems([(f"{LINK}.{key}", value)]) == [f"overrides: {LINK}.{line}"]


@pytest.mark.parametrize(
    ("overrides", "line"),
    [
        (
            [("ack_path.kind", "ideal")],
            'overrides: ack_path.kind = "ideal": a link of kind "ofdma-tdd" carries the ACKs '
            'itself. Set ack_path = {kind = "reverse"}.',
        ),
        (
            [("ack_path", '{kind = "link", link = {kind = "fixed", rate = "1 Mbit/s"}}')],
            'overrides: ack_path.kind = "link": a link of kind "ofdma-tdd" carries the ACKs '
            'itself. Set ack_path = {kind = "reverse"}.',
        ),
        (
            [("ack_path", '{kind = "reverse", link = {kind = "fixed", rate = "1 Mbit/s"}}')],
            'overrides: ack_path.link = "fixed": a link of kind "ofdma-tdd" serves both directions '
            "itself. Leave this key out.",
        ),
        (
            [("flows.0.user", "2")],
            "overrides: flows.0.user = 2: the link has 2 stations. Use a number from 0 to 1.",
        ),
        (
            [("bottleneck.link", '{kind = "fixed", rate = "1 Mbit/s"}'),
             ("ack_path", '{kind = "link", link = {kind = "ofdma-tdd"}}')],
            'overrides: ack_path.link = "ofdma-tdd": a link of kind "ofdma-tdd" serves both '
            "directions. Make it the bottleneck's link, or write another one.",
        ),
        (
            [("bottleneck.link.request", "none")],
            'overrides: bottleneck.link.request.kind = "none": with this request and this grant no '
            "station is ever given an uplink. Use another request or another grant.",
        ),
    ],
)  # fmt: skip
def test_inconsistent_values_are_rejected(overrides: list[tuple[str, str]], line: str) -> None:
    assert problems(overrides) == [line]


def test_stations_may_have_no_flow_or_several() -> None:
    scenario = loads(GOOD, overrides=[("flows.0.user", "1"), (f"{LINK}.stations", "5")])
    assert json.loads(scenario.resolve()[0])["flows"][0]["user"] == 1


# --- results -----------------------------------------------------------------------------------

STATIONS = GOOD.replace("[[flows]]", 'grant = "adapt-bi"\n[[flows]]')


@pytest.fixture(scope="module")
def result() -> ap.Result:
    return ap.simulate(loads(STATIONS), reps=2, seed=1)


def test_stations_table_adds_up_to_the_links(result: ap.Result) -> None:
    stations = result.table("stations")
    assert list(stations["station"]) == [0, 1, 0, 1]
    assert set(stations["link"]) == {"reverse"}
    assert stations.attrs["units"]["mac_delay_mean_s"] == "s"
    links = result.table("links").set_index(["replication", "link"])
    for number, rows in stations.groupby("replication"):
        down, up = (links.loc[(number, name)] for name in ("bottleneck", "reverse"))
        assert rows["down_bytes"].sum() == down["delivered_bytes"]
        assert rows["up_packets"].sum() == up["delivered_packets"]
        for name in ("granted_bytes", "used_bytes", "requests_piggyback", "grants_proactive"):
            assert rows[name].sum() == up[name]
        assert up["efficiency"] == pytest.approx(up["used_bytes"] / up["granted_bytes"])
    assert (stations["used_bytes"] <= stations["granted_bytes"]).all()
    assert (stations["requests_contention"] < stations["grants_proactive"]).all()


@pytest.mark.parametrize("name", ["stations", "mac_delays"])
def test_columns_of_stations_are_documented(result: ap.Result, name: str) -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "results.md"
    (text,) = re.findall(rf"<!-- columns: {name} -->\n((?:\|.*\n)+)", page.read_text("utf-8"))
    described = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
    assert described == list(result.table(name).columns)


def test_rate_change_scales_both_directions() -> None:
    changed = STATIONS + '[[control]]\nat = "5 s"\nrate = "1 Mbit/s"\n'
    uploads = [("flows.0.direction", "reverse"), ("flows.0.tcp", '{receive_window = "200 kB"}')]
    for overrides in ([], uploads):
        before, after = ap.simulate(loads(changed, overrides=overrides), reps=1).intervals("phases")
        # 360 slots of 9 bytes carry 5.184 Mbit/s; the uplink has 1.68 Mbit/s.
        ratio = after["goodput_bps"].mean / before["goodput_bps"].mean
        assert 0.1 < ratio < 0.4


def test_packet_larger_than_a_frame_is_lost_without_fragmentation() -> None:
    """An uplink of 35 slots of QPSK 1/12 has 35 bytes: too few for an ACK."""
    full = STATIONS.replace(
        'grant = "adapt-bi"',
        'uplink_symbols = 6\nuplink_mcs = "qpsk-1/12"\nfragmentation = {up = false}',
    )
    stations = ap.simulate(loads(full), reps=1).table("stations")
    assert (stations["up_lost"] > 0).all()
    assert (stations["up_packets"] == 0).all()
    pieces = full.replace("{up = false}", "{up = true}")
    assert (ap.simulate(loads(pieces), reps=1).table("stations")["up_packets"] > 0).all()


def test_uplink_delays_include_all_packets(result: ap.Result) -> None:
    delays, links = result.table("mac_delays"), result.table("links").query("link == 'reverse'")
    assert delays.attrs["units"]["delay_s"] == "s"
    for number, rows in delays.groupby("replication"):
        (link,) = (row for _, row in links.iterrows() if row["replication"] == number)
        assert rows["packets"].sum() == link["delivered_packets"]
        assert rows["delay_s"].is_monotonic_increasing
        assert rows["cdf"].iloc[-1] == 1.0
        mean = (rows["packets"] * rows["delay_s"]).sum() / rows["packets"].sum()
        assert mean == pytest.approx(link["mac_delay_mean_s"], rel=0.01)
        below = rows[rows["delay_s"] <= link["mac_delay_p50_s"] * 1.001]["cdf"].iloc[-1]
        assert below >= 0.5


def test_mac_delays_are_in_json_files_and_overview(result: ap.Result, tmp_path: Path) -> None:
    document = result.to_dict()
    assert [row["station"] for row in document["stations"]] == [0, 1]
    (delays,) = document["mac_delays"]
    assert delays["link"] == "reverse"
    assert sum(delays["packets"]) == result.table("mac_delays")["packets"].sum()
    result.save(tmp_path, figure_formats=None)
    names = json.loads((tmp_path / "result.json").read_text())["files"]
    assert {"stations.csv", "mac-delays.csv"} <= set(names)
    loaded = ap.load_result(tmp_path)
    assert loaded.table("stations").equals(result.table("stations"))
    assert loaded.table("mac_delays").equals(result.table("mac_delays"))
    (table,) = (table for table in tables(result, "files") if table.title == "Stations")
    assert [row[0] for row in table.rows] == ["reverse/station 0", "reverse/station 1"]


def test_figure_has_a_step_for_each_delay(result: ap.Result) -> None:
    (axis,) = result.plot.mac_delays().axes
    (line,) = axis.lines
    together = result.table("mac_delays").groupby("delay_s")["packets"].sum()
    assert list(line.get_xdata()[1:]) == pytest.approx([1e3 * delay for delay in together.index])
    assert line.get_ydata()[-1] == 1.0


def test_figures_over_time_show_the_downlink() -> None:
    recorded = 'duration = "3 s"\nrecord = {series = ["delivered", "queue", "sojourn", "cwnd"]}\n'
    text = STATIONS.replace('duration = "10 s"\n', recorded)
    result = ap.simulate(loads(text), reps=1)
    capacity = result.capacity()
    assert capacity is not None
    # 360 slots of 9 bytes in 5 ms.
    assert float(capacity.bits(2.0)) == pytest.approx(2 * 5.184e6)
    assert len(result.plot.timeline().axes) == 4
    users = [(f"{LINK}.users", '[{user = 1, downlink_mcs = "64qam-5/6"}]')]
    assert ap.simulate(loads(text, overrides=users), reps=1).capacity() is None


def test_results_do_not_depend_on_threads() -> None:
    alone, both = (ap.simulate(loads(STATIONS), reps=2, threads=n).to_dict() for n in (1, 2))
    for document in (alone, both):
        del document["provenance"]
    assert alone == both


def test_link_without_stations_has_no_stations_table() -> None:
    fixed = GOOD.replace("ofdma-tdd", "fixed").replace("stations = 2", 'rate = "5 Mbit/s"')
    other = ap.simulate(loads(fixed, overrides=[("duration", "1 s")]), reps=1)
    assert other.table("stations").empty
    assert other.table("mac_delays").empty
    assert "stations" not in other.to_dict()
    with pytest.raises(ap.errors.BadValueError, match="no packet took the uplink of a TDD link"):
        other.plot.mac_delays()


def test_station_without_packets_has_no_delay() -> None:
    scenario = loads(STATIONS, overrides=[("flows.0.user", "1"), ("duration", "2 s")])
    idle = ap.simulate(scenario, reps=1).table("stations").set_index("station").loc[0]
    assert idle["granted_bytes"] == 0
    assert math.isnan(idle["mac_delay_mean_s"])
    assert math.isnan(idle["efficiency"])


def test_flows_without_a_user_are_assigned_to_stations_in_rotation() -> None:
    scenario = loads(STATIONS, overrides=[("flows.0.count", "5"), ("duration", "2 s")])
    down = ap.simulate(scenario, reps=1).table("stations").set_index("station")["down_packets"]
    assert (down > 0).all()


def test_uploads_send_requests_too() -> None:
    """Data of a reverse flow is in the uplink, its ACKs are in the downlink."""
    scenario = loads(STATIONS, overrides=[("flows.0.direction", "reverse"), ("duration", "5 s")])
    result = ap.simulate(scenario, reps=1)
    stations = result.table("stations")
    assert (stations["up_bytes"] > 10 * stations["down_bytes"]).all()
    assert (stations["requests_piggyback"] > 0).all()
    assert result.summary().loc["all", "goodput_bps"]["mean"] > 0.5e6


def test_piggyback_request_waits_for_harq_of_its_mpdu() -> None:
    """wimax-2009 §2.2: grants for piggyback requests are delayed by the time of HARQ."""
    harq = (f"{LINK}.harq", '{attempts = 4, error = 0.316, round_trip = "30 ms"}')
    delays = [
        ap.simulate(loads(STATIONS, overrides=[harq, (f"{LINK}.piggyback_read", read)]), reps=2)
        .table("stations")["mac_delay_mean_s"]
        .mean()
        for read in ("at-once", "with-mpdu")
    ]
    assert delays[0] + 0.005 < delays[1] < delays[0] + 0.06


def test_unsolicited_grants_for_acks_make_the_uplink_faster() -> None:
    """wimax-2009 §4: without requests the delay of an ACK is at most half as long."""
    uni = ap.simulate(loads(GOOD), reps=2).table("stations")["mac_delay_mean_s"].mean()
    adapt = ap.simulate(loads(STATIONS), reps=2).table("stations")["mac_delay_mean_s"].mean()
    assert adapt < 0.5 * uni
