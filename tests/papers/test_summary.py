"""``airpath reproduce --summary``: all papers from their last full runs, without a simulation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from airpath.cli import main
from airpath.reproduction import installed_papers
from airpath.reproduction.overview import kept_results


def test_summary_counts_results_of_last_full_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["reproduce", "--summary", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["papers"]
    assert [each["paper"] for each in found] == list(installed_papers())
    for each in found:
        kept = kept_results(each["paper"])["verdict"]
        assert (each["within"], each["numbers"]) == (kept["within"], kept["numbers"])
        ends = each["hold"] + len(each["undecided"]) + len(each["do_not_hold"])
        assert ends == each["claims"] == (kept["with_later"] or kept)["claims"]
        assert each["not_reproduced"], f"{each['paper']}: README.md has no list Not reproduced"


def test_read_me_table_has_the_verdicts_of_the_last_full_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["reproduce", "--summary", "--json"]) == 0
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    for each in json.loads(capsys.readouterr().out)["papers"]:
        numbers = f"{each['within']} of {each['numbers']}" if each["numbers"] else "none printed"
        claims = f"{each['hold']}, {len(each['undecided'])}, {len(each['do_not_hold'])}"
        assert f"{each['paper']}.md) | {numbers} | {claims} |" in readme


def test_summary_of_one_paper_names_its_open_claims(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["reproduce", "wimax", "--summary"]) == 0
    text = capsys.readouterr().out
    kept = kept_results("wimax")["verdict"]
    for key in (kept["with_later"] or kept)["do_not_hold"]:
        assert f"wimax, {key}: " in text
    assert "clamp, " not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "PAPER: missing; expected one of clamp, qawla, sbd, vcp, wimax, or a directory. "
         "Use --summary for all of them."),
        (["house", "--summary"], 'paper = "house": unknown value; expected one of: clamp, qawla, '
         "sbd, vcp, wimax."),
        (["qawla", "table3", "--summary"], "--summary: conflicts with ITEM. Remove one of them."),
        (["qawla", "--full", "--summary"], "--summary: conflicts with --full. Remove one of "
         "them."),
    ],
)  # fmt: skip
def test_invalid_combinations_are_rejected(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", *arguments]) == 2
    assert capsys.readouterr() == ("", f"{message}\n")
