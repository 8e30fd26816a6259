"""Failures of congestion controls in Python: exceptions, wrong values, re-entrancy, Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from part_runs import dumbbell, measured

import airpath as ap
from airpath.parts import Ack, CongestionControl, Loss
from waiting import wait_until

ENDLESS = """
from pathlib import Path

import airpath as ap

@ap.congestion_control("endless")
class Endless:
    def on_ack(self, ack):
        Path("entered").touch()
        while True:
            pass

    def on_loss(self, loss): ...
"""
SCENARIO = """
parts = ["endless.py"]
duration = "2 s"
bottleneck = {aqm = "droptail", link = {kind = "fixed", rate = "5 Mbit/s"}}
flows = [{cc = "endless", base_rtt = "40 ms"}]
"""


def failing(method: str, fail: Callable[..., None]) -> Any:
    """Return a control whose `method` fails after a second."""

    class Failing(CongestionControl):
        def on_ack(self, ack: Ack) -> None:
            self.cwnd += ack.growth or 0

        def on_loss(self, loss: Loss) -> None:
            self.ssthresh = self.cwnd = max(loss.flight // 2, 2 * self.mss)

    before = getattr(Failing, method)

    def call(self: Any, event: Any) -> None:
        before(self, event)
        fail(self)

    setattr(Failing, method, call)
    return ap.congestion_control("failing")(Failing)


@pytest.mark.parametrize("method", ["start", "on_ack", "on_loss", "on_rto", "on_recovered"])
def test_exception_ends_the_run_with_its_cause(method: str) -> None:
    def fail(_self: Any) -> None:
        raise LookupError("of the part")

    failing(method, fail)
    lossy = dumbbell("failing").replace("bottleneck.link.loss", 0.05)
    with pytest.raises(ap.errors.RunError) as caught:
        ap.simulate(lossy.replace("duration", "60 s"), reps=1)
    assert isinstance(caught.value.__cause__, LookupError)
    assert 'part "failing", flow ' in str(caught.value)
    assert f"/congestion: {method}: LookupError: of the part" in str(caught.value)
    if method != "start":
        assert " (at " in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("cwnd", float("nan"), "cwnd = nan: not a number. Use"),
        ("cwnd", float("inf"), "cwnd = inf: too large. Use"),
        ("cwnd", -1.0, "cwnd = -1.0: below one segment. Use"),
        ("cwnd", 1459, "cwnd = 1459: below one segment. Use"),
        ("cwnd", 2**54, f"cwnd = {2**54}: too large. Use"),
        ("cwnd", 10**300, "cwnd = 1000"),
        ("cwnd", True, "cwnd = True: not a number. Use"),
        ("cwnd", None, "cwnd = None: not a number. Use"),
        ("cwnd", "10", "cwnd = '10': not a number. Use"),
        ("ssthresh", -5, "ssthresh = -5: below 0. Use"),
        ("ssthresh", float("nan"), "ssthresh = nan: not a number. Use"),
        ("pacing_rate", 0, "pacing_rate = 0: below 1. Use"),
        ("pacing_rate", float("inf"), "pacing_rate = inf: too large. Use"),
        ("pacing_rate", "fast", "pacing_rate = 'fast': not a number. Use"),
    ],
)
def test_value_outside_its_range_is_one_line(name: str, value: Any, problem: str) -> None:
    failing("on_ack", lambda self: setattr(self, name, value))
    with pytest.raises(ap.errors.RunError) as caught:
        measured(dumbbell("failing"), reps=1)
    assert f"/congestion: on_ack: {problem}" in str(caught.value)
    assert caught.value.__cause__ is None
    assert "\n" not in str(caught.value)


def test_part_that_simulates_gets_an_exception() -> None:
    failing("on_ack", lambda _self: measured(dumbbell("reno"), reps=1))
    with pytest.raises(ap.errors.RunError, match="simulate was called from a method of a part"):
        measured(dumbbell("failing"), reps=1)


def test_events_are_immutable_and_stay_valid() -> None:
    kept: list[Ack] = []

    @ap.congestion_control("keeping")
    class Keeping:
        def on_ack(self, ack: Ack) -> None:
            kept.append(ack)
            with pytest.raises(AttributeError):
                ack.acked = 1  # type: ignore[misc]

        def on_loss(self, loss: Loss) -> None: ...

    measured(dumbbell("keeping"), reps=1)
    times = [ack.now_ns for ack in kept]
    assert len(times) > 100
    assert len({id(ack) for ack in kept}) == len(kept)
    assert {type(ack.acked) for ack in kept} == {int}
    assert times == sorted(times)


def test_ctrl_c_ends_an_endless_loop(tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text(ENDLESS)
    (tmp_path / "s.toml").write_text(SCENARIO)
    command = [sys.executable, "-m", "airpath", "run", "s.toml", "--reps", "2"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    wait_until((tmp_path / "entered").exists, process)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in error
