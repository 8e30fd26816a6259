"""Mutated scenario files and traces: each is accepted or rejected, without traceback or endless
loop.
"""

from __future__ import annotations

import contextlib
import io
import json
import signal
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from processes import SCENARIO

from airpath.cli import main
from airpath.scenario.examples import shipped_examples
from random_examples import examples

LONGEST_S = 30
EXAMPLES = shipped_examples()
TRAFFIC = """\
duration = "2 s"
[bottleneck]
aqm = {kind = "clamp", target_delay = "50 ms"}
[bottleneck.link]
kind = "cell"
slot = "1 ms"
harq = "chase"
errors = {kind = "independent", loss = 0.1}
rate = {kind = "shannon", bandwidth = "1 MHz"}
snr = {kind = "block", mean = "3 dB"}
scheduler = {kind = "alpha-fair", alpha = 2, time_constant = "100 ms"}
[[bottleneck.link.users]]
user = 1
weight = 2.0
snr = {kind = "rayleigh", mean = "0 dB", doppler = "5 Hz"}
[[flows]]
user = 0
cc = "clamp"
base_rtt = "20 ms"
[[flows]]
user = 1
access = {rate = "5 Mbit/s", limit = "20 packets"}
return = {delay = "10 ms"}
arrivals = {poisson = "50 /s", until = "1 s"}
size = {triangular = {smallest = "1 kB", mode = "3 kB", largest = "90 kB", step = "1 kB"}}
"""
STATIONS = """\
duration = "1 s"
ack_path = {kind = "reverse"}
[bottleneck]
aqm = "droptail"
[bottleneck.link]
kind = "ofdma-tdd"
stations = 3
frame = "2 ms"
downlink_slots = 90
uplink_slots = 30
map_overhead = {slots = 5, per_burst = 2}
map_relevance = 0
packing = {down = true}
in_order = {up = true}
errors = {kind = "independent", loss = 0.1}
request = {kind = "ranging", codes = 2, timer = "20 ms", backoff = [1, 8]}
grant = {kind = "unsolicited", period = "10 ms", size = "58 B"}
users = [{user = 2, downlink_mcs = "64qam-5/6", uplink_mcs = "qpsk-1/8"}]
[[flows]]
count = 2
base_rtt = "20 ms"
[[flows]]
user = 1
direction = "reverse"
base_rtt = "20 ms"
"""
TEXTS = [
    SCENARIO,
    *(
        (EXAMPLES / name).read_text()
        for name in (
            "dual-regime.toml",
            "cross-traffic.toml",
            "synthetic-reno-gred.toml",
            "cell-clamp.toml",
            "cell-newreno.toml",
            "clamp-link.toml",
            "wimax-download.toml",
        )
    ),
    TRAFFIC,
    STATIONS,
]
FUZZ = examples(
    120, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)

WORDS = [
    "0", "1", "-1", "1e400", "nan", "inf", "true", "[]", "{}", '""', '"x"', "1979-05-27", "[[1]]",
    '"0 s"', '"-1 s"', '"1 ns"', '"1e99 h"', '"5"', '"5 parsecs"', '"0 bit/s"', '"1 bit/s"',
    '"1 Gbit/s"', '"-5 Mbit/s"', '"5 Mb"', '"0 B"', '"1 B"', '"9 GB"', '"0 packets"', '"1 packets"',
    "[20, 10]", "[0]", '{kind = "trace", file = "broken"}', '{kind = "rate-trace", file = "good"}',
    '{uniform = ["1 s", "0 s"]}', '{kind = "gred", min_th = 0, max_th = 1, max_p = 1}',
    '"clamp"', '{kind = "clamp", a = "1 B"}', '{kind = "clamp", target_delay = "1 ns"}',
    '"max-rate"', '"none"', '"ranging"', '"adapt-bi"', '["1 s", "0 s"]', '["1 ns", "1 h"]',
    '{kind = "scheduling-request", period = "1 ns"}', '{kind = "blind-bi", size = "1 B"}',
    '"qpsk-1/12"', "1000", "{slots = 419}", "{down = false}",
    '{kind = "random-delay", per = "packet"}',
    '"proportional-fair"', '{kind = "proportional-fair", time_constant = "1 ns"}', '"incremental"',
    '{target_loss = 0.001}', "{target_loss = 1}", '"0 dB"', '"-199 dB"', '"200 dB"', '"0 Hz"',
    '"1 GHz"', '"10 m/s"', '{kind = "block", mean = "0 dB"}', '{kind = "rayleigh", mean = "0 dB"}',
    '[{user = 0, weight = 2.0}]', '{kind = "shannon", bandwidth = "1 Hz"}',
    "99999999999999999999", '"\\u0000"', '"traces:"', '"."', '"traces:../x"',
]  # fmt: skip


class Answer(NamedTuple):
    status: int
    out: str
    err: str


def call(*arguments: str) -> Answer:
    """Call the command with a limit of CPU time, so that an endless loop is a failure."""

    def too_long(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"more than {LONGEST_S} s of CPU time: {arguments}")

    out, err = io.StringIO(), io.StringIO()
    before = signal.signal(signal.SIGPROF, too_long)
    signal.setitimer(signal.ITIMER_PROF, LONGEST_S)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(arguments)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return Answer(status, out.getvalue(), err.getvalue())


def is_accepted_or_refused(answer: Answer) -> None:
    assert answer.status in (0, 2), answer
    assert "Traceback" not in answer.err
    assert "panicked" not in answer.err
    if answer.status == 2:
        assert answer.out == ""
        lines = answer.err.splitlines()
        assert lines
        assert all(line.strip() and len(line) < 2000 for line in lines), lines
    else:
        json.loads(answer.out)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("fuzz")
    (made / "good").write_text("time_s,rate_bps\n0,1000000\n1,1000000\n")
    (made / "broken").write_text("5\n4\n")
    (made / "traces").mkdir()
    (made / "traces" / "pedestrian.trace").write_text("1\n2\n3\n")
    return made


# --- scenarios ---------------------------------------------------------------------------------


@st.composite
def mutated_scenarios(draw: st.DrawFn) -> str:
    """Return a scenario with some lines deleted, duplicated, moved or given other values."""
    lines = draw(st.sampled_from(TEXTS)).splitlines()
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        match draw(st.sampled_from(["value", "value", "value", "delete", "double", "move", "key"])):
            case "value" if "=" in lines[at]:
                key = lines[at].partition("=")[0]
                lines[at] = f"{key}= {draw(st.sampled_from(WORDS))}"
            case "delete" if len(lines) > 1:
                del lines[at]
            case "double":
                lines.insert(at, lines[at])
            case "move":
                lines.insert(draw(st.integers(0, len(lines) - 1)), lines.pop(at))
            case _:
                lines[at] = lines[at].replace(draw(st.sampled_from("aei=[]\"'#")), "o", 1)
    return "\n".join(lines) + "\n"


@FUZZ
@given(text=mutated_scenarios())
def test_mutated_scenario_runs_or_is_rejected(directory: Path, text: str) -> None:
    file = directory / "mutated.toml"
    file.write_text(text, encoding="utf-8")
    short = ("--set", "duration=60 ms", "--set", "warmup=0 s", "--set", "control=[]")
    is_accepted_or_refused(call("run", str(file), *short, "--reps", "1", "--json"))


@FUZZ
@given(text=mutated_scenarios())
def test_mutated_scenario_is_checked_or_rejected(directory: Path, text: str) -> None:
    file = directory / "mutated.toml"
    file.write_text(text, encoding="utf-8")
    checked = call("check", str(file), "--json")
    is_accepted_or_refused(checked)
    solved = call("solve", str(file), "--json")
    is_accepted_or_refused(solved)
    if checked.status == 2:
        assert solved.status == 2


@FUZZ
@given(data=st.binary(max_size=300), at=st.integers(0, len(SCENARIO)))
def test_bytes_inserted_into_a_scenario_are_rejected_or_harmless(
    directory: Path, data: bytes, at: int
) -> None:
    raw = SCENARIO.encode()
    (directory / "bytes.toml").write_bytes(raw[:at] + data + raw[at:])
    is_accepted_or_refused(call("check", str(directory / "bytes.toml"), "--json"))


@FUZZ
@given(
    setting=st.text(max_size=30)
    | st.builds(
        "{}={}".format,
        st.sampled_from(["duration", "flows.0.count", "flows.9.cc", "bottleneck.link", "name"]),
        st.sampled_from(WORDS),
    )
)
def test_any_setting_is_accepted_or_rejected(directory: Path, setting: str) -> None:
    (directory / "small.toml").write_text(SCENARIO)
    answer = call("check", str(directory / "small.toml"), f"--set={setting}", "--json")
    is_accepted_or_refused(answer)


# --- traces ------------------------------------------------------------------------------------


def mahimahi_line() -> st.SearchStrategy[str]:
    good = st.integers(0, 10**6).map(str)
    odd = st.sampled_from(["", " ", "-1", "1.5", "1e3", "0x10", "٣", "99999999999999999999", "007"])
    return good | odd | st.text(max_size=5)


def csv_row() -> st.SearchStrategy[str]:
    numbers = st.floats(allow_nan=True, allow_infinity=True).map(repr)
    cell = numbers | st.integers(-5, 10**7).map(str) | st.sampled_from(["", " ", "x", "1e999"])
    return st.lists(cell, min_size=1, max_size=3).map(",".join)


traces = st.one_of(
    st.lists(st.integers(0, 5000), min_size=1, max_size=50).map(
        lambda times: "".join(f"{time}\n" for time in sorted(times))
    ),
    st.lists(mahimahi_line(), max_size=20).map("\n".join),
    st.lists(csv_row(), max_size=10).map(lambda rows: "\n".join(["time_s,rate_bps", *rows])),
    st.text(max_size=100),
).map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary(max_size=100)


@FUZZ
@given(data=traces, ending=st.sampled_from([".trace", ".csv"]))
def test_any_trace_is_described_converted_and_run_or_rejected(
    directory: Path, data: bytes, ending: str
) -> None:
    source = directory / f"fuzz{ending}"
    source.write_bytes(data)
    described = call("trace", "info", str(source), "--json")
    is_accepted_or_refused(described)
    target = directory / "converted.csv"
    target.unlink(missing_ok=True)
    converted = call("trace", "convert", str(source), str(target), "--bin-width", "500 ms")
    assert converted.status in (0, 2)
    assert target.exists() == (converted.status == 0)
    (directory / "small.toml").write_text(SCENARIO)
    kind = "rate-trace" if ending == ".csv" else "trace"
    link = f'bottleneck.link={{kind = "{kind}", file = "fuzz{ending}"}}'
    words = ("run", str(directory / "small.toml"), "--set", link, "--set", "duration=2 s", "--json")
    ran = call(*words, "--reps", "1")
    is_accepted_or_refused(ran)
    if described.status == 2:
        assert ran.status == 2
