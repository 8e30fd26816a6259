"""A missing program skips its tests, or fails them where continuous integration requires it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from required import REQUIRED, program

ROOT = Path(__file__).parents[2]
PACKAGES = "apt-get install -y -qq --no-install-recommends"


@pytest.mark.parametrize("name", ["chromium", "tshark"])
def test_missing_program_fails_its_tests_where_it_is_required(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: if apt was slow, `.ci/run` passed without these tests."""
    monkeypatch.setenv("PATH", str(tmp_path))
    reason = f"{name} is not installed (Debian: {name})"
    monkeypatch.setenv(REQUIRED, "ping,other")
    with pytest.raises(pytest.skip.Exception) as skipped:
        program(name, package=name)
    assert str(skipped.value) == reason
    monkeypatch.setenv(REQUIRED, f"ping,{name}")
    with pytest.raises(pytest.fail.Exception) as failed:
        program(name, package=name)
    assert str(failed.value) == f"{reason}; {REQUIRED} has {name}"


def test_ci_installs_the_programs_that_tests_need() -> None:
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    (required,) = re.findall(rf"{REQUIRED}=(\S+)", script)
    callers = [
        text
        for file in (ROOT / "tests").rglob("*.py")
        if "program(" in (text := file.read_text("utf-8")) and file != Path(__file__)
    ]
    for name in required.split(","):
        assert any(f'"{name}"' in text for text in callers), name


def ci(directory: Path, *programs: str) -> str:
    """Run a copy of `.ci/run` with only these programs; return its calls."""
    script = directory / ".ci" / "run"
    script.parent.mkdir()
    shutil.copy(ROOT / ".ci" / "run", script)
    log = directory / "log"
    for name in ("apt-get", "make", *programs):
        call = f'echo "{name} $*" >> "{log}"'
        required = f'echo "AIRPATH_REQUIRE=$AIRPATH_REQUIRE" >> "{log}"'
        (directory / name).write_text(f"#!/bin/sh\n{call}\n{required if name == 'make' else ''}\n")
        (directory / name).chmod(0o755)
    for name in ("sh", "dirname", "timeout", "id", "env"):
        path = next(
            Path(place, name) for place in ("/bin", "/usr/bin") if Path(place, name).exists()
        )
        (directory / name).symlink_to(path)
    subprocess.run(
        ["/bin/sh", script],
        env={"PATH": str(directory)},
        capture_output=True,
        check=True,
    )
    return log.read_text()


def test_ci_installs_and_requires_missing_programs(tmp_path: Path) -> None:
    end = "make test\nAIRPATH_REQUIRE=tshark,chromium\n"
    for name in ("bare", "complete"):
        (tmp_path / name).mkdir()
    installed = f"apt-get update -qq\n{PACKAGES} tshark chromium chromium-driver\n"
    without_uv = "python3 -m venv target/uv\n"
    assert ci(tmp_path / "bare", "python3") == installed + without_uv + end
    assert ci(tmp_path / "complete", "tshark", "chromedriver", "uv") == end
