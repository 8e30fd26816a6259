"""Short emulations with the real program and the real kernel, if this machine supports them.

Results that depend on time are checked only for valid runs.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import airpath as ap
from airpath.cli import main
from emulator import cannot_emulate, has_control, judged
from forked import airpath_words
from waiting import wait_until

pytestmark = pytest.mark.realtime

LINK = {"kind": "fixed", "rate": "10 Mbit/s", "delay": "5 ms"}


@pytest.fixture(autouse=True)
def _it_can_be_done() -> None:
    if reason := cannot_emulate():
        pytest.skip(reason)


def _scenario(*flows: dict[str, Any], **keys: Any) -> ap.Scenario:
    return ap.Scenario(
        **{"name": "smoke", "duration": "3 s", "warmup": "1 s"} | keys,
        bottleneck={"aqm": "droptail", "link": LINK},
        flows=[{"base_rtt": "30 ms", **flow} for flow in flows or ({"cc": "cubic"},)],
    )


def _plausible(result: ap.Result) -> float:
    """Return the goodput in Mbit/s; the link of 10 Mbit/s must not have been idle."""
    goodput = result.intervals("flows")[-1]["goodput_bps"].mean / 1e6
    # Packets that are late at the start of measurement count in the measured time.
    late_s = max(validity["lateness_max_s"] for validity in result.validity_reports)
    assert (
        0.5 < goodput <= 10 * 1460 / 1500 * (1.01 + late_s / result.replications[0]["measured_s"])
    )
    return float(goodput)


def _invalid(result: ap.Result) -> list[str]:
    return list(result.invalid)


def _in_a_file(tmp_path: Path, **keys: Any) -> str:
    path = tmp_path / "s.toml"
    path.write_text(_scenario(**keys).to_toml())
    return str(path)


# --- the scenario's flows -------------------------------------------------------------------------


@pytest.mark.parametrize("profile", ["linux", "rfc", "ns3-2014"])
def test_flows_over_kernel_tcp_fill_link(profile: str) -> None:
    flow = {"profile": profile, "cc": "reno", "count": 2, "start": {"uniform": ["0 s", "100 ms"]}}
    record = {"series": ["queue", "cwnd"], "ss": True, "ss_interval": "50 ms"}

    def run() -> ap.Result:
        result = ap.emulate(_scenario(flow, record=record), seed=2)
        # Each setting was read back and has the configured value.
        configured = result.kernel["settings"]["sysctls"]
        for side in ("server", "client"):
            found = result.kernel["sysctls"][side]
            assert {name: found[name].split() for name in configured} == {
                name: text.split() for name, text in configured.items()
            }
        assert set(result.kernel["congestion"].values()) == {"reno"}
        json.loads(result.to_json(raw=True))
        return result

    result = judged(run, _invalid)
    assert _plausible(result) > 7
    (validity,) = result.validity_reports
    assert validity["class"] in ("fifo", "other")
    assert validity["packets"] > 1000
    ss = result.ss()
    assert set(ss["flow"]) == {0, 1}
    assert ss["cwnd"].max() > 2
    assert len(result.series("queue")) > 100
    assert result.table("queues")["departed"].iloc[0] > 1000


def test_replications_have_intervals(tmp_path: Path) -> None:
    def run() -> ap.Result:
        result = ap.emulate(_scenario(duration="2 s"), reps=2, capture_to=tmp_path / "out")
        assert result.intervals("flows")[-1]["goodput_bps"].reps == 2
        result.save(tmp_path / "out", figure_formats=None)
        assert ap.load_result(tmp_path / "out").validity_reports == result.validity_reports
        return result

    judged(run, _invalid)
    for side in ("server", "client"):
        assert (tmp_path / "out" / f"{side}.pcapng").stat().st_size > 100_000


def test_bbr_runs_if_kernel_supports_it() -> None:
    if not has_control("bbr"):
        pytest.skip("this kernel has no bbr")

    def run() -> ap.Result:
        result = ap.emulate(_scenario({"cc": "bbr1", "profile": "linux"}))
        assert set(result.kernel["congestion"].values()) == {"bbr"}
        return result

    _plausible(judged(run, _invalid))


def test_transfer_completes() -> None:
    scenario = _scenario(
        {"cc": "cubic", "profile": "linux", "size": "500 kB"}, duration="3 s", warmup="0 s"
    )
    result = judged(lambda: ap.emulate(scenario), _invalid)
    flow = result.table("flows").iloc[0]
    # 500 kB take 0.4 s at 10 Mbit/s, plus some round trips.
    assert 0.4 < flow["completed_at_s"] - flow["start_s"] < 2.5


def test_ctrl_c_keeps_finished_results(tmp_path: Path) -> None:
    file = _in_a_file(tmp_path, duration="60 s")
    line = airpath_words("emulate", file, "--json", "--no-live")
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stderr is not None
        # A run prints ten lines; a busy machine omits some of them.
        matches = (re.match(r"([\d.]+) s of", line) for line in child.stderr)
        assert any(found and float(found[1]) >= 2 for found in matches)
        os.kill(child.pid, signal.SIGINT)
        out, err = child.communicate()
    assert child.returncode == 130, err
    document = json.loads(out)
    assert document["complete"] is False
    assert document["summary"]["goodput_bps"]["mean"] > 0


# --- commands -------------------------------------------------------------------------------------


def _ran(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    capfd.readouterr()
    return (main(["emulate", *words]), *capfd.readouterr())


def test_command_reaches_the_server(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    if reason := cannot_emulate("ping"):
        pytest.skip(reason)
    file = _in_a_file(tmp_path)
    ping = ["ping", "-c", "5", "-i", "0.2", "-q", "100.64.0.1"]

    def run() -> tuple[str, list[str]]:
        status, out, err = _ran(capfd, file, "--out", str(tmp_path / "out"), "--", *ping)
        document = json.loads((tmp_path / "out" / "result.json").read_text())
        assert status == (0 if document["valid"] else 3), err
        assert document["ended"]["status"] == 0
        assert "\nValidity\n" in err
        return out, document["invalid"]

    out, _ = judged(run, lambda found: found[1])
    assert "5 packets transmitted, 5 received" in out
    # The smallest RTT is that of the path; larger RTTs also depend on the load of the machine.
    least = float(out.rpartition("= ")[2].split("/")[0])
    assert 30 <= least < 40
    document = json.loads((tmp_path / "out" / "result.json").read_text())
    assert document["queues"][0]["departed"]["mean"] >= 5


def test_programs_at_both_ends_communicate(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    server = (
        "import socket; s = socket.create_server(('100.64.0.1', 5000)); c, _ = s.accept(); "
        "c.sendall(bytes(500_000)); c.close()"
    )
    client = (
        "import socket\n"
        "while True:\n"
        "    try:\n"
        "        c = socket.create_connection(('100.64.0.1', 5000))\n"
        "        break\n"
        "    except ConnectionRefusedError:\n"
        "        continue  # A refusal takes a round trip.\n"
        "n = 0\n"
        "while data := c.recv(65536):\n"
        "    n += len(data)\n"
        "print(n)\n"
    )
    quoted = f'{sys.executable} -c "{server}"'
    status, out, err = _ran(
        capfd, _in_a_file(tmp_path), "--server", quoted, "--duration", "1000s", "--",
        sys.executable, "-c", client,
    )  # fmt: skip
    assert status in (0, 3), err
    assert out == "500000\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [(["sh", "-c", "exit 7"], 7), (["sh", "-c", "kill -9 $$"], 137)],
    ids=["status", "signal"],
)
def test_exit_status_is_that_of_command(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], words: list[str], expected: int
) -> None:
    status, _, err = _ran(capfd, _in_a_file(tmp_path), "--", *words)
    assert status == expected, err


def test_missing_command_is_reported(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, _, err = _ran(capfd, _in_a_file(tmp_path), "--", "no-such-program")
    assert status in (1, 127)
    assert "no-such-program" in err


def test_duration_ends_a_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    words = ["--out", str(out), "--duration", "1s", "--", "sleep", "100000"]
    status, _, err = _ran(capfd, _in_a_file(tmp_path), *words)
    assert status in (0, 3), err
    assert json.loads((out / "result.json").read_text())["ended"]["reason"] == "duration"


# --- remaining processes and files ----------------------------------------------------------------


def _processes(mark: str) -> dict[int, str]:
    """Return the programs, by process ID, whose environment contains `mark`."""
    names = {}
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark.encode() in (path / "environ").read_bytes():
                names[int(path.name)] = (path / "comm").read_text().strip()
    return names


@pytest.mark.parametrize(
    ("command", "killed"), [(False, "python"), (True, "python"), (True, "airpath-emu")]
)
def test_kill_leaves_no_processes_or_files(tmp_path: Path, command: bool, killed: str) -> None:
    """After SIGKILL of `airpath` or `airpath-emu`, no process remains, and therefore no namespace,
    device or file.
    """
    words = ["--", "sh", "-c", "sleep 1000; :"] if command else ["--out", "out", "--capture"]
    line = [sys.executable, "-m", "airpath", "emulate", _in_a_file(tmp_path, duration="1000 s")]
    temporary, mark = tmp_path / "tmp", f"AIRPATH_KILLED={tmp_path}"
    temporary.mkdir()
    environment = dict([mark.split("=", 1)])
    environment |= {**os.environ, "PYTHONPATH": str(Path(ap.__file__).parents[1])}
    environment["TMPDIR"] = str(temporary)
    with subprocess.Popen(
        [*line, *words], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True
    ) as child:
        last = "sleep" if command else "airpath-emu"
        wait_until(lambda: last in _processes(mark).values(), child)
        assert child.stderr is not None
        if not command:
            child.stderr.readline()  # The first progress line: the run has started.
        assert list(temporary.iterdir()) == []
        named = {name: number for number, name in _processes(mark).items()}
        os.kill(child.pid if killed == "python" else named["airpath-emu"], signal.SIGKILL)
        child.stderr.read()
    wait_until(lambda: not _processes(mark))
    assert list(temporary.iterdir()) == []
    assert list((tmp_path / "out").glob("*")) == []
