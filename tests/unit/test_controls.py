"""Scheduled changes of hops: keys, rules, resolved form, and files of schedules."""

from __future__ import annotations

import hashlib
import json
import runpy
from pathlib import Path

import pytest

import airpath as ap
from airpath.engine.resolved import ResolvedScenario
from airpath.errors import ScenarioError
from airpath.scenario import load, loads

ROOT = Path(__file__).parents[2]

PATH = """
duration = "4 s"
[[hops]]
name = "dsl"
wire = {rate = "50 Mbit/s", delay = "5 ms"}
[[hops]]
name = "core"
wire = {rate = "20 Mbit/s", delay = "1 ms", limit = "9 packets"}
[[hops]]
name = "air"
down = {link = {kind = "fixed", rate = "6 Mbit/s"}, delay = "7 ms"}
[[hops]]
name = "roof"
link = {kind = "multi-regime", thresholds = [9], regimes = REGIMES}
[[flows]]
base_rtt = "60 ms"
""".replace("REGIMES", '[{rate = "1 Mbit/s", per = 0}, {rate = "2 Mbit/s", per = 0.1}]')


def with_control(keys: str) -> ap.Scenario:
    """Return a scenario with one entry, or several entries separated by ``---``."""
    entries = "".join(f"[[control]]\n{entry}\n" for entry in keys.split("---"))
    return loads(PATH + entries)


AT = 'at = "1 s"\n'


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ('rate = "1 Mbit/s"', "control.0.at: missing"),
        (AT, "control.0.rate: missing"),
        (AT + 'hop = "moon"\nrate = "1 Mbit/s"', 'control.0.hop = "moon": no hop has this name'),
        (AT + 'hop = "dsl"\nrate = "1 Mbit/s"', 'control.0.hop = "dsl": the hop has no link'),
        (AT + 'hop = "dsl"\ninterruption = "1 ms"', 'control.0.hop = "dsl": the hop has no link'),
        (AT + 'hop = "core"\nloss = 0.1', "control.0.loss = 0.1: a wire loses no packets"),
        (
            AT + 'hop = "core"\nuser = 1\nsnr = "3 dB"',
            "control.0.user = 1: the hop has no stations",
        ),
        (
            AT + 'hop = "roof"\nloss = 0.1',
            'control.0.loss = 0.1: a link of kind "multi-regime" has',
        ),
        (AT + 'hop = "air"\nloss = 1.5', "control.0.loss = 1.5: not a probability"),
        (
            AT + 'hop = "air"\ndirection = "reverse"\ndelay = "1 ms"',
            'control.0.direction = "reverse": the hop has no link in this direction',
        ),
        (AT + 'direction = "up"\ndelay = "1 ms"', 'control.0.direction = "up"'),
        (AT + 'interruption = "0 s"', 'control.0.interruption = "0 s": not above 0 s'),
        (AT + 'rate = "1 Mbit/s"\npackets = "lose"', 'control.0.packets = "lose": has no effect'),
        (
            AT + 'interruption = "1 ms"\nforward_delay = "1 ms"',
            'control.0.forward_delay = "1 ms": has no effect with packets = "keep"',
        ),
        (AT + 'interruption = "1 ms"\npackets = "drop"', 'control.0.packets = "drop"'),
        (
            AT + 'interruption = "1 s"\n---\nat = "1.5 s"\ninterruption = "1 ms"',
            'control.1.at = "1.5 s": before the end of the interruption before it. Use at',
        ),
        (
            AT + 'schedule = "a.csv"\ndelay = "1 ms"',
            'control.0.schedule = "a.csv": set together with',
        ),
        (AT + 'schedule = "none.csv"', "control.0.schedule = "),
        (
            AT + 'user = 0\ndelay = "1 ms"\nsnr = "1 dB"',
            'control.0.delay = "1 ms": the delay applies',
        ),
        ('at = "5 s"\ndelay = "1 ms"', "control.0.at = "),
        (AT + 'interruption = "3500 ms"\nrate = "1 bit/s"', "ends after the run"),
    ],
)
def test_wrong_controls_have_one_message(keys: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        with_control(keys).resolve()
    lines = str(caught.value).splitlines()
    assert len(lines) == 1
    assert message in lines[0].replace("'", '"')


def actions(scenario: ap.Scenario) -> list[tuple[float, str | None, dict[str, object]]]:
    resolved = ResolvedScenario.from_json(scenario.resolve()[0])
    return [
        (each["at_ns"] / 1e9, each.get("hop"), each["action"])
        for each in resolved.document["controls"]
    ]


def test_other_changes_of_an_entry_follow_its_interruption() -> None:
    scenario = with_control(
        AT + 'hop = "air"\ninterruption = "50 ms"\npackets = "forward"\nforward_delay = "5 ms"\n'
        'rate = "3 Mbit/s"\nloss = 0.25\ndelay = "9 ms"\ndirection = "forward"'
    )
    interruption = {"kind": "interruption", "duration_ns": 50_000_000, "packets": "forward"}
    there = {"direction": "forward"}
    assert actions(scenario) == [
        (1.0, "air", {**interruption, "forward_delay_ns": 5_000_000, **there}),
        (1.05, "air", {"kind": "rate", "rate_bps": 3_000_000, **there}),
        (1.05, "air", {"kind": "loss", "loss": 0.25, **there}),
        (1.05, "air", {"kind": "delay", "delay_ns": 9_000_000, **there}),
    ]
    resolved = ResolvedScenario.from_json(scenario.resolve()[0])
    assert resolved.phase_starts_s == [1.0, 1.05]


def test_interruption_divides_phases_and_counts_its_drops() -> None:
    scenario = loads(
        """
        duration = "4 s"
        [[hops]]
        name = "air"
        link = {kind = "fixed", rate = "6 Mbit/s"}
        aqm = {kind = "droptail", limit = "20 packets"}
        [[control]]
        at = "2 s"
        hop = "air"
        interruption = "500 ms"
        packets = "lose"
        rate = "3 Mbit/s"
        [[flows]]
        source = "cbr"
        rate = "2400 kbit/s"
        packet = "1500 B"
        """
    )
    result = ap.simulate(scenario, reps=1)
    phases = result.table("phases")
    # A packet every 5 ms: 100 packets are lost.
    assert phases["from_s"].tolist() == [0, 2, 2.5]
    assert phases["goodput_bps"].tolist()[1] == 0
    drops = {queue["name"]: queue["drops"] for queue in result.replications[0]["queues"]}
    assert drops["air"]["interruption"] == 100


def schedule_scenario(directory: Path, text: str) -> ap.Scenario:
    (directory / "delays.csv").write_text(text, encoding="utf-8")
    file = directory / "path.toml"
    entry = '[[control]]\nhop = "air"\nschedule = "delays.csv"\n'
    file.write_text(PATH + entry, encoding="utf-8")
    return load(file)


def test_schedule_is_inline_and_its_file_is_in_the_provenance(tmp_path: Path) -> None:
    text = "# by hand\ntime_s,delay_s\n0,0.02\n1.5,0.0300001\n"
    scenario = schedule_scenario(tmp_path, text)
    document = json.loads(scenario.resolve()[0])
    action = document["controls"][0]["action"]
    assert action["points"] == [[0, 20_000_000], [1_500_000_000, 30_000_100]]
    assert ResolvedScenario(document).changes == []
    result = ap.simulate(scenario, reps=1)
    stored = result.provenance["traces"]["delays.csv"]
    assert stored["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert result.table("phases").empty


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "delays.csv:1: '' is not the header. Use time_s,delay_s"),
        ("time,delay\n0,1\n", "delays.csv:1: 'time,delay' is not the header. Use time_s,delay_s"),
        ("time_s,delay_s\n", "delays.csv: no rows after the header. Use at least one"),
        ("time_s,delay_s\n0,1\n0,2\n", "delays.csv:3: time_s = 0: not after the time before, 0"),
        ("time_s,delay_s\n0,1\n1\n", "delays.csv:3: '1': not two numbers. Use time_s,delay_s"),
        ("time_s,delay_s\n0,a\n", "delays.csv:2: delay_s = a: not a number"),
        ("time_s,delay_s\n0,-1\n", "delays.csv:2: delay_s = -1: must be from 0 to 1000000"),
        ("time_s,delay_s\n0,nan\n", "delays.csv:2: delay_s = nan: must be from 0 to 1000000"),
    ],
)
def test_wrong_schedule_file_has_one_message(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        schedule_scenario(tmp_path, text).resolve()
    lines = str(caught.value).splitlines()
    assert len(lines) == 1
    assert message in lines[0]


def test_leo_file_is_that_of_the_script() -> None:
    made = runpy.run_path(str(ROOT / "scripts" / "make-leo-delays"), run_name="leo")
    file = Path(ap.__file__).parent / "examples" / "traces" / "leo.csv"
    rows = [line for line in file.read_text(encoding="utf-8").splitlines() if line[0].isdigit()]
    assert rows == [f"{step * 0.1:.1f},{made['delay_s'](step):.6f}" for step in range(3000)]
    delays = [float(row.split(",")[1]) for row in rows]
    assert 0.015 < min(delays) < max(delays) < 0.040
