"""`airpath emulate` with a replacement of airpath-emu: tables, files, exit statuses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import airpath as ap
from airpath.cli.emulate import _with_prompt
from forked import airpath_words

Fake = Callable[..., Path]
Call = Callable[..., tuple[int, str, str]]


def test_flows_print_the_tables_of_run_and_the_validity_report(fake: Fake, command: Call) -> None:
    fake()
    status, out, err = command("s.toml", "--seed", "3")
    assert status == 0
    for title in ("Flows", "Queues", "Links", "Validity", "Settings that the kernel does not have"):
        assert f"\n{title}\n" in out
    assert "0.100 ms" in out  # 99th percentile of the lateness in the fake report
    assert "1.0 s of 4 s: rate 9.70 Mbit/s" in err
    assert "late p99 0.10 ms" in err


def test_live_view_keeps_tables(fake: Fake, command: Call) -> None:
    fake()
    status, out, _ = command("s.toml", "--live")
    assert status == 0
    assert "\nValidity\n" in out


def test_json_output_is_one_document(fake: Fake, command: Call) -> None:
    fake()
    status, out, _ = command("s.toml", "--json", "--reps", "2", "--no-live")
    document = json.loads(out)
    assert status == 0
    assert document["engine"] == "emulate"
    assert len(document["validity_reports"]) == 2


def test_output_directory_contains_results(fake: Fake, command: Call, tmp_path: Path) -> None:
    fake()
    status, _, err = command("s.toml", "--out", "out", "--capture", "--no-plot")
    assert status == 0
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"result.json", "flows.csv", "series-queue.csv", "ss.csv", "server.pcapng"} <= names
    assert "written: out/server.pcapng" in err
    scenario = (tmp_path / "out" / "scenario.toml").read_text()
    assert "airpath emulate scenario.toml --seed 1 --reps 1" in scenario


def test_figures_are_plotted(fake: Fake, command: Call, tmp_path: Path) -> None:
    fake()
    assert command("s.toml", "--out", "out")[0] == 0
    assert (tmp_path / "out" / "timeline.png").stat().st_size > 10_000


def test_invalid_validity_report_has_its_own_exit_status(fake: Fake, command: Call) -> None:
    fake(validity={"valid": False, "reasons": ["packets were late"]})
    status, out, _ = command("s.toml")
    assert status == 3
    assert "INVALID: packets were late" in out.splitlines()[:3]
    assert json.loads(command("s.toml", "--json")[1])["valid"] is False


@pytest.mark.parametrize(
    ("otherwise", "expected"),
    [
        ({"command": 0}, 0),
        ({"command": 7}, 7),
        ({"validity": {"valid": False}, "command": 0}, 3),
        ({"validity": {"valid": False}, "command": 7}, 7),
        ({"failed": {"what": "command", "message": "x: not found"}}, 1),
        ({"failed": {"what": "scenario", "message": "x", "status": 2}}, 2),
    ],
)
def test_exit_status_of_command_is_returned(
    fake: Fake, command: Call, otherwise: dict, expected: int
) -> None:
    fake(**otherwise)
    status, out, err = command("s.toml", "--", "some", "--program")
    assert status == expected
    assert out == ""
    if "failed" not in otherwise:
        assert "\nQueues\n" in err
        assert "\nValidity\n" in err
        assert "\nFlows\n" not in err


def test_options_of_a_command_are_passed_to_it(fake: Fake, command: Call) -> None:
    seen = fake()
    command("s.toml", "--server", "iperf3 -s '-1 x'", "--duration", "2s", "--", "a", "--seed", "b")
    traffic = json.loads(seen.read_text())["document"]["traffic"]
    assert traffic["client"] == ["a", "--seed", "b"]
    assert traffic["server"] == ["iperf3", "-s", "-1 x"]
    assert traffic["duration_ns"] == 2 * 10**9


def test_shell_is_started_on_request(
    fake: Fake, command: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = fake()
    monkeypatch.setenv("SHELL", "/bin/dash")
    command("s.toml", "--shell", "--host-network", "--keep-privileges")
    document = json.loads(seen.read_text())["document"]
    name = ap.load("s.toml").name
    assert document["traffic"]["client"] == ["env", f"PS1=[airpath: {name}] $ ", "/bin/dash", "-i"]
    assert (document["host_network"], document["keep_privileges"]) == (True, True)


@pytest.mark.parametrize("shell", ["/bin/bash", "/bin/sh"])
def test_prompt_of_a_shell_names_the_scenario(
    shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression test: shells with and without the modelled link had the same prompt."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".bashrc").write_text("PS1='mine '\n")
    words = _with_prompt([shell, "-i"], "a $(touch x) `y` \\n!")
    done = subprocess.run(
        words, input='echo "<$PS1>"\n', capture_output=True, text=True, check=False
    )
    prompt = "mine " if shell.endswith("bash") else "$ "
    assert f"<[airpath: a __touch x_ _y_ _n_] {prompt}>\n" in done.stdout


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ((), "airpath emulate: no scenario. Use its file, or --check."),
        (("s.toml", "--capture"), "--capture: needs a directory. Use --out DIR as well."),
        (("s.toml", "--server", "x"), "--server: needs a command. Use -- COMMAND, or --shell."),
        (
            ("s.toml", "--host-network"),
            "--host-network: needs a command. Use -- COMMAND, or --shell.",
        ),
        (("s.toml", "--reps", "2", "--", "x"), "--reps: has no effect on a command, which"),
        (("s.toml", "--json", "--", "x"), "--json: standard output is the command's. Use --out"),
        (("s.toml", "--shell", "x"), "--shell: conflicts with a command. Use one of them."),
        (("s.toml", "--server", "'", "--", "x"), "--server: No closing quotation."),
        (("s.toml", "--reps", "0"), "--reps: 0: below 1."),
        (("s.toml", "--duration", "0s", "--", "x"), '--duration: "0s": not above 0.'),
        (("s.toml", "--set", "flows.0.cc=vcp"), 's.toml: flows.0.cc = "vcp": not a congestion'),
        (("nothing.toml",), "nothing.toml: cannot be read"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_invalid_combinations_are_rejected(
    fake: Fake, command: Call, words: tuple[str, ...], line: str
) -> None:
    seen = fake()
    status, out, err = command(*words)
    assert (status, out) == (2, "")
    assert line in err
    assert not seen.exists()


def test_check_prints_table(fake: Fake, command: Call) -> None:
    fake()
    status, out, _ = command("--check")
    assert status == 1
    rows = [line.split() for line in out.splitlines()]
    assert ["cubic", "absent", "no", "modprobe", "tcp_cubic"] in rows
    assert json.loads(command("--check", "--json")[1])["ok"] is False


def test_ctrl_c_keeps_results(fake: Fake, command: Call, tmp_path: Path) -> None:
    fake(linger=True)
    line = airpath_words("emulate", "s.toml", "--out", "out", "--no-plot")
    with subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as child:
        assert child.stderr is not None
        assert "1.0 s of 4 s" in child.stderr.readline()
        os.kill(child.pid, signal.SIGINT)
        out, err = child.communicate()
    assert child.returncode == 130, err
    assert "Interrupted: 1 of 1 replications have results" in err
    assert "\nQueues\n" in out
    assert json.loads((tmp_path / "out" / "result.json").read_text())["complete"] is False
