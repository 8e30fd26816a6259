"""Programs that tests call: without one a test is skipped, or fails where it is required."""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest

__all__ = ["REQUIRED", "program", "skip_without"]

REQUIRED = "AIRPATH_REQUIRE"
"""Environment variable: names, separated by commas, of what must not be missing."""


def program(name: str, *commands: str, package: str) -> str:
    """Return the path of a program, which a test cannot do without.

    Parameters
    ----------
    name : str
        What `AIRPATH_REQUIRE` calls it.
    commands : str
        Commands that start it, the first one that exists is taken. Default: `name`.
    package : str
        What Debian calls its package.
    """
    found = next(filter(None, map(shutil.which, commands or (name,))), None)
    if found is None:
        skip_without(name, f"{name} is not installed (Debian: {package})")
    return found


def skip_without(name: str, reason: str) -> NoReturn:
    """Skip the test; fail it where `AIRPATH_REQUIRE` has the name."""
    if name in os.environ.get(REQUIRED, "").split(","):
        pytest.fail(f"{reason}; {REQUIRED} has {name}", pytrace=False)
    pytest.skip(reason)
