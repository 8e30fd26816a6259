"""Error messages for scenario files that are not TOML or cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

import airpath as ap
from airpath.scenario import loads


def lines(text: str) -> list[str]:
    with pytest.raises(ap.errors.ScenarioError) as caught:
        loads(text, place="wimax.toml")
    return str(caught.value).splitlines()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "duration = ",
            "not TOML: there is no value, or a text without quotes (at end of document)",
        ),
        ("a = 1\na = 2\n", "not TOML: a is given twice (at line 2, column 6)"),
        ("a = " + "[" * 100_000, None),
        ("a = " + "9" * 5000, None),
    ],
)
def test_file_that_is_no_toml_is_reported(text: str, line: str | None) -> None:
    (found,) = lines(text)
    assert found.startswith("wimax.toml: not TOML")
    if line:
        assert found == f"wimax.toml: {line}."


def test_file_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    missing = tmp_path / "missing.toml"
    with pytest.raises(ap.errors.ScenarioError) as caught:
        ap.load(missing)
    assert str(caught.value) == f"{missing}: cannot be read: no such file or directory."
    with pytest.raises(ap.errors.ScenarioError) as caught:
        ap.load(tmp_path)
    assert str(caught.value) == f"{tmp_path}: cannot be read: is a directory."
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"a = \xff")
    with pytest.raises(ap.errors.ScenarioError) as caught:
        ap.load(binary)
    assert str(caught.value) == f"{binary}: not a text in UTF-8 (byte 5)."


# --- messages for a file that is no TOML --------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a = 1\n[b]\nc = 2\n[b]\nd = 3", "[b] is given twice (at line 4, column 3)"),
        ("a = {b = 1, b = 2}", "a key of this table is given twice (at line 1, column 17)"),
        ("duration = 5 s", "more than one value; a text needs quotes (at line 1, column 13)"),
        ("duration", "no = after the key (at end of document)"),
        ("= 5", "neither KEY = VALUE nor [TABLE] (at line 1, column 1)"),
        ("flows = []\n[[flows]]\n", "[[flows]] already has a value, nothing can be added "
         "(at line 2, column 8)"),
    ],
)  # fmt: skip
def test_toml_syntax_error_is_reported_with_its_cause(text: str, what: str) -> None:
    (line,) = lines(text)
    # Python versions report different positions.
    assert line.split(" (at ")[0] == f"wimax.toml: not TOML: {what.split(' (at ')[0]}"


def test_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    # Regression: a file with a byte-order mark was rejected as "not TOML: invalid statement".
    file = tmp_path / "marked.toml"
    text = 'duration = "1 s"\nflows = {base_rtt = "40 ms"}\n[bottleneck]\naqm = "droptail"\n'
    file.write_bytes(b"\xef\xbb\xbf" + text.encode() + b'link = {kind="fixed", rate="1 Mbit/s"}\n')
    assert ap.load(file).duration == 10**9


# --- large files -------------------------------------------------------------------------------

GROUP = '[[flows]]\nbase_rtt = "40 ms"\n'
PATH = 'duration = "1 s"\n[bottleneck]\naqm = "droptail"\nlink = {kind="fixed", rate="1 Mbit/s"}\n'


def test_thousand_problems_are_summarised() -> None:
    # Regression: 100,000 problems were 100,000 lines.
    with pytest.raises(ap.errors.ScenarioError) as caught:
        loads(PATH + GROUP.replace("base_rtt", "base_rt") * 1000, place="wimax.toml")
    assert len(caught.value.problems) == 1000
    *first, last = str(caught.value).splitlines()
    assert len(first) == 20
    assert last == "and 980 more problems."


def test_too_many_groups_are_rejected_immediately() -> None:
    # Regression: 50,000 groups took minutes, and their results exceeded the memory.
    with pytest.raises(ap.errors.ScenarioError) as caught:
        loads(PATH + GROUP * 10_001, place="wimax.toml")
    (line,) = str(caught.value).splitlines()
    assert line.startswith("wimax.toml: flows = [{base_rtt = ")
    assert line.endswith(
        ": 10001 groups of flows. Use at most 10000; `count` sets the size of a group."
    )
