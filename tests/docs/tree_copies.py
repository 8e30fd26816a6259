"""Copies of the checkout that tests change."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
DIRECTORIES = ("crates", "docs", "python", "scripts", "tests")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", "target", "figures")


def run(*words: str, directory: Path, **environment: str) -> str:
    """Run a command and return its output."""
    done = subprocess.run(
        words,
        cwd=directory,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def changed(tree: Path) -> list[str]:
    """Return the files of the copy that differ from the checkout."""
    found = []
    for file in sorted(path for directory in DIRECTORIES for path in (tree / directory).rglob("*")):
        name = file.relative_to(tree)
        if file.is_file() and "__pycache__" not in name.parts:
            original = ROOT / name
            if not original.is_file() or original.read_bytes() != file.read_bytes():
                found.append(name.as_posix())
    return found


def docs_of(tree: Path) -> dict[str, str]:
    """Run `make generate-docs` in the copy. Return the environment variables with which Python
    imports the package of the copy.
    """
    package = {"PYTHONPATH": str(tree / "python")}
    for writer in ("tcp_texts.py", "reference_pages.py", "engine_files.py"):
        run(sys.executable, f"tests/docs/{writer}", directory=tree, **package)
    return package
