"""A scenario for the comparison of engines, and a replacement of an emulation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import airpath as ap

__all__ = ["emulation", "scenario"]


def scenario(**changes: Any) -> ap.Scenario:
    keys: dict[str, Any] = {
        "name": "side by side",
        "flows": ap.flows(2, cc="reno", base_rtt="30 ms", start={"uniform": ["0 s", "1 s"]}),
        "bottleneck": ap.Bottleneck(
            aqm=ap.aqm.Gred(), link=ap.link.Fixed(rate="8 Mbit/s", delay="5 ms", loss=0.002)
        ),
        "duration": "12 s",
        "warmup": "2 s",
    }
    return ap.Scenario(**(keys | changes))


def emulation(validity: Mapping[str, Any] | None = None, **kernel: Any) -> Callable[..., Any]:
    """Return a replacement of `airpath.emulate`: it simulates with other random numbers, and adds
    kernel counters.
    """

    def emulate(
        made: ap.Scenario, *, seed: int, reps: int, confidence: float, progress: Any = None
    ) -> Any:
        result = ap.simulate(made, reps=reps, seed=seed + 100, confidence=confidence)
        good = {"valid": True, "reasons": [], "ack_ratio": 0.5, "device_drops": 0}
        late = {"lateness_p50_s": 2e-5, "lateness_p99_s": 1e-4, "lateness_max_s": 4e-4}
        known: Any = result
        known.engine = "emulate"
        known.validity_reports = [{**good, **late, **(validity or {})}] * reps
        known.kernel = {"release": "6.18.0", "counters": {}, "not_applied": [], **kernel}
        return known

    return emulate
