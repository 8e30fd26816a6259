"""What a type checker says of a user's code."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import airpath as ap
from airpath.scenario.flow_keys import FlowKeys
from airpath.scenario.flows import Source

ROOT = Path(__file__).parents[2]
CODE = Path(__file__).with_name("user_code.py")


@pytest.mark.slow
def test_mypy_finds_what_is_wrong_and_nothing_else() -> None:
    """``FixedLink(rat="5 Mbit/s")`` passed ``mypy --strict``: constructors took any keyword."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", str(CODE)],
        cwd=ROOT / "python",
        capture_output=True,
        text=True,
        check=False,
    )
    found: dict[int, set[str]] = {}
    for line, code in re.findall(r"user_code\.py:(\d+): error: .*\[([a-z-]+)\]", done.stdout):
        found.setdefault(int(line), set()).add(code)
    wanted = {
        number: set(re.split(r",\s*", codes[1]))
        for number, text in enumerate(CODE.read_text("utf-8").splitlines(), start=1)
        if (codes := re.search(r"# wrong: (.*)$", text))
    }
    assert len(wanted) > 15
    assert {line: bool(found[line] & wanted.get(line, set())) for line in found} == dict.fromkeys(
        wanted, True
    ), done.stdout


def test_the_keys_of_flows_are_those_of_all_sources() -> None:
    keys = {name for source in Source.registry.values() for name in source.model_fields}
    assert set(FlowKeys.__annotations__) == keys - {"count"}


def test_what_is_right_for_the_type_checker_is_right() -> None:
    lines = CODE.read_text("utf-8").splitlines()
    right = "\n".join(line for line in lines if "# wrong:" not in line)
    names: dict[str, object] = {}
    exec(compile(right, str(CODE), "exec"), names)
    assert isinstance(names["scenario"], ap.Scenario)
