"""A missing program skips tests, but fails them where continuous integration requires it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CALLERS = ("tests/browser/test_report.py", "tests/unit/test_captures.py")
"""Test files that call the programs which `.ci/run` requires."""
PACKAGES = "apt-get install -y -qq --no-install-recommends"


@pytest.mark.parametrize(("required", "status"), [("", 0), ("chromium,tshark", 1)])
def test_a_missing_program_fails_its_tests_where_it_is_required(
    required: str, status: int, tmp_path: Path
) -> None:
    """Where apt was slow, `.ci/run` passed without these tests."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *CALLERS),
            *("-k", "tshark or figure_is_drawn"),
        ],
        cwd=ROOT,
        env={**os.environ, "PATH": str(tmp_path), "AIRPATH_REQUIRE": required},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stdout
    for name in ("chromium", "tshark"):
        reason = f"{name} is not installed (Debian: {name})"
        assert (f"{reason}; AIRPATH_REQUIRE has {name}" if status else reason) in done.stdout


def ci(folder: Path, *programs: str) -> str:
    """Run a copy of `.ci/run` with these programs only; return what it called."""
    script = folder / ".ci" / "run"
    script.parent.mkdir()
    shutil.copy(ROOT / ".ci" / "run", script)
    said = folder / "said"
    for name in ("apt-get", "make", *programs):
        call = f'echo "{name} $*" >> "{said}"'
        required = f'echo "AIRPATH_REQUIRE=$AIRPATH_REQUIRE" >> "{said}"'
        (folder / name).write_text(f"#!/bin/sh\n{call}\n{required if name == 'make' else ''}\n")
        (folder / name).chmod(0o755)
    for name in ("sh", "dirname", "timeout", "id"):
        path = next(
            Path(place, name) for place in ("/bin", "/usr/bin") if Path(place, name).exists()
        )
        (folder / name).symlink_to(path)
    subprocess.run(
        ["/bin/sh", script],
        env={"PATH": str(folder)},
        capture_output=True,
        check=True,
    )
    return said.read_text()


def test_continuous_integration_installs_what_is_missing_and_requires_it(tmp_path: Path) -> None:
    end = "make test\nAIRPATH_REQUIRE=tshark,chromium\n"
    for name in ("bare", "complete"):
        (tmp_path / name).mkdir()
    installed = f"apt-get update -qq\n{PACKAGES} tshark chromium chromium-driver\n"
    without_uv = "python3 -m venv target/uv\n"
    assert ci(tmp_path / "bare", "python3") == installed + without_uv + end
    assert ci(tmp_path / "complete", "tshark", "chromedriver", "uv") == end
