"""How far a long call is: where a bar is shown, and which function is called."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest

from airpath.present.progress import of_replications, progress_line, reporting_to


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_script_shows_nothing() -> None:
    with reporting_to("auto") as tell:
        assert tell is None


def test_an_interactive_interpreter_shows_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    with reporting_to("auto") as tell:
        assert tell is None  # Standard error is no terminal.
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    before = sys.stdout
    with reporting_to("auto", of_replications) as report:
        assert report is not None
        assert sys.stdout is before
        report(1, 4, 0.25)
    assert "simulating, 1 of 4 replications finished" in shown.getvalue()


def test_a_function_of_the_caller_is_called_as_it_is() -> None:
    def mine(*_given: Any) -> None: ...

    with reporting_to(mine, of_replications) as tell:
        assert tell is mine
    with reporting_to(None) as nothing:
        assert nothing is None


@pytest.mark.parametrize("wrong", ["bar", 5, True])
def test_other_values_are_refused(wrong: Any) -> None:
    line = progress_line(wrong)
    assert line is not None
    assert line.endswith('not a function. Give one, "auto" for a bar, or None.')
