"""The radio of a TDD link: budgets, processes, users, control, rejected values."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

import airpath as ap
from airpath import phy
from airpath.scenario import loads

GOOD = """
duration = "10 s"
ack_path = {kind = "reverse"}
flows = [{size = "100 kB", base_rtt = "40 ms"}]
bottleneck.aqm = {kind = "droptail", limit = "1000 packets"}
[bottleneck.link]
kind = "ofdma-tdd"
stations = 2
"""


def link_of(*lines: str, control: str = "") -> dict[str, Any]:
    """Return the resolved link of the scenario with additional keys."""
    scenario = loads(GOOD + "\n".join(lines) + control)
    resolved = json.loads(scenario.resolve()[0])
    return resolved["bottleneck"]["link"] | {"controls": resolved["controls"]}


def test_distance_gives_a_shadowed_fading_snr() -> None:
    radio = link_of('radio = {distance = "2 km", speed = "36 km/h"}')["radio"]
    with pytest.warns(phy.OutsideRangeWarning):
        loss_db = phy.cost231_hata_db(2.5e9, 2000.0, 32.0, 1.5)
    band = 841 * 10937.5
    down = phy.link_budget_snr_db(43.0, loss_db, band, 7.0, transmit_gain_db=16.0)
    up = phy.link_budget_snr_db(23.0, loss_db, 0.2 * band, 5.0, transmit_gain_db=16.0)
    assert radio["snr"] == {
        "kind": "shadowed",
        "deviation_db": 8.0,
        "correlation_m": 50.0,
        "speed_mps": 10.0,
        "inner": {
            "kind": "tapped-delay-line",
            "profile": "pedestrian-b",
            "mean_db": pytest.approx(down, abs=1e-9),
            "doppler_hz": pytest.approx(83.39, abs=0.01),
        },
    }
    assert radio["uplink_db"] == pytest.approx(up - down, abs=1e-9)
    assert radio["policy"] == {"kind": "tfer", "th_fer": 0.1}
    assert (radio["feedback_frames"], radio["combining"]) == (1, "chase")


def test_shadowing_and_fading_can_be_disabled() -> None:
    radio = link_of('radio = {distance = "2 km", shadowing = "0 dB", profile = "none"}')["radio"]
    assert radio["snr"].keys() == {"kind", "mean_db"}
    assert radio["snr"]["kind"] == "constant"


def test_station_has_a_distance_or_a_separate_snr() -> None:
    link = link_of(
        'radio = {distance = "2 km", shadowing = "0 dB", profile = "none"}',
        'users = [{user = 1, distance = "1 km"}, {user = 0, snr = {kind = "constant", '
        'mean = "3 dB"}}]',
    )
    # Path loss of a radio: 10 times the exponent, 4.49 - 0.655 log10(32), for half the distance.
    nearer = link["users"][0]["snr"]["mean_db"] - link["radio"]["snr"]["mean_db"]
    assert nearer == pytest.approx((44.9 - 6.55 * 1.50515) * 0.30103, abs=1e-3)
    assert link["users"][1]["snr"] == {"kind": "constant", "mean_db": 3.0}


def test_link_without_a_radio_has_no_radio_keys() -> None:
    link = link_of("users = [{user = 1}]")
    assert "radio" not in link
    assert link["users"] == [{"user": 1, "downlink_mcs": None, "uplink_mcs": None}]


def test_control_changes_mcs_or_snr_of_a_station() -> None:
    plain = link_of(control='\n[[control]]\nat = "1 s"\nuser = 1\nuplink_mcs = "qpsk-1/8"\n')
    action = {"kind": "mcs", "user": 1, "downlink": None, "uplink": "qpsk-1/8"}
    assert plain["controls"] == [{"at_ns": 10**9, "action": action}]
    given = 'radio = {snr = {kind = "constant", mean = "10 dB"}, uplink_offset = "-5 dB"}'
    radio = link_of(given, control='\n[[control]]\nat = "1 s"\nuser = 1\nsnr = "4 dB"\n')
    assert radio["controls"][0]["action"] == {"kind": "snr", "user": 1, "moved_db": -6.0}
    assert radio["radio"]["uplink_db"] == -5.0


def test_written_scenario_is_equal() -> None:
    for radio in (
        'radio = {distance = "2 km"}',
        'radio = {snr = {kind = "constant", mean = "10 dB"}, uplink_offset = "-5 dB"}',
    ):
        scenario = loads(GOOD + radio)
        again = loads(scenario.to_toml())
        assert json.loads(again.resolve()[0]) == json.loads(scenario.resolve()[0])


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("radio = {}", 'bottleneck.link.radio.distance: missing. Set distance = "1 km"'),
        (
            'radio = {distance = "1 km", snr = {kind = "constant", mean = "1 dB"}}',
            'bottleneck.link.radio.distance = "1 km": snr is given too',
        ),
        (
            'radio = {distance = "1 m"}',
            'bottleneck.link.radio.distance = "1 m": so near that the path would lose less',
        ),
        ('radio = {distance = "0 m"}', 'bottleneck.link.radio.distance = "0 m": not above 0'),
        (
            'radio = {distance = "1 km", uplink_offset = "1 dB"}',
            "bottleneck.link.radio.uplink_offset",
        ),
        (
            'radio = {distance = "1 km", policy = {kind = "qawla", th_per = 0.05, h = 100, '
            "threshold = 20}}",
            "bottleneck.link.radio.policy",
        ),
        (
            'radio = {distance = "1 km"}\ndownlink_mcs = "qpsk-1/2"',
            'bottleneck.link.downlink_mcs = "qpsk-1/2": the radio selects the MCSs',
        ),
        (
            'radio = {distance = "1 km"}\nusers = [{user = 0, uplink_mcs = "qpsk-1/2"}]',
            "bottleneck.link.users.0.uplink_mcs",
        ),
        (
            'users = [{user = 0, distance = "1 km"}]',
            'bottleneck.link.users.0.distance = "1 km": the link has no radio',
        ),
        (
            'radio = {distance = "1 km"}\ngrant = {kind = "blind-bi", size = "200 B"}',
            'more than a frame\'s uplink. Use a size up to "175 B"',
        ),
        ('radio = {distance = "1 km", feedback = -1}', "bottleneck.link.radio.feedback = -1"),
        ('radio = {distance = "1 km", shadowing = "31 dB"}', "bottleneck.link.radio.shadowing"),
    ],
)
def test_invalid_values_are_rejected(lines: str, message: str) -> None:
    with pytest.raises(ap.errors.ScenarioError, match=re.escape(message)):
        loads(GOOD + lines)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("user = 2\nuplink_mcs = 'qpsk-1/8'", "control.0.user = 2: the link has 2 stations"),
        ("user = 1", "control.0.downlink_mcs: missing"),
        ("uplink_mcs = 'qpsk-1/8'", "control.0.user: missing"),
        ("user = 1\nsnr = '3 dB'", 'control.0.snr = "3 dB": the link has no radio'),
        ("user = 1\nrate = '1 Mbit/s'", "control.0.rate"),
        ("user = 1\nuplink_mcs = '64qam-2/3'", 'control.0.uplink_mcs = "64qam-2/3"'),
        ("", "control.0.rate: missing"),
    ],
)
def test_invalid_controls_are_rejected(keys: str, message: str) -> None:
    with pytest.raises(ap.errors.ScenarioError, match=re.escape(message)):
        loads(GOOD + f'\n[[control]]\nat = "1 s"\n{keys}\n')


def test_control_follows_the_link() -> None:
    change = '\n[[control]]\nat = "1 s"\nuser = 1\nuplink_mcs = "qpsk-1/8"\n'
    with pytest.raises(ap.errors.ScenarioError, match="the radio selects the MCSs"):
        loads(GOOD + 'radio = {distance = "1 km"}' + change)
    fixed = GOOD.replace("ofdma-tdd", "fixed").replace("stations = 2", 'rate = "5 Mbit/s"')
    with pytest.raises(ap.errors.ScenarioError, match="the hop has no stations"):
        loads(fixed + change)


def test_scheme_with_a_third_of_the_bytes_gives_a_third_of_the_goodput() -> None:
    flow = ap.flows(1, base_rtt="20 ms")[0]
    scenario = loads(GOOD.replace("stations = 2", "")).replace(
        {"flows": [flow], "duration": "20 s", "warmup": "10 s"}
    )
    change = ap.Control(at="5 s", user=0, downlink_mcs="qpsk-1/4")
    full, less = (
        ap.simulate(scenario.replace({"control": controls}), reps=1)
        .summary()
        .loc["all", "goodput_bps"]["mean"]
        for controls in ([], [change])
    )
    # 9 and 3 B a slot.
    assert less / full == pytest.approx(1 / 3, rel=0.02)
