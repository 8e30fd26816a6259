"""The conformance page lists every packet script and every law that the sources contain.

The page's numbers are what `make conformance` found; here only that nothing is missing from it,
and nothing is left on it that no longer exists.
"""

from __future__ import annotations

import re
from pathlib import Path

import conformance_page
import conformance_sources
import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "conformance.md").read_text("utf-8")
FILES = conformance_sources.script_files(ROOT)
AGAIN = "the page is behind the tests: make conformance"


def section(heading: str) -> str:
    found = re.search(rf"^{re.escape(heading)}\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, f"no {heading}: {AGAIN}"
    return found[1]


def test_every_file_of_scripts_has_its_section() -> None:
    scripts = PAGE.partition("## Packet scripts")[2].partition("## Laws")[0]
    headings = re.findall(r"^### (\w+)\.rs$", scripts, re.MULTILINE)
    assert headings == [file.name for file in FILES], AGAIN
    assert len(FILES) > 10


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_script_is_listed(file: conformance_sources.ScriptFile) -> None:
    rows = re.findall(r"^\| (.*?) \| .* \|$", section(f"### {file.name}.rs"), re.MULTILINE)
    assert rows[2:] == [script.sentence for script in file.scripts], AGAIN


def test_every_law_is_listed() -> None:
    listed = set(re.findall(r"^\*\*(.*)\.\*\* Tolerance: ", PAGE, re.MULTILINE))
    sources = {conformance_page.cell(source) for source in conformance_sources.law_sources(ROOT)}
    assert len(sources) > 50
    assert listed == sources, AGAIN


def test_every_failure_is_told_at_the_top() -> None:
    failed = PAGE.count("| **does not hold** |") + PAGE.count("| **fails** |")
    summary = section("## Summary")
    assert len(re.findall(r"^- ", summary, re.MULTILINE)) == failed


def test_names_of_tests_become_sentences_with_their_sources() -> None:
    for name, sentence, sources in [
        ("two_losses", "Two losses", ""),
        ("s6_1_2_an_ack_says_so", "An ACK says so", "§6.1.2"),
        ("rfc8511_3_more_is_left", "More is left", "RFC 8511 §3"),
        ("rfc6675_alone_waits", "RFC 6675 alone waits", ""),
    ]:
        script = conformance_sources.script(name, "")
        assert (script.sentence, script.sources) == (sentence, sources)
    assert conformance_sources.script("a", "(RFC 6675 §5, §6.1).").sources == "RFC 6675 §5, §6.1"
