"""Airpath: what a transport connection gets over a wireless path, and what would get it more.

Parts are imported when they are first used, so that the command answers at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airpath import phy
    from airpath.advisory import Advisory
    from airpath.api import advisories, check, load, simulate, solve
    from airpath.errors import (
        AirpathError,
        BadValueError,
        Interrupted,
        Problem,
        RunError,
        ScenarioError,
        UnitError,
    )
    from airpath.results import Interval, Result, load_result
    from airpath.scenario import (
        AckPath,
        AdaptiveLink,
        Ared,
        ArrivalRate,
        Arrivals,
        Bottleneck,
        BurstErrors,
        Capture,
        Cbr,
        Channel,
        CoDel,
        Congestion,
        Control,
        Cubic,
        Dctcp,
        DrainWindow,
        DropTail,
        DualRegimeLink,
        DualRegimePolicy,
        Duration,
        FixedLink,
        FixedPolicy,
        FixedWindow,
        FqCoDel,
        GilbertElliott,
        Gred,
        IdealAckPath,
        IndependentErrors,
        Link,
        LinkAckPath,
        LinkAdaptation,
        MaxPhyThroughput,
        MultiRegimeLink,
        NewReno,
        OnOff,
        OptimumPolicy,
        Packets,
        Pareto,
        Pie,
        Poisson,
        Qawla,
        QueueDisc,
        RandomSize,
        RandomTime,
        Rate,
        RateTraceLink,
        ReceiveWindow,
        Record,
        Red,
        Regime,
        Reno,
        ReverseAckPath,
        RlcLink,
        RlcRed,
        RlcRedRow,
        Sbd,
        SbdRow,
        Scenario,
        Segments,
        Size,
        Source,
        Tagla,
        Tcp,
        TcpOptions,
        Tfer,
        TraceLink,
        Uniform,
        Wire,
    )
    from airpath.scenario.flows import flows
    from airpath.solutions import FixedPointSolution, Md1kSolution, Solution
    from airpath.trace import Trace, generate_trace

    __version__: str

_HOME = "airpath.scenario"
_OTHER_HOMES = {
    "Advisory": "airpath.advisory",
    "FixedPointSolution": "airpath.solutions",
    "Interrupted": "airpath.errors",
    "Interval": "airpath.results",
    "Result": "airpath.results",
    "Md1kSolution": "airpath.solutions",
    "RunError": "airpath.errors",
    "Solution": "airpath.solutions",
    "Trace": "airpath.trace",
    "advisories": "airpath.api",
    "check": "airpath.api",
    "generate_trace": "airpath.trace",
    "load": "airpath.api",
    "load_result": "airpath.results",
    "simulate": "airpath.api",
    "solve": "airpath.api",
}

__all__ = [
    "AckPath",
    "AdaptiveLink",
    "Advisory",
    "AirpathError",
    "Ared",
    "ArrivalRate",
    "Arrivals",
    "BadValueError",
    "Bottleneck",
    "BurstErrors",
    "Capture",
    "Cbr",
    "Channel",
    "CoDel",
    "Congestion",
    "Control",
    "Cubic",
    "Dctcp",
    "DrainWindow",
    "DropTail",
    "DualRegimeLink",
    "DualRegimePolicy",
    "Duration",
    "FixedLink",
    "FixedPointSolution",
    "FixedPolicy",
    "FixedWindow",
    "FqCoDel",
    "GilbertElliott",
    "Gred",
    "IdealAckPath",
    "IndependentErrors",
    "Interrupted",
    "Interval",
    "Link",
    "LinkAckPath",
    "LinkAdaptation",
    "MaxPhyThroughput",
    "Md1kSolution",
    "MultiRegimeLink",
    "NewReno",
    "OnOff",
    "OptimumPolicy",
    "Packets",
    "Pareto",
    "Pie",
    "Poisson",
    "Problem",
    "Qawla",
    "QueueDisc",
    "RandomSize",
    "RandomTime",
    "Rate",
    "RateTraceLink",
    "ReceiveWindow",
    "Record",
    "Red",
    "Regime",
    "Reno",
    "Result",
    "ReverseAckPath",
    "RlcLink",
    "RlcRed",
    "RlcRedRow",
    "RunError",
    "Sbd",
    "SbdRow",
    "Scenario",
    "ScenarioError",
    "Segments",
    "Size",
    "Solution",
    "Source",
    "Tagla",
    "Tcp",
    "TcpOptions",
    "Tfer",
    "Trace",
    "TraceLink",
    "Uniform",
    "UnitError",
    "Wire",
    "__version__",
    "advisories",
    "check",
    "flows",
    "generate_trace",
    "load",
    "load_result",
    "phy",
    "simulate",
    "solve",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "__version__":
        value: Any = importlib.import_module("airpath._airpath").version()
    elif name == "phy":
        value = importlib.import_module("airpath.phy")
    else:
        value = getattr(importlib.import_module(_OTHER_HOMES.get(name, _HOME)), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
