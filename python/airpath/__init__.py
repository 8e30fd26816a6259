"""Airpath: simulator and emulator of transport protocols over wireless paths.

Each family of components has a module: `airpath.aqm.CoDel`, `airpath.link.Fixed`. Modules are
imported at their first use, so that the command starts fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airpath import ack_path as ack_path
    from airpath import aqm as aqm
    from airpath import cc as cc
    from airpath import emulation as emulation
    from airpath import errors as errors
    from airpath import frame_errors as frame_errors
    from airpath import grant as grant
    from airpath import link as link
    from airpath import models as models
    from airpath import parts as parts
    from airpath import phy as phy
    from airpath import policy as policy
    from airpath import request as request
    from airpath import scheduler as scheduler
    from airpath import snr as snr
    from airpath import solutions as solutions
    from airpath import testing as testing
    from airpath import traffic as traffic
    from airpath import units as units
    from airpath import window as window
    from airpath.engine.advisory import Advisory as Advisory
    from airpath.api import (
        check as check,
        load as load,
        simulate as simulate,
        solve as solve,
    )
    from airpath.comparison import (
        Comparison as Comparison,
        compare as compare,
        load_comparison as load_comparison,
    )
    from airpath.emulation.api import emulate as emulate
    from airpath.reproduction import reproduce as reproduce
    from airpath.parts.congestion import congestion_control as congestion_control
    from airpath.parts.queue import queue_discipline as queue_discipline
    from airpath.results import (
        Interval as Interval,
        Result as Result,
        load_result as load_result,
    )
    from airpath.scenario import (
        Bottleneck as Bottleneck,
        Capture as Capture,
        Control as Control,
        Hop as Hop,
        HopDirection as HopDirection,
        Record as Record,
        Scenario as Scenario,
        TcpConfig as TcpConfig,
        Wire as Wire,
    )
    from airpath.scenario.traffic.flows import flows as flows
    from airpath.solutions import Solution as Solution
    from airpath.sweeps.api import sweep as sweep
    from airpath.sweeps.result import Sweep as Sweep, load_sweep as load_sweep
    from airpath.trace import Trace as Trace

    __version__: str

_HOMES = {
    "Advisory": "airpath.engine.advisory",
    "Bottleneck": "airpath.scenario",
    "Capture": "airpath.scenario",
    "Comparison": "airpath.comparison",
    "Control": "airpath.scenario",
    "Hop": "airpath.scenario",
    "HopDirection": "airpath.scenario",
    "Interval": "airpath.results",
    "Record": "airpath.scenario",
    "Result": "airpath.results",
    "Scenario": "airpath.scenario",
    "Solution": "airpath.solutions",
    "Sweep": "airpath.sweeps.result",
    "TcpConfig": "airpath.scenario",
    "Trace": "airpath.trace",
    "Wire": "airpath.scenario",
    "check": "airpath.api",
    "compare": "airpath.comparison",
    "congestion_control": "airpath.parts.congestion",
    "emulate": "airpath.emulation.api",
    "flows": "airpath.scenario.traffic.flows",
    "load": "airpath.api",
    "load_comparison": "airpath.comparison",
    "load_result": "airpath.results",
    "load_sweep": "airpath.sweeps.result",
    "queue_discipline": "airpath.parts.queue",
    "reproduce": "airpath.reproduction",
    "simulate": "airpath.api",
    "solve": "airpath.api",
    "sweep": "airpath.sweeps.api",
}
"""Modules of the top-level names."""
_MODULES = (
    "ack_path",
    "aqm",
    "cc",
    "emulation",
    "errors",
    "frame_errors",
    "grant",
    "link",
    "models",
    "parts",
    "phy",
    "policy",
    "request",
    "scheduler",
    "snr",
    "solutions",
    "testing",
    "traffic",
    "units",
    "window",
)
"""Public modules of the package, including the modules of components."""


def _names() -> list[str]:
    return sorted([*_HOMES, *_MODULES, "__version__"])


def __getattr__(name: str) -> Any:
    value: Any
    if name == "__all__":
        value = _names()
    elif name == "__version__":
        value = importlib.import_module("airpath._airpath").version()
    elif name in _MODULES:
        value = importlib.import_module(f"airpath.{name}")
    elif name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return _names()
