"""Airpath: what a transport connection gets over a wireless path, and what would get it more.

Parts are imported when they are first used, so that the command answers at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airpath import models as models, phy as phy
    from airpath.advisory import Advisory as Advisory
    from airpath.api import (
        advisories as advisories,
        check as check,
        load as load,
        simulate as simulate,
        solve as solve,
    )
    from airpath.comparison import (
        ComparisonInterrupted as ComparisonInterrupted,
        EngineComparison as EngineComparison,
        compare_engines as compare_engines,
    )
    from airpath.emulation.api import (
        emulate as emulate,
        emulate_command as emulate_command,
        emulation_check as emulation_check,
    )
    from airpath.errors import Interrupted as Interrupted, RunError as RunError
    from airpath.results import (
        Interval as Interval,
        Result as Result,
        load_result as load_result,
    )
    from airpath.scenario.parts import *
    from airpath.solutions import (
        ClampFluidSolution as ClampFluidSolution,
        FixedPointSolution as FixedPointSolution,
        Md1kSolution as Md1kSolution,
        MimoSolution as MimoSolution,
        RttStagesSolution as RttStagesSolution,
        Solution as Solution,
    )
    from airpath.sweeps.api import SweepInterrupted as SweepInterrupted, sweep as sweep
    from airpath.sweeps.result import Sweep as Sweep, load_sweep as load_sweep
    from airpath.trace import Trace as Trace, generate_trace as generate_trace

    __version__: str

_PARTS = "airpath.scenario.parts"
_HOMES = {
    "Advisory": "airpath.advisory",
    "ClampFluidSolution": "airpath.solutions",
    "ComparisonInterrupted": "airpath.comparison",
    "EngineComparison": "airpath.comparison",
    "FixedPointSolution": "airpath.solutions",
    "Interrupted": "airpath.errors",
    "Interval": "airpath.results",
    "Result": "airpath.results",
    "Md1kSolution": "airpath.solutions",
    "MimoSolution": "airpath.solutions",
    "RttStagesSolution": "airpath.solutions",
    "RunError": "airpath.errors",
    "Solution": "airpath.solutions",
    "Sweep": "airpath.sweeps.result",
    "SweepInterrupted": "airpath.sweeps.api",
    "Trace": "airpath.trace",
    "advisories": "airpath.api",
    "check": "airpath.api",
    "compare_engines": "airpath.comparison",
    "emulate": "airpath.emulation.api",
    "emulate_command": "airpath.emulation.api",
    "emulation_check": "airpath.emulation.api",
    "flows": "airpath.scenario.flows",
    "generate_trace": "airpath.trace",
    "load": "airpath.api",
    "load_result": "airpath.results",
    "load_sweep": "airpath.sweeps.result",
    "simulate": "airpath.api",
    "solve": "airpath.api",
    "sweep": "airpath.sweeps.api",
}
"""Where the names are that are no part of a scenario."""
_MODULES = ("models", "phy")
"""Modules of the package that are part of its interface."""


def _names() -> list[str]:
    """Return what the package offers; the parts of a scenario are in the modules of their own."""
    parts = importlib.import_module(_PARTS)
    return sorted([*_HOMES, *parts.NAMES, "__version__", *_MODULES])


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
    elif name[:1].isupper() and name in (parts := importlib.import_module(_PARTS)).NAMES:
        value = getattr(parts, name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return _names()
