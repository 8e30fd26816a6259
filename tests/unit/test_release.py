"""Releases: every file states the same version; workflows run the make targets of developers."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from airpath import _airpath

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
SET_VERSION = "scripts/set-version"
STATES_THE_VERSION = (
    "Cargo.toml",
    "Cargo.lock",
    "papers/pyproject.toml",
    "CITATION.cff",
    "codemeta.json",
    "docs/tutorial/first-figure.md",
)
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def versions(root: Path) -> dict[str, str]:
    """Return the version that each file states."""

    def toml(name: str) -> dict[str, Any]:
        return tomllib.loads((root / name).read_text("utf-8"))

    papers = toml("papers/pyproject.toml")["project"]
    [requirement] = papers["dependencies"]
    tutorial = (root / "docs/tutorial/first-figure.md").read_text("utf-8")
    of_the_command = re.search(r"^airpath (\S+) \(", tutorial, re.MULTILINE)
    assert of_the_command is not None
    crates = {
        f"Cargo.lock, {package['name']}": package["version"]
        for package in toml("Cargo.lock")["package"]
        if "source" not in package
    }
    return {
        "Cargo.toml": toml("Cargo.toml")["workspace"]["package"]["version"],
        **crates,
        "papers/pyproject.toml": papers["version"],
        "papers/pyproject.toml, airpath": requirement.removeprefix("airpath[parquet]=="),
        "CITATION.cff": yaml.safe_load((root / "CITATION.cff").read_text("utf-8"))["version"],
        "codemeta.json": json.loads((root / "codemeta.json").read_text("utf-8"))["version"],
        "docs/tutorial/first-figure.md": of_the_command[1],
    }


def test_every_file_states_the_version_of_the_module() -> None:
    stated = versions(ROOT)
    assert stated == dict.fromkeys(stated, _airpath.version()), f"run: {SET_VERSION} VERSION"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a directory with the files that state the version, and the script that sets it."""
    for name in (*STATES_THE_VERSION, SET_VERSION):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_set_version_changes_the_version_and_nothing_else(copy: Path) -> None:
    before = {name: (copy / name).read_text("utf-8") for name in STATES_THE_VERSION}
    old = versions(copy)
    subprocess.run([copy / SET_VERSION, "9.8.7"], check=True)
    new = versions(copy)
    assert new == dict.fromkeys(new, "9.8.7")
    assert old.keys() == new.keys()
    changed = [
        line
        for name, text in before.items()
        for line, line_before in zip(
            (copy / name).read_text("utf-8").splitlines(), text.splitlines(), strict=True
        )
        if line != line_before
    ]
    assert len(changed) == len(new)


@pytest.mark.parametrize("wrong", ["", "1", "v1.2.3", "1.2.3 ", "1.2.x"])
def test_set_version_rejects_other_texts_and_changes_nothing(copy: Path, wrong: str) -> None:
    before = versions(copy)
    done = subprocess.run([copy / SET_VERSION, wrong], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    expected = "Expected three numbers, for example 0.2.0."
    assert done.stderr == f'scripts/set-version: "{wrong}": not a version. {expected}\n'
    assert versions(copy) == before


# --- workflows -----------------------------------------------------------------------------------


def commands(workflow: Path) -> list[str]:
    """Return the lines of all shell steps of a workflow, one for each value of its matrix."""
    found = []
    for job in yaml.safe_load(workflow.read_text("utf-8"))["jobs"].values():
        matrix = job.get("strategy", {}).get("matrix", {})
        values = [
            *matrix.get("include", []),
            *({"target": one} for one in matrix.get("target", [])),
        ]
        for step in job.get("steps", []):
            for line in step.get("run", "").splitlines():
                for value in values or [{}]:
                    rendered = line.strip()
                    for key, text in value.items():
                        rendered = rendered.replace(f"${{{{ matrix.{key} }}}}", text)
                    found.append(rendered)
    return found


def targets_of_make() -> set[str]:
    [phony] = re.findall(r"^\.PHONY: ((?:.*\\\n)*.*)$", (ROOT / "Makefile").read_text(), re.M)
    return set(phony.replace("\\", "").split())


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_use_existing_make_targets(workflow: Path) -> None:
    called = [line.split() for line in commands(workflow) if re.match(r"(make|\.ci/run)\b", line)]
    assert {target for _, *targets in called for target in targets} <= targets_of_make()


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_tests_through_make(workflow: Path) -> None:
    """The Makefile defines the tests; a workflow prepares the machine and calls make."""
    runner = re.compile(r"\b(pytest|cargo (test|clippy|fmt|build|deny)|ruff|mypy|maturin)\b")
    assert [line for line in commands(workflow) if runner.search(line)] == []


def test_workflows_test_the_oldest_supported_versions() -> None:
    rust = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["rust-version"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    text = (ROOT / ".github" / "workflows" / "test.yml").read_text("utf-8")
    legs = yaml.safe_load(text)["jobs"]["linux"]["strategy"]["matrix"]["include"]
    assert {"rust": rust, "python": project["requires-python"].removeprefix(">=")}.items() <= (
        legs[0].items()
    )
