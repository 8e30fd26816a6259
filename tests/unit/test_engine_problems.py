"""Problems that the engine finds in a scenario, reported with the keys and units of the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import pytest
from scenario_errors import GOOD, lines

import airpath as ap
from airpath import _airpath
from airpath.cli import main
from airpath.scenario import FAMILIES, loads
from airpath.scenario.aqm.queues import QueueDisc
from airpath.scenario.base import Context
from airpath.scenario.base import Path as KeyPath
from airpath.scenario.examples import example_path
from airpath.scenario.units import Packets

THREE_COMPONENTS = """
duration = "10 s"
bottleneck.aqm = {kind = "red", min_th = 30, max_th = 20, weight = 0}
bottleneck.link = {kind = "fixed", rate = "5 Mbit/s", loss = 1.5}
[[flows]]
cc = {kind = "cubic", beta = 1}
base_rtt = "40 ms"
"""
PROBLEMS = [
    "bottleneck.aqm.max_th = 20: not above min_th. Use an integer above 30.",
    "bottleneck.aqm.weight = 0: not above 0. Use a number above 0 and at most 1, "
    'or "automatic", for example 0.002.',
    "bottleneck.link.loss = 1.5: above 1. Use a number from 0 to 1, for example 0.",
    "flows.0.cc.beta = 1: not below 1. Use a number above 0 and below 1, for example 0.7.",
]


CELL = """
duration = "10 s"
bottleneck.aqm = "gred"
[bottleneck.link]
kind = "cell"
slot = "3 ms"
snr = {kind = "constant", mean = "300 dB"}
rate = {kind = "shannon", bandwidth = "0 Hz", cap = "0 Mbit/s"}
margin = 2
scheduler = {kind = "proportional-fair", time_constant = "0 s"}
[[flows]]
base_rtt = "40 ms"
"""
CLAMP = """
duration = "10 s"
[bottleneck.aqm]
kind = "clamp"
a = "1 kB"
b = 0
time_constant = "0 s"
inner = {kind = "red", min_th = 30, max_th = 20, weight = 3}
[bottleneck.link]
kind = "fixed"
rate = "0 Mbit/s"
loss = 1.5
errors = {kind = "independent", loss = 2}
[[flows]]
base_rtt = "40 ms"
"""
PROBLEMS_INSIDE_AND_AROUND = [
    (
        CELL,
        [
            "bottleneck.link.margin",
            "bottleneck.link.rate.bandwidth",
            "bottleneck.link.rate.cap",
            "bottleneck.link.scheduler.time_constant",
            "bottleneck.link.snr.mean",
        ],
    ),
    (
        CLAMP,
        [
            "bottleneck.aqm.b",
            "bottleneck.aqm.inner.max_th",
            "bottleneck.aqm.inner.weight",
            "bottleneck.aqm.time_constant",
            "bottleneck.link.errors.loss",
            "bottleneck.link.loss",
            "bottleneck.link.rate",
        ],
    ),
]


@pytest.mark.parametrize("command", ["check", "run", "solve"])
def test_commands_print_a_line_for_each_problem(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "three.toml"
    file.write_text(THREE_COMPONENTS)
    assert main([command, str(file)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.splitlines()) == ("", [f"{file}: {line}" for line in PROBLEMS])


def test_wrong_types_and_rejected_values_of_different_components_are_in_one_report() -> None:
    text = THREE_COMPONENTS.replace("loss = 1.5", "loss = true, delays = 1")
    reported = [line.partition(": ")[2].partition(" = ")[0] for line in lines(text)]
    assert reported == [
        "bottleneck.aqm.max_th",
        "bottleneck.aqm.weight",
        "bottleneck.link.delays",
        "bottleneck.link.loss",
        "flows.0.cc.beta",
    ]


def test_wrong_type_suppresses_related_rules_but_no_range_check() -> None:
    text = THREE_COMPONENTS.replace("weight = 0", "weight = true, max_p = 2")
    assert lines(text)[0].startswith("wimax.toml: bottleneck.aqm.weight = true: not a number.")
    assert lines(text)[1].startswith("wimax.toml: bottleneck.aqm.max_p = 2: above 1. ")
    assert not any("max_th" in line for line in lines(text))


RADIO = """
duration = "30 s"
warmup = "40 s"
bottleneck.aqm = "droptail"
ack_path = "reverse"
[bottleneck.link]
kind = "ofdma-tdd"
stations = 2
radio = {distance = "1 m", shadowing = "31 dB", speed = "20000 m/s", bandwidth = "0 Hz"}
users = [{user = 0, distance = "1 km"}]
[[flows]]
base_rtt = "0.4 s"
tcp = {max_rto = "500 ms"}
"""


def test_rules_of_tables_are_in_one_report_with_the_given_values() -> None:
    where = "wimax.toml: bottleneck.link.radio"
    assert lines(RADIO) == [
        f'{where}.bandwidth = "0 Hz": not above 0. Use a frequency above 0, '
        'for example "9.1984375 MHz".',
        f'{where}.shadowing = "31 dB": above 30 dB. Use a level from 0 dB to "30 dB", '
        'for example "8 dB".',
        f'{where}.speed = "20000 m/s": above 10000 m/s. Use a speed from 0 to "10000 m/s", '
        'for example "3 km/h".',
        f'{where}.distance = "1 m": so near that the path would lose less than free space does. '
        "Use a longer distance.",
        'wimax.toml: flows.0.tcp.max_rto = "500 ms": min_rto = "1 s" is above max_rto. '
        'Set min_rto too, a duration up to "500 ms".',
        'wimax.toml: warmup = "40 s": not below duration. Use a duration below "30 s", '
        'for example "0 s".',
    ]


def test_wrong_type_suppresses_no_rule_between_other_keys() -> None:
    reported = lines(RADIO.replace('"droptail"', "7").replace('max_rto = "500 ms"', "mss = true"))
    assert [line.partition(": ")[2].partition(" = ")[0] for line in reported] == [
        "bottleneck.aqm",
        "bottleneck.link.radio.bandwidth",
        "bottleneck.link.radio.shadowing",
        "bottleneck.link.radio.speed",
        "bottleneck.link.radio.distance",
        "flows.0.tcp.mss",
        "warmup",
    ]


@pytest.mark.parametrize(
    ("radio", "problem"),
    [
        (
            'radio = {distance = "2 km", base_gain_dbi = 200, base_power_dbm = 200}',
            'radio.distance = "2 km": its mean SNR would be 346.2 dB, above 200 dB. '
            "Use a longer distance, or less power and gain.",
        ),
        (
            'radio = {distance = "1e8 km"}',
            'radio.distance = "1e8 km": its mean SNR would be -264.6 dB, below -200 dB. '
            "Use a shorter distance, or more power and gain.",
        ),
        (
            'radio = {distance = "2 km"}\nusers = [{user = 0, distance = "5000000 km"}]',
            'users.0.distance = "5000000 km": its mean SNR would be -219.0 dB, below -200 dB. '
            "Use a shorter distance, or more power and gain.",
        ),
        (
            'radio = {distance = "2 km"}\nusers = [{user = 0, distance = "0 km"}]',
            'users.0.distance = "0 m": not above 0. Use a length above 0, for example "50 m".',
        ),
        (
            'radio = {distance = "2 km"}\nusers = [{user = 1, distance = "1 m"}]',
            'users.0.distance = "1 m": so near that the path would lose less than free space '
            "does. Use a longer distance.",
        ),
        (
            'radio = {distance = "2 km", station_power_dbm = -180, base_noise_db = 40}',
            "radio.station_power_dbm = -180: the uplink's SNR would be 249.0 dB below the "
            "downlink's, more than 200 dB. Use powers and noise figures of both sides that "
            "differ less.",
        ),
        (
            'radio = {distance = "2 km", speed = "9000 m/s", frequency = "6 GHz"}',
            'radio.speed = "9000 m/s": a Doppler shift of more than 100 kHz. Use a lower speed.',
        ),
    ],
)
def test_values_derived_from_a_budget_are_reported_with_its_keys(radio: str, problem: str) -> None:
    text = RADIO.replace('warmup = "40 s"\n', "").replace('tcp = {max_rto = "500 ms"}\n', "")
    kept = [line for line in text.splitlines() if not line.startswith(("radio", "users"))]
    at = kept.index("stations = 2") + 1
    wrong = "\n".join([*kept[:at], *radio.splitlines(), *kept[at:]])
    assert lines(wrong) == [f"wimax.toml: bottleneck.link.{problem}"]


def test_budget_without_an_snr_suppresses_no_range_check_of_the_link() -> None:
    text = RADIO.replace("stations = 2", 'stations = 2\nframe = "0 s"')
    reported = [line.partition(": ")[2].partition(" = ")[0] for line in lines(text)]
    assert {"bottleneck.link.frame", "warmup"} <= {*reported}


GROUP = """
duration = "10 s"
bottleneck = {aqm = "gred", link = {kind = "fixed", rate = "5 Mbit/s"}}
[[flows]]
count = 3
base_rtt = ["40 ms", "50 ms", "60 ms"]
"""


@pytest.mark.parametrize(
    ("mistake", "problem"),
    [
        ('start = "20 s"', 'start = "20 s": not before duration. '),
        ('direction = "reverse"', 'direction = "reverse": an ideal ACK path has no link '),
        ('tcp = {header = "64500 B"}', 'tcp.header = "64500 B": mss = "1460 B" is larger than '),
        ("ack_access = {}", "ack_access = {}: an ideal ACK path has no link "),
        (
            'source = "cbr"\nrate = "1 Mbit/s"\nack_access = {}',
            "ack_access = {}: datagrams have no ACKs. ",
        ),
        (
            "user = 5000000000",
            "user = 5000000000: not a user. Use numbers from 0 to 65535, or a range, "
            'for example "0-9".',
        ),
    ],
)
def test_problem_of_a_group_is_one_line(mistake: str, problem: str) -> None:
    (line,) = lines(GROUP + mistake)
    assert line.startswith(f"wimax.toml: flows.0.{problem}")


@pytest.mark.parametrize(
    ("mistakes", "fields"),
    [
        (
            'tcp = {mss = true, header = "0 B", initial_window = "0 B", max_rto = "500 ms"}',
            ["tcp.mss", "tcp.header", "tcp.initial_window", "tcp.max_rto"],
        ),
        (
            'tcp = {unknown = 1, header = "0 B", receive_window = "0 B"}',
            ["tcp.unknown", "tcp.header", "tcp.receive_window"],
        ),
        ('tcp = {mss = true, receive_window = "9 B"}', ["tcp.mss"]),
        (
            'arrivals = {poisson = true, until = "5 s"}\nstart = "5 s"',
            ["arrivals.poisson", "arrivals.until"],
        ),
        (
            'on_off = {on = {exponential = "0 s"}, off = {exponential = 1}}',
            ["on_off.off.exponential", "on_off.on.exponential"],
        ),
    ],
)
def test_wrong_type_suppresses_no_range_check_of_a_related_table(
    mistakes: str, fields: list[str]
) -> None:
    reported = [
        line.partition(": flows.0.")[2].partition(" = ")[0] for line in lines(GROUP + mistakes)
    ]
    assert reported == fields


def test_wrong_type_suppresses_no_range_check_of_harq_and_record() -> None:
    harq = "harq = {attempts = 0, round_trip = true, processes = 0}"
    text = RADIO.replace("radio =", f"{harq}\nradio =")
    reported = [line.partition(": ")[2].partition(" = ")[0] for line in lines(text)]
    link = "bottleneck.link.harq."
    assert {f"{link}{key}" for key in ("attempts", "round_trip", "processes")} <= {*reported}
    record = 'record = {ss = "no", ss_interval = "0 s"}\n'
    reported = [line.partition(": ")[2].partition(" = ")[0] for line in lines(record + GROUP)]
    assert reported == ["record.ss", "record.ss_interval"]


@pytest.mark.parametrize(("text", "fields"), PROBLEMS_INSIDE_AND_AROUND)
def test_inner_component_suppresses_no_check_of_its_wrapper(text: str, fields: list[str]) -> None:
    reported = [line.partition(": ")[2].partition(" = ")[0] for line in lines(text)]
    assert sorted(reported) == fields


def test_wrong_type_suppresses_no_check_of_inner_components() -> None:
    wrong = CELL.replace("margin = 2", "margin = true")
    reported = [line.partition(": ")[2].partition(" = ")[0] for line in lines(wrong)]
    assert sorted(reported) == [
        "bottleneck.link.margin",
        "bottleneck.link.rate.bandwidth",
        "bottleneck.link.rate.cap",
        "bottleneck.link.snr.mean",
    ]


@pytest.mark.parametrize(
    ("aqm", "problem"),
    [
        (
            '{kind = "pie", target = "0 ms"}',
            '.target = "0 ms": not above 0. Use a duration above 0, for example "15 ms".',
        ),
        (
            '{kind = "fq-codel", quantum = "0.1 kB"}',
            '.quantum = "0.1 kB": below 256 B. Use a size from "256 B" to "4 GB", '
            'for example "1514 B".',
        ),
        (
            '{kind = "ack-priority", aqm = {kind = "sbd", by_rate = [{rate = "1 Mbit/s", '
            'min_th = 41, reaction_time = "1 s"}]}}',
            ".aqm.by_rate.0.min_th = 41: above limit. Use an integer up to 40.",
        ),
        (
            '{kind = "ared", weight = 3}',
            '.weight = 3: above 1. Use a number above 0 and at most 1, or "automatic".',
        ),
        ('{kind = "clamp"}', ".a: missing. Use a, or target_delay."),
    ],
)
def test_value_is_shown_as_given(aqm: str, problem: str) -> None:
    assert lines(GOOD, [("bottleneck.aqm", aqm)]) == [f"overrides: bottleneck.aqm{problem}"]


def test_components_built_in_python_are_reported_with_their_class() -> None:
    with pytest.raises(ap.errors.ScenarioError) as caught:
        ap.snr.Rician(mean="300 dB", k="6 dB", speed="20000 m/s", carrier="2 GHz", angle_deg=190)
    assert str(caught.value).splitlines() == [
        'snr.Rician: mean = "300 dB": above 200 dB. Use a level from "-200 dB" to "200 dB", '
        'for example "15 dB".',
        "snr.Rician: angle_deg = 190: above 180. Use a number from 0 to 180, for example 45.",
        'snr.Rician: speed = "20000 m/s": above 10000 m/s. Use a speed from 0 to '
        '"10000 m/s", for example "10 m/s".',
    ]


def test_problem_of_the_whole_scenario_names_the_group_of_flows() -> None:
    second = """
[[flows]]
count = 2
base_rtt = ["50 ms", "60 ms"]
[[flows]]
base_rtt = "40 ms"
window = {kind = "clamp", ssthresh = "100 B"}
"""
    aqm = '[bottleneck]\naqm = {kind = "clamp", a = "1 kB"}\n'
    scenario = loads(GOOD.replace('[bottleneck]\naqm = "gred"\n', aqm) + second, place="a.toml")
    with pytest.raises(ap.errors.ScenarioError) as caught:
        ap.check(scenario)
    assert str(caught.value) == (
        'a.toml: flows.2.window.ssthresh = "100 B": below a segment. Use a size from "1460 B" on.'
    )


BAD_VALUES: dict[str, tuple[dict[str, Any], str]] = {
    "aqm": ({"kind": "rlc-red", "limit": 40, "min_th": 20, "max_p": 2.0}, "max_p"),
    "congestion": ({"kind": "cubic", "beta": 2.0}, "beta"),
    "errors": ({"kind": "independent", "loss": 2.0}, "loss"),
    "grant": ({"kind": "blind-bi", "size_bytes": 0, "when": "served", "fallback_ns": 10**8},
              "size_bytes"),
    "link": ({"kind": "fixed", "rate_bps": 0}, "rate_bps"),
    "policy": ({"kind": "tagla", "th_per": 2.0}, "th_per"),
    "request": ({"kind": "ranging", "codes": 0, "timer_ns": 10**8, "backoff": [2, 64]}, "codes"),
    "scheduler": ({"kind": "alpha-fair", "alpha": -1.0, "time_constant_ns": 10**8}, "alpha"),
    "snr": ({"kind": "constant", "mean_db": 900.0}, "mean_db"),
    "window": ({"kind": "clamp", "tau_bytes": 500, "average_packets": 1000, "beta": -1.0,
                "ssthresh_bytes": None, "inner": {"kind": "fixed"}}, "beta"),
}  # fmt: skip
"""Mapping from each family to a component with one out-of-range value, and the field of
this value.
"""


@pytest.mark.parametrize("family", FAMILIES)
def test_engine_rejects_an_invalid_value_of_every_family(family: str) -> None:
    assert FAMILIES[family].engine_family == family
    description, field = BAD_VALUES[family]
    found = _airpath.component_problems(family, json.dumps(description))
    assert [path for path, *_ in found] == [field]


def test_link_rejects_out_of_range_attempt_errors() -> None:
    errors = ap.link.AttemptErrors(table="airpath:802.16-ctc-awgn", mcs="mcs0", snr="201 dB")
    with pytest.raises(ap.errors.ScenarioError) as caught:
        ap.link.Fixed(
            rate="1 Mbit/s", harq=ap.link.Harq(attempts=2, error=errors, round_trip="30 ms")
        )
    assert str(caught.value).startswith('link.Fixed: harq.error.snr = "201 dB": above 200 dB. ')


def test_zero_duration_invalidates_no_other_time() -> None:
    with pytest.raises(ap.errors.ScenarioError) as caught:
        ap.load(example_path("cross-traffic"), {"duration": "0 s"})
    [line] = str(caught.value).splitlines()
    assert 'duration = "0 s": ' in line


class Mine(QueueDisc):
    """A user's discipline whose keys have other names in the engine."""

    kind: Literal["mine"] = "mine"
    low: Packets = Packets(5)
    high: Packets = Packets(15)
    weight: float = 0.002

    engine_keys = {"min_th": "low", "max_th": "high"}

    def resolved(self, context: Context, path: KeyPath) -> dict[str, Any]:
        own = {"min_th": int(self.low), "max_th": int(self.high), "weight": self.weight}
        return {**ap.aqm.Red().resolved(context, path), **own}


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ('high = "3 packets"', 'high = "3 packets": not above low. Use '),
        ("weight = 2", "weight = 2: above 1. Use a number above 0 and at most 1, for example "),
        ('hihg = "3 packets"', 'hihg = "3 packets": unknown key. The nearest is high; expected '),
    ],
)
def test_error_in_a_users_component_uses_its_keys(
    monkeypatch: pytest.MonkeyPatch, keys: str, problem: str
) -> None:
    monkeypatch.setitem(QueueDisc.registry, "mine", Mine)
    text = GOOD.replace('aqm = "gred"', f'aqm = {{kind = "mine", {keys}}}')
    assert text != GOOD
    found = lines(text)
    assert len(found) == 1
    assert f"bottleneck.aqm.{problem}" in found[0]


QueueDisc.registry.pop("mine")
