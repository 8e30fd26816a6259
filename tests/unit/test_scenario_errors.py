"""The exact messages for all possible errors in a scenario file."""

from __future__ import annotations

import pickle

import pytest
from scenario_errors import CCS, DURATION, FLOW_KEYS, GOOD, QUEUES, lines, problem_after_setting

import airpath as ap
from airpath.errors import MISSING, Problem
from airpath.scenario import loads


def test_valid_file_is_accepted() -> None:
    assert loads(GOOD).duration == 300 * 10**9


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("duration", "300", f"duration = 300: no unit. {DURATION}"),
        ("duration", "nan", f"duration = nan: no unit. {DURATION}"),
        ("duration", '"300"', f'duration = "300": no unit. {DURATION}'),
        ("duration", "true", f"duration = true: not a duration. {DURATION}"),
        (
            "duration",
            "0 s",
            'duration = "0 s": not above 0. Use a duration above 0 and at most '
            '"8640000 s", for example "300 s".',
        ),
        (
            "duration",
            "600 years",
            f'duration = "600 years": not a duration. {DURATION}',
        ),
        (
            "duration",
            "1e11 s",
            'duration = "1e11 s": too large to be counted. Use at most "100000000 s", '
            'for example "40 ms".',
        ),
        (
            "warmup",
            "300 s",
            'warmup = "300 s": not below duration. Use a duration below "300 s", '
            'for example "0 s".',
        ),
        (
            "warmup",
            "-1 s",
            'warmup = "-1 s": below 0. Use a duration from 0 on, for example "40 ms".',
        ),
        ("name", "3", "name = 3: not a text. Use a text in double quotes."),
        (
            "durations",
            "1 s",
            'durations = "1 s": unknown key. The nearest is duration; expected one of: name, '
            "parts, duration, warmup, hops, bottleneck, ack_path, backhaul, control, record, "
            "capture, flows.",
        ),
        (
            "backhaul",
            '{rate = "0 bit/s"}',
            'backhaul.rate = "0 bit/s": not above 0. Use a rate above 0, for example "5 Mbit/s".',
        ),
        (
            "backhaul",
            '{delay = "20 ms"}',
            'flows.0.base_rtt = "40 ms": below the 42.5 ms that the bottleneck link, the ACK path '
            'and the backhaul take. Use at least "42.5 ms".',
        ),
        # queue disciplines
        (
            "bottleneck.aqm",
            "gread",
            'bottleneck.aqm = "gread": not a queue discipline. The nearest is gred; '
            f"expected one of: {QUEUES}.",
        ),
        (
            "bottleneck.aqm",
            '{kind = "gred", min_th = 90}',
            "bottleneck.aqm.max_th = 90: not above min_th. Use an integer above 90.",
        ),
        (
            "bottleneck.aqm",
            '{kind = "gred", min_th = 1.5}',
            "bottleneck.aqm.min_th = 1.5: not an integer. "
            "Use an integer from 0 to 1000000000, for example 30.",
        ),
        (
            "bottleneck.aqm",
            '{kind = "gred", max_p = -0.1}',
            "bottleneck.aqm.max_p = -0.1: below 0. Use a number from 0 to 1, for example 0.1.",
        ),
        (
            "bottleneck.aqm",
            '{kind = "gred", ecn = 1}',
            "bottleneck.aqm.ecn = 1: not a truth value. Use true or false.",
        ),
        (
            "bottleneck.aqm",
            '{kind = "gred", minth = 3}',
            "bottleneck.aqm.minth = 3: unknown key. The nearest is min_th; "
            "expected one of: kind, min_th, max_th, max_p, ecn.",
        ),
        (
            "bottleneck.aqm",
            '{kind = "droptail", limit = 100}',
            "bottleneck.aqm.limit = 100: no unit. "
            "Use a number with the unit packets, B, kB, MB, GB, KiB, "
            'MiB or GiB, for example "100 packets".',
        ),
        (
            "bottleneck.aqm",
            '{kind = "droptail", limit = "100 frames"}',
            'bottleneck.aqm.limit = "100 frames": not a limit. '
            "Use a number with the unit packets, B, kB, "
            'MB, GB, KiB, MiB or GiB, for example "100 packets".',
        ),
        (
            "bottleneck.aqm",
            '{kind = "droptail", limit = "0 B"}',
            'bottleneck.aqm.limit = "0 B": not above 0. Use a size above 0, for example "1500 B".',
        ),
        # flows
        (
            "flows.0.cc",
            '{kind = "cubic", beta = 1}',
            "flows.0.cc.beta = 1: not below 1. Use a number above 0 and below 1, for example 0.7.",
        ),
        (
            "flows.0.cc",
            '{kind = "reno", beta_ecn = 1}',
            "flows.0.cc.beta_ecn = 1: not below 1. Use a number above 0 and below 1, for "
            "example 0.5.",
        ),
        (
            "flows.0.tcp",
            '{ecn = "yes"}',
            'flows.0.tcp.ecn = "yes": not one of the accepted words. '
            "Expected one of: off, on, accurate.",
        ),
        (
            "flows.0.cc",
            '{kind = "cubic", c = 0}',
            "flows.0.cc.c = 0: not above 0. Use a number above 0, for example 0.4.",
        ),
        ("flows", "[]", "flows = []: no flows. Use at least one group of flows."),
        (
            "flows",
            "3",
            "flows = 3: not a list. Use a list in square brackets, for example "
            '[{count = 4, base_rtt = "40 ms"}].',
        ),
        (
            "flows.0.count",
            "0",
            "flows.0.count = 0: below 1. Use an integer from 1 on, for example 1.",
        ),
        (
            "flows.0.count",
            "100001",
            "flows.0.count = 100001: 100001 flows in all. "
            "Use counts that add up to 100000 at most.",
        ),
        (
            "flows.0.counts",
            "3",
            f"flows.0.counts = 3: unknown key. The nearest is count; expected one of: {FLOW_KEYS}.",
        ),
        (
            "flows.0.source",
            "udp",
            'flows.0.source = "udp": not a source. Expected one of: tcp, cbr, poisson, voice.',
        ),
        (
            "flows.0.cc",
            "sprout",
            f'flows.0.cc = "sprout": not a congestion control. Expected one of: {CCS}.',
        ),
        (
            "flows.0.cc",
            "newren",
            'flows.0.cc = "newren": not a congestion control. The nearest is newreno; '
            f"expected one of: {CCS}.",
        ),
        (
            "flows.0.profile",
            "bsd",
            'flows.0.profile = "bsd": not a TCP profile. '
            "Expected one of: rfc, ns3-2014, ns3, ns2, linux.",
        ),
        (
            "flows.0.base_rtt",
            "2 ms",
            'flows.0.base_rtt = "2 ms": below the 2.5 ms that the bottleneck link and the ACK path '
            'take. Use at least "2.5 ms".',
        ),
        ("flows.0.base_rtt", "40", f"flows.0.base_rtt = 40: no unit. {DURATION}"),
        (
            "flows.0.base_rtt",
            '["40 ms", "50 ms"]',
            'flows.0.base_rtt = ["40 ms", "50 ms"]: 2 values for count = 4. '
            "Use one value for each flow.",
        ),
        (
            "flows.0.base_rtt",
            '["40 ms", 50, "1 ms", "50 ms"]',
            f"flows.0.base_rtt.1 = 50: no unit. {DURATION}",
        ),
        (
            "flows.0.base_rtt",
            '["40 ms", "50 ms", "1 ms", "50 ms"]',
            'flows.0.base_rtt.2 = "1 ms": below the 2.5 ms that the bottleneck link and the ACK '
            'path take. Use at least "2.5 ms".',
        ),
        (
            "flows.0.access",
            '{delay = "1 ms"}',
            'flows.0.base_rtt = "40 ms": given together with access.delay. '
            "Set either base_rtt or the delays of the wires.",
        ),
        (
            "flows.0.start",
            "300 s",
            'flows.0.start = "300 s": not before duration. Use a duration below '
            '"300 s", for example "0 s".',
        ),
        (
            "flows.0.start",
            '{uniform = ["1 s", "0 s"]}',
            'flows.0.start.uniform.1 = "0 s": before the earliest time. Use a '
            'duration from "1 s" on.',
        ),
        (
            "flows.0.start",
            '{uniform = ["1 s"]}',
            'flows.0.start.uniform = ["1 s"]: not a pair. '
            'Use the earliest and the latest time, for example ["0 s", "1 s"].',
        ),
        (
            "flows.0.stop",
            "0 s",
            'flows.0.stop = "0 s": not after the start. Use a duration above 0.',
        ),
        (
            "flows.0.size",
            "0 B",
            'flows.0.size = "0 B": not above 0. Use a size above 0, for example "1500 B".',
        ),
        (
            "flows.0.tcp",
            '{recovery = "newreno"}',
            'flows.0.tcp.recovery = "newreno": contradicts cc = "reno". Use one of the two.',
        ),
        (
            "flows.0.tcp",
            '{recovery = "fack"}',
            'flows.0.tcp.recovery = "fack": not one of the accepted words. '
            "The nearest is sack; expected one of: reno, newreno, sack, prr.",
        ),
        (
            "flows.0.tcp",
            '{max_rto = "500 ms"}',
            'flows.0.tcp.max_rto = "500 ms": min_rto = "1 s" is above max_rto. Set '
            'min_rto too, a duration up to "500 ms".',
        ),
        (
            "flows.0.tcp",
            '{min_rto = "61 s"}',
            'flows.0.tcp.min_rto = "61 s": above max_rto. Use a duration up to "60 s".',
        ),
        (
            "flows.0.tcp",
            '{mss = "65535 B"}',
            'flows.0.tcp.mss = "65535 B": larger than an IP packet with its headers. '
            'Use a size up to "65495 B".',
        ),
        (
            "flows.0.tcp",
            '{mss = "65495 B", timestamps = true}',
            'flows.0.tcp.mss = "65495 B": larger than an IP packet with its headers. '
            'Use a size up to "65483 B".',
        ),
        (
            "flows.0.tcp",
            '{receive_window = "1 kB"}',
            'flows.0.tcp.receive_window = "1 kB": below mss. Use a size from "1460 B" on.',
        ),
        (
            "flows.0.tcp",
            '{receive_window = "5 GB"}',
            'flows.0.tcp.receive_window = "5 GB": above 4294967295 B. Use a size '
            'above 0 and at most "4294967295 B", for example "1500 B".',
        ),
        (
            "flows.0.tcp",
            "{srtt_gain = 0}",
            "flows.0.tcp.srtt_gain = 0: not above 0. Use a number above 0 and at most 1.",
        ),
        (
            "flows.0.tcp",
            '{initial_ssthresh = "0 B"}',
            'flows.0.tcp.initial_ssthresh = "0 B": not above 0. Use a size above 0, '
            'or "unlimited", for example "1500 B".',
        ),
        (
            "flows.0",
            '{base_rtt = "40 ms", source = "cbr", rate = "1 Mbit/s", packet = "70 kB"}',
            'flows.0.packet = "70 kB": above 65535 B. Use a size above 0 and at '
            'most "65535 B", for example "1500 B".',
        ),
        (
            "flows",
            "[{}]",
            'flows.0.base_rtt: missing. Set base_rtt = "40 ms", or the wires access, egress, '
            "return.",
        ),
        # the rest
        (
            "ack_path",
            "radio",
            'ack_path = "radio": not an ACK path. Expected one of: ideal, link, reverse.',
        ),
        (
            "ack_path",
            "link",
            'ack_path.link: missing. Set link = {kind = "fixed", rate = "5 Mbit/s"}.',
        ),
        (
            "record.series",
            '["cwnd", "quue"]',
            'record.series.1 = "quue": not one of the accepted words. The nearest is queue; '
            "expected one of: cwnd, ssthresh, rtt, queue, sojourn, drop, mark, regime, mcs, "
            "price, average_queue, snr, awnd, load_factor, bbr_state, bbr_bandwidth, bbr_min_rtt, "
            "bbr_inflight_hi, delivered, seq_sent, seq_received, seq_dropped, capacity.",
        ),
        (
            "record",
            "[]",
            "record = []: not a table. "
            "Expected one of: series, interval, distributions, ss, ss_interval, flow_monitor, "
            "delay_parts.",
        ),
        (
            "control",
            '[{at = "301 s", rate = "1 Mbit/s"}]',
            'control.0.at = "301 s": after duration. Use a duration up to "300 s".',
        ),
        ("control", '[{rate = "1 Mbit/s"}]', 'control.0.at: missing. Set at = "50 s".'),
    ],
)
def test_invalid_value_is_reported(key: str, value: str, line: str) -> None:
    place, _, rest = problem_after_setting(key, value).partition(": ")
    assert rest == line
    assert place in ("overrides", "wimax.toml")


def test_message_has_the_form_of_the_style_guide() -> None:
    assert str(
        Problem(
            "wimax.toml",
            ("bottleneck", "rate"),
            "5 Mb",
            "not a rate",
            "Use a number with bit/s, kbit/s, Mbit/s or Gbit/s",
            '"5 Mbit/s"',
        )
    ) == (
        'wimax.toml: bottleneck.rate = "5 Mb": not a rate. Use a number with bit/s, kbit/s, '
        'Mbit/s or Gbit/s, for example "5 Mbit/s".'
    )


def test_all_problems_of_a_file_are_reported_at_once() -> None:
    text = """
duration = 300
warmup = "30"
[bottleneck.aqm]
kind = "gred"
min_th = 100
max_p = 2
[bottleneck.link]
kind = "fixed"
[[flows]]
cc = "sprout"
base_rtt = "40 ms"
tcp = {min_rto = "2 s", max_rto = "1 s", handshake = 1}
[[flows]]
source = "cbr"
rate = "5 Mb"
"""
    assert [line.split(":")[1].split(" =")[0].strip() for line in lines(text)] == [
        "duration",
        "warmup",
        "bottleneck.aqm.max_th",
        "bottleneck.aqm.max_p",
        "bottleneck.link.rate",
        "flows.0.cc",
        "flows.0.tcp.handshake",
        "flows.0.tcp.min_rto",
        "flows.1.rate",
    ]


def test_empty_file_is_reported() -> None:
    assert lines("") == [
        'wimax.toml: duration: missing. Set duration = "300 s".',
        'wimax.toml: bottleneck: missing. Set bottleneck or hops, for example {aqm = "gred", '
        'link = {kind = "fixed", rate = "5 Mbit/s"}}.',
        'wimax.toml: flows: missing. Set flows = [{count = 4, base_rtt = "40 ms"}].',
    ]


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("flows.9.count", "flows has no entry 9. Use a position from 0 to 0."),
        ("flows.x.count", "flows has no entry x. Use a position from 0 to 0."),
        ("flows.-1", "flows has no entry -1. Use a position from 0 to 0."),
        ("duration.a", "duration is not a table and has no a."),
        ("duration.a.b", "duration is not a table and has no a."),
        (
            "flows..count",
            "not a key. Use keys with full stops between them, for example bottleneck.link.rate.",
        ),
        (
            "",
            "not a key. Use keys with full stops between them, for example bottleneck.link.rate.",
        ),
    ],
)
def test_override_of_an_unknown_key_is_reported(key: str, line: str) -> None:
    assert lines(GOOD, [(key, "8")]) == [f"overrides {key}=8: {line}"]


def test_problem_is_reported_where_its_value_was_given() -> None:
    text = GOOD.replace('"30 s"', '"30"')
    overrides = [("bottleneck.link.rate", "5 Mb"), ("botleneck.link.rate", "5 Mbit/s")]
    assert [line.split(" = ")[0] for line in lines(text, overrides)] == [
        "overrides: botleneck",
        "wimax.toml: warmup",
        "overrides: bottleneck.link.rate",
    ]


def test_python_objects_name_their_class() -> None:
    with pytest.raises(ap.errors.ScenarioError) as caught:
        ap.aqm.Gred(min_th=100)
    assert str(caught.value) == (
        "aqm.Gred: max_th = 90: not above min_th. Use an integer above 100."
    )
    with pytest.raises(ap.errors.ScenarioError) as caught:
        ap.flows(4, cc="sprout", base_rtt="40 ms")
    assert str(caught.value) == (
        f'flows: cc = "sprout": not a congestion control. Expected one of: {CCS}.'
    )
    with pytest.raises(ap.errors.ScenarioError) as caught:
        ap.flows(cc="dctcp", base_rtt="40 ms", tcp={"ecn": "off"})
    assert str(caught.value) == (
        'flows: tcp.ecn = "off": contradicts cc = "dctcp". Use one of the two.'
    )
    with pytest.raises(ap.errors.ScenarioError) as caught:
        ap.link.DualRegime(rates=("1 Mbit/s",), pers=(0, 0), threshold=3)
    assert str(caught.value) == (
        'link.DualRegime: rates = ["1 Mbit/s"]: not a pair. Use two values.'
    )


def test_errors_are_value_errors_and_survive_pickling() -> None:
    with pytest.raises(ValueError, match="missing") as caught:
        loads("")
    error = caught.value
    assert isinstance(error, ap.errors.AirpathError)
    assert isinstance(error, ap.errors.ScenarioError)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert error.problems[0].field_name == "duration"
    assert error.problems[0].value is MISSING


def test_misspelt_required_key_is_one_problem() -> None:
    wrong = GOOD.replace("base_rtt", "rtt")
    assert wrong != GOOD
    found = lines(wrong)
    assert len(found) == wrong.count("rtt = ")
    assert all("unknown key. The nearest is base_rtt; expected one of: " in line for line in found)


def test_unusual_keys_and_values_stay_on_one_line() -> None:
    (line,) = lines(GOOD.replace("[bottleneck]", '[bottleneck]\n"a\\nb\u2028" = "c\\r\\nd"'))
    assert line == (
        'wimax.toml: bottleneck."a\\nb\\u2028" = "c\\r\\nd": unknown key. '
        "Expected one of: aqm, link."
    )
