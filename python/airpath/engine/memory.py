"""Functions that determine the memory available to this process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

__all__ = ["available_bytes", "for_recordings"]


def available_bytes() -> int | None:
    """Return the memory that is available to this process; None if unknown.

    The result is the minimum of the free memory, the unused part of the control group's limit, and
    the unused part of ``ulimit -v``.
    """
    return min((*_free(), *_of_group(), *_of_limit()), default=None)


def for_recordings() -> int | None:
    """Return the memory for recordings: half of the available memory. Tables use the other half."""
    available = available_bytes()
    return None if available is None else available // 2


def _free() -> Iterator[int]:
    with suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text("ascii").splitlines():
            name, _, value = line.partition(":")
            if name == "MemAvailable":
                yield int(value.split()[0]) * 1024


def _of_group() -> Iterator[int]:
    for directory, most, now in (
        ("/sys/fs/cgroup", "memory.max", "memory.current"),
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        # "max" is not a number: there is no limit.
        with suppress(OSError, ValueError):
            limit = int(Path(directory, most).read_text("ascii"))
            used = int(Path(directory, now).read_text("ascii"))
            yield max(0, limit - used + _cached(Path(directory, "memory.stat")))


def _cached(statistics: Path) -> int:
    """Return the size of evictable cached files in a control group, bytes."""
    lines = (line.split() for line in statistics.read_text("ascii").splitlines())
    return next((int(line[1]) for line in lines if line[:1] == ["inactive_file"]), 0)


def _of_limit() -> Iterator[int]:
    with suppress(ImportError, OSError, ValueError):
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
            yield max(0, limit - pages * os.sysconf("SC_PAGE_SIZE"))
