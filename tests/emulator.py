"""Whether this machine can emulate: the reason why tests of it are skipped."""

from __future__ import annotations

import functools
import shutil

import airpath as ap
from airpath.errors import RunError


@functools.cache
def cannot_emulate(*programs: str) -> str:
    """Return why nothing can be emulated here, or which program is missing; or nothing."""
    for program in programs:
        if shutil.which(program) is None:
            return f"{program} is not installed"
    try:
        found = ap.emulation_check()
    except RunError as error:
        return str(error)
    missing = [check for check in found["checks"] if not check["ok"]]
    return "" if found["ok"] else "; ".join(f"{c['name']}: {c['found']}" for c in missing)


@functools.cache
def has_control(name: str) -> bool:
    """Return whether the kernel has a congestion control."""
    return any(c["name"] == name and c["ok"] for c in ap.emulation_check()["checks"])
