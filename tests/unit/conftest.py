"""Fixtures of all tests of this directory."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _figures_do_not_pile_up() -> Iterator[None]:
    """Close the figures of a test: the twenty-first open one was a warning, and so an error."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
