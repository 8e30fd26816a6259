"""Scenario files that are no TOML, or cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

import airpath as ap
from airpath.scenario import loads


def lines(text: str) -> list[str]:
    with pytest.raises(ap.ScenarioError) as caught:
        loads(text, place="wimax.toml")
    return str(caught.value).splitlines()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("duration = ", "not TOML: invalid value (at end of document)"),
        ("a = 1\na = 2\n", "not TOML: cannot overwrite a value (at line 2, column 6)"),
        ("a = " + "[" * 100_000, None),
        ("a = " + "9" * 5000, None),
    ],
)
def test_a_file_that_is_no_toml(text: str, line: str | None) -> None:
    (found,) = lines(text)
    assert found.startswith("wimax.toml: not TOML")
    if line:
        assert found == f"wimax.toml: {line}."


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    missing = tmp_path / "missing.toml"
    with pytest.raises(ap.ScenarioError) as caught:
        ap.load(missing)
    assert str(caught.value) == f"{missing}: cannot be read: no such file or directory."
    with pytest.raises(ap.ScenarioError) as caught:
        ap.load(tmp_path)
    assert str(caught.value) == f"{tmp_path}: cannot be read: is a directory."
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"a = \xff")
    with pytest.raises(ap.ScenarioError) as caught:
        ap.load(binary)
    assert str(caught.value) == f"{binary}: not a text in UTF-8 (byte 5)."
