"""The conformance pages list every packet script and every published formula in the sources.

The summary is committed: its list of sources comes from the tests, its numbers come from `make
conformance`. The page with every comparison is not committed; here it is created from synthetic
records.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import conformance_page
import conformance_sources
import conformance_summary
import pytest

ROOT = Path(__file__).parents[2]
FILES = conformance_sources.script_files(ROOT)
LAWS = conformance_sources.law_sources(ROOT)
FOUND = conformance_summary.archive()
AGAIN = "what was compared is behind the tests: make conformance"


# --- the summary -------------------------------------------------------------------------------


def test_summary_matches_sources_and_last_run() -> None:
    committed = conformance_summary.PAGE.read_text("utf-8")
    assert committed == conformance_summary.page(), (
        "conformance.md is out of date: run make generate-docs"
    )
    assert len(committed.splitlines()) < 200


def test_every_area_was_compared() -> None:
    assert len(LAWS) > 50
    assert sorted(FOUND["areas"]) == sorted(set(LAWS.values())), AGAIN
    assert list(FOUND["areas"]) == conformance_summary.in_order(FOUND["areas"])


def test_number_of_failures_matches_comparisons_that_do_not_hold() -> None:
    failed = [record["area"] for record in FOUND["failures"]]
    for area, counts in FOUND["areas"].items():
        assert failed.count(area) == counts["compared"] - counts["hold"], area


@pytest.mark.parametrize("record", FOUND["failures"], ids=lambda record: record["test"])
def test_every_failure_is_expected_by_its_test(record: dict[str, Any]) -> None:
    assert LAWS[record["source"]] == record["area"], AGAIN
    text = (ROOT / record["file"]).read_text("utf-8")
    name = record["test"].split("::")[-1].split("[")[0]
    if record["file"].endswith(".rs"):
        expected = rf"#\[should_panic\(expected = \"(.*)\"\)\]\nfn {name}\("
        found = re.search(expected, text)
        assert found, AGAIN
        low, high = record["measured"]
        assert found[1] == f"{low:.1f} to {high:.1f}", AGAIN
    else:
        assert f"def {name}(" in text, AGAIN
        assert "xfail(strict=True" in text, AGAIN


def test_documents_are_named_once_with_their_sections_in_order() -> None:
    sources = ["RFC 1 §10: x", "Other 2000; RFC 1 §9, §2.1: y", "RFC 1: z", "other words"]
    assert conformance_summary.documents(sources) == (
        "Other 2000; other words; RFC 1 §2.1, §9, §10"
    )


# --- the page of every comparison ----------------------------------------------------------------


def records() -> list[dict[str, Any]]:
    """Return the records of a run in which all scripts pass and all comparisons hold."""
    played = {"kind": "script", "passed": True, "stimuli": 1, "segments": 2, "values": 3}
    scripts = [
        {**played, "file": file.name, "test": f"{file.name}::{script.name}"}
        for file in FILES
        for script in file.scripts
    ]
    held = {"what": "x", "unit": "s", "measured": 1.25, "expected": [1.0, None], "holds": True}
    place = {"file": "tests/docs/test_conformance.py", "test": "records"}
    laws = [
        {"kind": "law", "allows": "a", "tolerance": None, **place, **held, **law}
        for law in ({"source": source, "area": area} for source, area in LAWS.items())
    ]
    return [*scripts, *laws]


def page_of(left: list[dict[str, Any]]) -> str:
    laws = conformance_page.by_area([record for record in left if record["kind"] == "law"])
    return conformance_page.page(FILES, conformance_page.by_script(left), laws)


def section(page: str, heading: str) -> str:
    found = re.search(rf"^{re.escape(heading)}\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL)
    assert found, f"no {heading}"
    return found[1]


def test_every_script_and_every_law_is_listed() -> None:
    page = page_of(records())
    assert len(FILES) > 10
    for file in FILES:
        listed = section(page, f"### {file.name}.rs")
        rows = re.findall(r"^\| (.*?) \| .* \|$", listed, re.MULTILINE)
        assert rows[2:] == [script.sentence for script in file.scripts]
    sources = re.findall(r"^\*\*(.*)\.\*\* Tolerance: ", page, re.MULTILINE)
    assert sorted(sources) == sorted(conformance_summary.cell(source) for source in LAWS)
    assert "Everything holds." in section(page, "## Summary")


def test_scripts_in_files_with_property_tests_count() -> None:
    names = {file.name for file in FILES}
    assert {"bbr_states", "cwr", "spurious"} <= names
    assert "properties" not in names
    scripts = {script.name for file in FILES for script in file.scripts}
    assert "transfer_with_marks_and_losses_ends" not in scripts


def test_every_failure_is_listed_at_the_top() -> None:
    left = records()
    left[-1]["holds"] = False
    page = page_of(left)
    assert page.count("| **does not hold** |") == 1
    assert (
        len(re.findall(r"^- .* 1.25 s, expected 1 or more", section(page, "## Summary"), re.M)) == 1
    )


def test_incomplete_run_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def written(*_: object) -> None:
        raise AssertionError("something was written")

    monkeypatch.setattr(Path, "write_text", written)
    for left in (records()[1:], records()[:-1]):
        run = tmp_path / "records.jsonl"
        run.write_bytes("".join(json.dumps(record) + "\n" for record in left).encode())
        assert conformance_page.main(str(run)) == 1
    printed = capsys.readouterr().err
    assert f"{FILES[0].name}::{FILES[0].scripts[0].name}" in printed
    assert list(LAWS)[-1] in printed


def test_names_of_tests_become_sentences_with_their_sources() -> None:
    for name, sentence, sources in [
        ("two_losses", "Two losses", ""),
        ("s6_1_2_ack_has_ece", "ACK has ECE", "§6.1.2"),
        ("rfc8511_3_more_is_left", "More is left", "RFC 8511 §3"),
        ("rfc6675_alone_waits", "RFC 6675 alone waits", ""),
    ]:
        script = conformance_sources.script(name, "")
        assert (script.sentence, script.sources) == (sentence, sources)
    assert conformance_sources.script("a", "(RFC 6675 §5, §6.1).").sources == "RFC 6675 §5, §6.1"
