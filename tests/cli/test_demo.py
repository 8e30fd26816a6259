"""The demonstration: with recorded traces or without, every figure is there."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from airpath import demo, reproduction
from airpath.scenario import recorded_traces
from airpath.scenario.examples import shipped_examples

ROOT = Path(__file__).parents[2]
FIGURES = {
    "cell.png",
    "link-comparison.png",
    "link-newreno-droptail.png",
    "link-newreno-gred.png",
    "link-reno-droptail.png",
    "link-reno-gred.png",
}
REPORT = "report.html"


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer replications of the link, and one table of the paper, which has its own tests."""
    monkeypatch.setattr(demo, "REPLICATIONS", 2)
    table = functools.partial(reproduction.reproduce, items=["table2"])
    monkeypatch.setattr(reproduction, "reproduce", table)


def test_without_recordings_it_says_where_they_are_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AIRPATH_TRACES", str(tmp_path / "none"))
    assert demo.main(str(tmp_path / "out"), shipped_examples()) == 0
    out = capsys.readouterr().out
    assert "repository ravinet/mahimahi on GitHub, directory traces" in out
    assert "4 bulk downloads over the link: synthetic fading" in out
    assert "Four downloads in a fading cell" in out
    assert "Table 2" in out
    assert {path.name for path in (tmp_path / "out").iterdir()} > {*FIGURES, REPORT}


@pytest.mark.needs_traces
def test_with_recordings_it_uses_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "_fading_cell", lambda *_: False)
    if not (recorded_traces() / f"{demo.RECORDING}.down").is_file():
        pytest.skip(f"no recorded traces in {recorded_traces()}")
    assert demo.main(str(tmp_path), shipped_examples()) == 0
    assert "4 bulk downloads over the link: recorded LTE" in capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} > FIGURES - {"cell.png"}
