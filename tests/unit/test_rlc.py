"""The 3G bearer in a scenario, and its results."""

from __future__ import annotations

import json

import pytest
from component_samples import inline

import airpath as ap
from airpath.scenario import loads

BEARER = """\
duration = "20 s"
backhaul = {rate = "1 Mbit/s", delay = "100 ms"}
ack_path = {kind = "reverse"}
[bottleneck]
aqm = {kind = "droptail", limit = "40 packets"}
[bottleneck.link]
kind = "rlc-am"
rate = "384 kbit/s"
errors = {kind = "burst", frame_error_rate = 0.1, doppler = 0.01}
[[flows]]
cc = "reno"
base_rtt = "250 ms"
"""


def bearer(overrides: list[tuple[str, str]] | None = None) -> ap.Scenario:
    return loads(BEARER, place="bearer.toml", overrides=overrides or [])


def resolved(scenario: ap.Scenario) -> dict[str, object]:
    link: dict[str, object] = json.loads(scenario.resolve()[0])["bottleneck"]["link"]
    return link


def goodput(result: ap.Result) -> float:
    """Return the goodput of all flows, bit/s."""
    return float(result.summary()["goodput_bps"].loc["all", "mean"])


def test_defaults_are_table_1_of_the_paper() -> None:
    assert resolved(bearer()) == {
        "kind": "rlc-am",
        "rate_bps": 384_000,
        "reverse_rate_bps": None,
        "tti_ns": 10_000_000,
        "latency_ns": 25_000_000,
        "reverse_latency_ns": None,
        "pdu_payload": 40,
        "window": 1024,
        "max_dat": 10,
        "on_max_dat": "discard",
        "poll_timer_ns": 60_000_000,
        "poll_stop": "answer",
        "status_prohibit_ns": 60_000_000,
        "poll_window": 0.5,
        "window_poll": "every",
        "last_pdu_poll": True,
        "last_retransmission_poll": True,
        "missing_pdu_indicator": True,
        "nack_guard": True,
        "concatenation": True,
        "mrw_timer_ns": 200_000_000,
        "reset_timer_ns": 200_000_000,
        "errors": {
            "kind": "burst",
            "frame_error_rate": 0.1,
            "doppler": 0.01,
            "slot_ns": 10_000_000,
        },
        "reverse_errors": None,
    }


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        (
            "delay",
            '"5 ms"',
            'bottleneck.link.delay = "5 ms": shorter than a TTI. Use a duration from "10 ms" '
            'to "3600 s", for example "25 ms".',
        ),
        (
            "reverse_delay",
            '"9 ms"',
            'bottleneck.link.reverse_delay = "9 ms": shorter than a TTI. Use a duration from '
            '"10 ms" to "3600 s".',
        ),
        (
            "window",
            "2048",
            "bottleneck.link.window = 2048: above 2047. "
            "Use an integer from 1 to 2047, for example 1024.",
        ),
        (
            "max_dat",
            "1",
            "bottleneck.link.max_dat = 1: below 2. Use an integer from 2 to 255, for example 10.",
        ),
        (
            "pdu_payload",
            '"1 B"',
            'bottleneck.link.pdu_payload = "1 B": below 2 B. Use a size from "2 B" to "1500 '
            'B", for example "40 B".',
        ),
        (
            "on_max_dat",
            '"drop"',
            'bottleneck.link.on_max_dat = "drop": not one of the accepted words. '
            "Expected one of: discard, reset.",
        ),
    ],
)
def test_invalid_value_is_reported(key: str, value: str, line: str) -> None:
    with pytest.raises(ap.errors.ScenarioError) as caught:
        bearer([(f"bottleneck.link.{key}", value)])
    assert str(caught.value) == f"overrides: {line}"


def test_bearer_cannot_be_the_reverse_link() -> None:
    with pytest.raises(ap.errors.ScenarioError) as caught:
        bearer([("ack_path", '{kind = "reverse", link = {kind = "fixed", rate = "1 Mbit/s"}}')])
    assert str(caught.value) == (
        'overrides: ack_path.link = "fixed": a link of kind "rlc-am" serves both directions '
        "itself. Leave this key out."
    )


def test_solve_rejects_the_bearer() -> None:
    without_errors = BEARER.replace("errors = {kind", "# errors = {kind")
    with pytest.raises(ap.errors.AirpathError, match="rlc-am"):
        ap.solve(loads(without_errors, place="bearer.toml"))


def test_counters_are_in_the_tables() -> None:
    result = ap.simulate(bearer(), reps=2, seed=1)
    links = result.table("links")
    assert {"frames_lost", "repeated_pdus", "status_reports", "resets"} <= set(links.columns)
    down = links[links["link"] == "bottleneck"]
    assert (down["new_pdus"] > 1000).all()
    assert 0 < (down["frames_lost"] / down["frames"]).mean() < 0.3
    (first, second) = result.intervals("links")
    assert first["counters"]["frames"].mean == pytest.approx(down["frames"].mean())
    assert second["name"] == "reverse"


@pytest.mark.parametrize(
    "ack_path",
    ["ideal", '{kind = "link", link = {kind = "fixed", rate = "64 kbit/s"}}', "reverse"],
)
def test_bearer_works_with_every_ack_path(ack_path: str) -> None:
    text = ack_path if ack_path.startswith("{") else f'"{ack_path}"'
    result = ap.simulate(bearer([("ack_path", text)]), reps=1, seed=1)
    assert goodput(result) > 100_000


@pytest.mark.parametrize("kind", ap.aqm.QueueDisc.registry)
@pytest.mark.filterwarnings("ignore::airpath.errors.OverrideWarning")
def test_bearer_works_under_every_discipline(kind: str) -> None:
    result = ap.simulate(
        bearer([("bottleneck.aqm", inline(ap.aqm.QueueDisc, kind))]), reps=2, seed=1
    )
    assert goodput(result) > 100_000


@pytest.mark.parametrize("cc", ap.cc.Congestion.registry)
@pytest.mark.filterwarnings("ignore::airpath.errors.OverrideWarning")
def test_bearer_works_under_every_congestion_control(cc: str) -> None:
    changes = [("flows.0.cc", f'"{cc}"')]
    if cc == "clamp":  # CLAMP needs a queue that writes a price.
        changes = [("bottleneck.aqm", '{kind = "clamp", a = "7 kB"}'), *changes]
    result = ap.simulate(bearer(changes), reps=2, seed=1)
    assert goodput(result) > 100_000
