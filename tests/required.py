"""Programs that tests call. If one is missing, the test is skipped, or fails if the program is
required."""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest

__all__ = ["REQUIRED", "program", "skip_without"]

REQUIRED = "AIRPATH_REQUIRE"
"""Environment variable with the names of required programs, separated by commas."""


def program(name: str, *commands: str, package: str) -> str:
    """Return the path of a program that a test requires.

    Parameters
    ----------
    name : str
        Name of the program in `AIRPATH_REQUIRE`.
    commands : str
        Alternative commands of the program; the first existing one is used. Default: `name`.
    package : str
        Name of the Debian package.
    """
    found = next(filter(None, map(shutil.which, commands or (name,))), None)
    if found is None:
        skip_without(name, f"{name} is not installed (Debian: {package})")
    return found


def skip_without(name: str, reason: str) -> NoReturn:
    """Skip the test, or fail if `AIRPATH_REQUIRE` contains the name."""
    if name in os.environ.get(REQUIRED, "").split(","):
        pytest.fail(f"{reason}; {REQUIRED} has {name}", pytrace=False)
    pytest.skip(reason)
