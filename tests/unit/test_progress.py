"""Progress of long calls: where a bar is shown, and which function is called."""

from __future__ import annotations

import importlib
import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import airpath as ap
from airpath.present.progress import progress_line, replication_progress, reporting_to
from airpath.reproduction import Effort


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_script_shows_no_progress() -> None:
    with reporting_to("auto") as notify:
        assert notify is None


def test_interactive_interpreter_shows_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    with reporting_to("auto") as notify:
        assert notify is None  # Standard error is no terminal.
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    before = sys.stdout
    with reporting_to("auto", replication_progress) as report:
        assert report is not None
        assert sys.stdout is before
        report(1, 4, 0.25)
    assert "simulating, 1 of 4 replications finished" in shown.getvalue()


def test_progress_function_of_the_caller_is_called_directly() -> None:
    def notify_user(*_given: Any) -> None: ...

    with reporting_to(notify_user, replication_progress) as notify:
        assert notify is notify_user
    with reporting_to(None) as nothing:
        assert nothing is None


@pytest.mark.parametrize("wrong", ["bar", 5, True])
def test_other_progress_values_are_rejected(wrong: Any) -> None:
    line = progress_line(wrong)
    assert line is not None
    assert line.endswith('not a function. Use one, "auto" for a bar, or None.')


SCENARIO = ap.Scenario(
    flows=ap.flows(base_rtt="20 ms"),
    duration="2 s",
    bottleneck=ap.Bottleneck(aqm="gred", link=ap.link.Fixed(rate="1 Mbit/s", loss=0.001)),
)
CALLS: dict[str, Callable[[], object]] = {
    "airpath.api": lambda: ap.simulate(SCENARIO, reps=5),
    "airpath.sweeps.api": lambda: ap.sweep(SCENARIO, grid={"flows.0.cc": ["reno"]}, reps=5),
    "airpath.comparison.engines": lambda: ap.compare(
        SCENARIO, engines=["simulate", "solve"], reps=5
    ),
    "airpath.phy.measure": lambda: ap.phy.measure("awgn", snr_db="1", mcs="0", blocks=20),
    "airpath.reproduction.run": lambda: ap.reproduce(
        "qawla", ["table3"], effort=Effort(2, 2.0, 1.0)
    ),
}
"""Long calls, by the module that creates the progress report."""


@pytest.mark.parametrize("module", CALLS)
@pytest.mark.filterwarnings("ignore::airpath.errors.AirpathWarning")
def test_every_long_call_shows_a_bar_by_default(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, reported = [], []

    @contextmanager
    def listening(progress: Any, adapted: Any = None) -> Iterator[Any]:
        given.append(progress)
        notify = lambda *report: reported.append(report)  # noqa: E731
        yield notify if adapted is None else adapted(notify)

    monkeypatch.setattr(importlib.import_module(module), "reporting_to", listening)
    CALLS[module]()
    assert given == ["auto"]
    # The number of reports of a call depends on its duration.
    assert all(0 <= fraction <= 1 and isinstance(what, str) for fraction, what in reported)
