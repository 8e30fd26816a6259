"""The pages that a new visitor reads first: length, metadata and issue forms."""

from __future__ import annotations

import json
import re
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
FORMS = ROOT / ".github" / "ISSUE_TEMPLATE"


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def test_readme_is_short_and_has_picture_and_both_commands() -> None:
    readme = read("README.md")
    assert len(readme.split()) <= 700
    assert readme.count("![") == 1
    assert re.search(r"^\$ make demo .*\n\$ make test ", readme, re.MULTILINE)


def test_contributing_guide_has_one_page() -> None:
    lines = read(".github/CONTRIBUTING.md").splitlines()
    assert len(lines) <= 150
    assert max(len(line.split()) for line in lines) <= 60


def test_changelog_fits_on_two_screens() -> None:
    changelog = read("docs/project/changelog.md")
    assert len(changelog.splitlines()) <= 120
    entries = re.findall(r"^- .*$", changelog, re.MULTILINE)
    assert [entry for entry in entries if len(entry.split()) > 32] == []


def test_changelog_starts_with_current_version_and_lists_changed_results() -> None:
    headings = re.findall(r"^##+ (.*)$", read("docs/project/changelog.md"), re.MULTILINE)
    assert headings[0].startswith(f"[{_airpath.version()}]")
    assert {"Highlights", "Known limits", "Numbers changed"} <= set(headings)


def test_citation_metadata_agree() -> None:
    citation = yaml.safe_load(read("CITATION.cff"))
    codemeta = json.loads(read("codemeta.json"))
    zenodo = json.loads(read(".zenodo.json"))
    abstract = " ".join(citation["abstract"].split())
    authors = [author["name"] for author in citation["authors"]]
    assert citation["version"] == codemeta["version"] == _airpath.version()
    assert citation["title"] == zenodo["title"]
    assert abstract == codemeta["description"] == zenodo["description"]
    assert citation["keywords"] == codemeta["keywords"] == zenodo["keywords"]
    assert authors == [author["name"] for author in codemeta["author"]]
    assert authors == [creator["name"] for creator in zenodo["creators"]]
    assert codemeta["license"].removeprefix("https://spdx.org/licenses/") == citation["license"]
    assert zenodo["license"] == citation["license"]
    project = tomllib.loads(read("pyproject.toml"))["project"]
    assert codemeta["softwareRequirements"] == [
        f"Python {project['requires-python'].replace('>=', '>= ')}"
    ]


@pytest.mark.parametrize("form", sorted(FORMS.glob("*.yml")), ids=lambda form: form.stem)
def test_issue_form_is_valid(form: Path) -> None:
    found = yaml.safe_load(form.read_text("utf-8"))
    if form.stem == "config":
        assert set(found) <= {"blank_issues_enabled", "contact_links"}
        return
    assert {"name", "description", "body"} <= set(found)
    fields = [part for part in found["body"] if part["type"] != "markdown"]
    identifiers = [field["id"] for field in fields]
    assert len(identifiers) == len(set(identifiers))
    assert all(field["attributes"]["label"] for field in fields)
    assert {part["type"] for part in found["body"]} <= {
        *("markdown", "textarea", "input", "dropdown", "checkboxes")
    }


def test_wrong_number_form_requests_scenario_seed_expected_value_and_source() -> None:
    found: dict[str, Any] = yaml.safe_load((FORMS / "wrong-number.yml").read_text("utf-8"))
    required = {part["id"] for part in found["body"] if part.get("validations", {}).get("required")}
    assert {"scenario", "command", "expected", "source", "version"} <= required


def test_tool_versions_match_minimum_versions_and_ci() -> None:
    def numbers(version: str) -> tuple[int, ...]:
        return tuple(map(int, re.findall(r"\d+", version)))

    tools = tomllib.loads(read("mise.toml"))["tools"]
    workspace = tomllib.loads(read("Cargo.toml"))["workspace"]["package"]
    project = tomllib.loads(read("pyproject.toml"))["project"]
    assert numbers(tools["rust"]["version"]) >= numbers(workspace["rust-version"])
    assert numbers(tools["python"]) >= numbers(project["requires-python"])
    assert f"uv=={tools['uv']} " in read(".ci/run")


def test_pre_commit_hooks_run_the_lint_commands() -> None:
    [local] = yaml.safe_load(read("scripts/pre-commit.yaml"))["repos"]
    entries = [hook["entry"].removeprefix(".venv/bin/") for hook in local["hooks"]]
    lints = read("Makefile")
    for command in ("cargo fmt --all", "ruff check", "ruff format"):
        assert any(entry.startswith(command) for entry in entries)
        assert command in lints
    assert "python scripts/check-words" in entries
