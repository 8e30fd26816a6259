"""Properties of the repository: equal versions, a licence, no paths of one machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
MACHINE_PATH = re.compile(r"(^|[^A-Za-z0-9_.])/(work|farm|root)/")
MOST_ROOT_ENTRIES = 20
LONGEST_SOURCE = 500
"""Maximum number of lines of a source file. The guideline is 150 to 350; review longer files before
they reach this limit.
"""
MOST_ITEMS_OF_THE_FACADE = 75
"""Maximum number of items that crates/airpath exports."""


def committed_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    files = (ROOT / name for name in listed.stdout.split("\0") if name)
    return [file for file in files if file.is_file()]


def test_no_committed_file_contains_a_path_of_one_machine() -> None:
    found = []
    for file in committed_files():
        text = file.read_bytes().decode("utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), start=1):
            if MACHINE_PATH.search(line):
                found.append(f"{file.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert not found, "\n".join(found)


def test_text_files_follow_editorconfig_and_have_no_merge_conflicts() -> None:
    found = []
    for file in committed_files():
        content = file.read_bytes()
        if b"\0" in content:
            continue
        if re.search(rb"^(<{7}|>{7}) ", content, re.MULTILINE):
            found.append(f"{file.relative_to(ROOT)}: a conflict of a merge")
        tabs = b"\t" in content and file.name != "Makefile" and file.suffix != ".tsv"
        ends = content.endswith(b"\n") or not content
        if tabs or b"\r" in content or not ends or re.search(rb"[ \t]$", content, re.MULTILINE):
            found.append(str(file.relative_to(ROOT)))
    assert not found


def test_no_recorded_trace_is_committed() -> None:
    recorded = re.compile(r"(ATT|TMobile|Verizon)-.*\.(up|down)$")
    assert [file.name for file in committed_files() if recorded.search(file.name)] == []


def test_source_files_are_not_too_long() -> None:
    too_long = {
        str(file.relative_to(ROOT)): lines
        for file in committed_files()
        if file.suffix in (".rs", ".py")
        and (lines := len(file.read_text("utf-8").splitlines())) > LONGEST_SOURCE
    }
    assert not too_long


def test_repository_root_has_few_entries() -> None:
    entries = {file.relative_to(ROOT).parts[0] for file in committed_files()}
    assert len(entries) <= MOST_ROOT_ENTRIES, sorted(entries)


def test_word_law_is_used_for_test_comparisons_only() -> None:
    """`Law` is the class for comparisons with analytic results; other code uses other words."""
    other = re.compile(r"\bwindow[ _]laws?\b|\b[A-Z][A-Za-z0-9]*[a-z0-9]Law\b")
    found = []
    for file in committed_files():
        name = str(file.relative_to(ROOT))
        if "law" in file.stem.split("_") and name != "crates/conformance/src/law.rs":
            found.append(name)
        if file.suffix in (".rs", ".py", ".md", ".in") and file != Path(__file__):
            found += [f"{name}: {words}" for words in other.findall(file.read_text("utf-8"))]
    assert not found


BY_THE_CLOCK = re.compile(
    r"\bsleep\(|\btime\.(time|monotonic|perf_counter)\(|\btimeout=\d|mark\.timeout\(\d{1,3}\)|settimeout\("
    r"|signal\.alarm\(|ITIMER_REAL|\bTimer\(|\bnow\(\) -|set_read_timeout|PollTimeout::from\("
)
"""Patterns that make a test depend on the load of the machine, in Python and in Rust."""
MAY_WAIT = {
    "tests/waiting.py": "waits for events",
    "tests/emulation/fake_program.py": "no test: waits for a signal",
    "tests/validation/kernel/echo.py": "no test: sends a request at intervals",
    "tests/validation/kernel/run.py": "no test: samples a run",
    "crates/emu/tests/system/support.rs": "waits for events",
}


def test_no_test_depends_on_the_load_of_the_machine() -> None:
    """Regression: tests that slept for 3 s before an interrupt failed on a busy machine."""
    found = []
    for file in committed_files():
        name = file.relative_to(ROOT).as_posix()
        of_tests = re.match(r"(tests/(?!benches/).*\.py|crates/\w+/tests/.*\.rs)$", name)
        if of_tests and name not in MAY_WAIT and file != Path(__file__):
            for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
                if BY_THE_CLOCK.search(line):
                    found.append(f"{name}:{number}: {line.strip()}")
    assert not found, "\n".join(found)


def test_tests_in_real_time_are_marked() -> None:
    """Regression: tests in real time ran in parallel with other tests, and invalid runs were not
    detected.
    """
    unmarked = []
    for file in committed_files():
        name = file.relative_to(ROOT).as_posix()
        if re.match(r"tests/.*/test_\w+\.py$", name) and file != Path(__file__):
            text = file.read_text("utf-8")
            if "import cannot_emulate" in text and "pytest.mark.realtime" not in text:
                unmarked.append(name)
    assert not unmarked


def test_no_test_is_skipped_for_a_python_package() -> None:
    """requirements-dev.txt lists all of them; `pty` does not exist on every system."""
    skipping = re.compile(r"importorskip\((?!\"pty\")")
    found = [
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for file in committed_files()
        if file.is_relative_to(ROOT / "tests") and file.suffix == ".py" and file != Path(__file__)
        for line in file.read_text("utf-8").splitlines()
        if skipping.search(line)
    ]
    assert not found, "\n".join(found)


def test_make_test_lists_skipped_tests_at_the_end(tmp_path: Path) -> None:
    """Regression: `make test` printed only the number of skipped tests."""
    make = tmp_path / "make"
    make.write_text(
        "#!/bin/sh\ncase $2 in\n"
        "test-rust) echo 'test a ... skipped: no TUN device'; echo 'test b ... ok' ;;\n"
        "test-python) echo 'SKIPPED [2] c.py:1: not judged'; echo '1 passed in 0.1s' ;;\n"
        "test-realtime) echo 'SKIPPED [1] d.py:1: late'; echo '= 2 passed in 0.2s =' ;;\n"
        "esac\n"
    )
    make.chmod(0o755)
    logs = str(tmp_path / "logs")
    done = subprocess.run(
        ["scripts/test", logs, "test-rust | test-python", "test-realtime"],
        cwd=ROOT,
        env={**os.environ, "MAKE": str(make)},
        capture_output=True,
        text=True,
        check=True,
    )
    result = done.stdout.partition("=== result\n")[2]
    skipped = ["test a ... skipped: no TUN device", "SKIPPED [2] c.py:1: not judged"]
    assert "\n".join(["", *skipped, "SKIPPED [1] d.py:1: late", ""]) in result
    assert "\npytest: 1 passed in 0.1s\npytest: = 2 passed in 0.2s =\n" in result
    assert "test b" not in result


def test_crates_inherit_version_and_licence_from_the_workspace() -> None:
    for manifest in (ROOT / "crates").rglob("Cargo.toml"):
        package = tomllib.loads(manifest.read_text("utf-8"))["package"]
        for key in ("version", "edition", "rust-version", "license"):
            assert package[key] == {"workspace": True}, f"{manifest.parent.name}: {key}"


def test_module_emulator_and_tests_are_compiled_with_the_same_features() -> None:
    """Regression: half of the workspace was compiled twice."""
    if shutil.which("cargo") is None:
        pytest.skip("no cargo")

    def compiled(*selection: str) -> set[str]:
        tree = ("cargo", "tree", "--locked", "--edges=normal,build", "--prefix=none")
        words = (*tree, "--format={p} {f}", *selection)
        listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        return {line.removesuffix(" (*)") for line in listed.splitlines()}

    everything = compiled("--workspace")
    assert compiled("--package=airpath-py") <= everything
    assert compiled("--package=airpath-py", "--package=airpath-emu") <= everything


def test_licence_file_matches_the_declared_licence() -> None:
    text = (ROOT / "LICENSE").read_text("utf-8")
    assert "Apache License" in text
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["license"] == "Apache-2.0"


def test_plugins_depend_on_the_facade_only() -> None:
    """Authors of plug-ins need `airpath` only; its number of items stays small."""
    for manifest in (ROOT / "crates" / "airpath" / "plugins").glob("*/Cargo.toml"):
        dependencies = tomllib.loads(manifest.read_text("utf-8"))["dependencies"]
        assert [name for name in dependencies if name.startswith("airpath")] == ["airpath"]
    facade = (ROOT / "crates" / "airpath" / "src" / "lib.rs").read_text("utf-8")
    exported = re.findall(r"^pub use [\w:]+::(?:\{([^}]*)\}|(\w+));", facade, re.MULTILINE)
    items = [name for many, one in exported for name in re.findall(r"\w+", many or one)]
    assert 50 <= len(items) <= MOST_ITEMS_OF_THE_FACADE
    assert len(items) == len(set(items))


def test_smallest_queue_discipline_has_at_most_40_lines() -> None:
    contract = (ROOT / "crates" / "aqm" / "src" / "queue_disc.rs").read_text("utf-8")
    example = re.search(r"/// ```\n(.*?)/// ```\n", contract, re.DOTALL)
    assert example is not None
    assert "impl QueueDisc for" in example[1]
    assert len(example[1].splitlines()) <= 40


def test_every_crate_forbids_unsafe_code() -> None:
    """Two crates use `deny`: their system calls and calls of compiled parts are in one module."""
    plugins = (ROOT / "crates" / "airpath" / "plugins").glob("*/src/lib.rs")
    for root in [*(ROOT / "crates").glob("*/src/lib.rs"), *plugins]:
        crate = root.parent.parent
        word = "deny" if crate.name in ("emu", "parts") else "forbid"
        assert f"#![{word}(unsafe_code)]" in root.read_text("utf-8"), crate.name
    allowing = {
        file.relative_to(ROOT).as_posix()
        for file in (ROOT / "crates").glob("*/**/*.rs")
        if re.search(r"(allow|expect)\(unsafe_code", file.read_text("utf-8"))
    }
    of_parts = {"crates/parts/src/calls.rs", "crates/parts/src/tests.rs"}
    assert allowing == {"crates/emu/src/sys/mod.rs", *of_parts}


def test_every_integration_test_of_a_crate_is_in_its_single_binary() -> None:
    """A file that `tests/main.rs` does not name would never run."""
    missing = []
    for crate in sorted((ROOT / "crates").iterdir()):
        files = {file.stem for file in crate.glob("tests/*.rs")} - {"main"}
        directories = {file.parent.name for file in crate.glob("tests/*/mod.rs")}
        main = crate / "tests" / "main.rs"
        named = re.findall(r"^mod (\w+);$", main.read_text(), re.MULTILINE) if files else []
        missing += [f"{crate.name}: {name}" for name in sorted((files | directories) - set(named))]
    assert not missing
