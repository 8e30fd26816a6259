"""Common fixtures of the tests of the documentation."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tree_copies import DIRECTORIES, LEFT_OUT, ROOT

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this directory."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.docs)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a copy of the checkout."""
    for directory in DIRECTORIES:
        shutil.copytree(ROOT / directory, tmp_path / directory, ignore=LEFT_OUT)
    for file in ROOT.iterdir():
        if file.is_file() and not file.name.startswith("."):
            shutil.copy(file, tmp_path)
    return tmp_path
