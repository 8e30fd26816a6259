"""Type checks of user code: mypy accepts valid calls and reports invalid ones."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import airpath as ap
from airpath.scenario.traffic.flow_keys import FlowKeys
from airpath.scenario.traffic.source import Source

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
CODE = Path(__file__).with_name("user_code.py")


def test_mypy_reports_exactly_the_marked_errors() -> None:
    """Regression: ``link.Fixed(rat="5 Mbit/s")`` passed ``mypy --strict``, because constructors
    accepted any keyword.
    """
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mypy"]
    assert settings["strict"]
    assert CODE.stem in settings["modules"]
    assert CODE.parent.relative_to(ROOT).as_posix() in settings["mypy_path"].split(":")
    assert len(re.findall(r"# type: ignore\[[a-z, -]+\]$", CODE.read_text("utf-8"), re.M)) > 15


def test_flows_accepts_the_keys_of_all_sources() -> None:
    keys = {name for source in Source.registry.values() for name in source.model_fields}
    assert set(FlowKeys.__annotations__) == keys - {"count"}


def test_code_accepted_by_the_type_checker_runs() -> None:
    lines = CODE.read_text("utf-8").splitlines()
    right = "\n".join(line for line in lines if "# type: ignore" not in line)
    names: dict[str, object] = {}
    exec(compile(right, str(CODE), "exec"), names)
    assert isinstance(names["scenario"], ap.Scenario)
