"""Comparisons with published formulas in Python tests, recorded for the conformance page.

Python counterpart of the crate `airpath-conformance`. A test compares values through a `Law`, which
asserts. If `AIRPATH_CONFORMANCE` names a file (`make conformance` sets it), each comparison is also
written to this file as a line of JSON.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Law:
    """A published formula or number, its source, and the reason for the tolerance.

    `area` is the section of the page; `source` is the document with its section or equation and a
    description; `allows` is the reason for the tolerance.
    """

    area: str
    source: str
    allows: str

    def close(
        self, what: str, unit: str, measured: float, expected: float, tolerance: float
    ) -> None:
        """Assert that `measured` equals `expected` within `tolerance`."""
        holds = abs(measured - expected) <= tolerance
        self._record(what, unit, measured, expected, {"absolute": tolerance}, holds)
        assert holds, f"{what}: {measured} {unit}, not {expected} within {tolerance}"

    def between(
        self, what: str, unit: str, measured: float, low: float, high: float = math.inf
    ) -> None:
        """Assert that `measured` is at least `low` and at most `high`."""
        holds = low <= measured <= high
        bounds = [bound if math.isfinite(bound) else None for bound in (low, high)]
        self._record(what, unit, measured, bounds, None, holds)
        assert holds, f"{what}: {measured} {unit}, not in {low} to {high}"

    def _record(
        self,
        what: str,
        unit: str,
        measured: float,
        expected: float | list[float | None],
        tolerance: dict[str, float] | None,
        holds: bool,
    ) -> None:
        path = os.environ.get("AIRPATH_CONFORMANCE")
        if path is None:
            return
        file, _, test = os.environ["PYTEST_CURRENT_TEST"].partition("::")
        record = {
            "kind": "law",
            "file": file,
            "test": test.split(" ")[0],
            "area": self.area,
            "source": self.source,
            "allows": self.allows,
            "what": what,
            "unit": unit,
            "measured": float(measured),
            "expected": expected,
            "tolerance": tolerance,
            "holds": bool(holds),
        }
        with Path(path).open("a", encoding="utf-8") as records:
            records.write(json.dumps(record) + "\n")
