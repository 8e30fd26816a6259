"""`make demo`: short terminal output, all results on one page, papers in separate processes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from rich.console import Console

from airpath import demo
from airpath.cli import INTERRUPTED, commands
from airpath.demo import examples, papers
from airpath.errors import RunError
from airpath.scenario import recorded_traces
from airpath.scenario.examples import shipped_examples

COMBINATIONS = {"Reno, drop-tail": "reno-droptail", "NewReno, gentle RED": "newreno-gred"}
FIGURES = {"cell", "link-comparison", "link-reno-droptail", "link-newreno-gred"}


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reduce the runs of the link, and use a table and a figure of one paper."""
    monkeypatch.setattr(examples, "REPLICATIONS", 2)
    monkeypatch.setattr(examples, "COMBINATIONS", COMBINATIONS)
    monkeypatch.setattr(demo, "installed_papers", lambda: {"qawla": ""})

    def table(paper: str, directory: Path, threads: int) -> list[str]:
        out = str(directory / paper)
        return ["reproduce", paper, "table2", "fig11", "--out", out, "--threads", str(threads)]

    monkeypatch.setattr(papers, "_command", table)


def test_demo_prints_few_lines_and_shows_everything_on_one_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AIRPATH_TRACES", str(tmp_path / "none"))
    assert demo.main(str(tmp_path / "out"), shipped_examples()) == 0
    out = capsys.readouterr().out
    assert "set AIRPATH_TRACES" in out
    assert "4 bulk downloads over the link: synthetic fading" in out
    assert "Four downloads in a fading cell" in out
    [line] = (line for line in out.splitlines() if line.strip().startswith("qawla"))
    assert re.search(r"qawla +(\d+) of \1 +286 of 287 ", line)
    # Two more combinations and four more papers.
    assert len(out.splitlines()) + 6 <= 60
    page = (tmp_path / "out" / demo.PAGE).read_text()
    assert page.count("<figure>") == len(FIGURES) + 1
    assert 'href="demo/qawla/report.html"' in page
    names = Counter(re.findall(r'\bid="([^"]+)"', page))
    assert [name for name, count in names.items() if count > 1] == []
    figures = {path.stem for path in (tmp_path / "out" / demo.DIRECTORY).glob("*.svg")}
    assert figures == FIGURES


def test_next_steps_are_commands_with_shipped_examples() -> None:
    known = {path.stem for path in shipped_examples().rglob("*.toml")}
    made: set[str] = set()
    for command in demo.NEXT_STEPS.values():
        program, name, first, *rest = command.split()
        assert program == "airpath"
        assert name in commands.COMMANDS
        if name == "example":
            assert first in known
            made.add(rest[-1])
        elif name in ("run", "sweep"):
            assert first in made


@pytest.mark.needs_traces
def test_recorded_link_is_used_if_traces_exist(tmp_path: Path) -> None:
    if not (recorded_traces() / f"{examples.RECORDING}.down").is_file():
        pytest.skip(f"no recorded traces in {recorded_traces()}")
    found = examples.lte_link(shipped_examples(), tmp_path, Console(quiet=True))
    assert found.table.title == "4 bulk downloads over the link: recorded LTE"
    assert {*found.figures, "cell"} == FIGURES


# --- processes of the papers -------------------------------------------------------------------


def processes(
    monkeypatch: pytest.MonkeyPatch, returned: Callable[[str], int | None]
) -> dict[str, str]:
    """Replace processes; a process with the result None runs until it is terminated."""
    ended: dict[str, str] = {}
    both_run = Event()
    started: list[str] = []

    class Child:
        def __init__(self, words: list[str], **_settings: Any) -> None:
            self.paper = words[4]
            self.returncode = returned(self.paper)
            self.is_terminated = Event()
            started.append(self.paper)
            if len(started) == 2:
                both_run.set()

        def communicate(self) -> tuple[str, str]:
            both_run.wait()
            if self.returncode is None:
                self.is_terminated.wait()
                self.returncode = -15
            ended[self.paper] = "terminated" if self.returncode == -15 else "ended"
            return "", "no such item\n"

        def terminate(self) -> None:
            self.is_terminated.set()

    monkeypatch.setattr(papers.subprocess, "Popen", Child)
    monkeypatch.setattr(papers, "cores", lambda: 2)
    return ended


def test_ctrl_c_ends_the_other_papers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ended = processes(monkeypatch, {"qawla": INTERRUPTED, "sbd": None}.get)
    with pytest.raises(KeyboardInterrupt):
        papers.reproduced(["qawla", "sbd"], tmp_path)
    assert ended == {"qawla": "ended", "sbd": "terminated"}


def test_failed_paper_ends_the_others_and_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ended = processes(monkeypatch, {"qawla": None, "sbd": 2}.get)
    with pytest.raises(RunError, match=r"^airpath reproduce sbd .*: no such item$"):
        papers.reproduced(["qawla", "sbd"], tmp_path)
    assert ended == {"qawla": "terminated", "sbd": "ended"}
