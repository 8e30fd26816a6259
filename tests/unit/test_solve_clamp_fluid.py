"""CLAMP's fluid model: results, messages, and comparison with packet simulation."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import airpath as ap
from airpath.scenario import loads
from forked import airpath_words

FILE = """\
duration = "60 s"
[bottleneck]
aqm = {kind = "clamp", a = "5500 B", inner = {kind = "droptail", limit = "6 MB"}}
link = {kind = "fixed", rate = "10 Mbit/s"}
[[flows]]
count = 2
cc = "newreno"
base_rtt = "50 ms"
window = {kind = "clamp"}
tcp = {receive_window = "6 MB"}
"""


def solved(*settings: tuple[str, str], **keys: Any) -> ap.solutions.ClampFluid:
    found = ap.solve(loads(FILE, overrides=list(settings)), **keys)
    assert isinstance(found, ap.solutions.ClampFluid)
    return found


def test_result_matches_figure_2_for_two_flows() -> None:
    found = solved()
    assert found.queue_bytes == pytest.approx(6500)
    assert found.queue_delay_s == pytest.approx(0.0052)
    assert found.price_s == pytest.approx(1000 / 1.25e6)
    assert found.throughput_bps == pytest.approx(10e6)
    assert [flow.window_bytes for flow in found.flows] == pytest.approx([33_580, 33_580])
    assert found.stability["b"] == 1
    assert found.stability["limit"] == pytest.approx(np.pi / 2, rel=1e-4)
    # D s (1 + sT) + b e^(−sd) is 0 at s = jω, with D = 0.973 (d + q/μ_c) at that b.
    limit = found.stability["limit_average"]
    assert limit is not None
    omega = 1.0
    for _ in range(50):
        omega = np.sqrt(np.arctan(0.1 / (0.05 * omega)) / 0.05 * omega)
    gain = np.abs(1j * omega * (1 + 0.5j * omega)) * 1460 / 1500
    assert limit == pytest.approx(gain * (0.05 + 0.0052 / limit), rel=1e-5)
    assert f"with the queue's average below {limit:.3f}" in found.lines()[1]
    document = json.loads(found.to_json())
    assert document["model"] == "clamp-fluid"
    assert "trajectory" not in document
    assert found.trajectory_table().empty
    assert found.lines()[0].startswith("throughput 10.00 Mbit/s (IP packets), queue 6500 B")


@pytest.mark.parametrize("trajectory", ["40 s", 40])
def test_trajectory_has_a_row_for_each_time(trajectory: Any) -> None:
    table = solved(trajectory=trajectory).trajectory_table()
    flows = [f"{name}_{flow}" for flow in (0, 1) for name in ("throughput_bps", "window_bytes")]
    assert table.columns.tolist() == ["time_s", "queue_bytes", "price_s", *flows]
    assert 1000 < len(table) <= 2001
    last = table.iloc[-1]
    assert last["time_s"] == pytest.approx(40, abs=0.05)
    assert last["queue_bytes"] == pytest.approx(6500, rel=1e-3)
    assert last["throughput_bps_1"] == pytest.approx(5e6, rel=1e-3)
    assert table["window_bytes_0"].iloc[0] == pytest.approx(1460)


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ({"trajectory": "0 s"}, 'trajectory = "0 s": not above 0. Use a duration above 0.'),
        (
            {"trajectory": "9 s", "model": "fixed-point"},
            'trajectory = "9 s": model fixed-point has none. Only clamp-fluid has trajectories.',
        ),
        ({"trajectory": "40000 days"}, "trajectory = "),
        ({"trajectory": "1000 h"}, "trajectory_s = 3600000: must be at most 20 million steps"),
    ],
)
def test_invalid_trajectory_is_reported_in_one_line(keys: dict[str, str], line: str) -> None:
    with pytest.raises(ap.errors.BadValueError) as caught:
        solved(**keys)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("bottleneck.link.errors", '{kind = "independent", loss = 0.1}'),
        ("bottleneck.link.loss", "0.01"),
        ("flows.0.size", '"1 MB"'),
        ("flows.0.start", '{uniform = ["0 s", "1 s"]}'),
        ("flows.0.tcp.receive_window", '"20 kB"'),
        ("flows.0.access", '{rate = "2 Mbit/s"}'),
    ],
)
def test_uncovered_key_is_rejected_by_name(key: str, value: str) -> None:
    with pytest.raises(ap.errors.BadValueError) as caught:
        solved((key, value))
    line = str(caught.value)
    assert f": {key}" in line
    assert "no analytic model covers it. Covered: " in line
    assert "\n" not in line


def test_command_writes_the_document_and_the_trajectory(tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(FILE)
    command = airpath_words("solve", "two.toml", "--trajectory", "5 s")

    def run(*words: str) -> Any:
        return subprocess.run(
            [*command, *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    refused = run()
    assert (refused.returncode, refused.stdout) == (2, "")
    line = "--trajectory: needs a directory or a document. Use --out DIR or --json as well.\n"
    assert refused.stderr == line
    answer = run("--out", "fluid")
    assert answer.returncode == 0
    assert answer.stdout.startswith("two, model clamp-fluid\n")
    found = sorted(path.name for path in (tmp_path / "fluid").iterdir())
    assert found == ["solution.json", "trajectory.csv"]
    document = json.loads((tmp_path / "fluid" / "solution.json").read_text())
    times = document["trajectory"]["time_s"]
    rows = (tmp_path / "fluid" / "trajectory.csv").read_text().splitlines()
    assert rows[0].startswith("time_s,queue_bytes,price_s,throughput_bps_0,window_bytes_0,")
    assert len(rows) == 1 + len(times)
    assert json.loads(run("--json").stdout)["trajectory"]["time_s"] == times


# --- compared with packet simulation -----------------------------------------------------------


def windows(window_bytes: float) -> tuple[ap.solutions.ClampFluid, np.ndarray, float]:
    """Solve and simulate two flows with this equilibrium window.

    Returns the solution, the first flow's window each 100 ms from 150 to 300 s, and the mean queue,
    bytes.
    """
    rtt_ms = (2 * window_bytes * 1500 / 1460 - 6500) / 1250
    flow = {
        "cc": "newreno",
        "count": 2,
        "base_rtt": f"{rtt_ms:.3f} ms",
        "window": {"kind": "clamp"},
        "tcp": {
            "receive_window": "6 MB",
            "initial_window": "1 segments",
            "delayed_ack_segments": 1,
        },
    }
    scenario = ap.Scenario(
        flows=[flow],
        bottleneck=ap.Bottleneck(
            aqm=ap.aqm.Clamp(a="5500 B", inner=ap.aqm.DropTail(limit="6 MB")),
            link=ap.link.Fixed(rate="10 Mbit/s"),
        ),
        duration="300 s",
        warmup="150 s",
        record={"series": ["awnd"], "interval": "100 ms"},
    )
    solution = ap.solve(scenario)
    assert isinstance(solution, ap.solutions.ClampFluid)
    run = ap.simulate(scenario, reps=1)
    series = run.series("awnd")
    series = series[(series["id"] == 0)]
    found = np.interp(np.arange(150, 300, 0.1), series["time_s"], series["value"])
    return solution, found, float(run.table("queues")["clamp_queue_bytes"].iloc[0])


def test_windows_above_the_limit_have_the_equilibrium_of_the_model() -> None:
    for window in (14_000, 20_000):
        solution, found, queue = windows(window)
        assert solution.warnings == []
        assert solution.flows[0].window_bytes == pytest.approx(window, rel=1e-3)
        assert found.mean() == pytest.approx(window, rel=0.05)
        assert found.std() < 0.08 * found.mean()
        assert queue == pytest.approx(solution.queue_bytes, rel=0.03)


@pytest.mark.filterwarnings("ignore::airpath.errors.ModelWarning")
def test_windows_below_the_limit_oscillate_with_twice_the_averaging_time() -> None:
    for window, swing in ((11_000, 0.3), (12_000, 0.1)):
        solution, found, queue = windows(window)
        (warning,) = solution.warnings
        assert "windows of at most 12328 B oscillate with a period of 4.800 s" in warning
        assert found.std() > swing * found.mean()
        power = np.abs(np.fft.rfft(found - found.mean(), 1 << 14)) ** 2
        period_s = 0.1 * (1 << 14) / power.argmax()
        assert period_s == pytest.approx(4.8, rel=0.1)
        assert queue == pytest.approx(solution.queue_bytes, rel=0.05)
