"""`airpath.emulate` with a replacement of airpath-emu: results, validity, errors, interruption."""

from __future__ import annotations

import json
import math
import os
import pickle
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

import airpath as ap
from airpath.emulation import process
from airpath.errors import BadValueError, RunError
from emulator import judged

Fake = Callable[..., Path]


def _lines(seen: Path) -> list[dict]:
    return [json.loads(line) for line in seen.read_text().splitlines()]


# --- results --------------------------------------------------------------------------------------


def test_result_has_tables_of_a_simulation(fake: Fake, scenario: ap.Scenario) -> None:
    seen = fake()
    result = ap.emulate(scenario, seed=3, reps=2)
    assert result.engine == "emulate"
    assert result.valid
    assert len(result.validity_reports) == 2
    simulated = ap.simulate(scenario, seed=3, reps=2)
    for table in ("flows", "queues", "links", "groups"):
        actual, expected = result.table(table), simulated.table(table)
        assert list(actual.columns) == list(expected.columns)
        assert actual.equals(expected)
    assert result.series("queue", 1).equals(simulated.series("queue", 1))
    assert result.ss(1).equals(simulated.ss(1))
    assert [line["document"]["replication"] for line in _lines(seen)] == [0, 1]
    assert result.provenance["engine"] == "emulate"
    assert any(line["option"] == "tcp.window_growth" for line in result.kernel["not_applied"])
    assert result.kernel["release"] == "6.18"
    assert result.kernel["counters"] == {"server": {"TcpExt.TCPTimeouts": [2, 3]}}


def test_quantities_unknown_to_the_kernel_are_missing_everywhere(
    fake: Fake, scenario: ap.Scenario, tmp_path: Path
) -> None:
    fake(without=["fast_retransmits", "mean_rtt_s", "duplicate_packets", "cwnd_limited_share"])
    result = ap.emulate(scenario, reps=2)
    assert result.table("flows")["fast_retransmits"].isna().all()
    assert result.intervals("flows")[-1]["fast_retransmits"].reps == 0
    assert math.isnan(result.intervals("flows")[-1]["mean_rtt_s"].mean)
    assert result.intervals("flows")[-1]["goodput_bps"].reps == 2
    document = json.loads(result.to_json(raw=True))
    assert document["summary"]["fast_retransmits"]["mean"] is None
    result.save(tmp_path / "out", figure_formats=None)
    again = ap.load_result(tmp_path / "out")
    assert again.table("flows")["fast_retransmits"].isna().all()
    assert "–" in result._repr_html_()


def test_bad_validity_report_marks_result_invalid(
    fake: Fake, scenario: ap.Scenario, tmp_path: Path
) -> None:
    reason = "99 % of packets were up to 9 ms late, more than 5 % of the base RTT of 30 ms"
    fake(validity={"valid": False, "reasons": [reason]})
    result = ap.emulate(scenario)
    assert not result.valid
    assert result.invalid == [reason]
    assert f"INVALID ({reason})" in repr(result)
    assert f"INVALID: {reason}" in result._repr_html_()
    assert result.title == "scenario (INVALID)"
    document = result.to_dict()
    assert (document["valid"], document["invalid"]) == (False, [reason])
    result.save(tmp_path / "out", figure_formats=None)
    assert f"# INVALID: {reason}\n" in (tmp_path / "out" / "flows.csv").read_text()
    again = ap.load_result(tmp_path / "out")
    assert again.invalid == [reason]
    assert again.engine == "emulate"
    assert pickle.loads(pickle.dumps(result)).invalid == [reason]


def test_validity_report_without_verdict_is_invalid(fake: Fake, scenario: ap.Scenario) -> None:
    fake(validity={"valid": False, "reasons": []})
    assert ap.emulate(scenario, reps=2).invalid == [
        "replication 0: no reason was given",
        "replication 1: no reason was given",
    ]


def test_first_replication_is_captured(fake: Fake, scenario: ap.Scenario, tmp_path: Path) -> None:
    seen = fake()
    result = ap.emulate(scenario, reps=2, capture_to=tmp_path / "out")
    assert sorted(result.captures) == ["client", "server"]
    assert (tmp_path / "out" / "server.pcapng").read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"
    captured = ["--server-capture" in line["arguments"] for line in _lines(seen)]
    assert captured == [True, False]


def test_progress_is_a_fraction_of_all_replications(fake: Fake, scenario: ap.Scenario) -> None:
    fake()
    reports: list[tuple[float, str]] = []
    ap.emulate(scenario, reps=2, progress=lambda *report: reports.append(report))
    text = "emulating in real time, replication"
    # The replacement reports progress at 1 s of 4 s.
    assert reports == [(0.125, f"{text} 1 of 2"), (0.625, f"{text} 2 of 2")]


def test_run_is_judged_only_by_its_validity_report() -> None:
    runs = iter([["late"], [], ["late"]])
    assert judged(lambda: next(runs), lambda reasons: reasons) == []
    skipped = "not judged: run invalid in 3 runs; in the last: late"
    with pytest.raises(pytest.skip.Exception, match=skipped):
        judged(lambda: ["late"], lambda reasons: reasons)
    assert next(runs) == ["late"]


# --- errors ---------------------------------------------------------------------------------------


def test_missing_program_is_reported_with_its_fix(
    monkeypatch: pytest.MonkeyPatch, scenario: ap.Scenario, tmp_path: Path
) -> None:
    monkeypatch.setenv(process.PROGRAM, str(tmp_path / "nothing"))
    with pytest.raises(
        RunError, match=r"nothing does not exist\. Install a wheel for Linux, or run"
    ):
        ap.emulate(scenario)


def test_other_systems_than_linux_are_rejected(
    monkeypatch: pytest.MonkeyPatch, scenario: ap.Scenario
) -> None:
    monkeypatch.setattr(process.sys, "platform", "darwin")
    with pytest.raises(RunError, match="this is darwin, and network namespaces are Linux's"):
        ap.emulate(scenario)


def test_program_is_made_executable(fake: Fake, scenario: ap.Scenario) -> None:
    fake()
    path = Path(os.environ[process.PROGRAM])
    path.chmod(0o644)
    assert ap.emulate(scenario).valid
    assert path.stat().st_mode & 0o100


def test_copy_runs_if_program_cannot_be_made_executable(
    fake: Fake, scenario: ap.Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake()
    Path(os.environ[process.PROGRAM]).chmod(0o644)
    monkeypatch.setattr(Path, "chmod", lambda *_: None)
    assert ap.emulate(scenario).valid


def test_failure_of_the_program_is_reported(fake: Fake, scenario: ap.Scenario) -> None:
    fake(failed={"what": "tun", "message": "/dev/net/tun cannot be opened: no such device."})
    with pytest.raises(RunError) as error:
        ap.emulate(scenario)
    assert str(error.value) == (
        "emulation: /dev/net/tun cannot be opened: no such device. See airpath emulate --check."
    )


def test_rejected_document_is_a_bad_value(fake: Fake, scenario: ap.Scenario) -> None:
    fake(failed={"what": "scenario", "message": "flows: too many.", "status": 2})
    with pytest.raises(BadValueError, match="flows: too many"):
        ap.emulate(scenario)


@pytest.mark.parametrize(
    ("otherwise", "message"),
    [
        ({"status": 1}, "airpath-emu ended with status 1 and reported no result: it went wrong"),
        ({"lines": ["house"]}, "airpath-emu sent an invalid event: house"),
        ({"lines": ["[1]"]}, r"airpath-emu sent an invalid event: \[1\]"),
        ({"report": "{}"}, "the result is not understood: KeyError: 'replication'"),
        ({"report": "{"}, "the result is not understood: JSONDecodeError"),
    ],
    ids=["status", "no JSON", "no event", "empty report", "half a report"],
)
def test_early_end_and_invalid_output_are_reported(
    fake: Fake, scenario: ap.Scenario, otherwise: dict, message: str
) -> None:
    fake(**otherwise)
    with pytest.raises(RunError, match=message):
        ap.emulate(scenario)


def test_invalid_arguments_are_rejected(fake: Fake, scenario: ap.Scenario) -> None:
    fake()
    with pytest.raises(BadValueError) as error:
        ap.emulate(scenario, seed=-1, reps=0, confidence=2, progress=3)  # type: ignore[arg-type]
    for name in ("seed = -1", "reps = 0", "confidence = 2", "progress = 3"):
        assert name in str(error.value)
    for argv in ("ping", [], [3], None):
        with pytest.raises(BadValueError, match="not a command"):
            ap.emulation.run_command(scenario, argv)  # type: ignore[arg-type]
    with pytest.raises(BadValueError, match="like = 2"):
        ap.emulation.run_command(scenario, ["true"], like=2)
    with pytest.raises(BadValueError, match="duration"):
        ap.emulation.run_command(scenario, ["true"], duration=0)


# --- Ctrl-C ---------------------------------------------------------------------------------------


def test_ctrl_c_keeps_finished_results(fake: Fake, scenario: ap.Scenario) -> None:
    fake(linger=True)

    def listen(_fraction: float, _what: str) -> None:
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(ap.errors.Interrupted) as stopped:
        ap.emulate(scenario, reps=3, progress=listen)
    result = stopped.value.result
    assert result.interrupted
    assert (len(result.replications), result.requested) == (1, 3)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_second_ctrl_c_ends_immediately(fake: Fake, scenario: ap.Scenario) -> None:
    fake(linger=True, deaf=True)

    def listen(_fraction: float, _what: str) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        ap.emulate(scenario, progress=listen)


# --- commands -------------------------------------------------------------------------------------


def test_command_returns_status_and_tables_of_path(fake: Fake, scenario: ap.Scenario) -> None:
    seen = fake(command=5)
    result = ap.emulation.run_command(scenario, ["false"], ["cat"], duration="3 s")
    assert result.ended["status"] == 5
    assert result.ended["reason"] == "command"
    assert result.table("queues")["queue"].iloc[0] == "bottleneck"
    assert len(result.resolved.flows) == 1
    traffic = _lines(seen)[0]["document"]["traffic"]
    assert traffic["client"] == ["false"]
    assert traffic["duration_ns"] == 3 * 10**9
    json.loads(result.to_json(raw=True))


def test_command_may_outlive_scenario(fake: Fake, scenario: ap.Scenario) -> None:
    seen = fake()
    ap.emulation.run_command(scenario, ["sleep", "9"])
    document = _lines(seen)[0]["document"]
    assert document["traffic"]["duration_ns"] == 100 * 86_400 * 10**9
    assert document["scenario"]["record"]["series"] == []
    with pytest.raises(BadValueError, match="more than 100 days"):
        ap.emulation.run_command(scenario, ["true"], duration="8640001 s")


def test_check_returns_output_of_program(fake: Fake) -> None:
    fake()
    assert ap.emulation.check()["checks"][1]["fix"] == "modprobe tcp_cubic"
    fake(check="nonsense")
    with pytest.raises(RunError, match="check printed nothing"):
        ap.emulation.check()
