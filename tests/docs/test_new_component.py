"""A new component requires edits at four places: the test adds a skeleton to a copy of the tree.

`make generate-docs` then creates the rest: tables, lists, and the sample that Rust test suites
read.
"""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from tree_copies import DIRECTORIES, ROOT, changed, docs_of, run

from airpath.scenario import components

FAMILIES = runpy.run_path(str(ROOT / "scripts" / "new-component"))["FAMILIES"]
SUITES: dict[str, list[tuple[str, ...]]] = {
    "aqm": [("-p", "airpath-aqm", "-p", "airpath-aqm-tests", "--tests")],
    "congestion": [
        ("-p", "airpath-tcp", "--lib", "trial_"),
        ("-p", "airpath-sim-tests", "--tests", "contracts::wrapped"),
    ],
    "errors": [
        ("-p", "airpath-phy", "--lib", "errors"),
        ("-p", "airpath-phy-tests", "--tests", "every_error_process"),
        ("-p", "airpath-link-tests", "--tests", "errors"),
    ],
    "grant": [("-p", "airpath-link", "--lib", "grant")],
    "link": [
        ("-p", "airpath-link", "-p", "airpath-link-tests", "--tests"),
        ("-p", "airpath-sim-tests", "--tests", "rate_schedule"),
    ],
    "policy": [
        ("-p", "airpath-phy", "--lib", "adaptation"),
        ("-p", "airpath-phy-tests", "--tests", "every_policy"),
    ],
    "request": [("-p", "airpath-link", "--lib", "request")],
    "scheduler": [
        ("-p", "airpath-link", "--lib", "scheduler"),
        ("-p", "airpath-link-tests", "--tests", "cell"),
    ],
    "snr": [
        ("-p", "airpath-phy", "--lib", "snr"),
        ("-p", "airpath-phy-tests", "--tests", "every_snr"),
    ],
    "window": [
        ("-p", "airpath-tcp", "--lib", "window"),
        ("-p", "airpath-tcp-tests", "--tests", "every_window"),
        ("-p", "airpath-sim-tests", "--tests", "contracts::wrapped_links_and_windows"),
    ],
}
"""Mapping from each family with a skeleton to the test suites that cover all of its components."""
REFUSALS = (
    "test_scenario_errors",
    "test_scenario_errors_links",
    "test_snr",
    "test_cell",
    "test_tdd",
)
COMPONENTS = [(family, "trial-component") for family in FAMILIES]
ENUM = re.compile(r"^built_in_components! \{\n(?: *///.*\n)* *enum (\w+):", re.MULTILINE)
"""Start of a family's list of components in Rust."""
MOST_EDITS = 6
"""Number of edits: a file, its module line and its registry line, a class and its exported name, a
page.
"""


def test_every_family_that_users_extend_has_a_skeleton() -> None:
    sources = (file.read_text("utf-8") for file in (ROOT / "crates").glob("*/src/**/*.rs"))
    enums = sorted(name for source in sources for name in ENUM.findall(source))
    assert sorted(family.components for family in FAMILIES.values()) == enums
    assert FAMILIES.keys() == components.FAMILIES.keys() == SUITES.keys()
    guide = (ROOT / "docs" / "project" / "components.md").read_text("utf-8")
    assert [name for name in FAMILIES if f"\n| `{name}` | " not in guide] == []


@pytest.mark.parametrize("name", FAMILIES)
def test_skeleton_is_compiled_and_tested_with_its_crate(name: str) -> None:
    """Regression test: the skeleton of a queue discipline lacked a method, because it was never
    compiled."""
    family, file = FAMILIES[name], ROOT / "scripts" / "skeletons" / f"{name}.rs.in"
    path = Path(os.path.relpath(file, ROOT / family.sources)).as_posix()
    declared = (ROOT / family.sources / family.modules).read_text("utf-8")
    assert f'#[cfg(test)]\n#[path = "{path}"]\npub mod skeleton;\n' in declared
    assert "#[test]" in file.read_text("utf-8")


@pytest.mark.long
def test_skeletons_of_all_families_compile_in_their_lists(tree: Path) -> None:
    for family in FAMILIES:
        run(sys.executable, "scripts/new-component", family, f"trial-{family}", directory=tree)
    # Crates outside this workspace are already checked.
    crates = sorted({family.sources.split("/")[1] for family in FAMILIES.values()})
    run(
        *("cargo", "check", "--quiet", "--offline"),
        *(f"--package=airpath-{crate}" for crate in crates),
        directory=tree,
        CARGO_TARGET_DIR=str(ROOT / "target"),
    )


def test_component_is_defined_at_four_places(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All families get a component in one tree, because `make generate-docs` takes seconds."""
    trials = {family: f"trial-{family}" for family in FAMILIES}
    edits_of: dict[str, list[str]] = {}
    before = contents(tree)
    for family, kind in trials.items():
        edits_of[family] = run(
            sys.executable, "scripts/new-component", family, kind, directory=tree
        ).splitlines()[:-1]
        after = contents(tree)
        by_hand = sorted(name for name in after if after[name] != before.get(name))
        assert len(edits_of[family]) <= MOST_EDITS
        assert sorted({edit.partition(": ")[0] for edit in edits_of[family]}) == by_hand
        before = after
    by_hand = changed(tree)
    docs = docs_of(tree)
    made = sorted(set(changed(tree)) - set(by_hand))
    assert made == [
        "crates/conformance/generated/samples.json",
        "docs/reference/models/index.md",
        "docs/reference/scenario.md",
    ]
    # The components are complete: the tests of structure and the command accept them.
    quiet = ("-q", "-p", "no:cacheprovider")
    chosen = ("tests/docs/test_parameters.py", "tests/unit/test_scenario_toml.py")
    words = ("reference", "documented", "says")
    run(
        *(sys.executable, "-m", "pytest", *quiet, *chosen, "-k", " or ".join(words)),
        directory=tree,
        **docs,
    )
    listed = json.loads(
        run(sys.executable, "-m", "airpath", "list", "--json", directory=tree, **docs)
    )
    for family, kind in trials.items():
        assert kind in listed[family]
        with capsys.disabled():
            places = len({edit.partition(": ")[0] for edit in edits_of[family]})
            print(f"\n{family} {kind}: {len(edits_of[family])} edits in {places} files")


def contents(tree: Path) -> dict[str, bytes]:
    """Return the content of each file in the copy."""
    files = (
        file
        for directory in DIRECTORIES
        for file in (tree / directory).rglob("*")
        if file.is_file()
    )
    return {file.relative_to(tree).as_posix(): file.read_bytes() for file in files}


@pytest.mark.long
@pytest.mark.parametrize(("family", "kind"), COMPONENTS)
def test_skeleton_builds_and_passes_the_suite_of_its_family(
    family: str, kind: str, tree: Path
) -> None:
    run(sys.executable, "scripts/new-component", family, kind, directory=tree)
    run(
        *(sys.executable, "tests/docs/engine_files.py"),
        directory=tree,
        PYTHONPATH=str(tree / "python"),
    )
    # Crates outside this workspace are already compiled.
    for suite in SUITES[family]:
        run(
            *("cargo", "test", "--profile", "quick", "--quiet", "--offline", *suite),
            directory=tree,
            CARGO_TARGET_DIR=str(ROOT / "target"),
        )
    # Messages about invalid values list the known components.
    run(
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
        *(f"tests/unit/{name}.py" for name in REFUSALS),
        directory=tree,
        PYTHONPATH=str(tree / "python"),
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("aqm", "codel"), "crates/aqm/src/codel.rs: is there already"),
        (("link", "trace"), "crates/link/src/links/trace.rs: is there already"),
        (("aqm", "Step Mark"), "Step Mark: not a name. Use small letters"),
        (
            ("house", "mine"),
            "house: not a family with a skeleton. Expected one of: aqm, congestion",
        ),
        (("aqm",), "usage: scripts/new-component FAMILY NAME"),
    ],
)
def test_invalid_component_is_rejected_and_nothing_written(
    words: tuple[str, ...], message: str
) -> None:
    before = subprocess.run(["git", "status", "-s"], cwd=ROOT, capture_output=True, check=False)
    done = subprocess.run(
        [sys.executable, "scripts/new-component", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    after = subprocess.run(["git", "status", "-s"], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode != 0
    assert done.stderr.startswith(message)
    assert before.stdout == after.stdout
