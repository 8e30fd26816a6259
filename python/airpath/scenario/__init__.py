"""The user's description of a path: flows, bottleneck, ACK path; units in the text, clear errors.

`load` reads it from a TOML file, `Scenario` is the same as Python objects, and
`Scenario.resolve` turns either into the resolved form that models and simulator take.
"""

from airpath.errors import MISSING, AirpathError, BadValueError, Problem, ScenarioError, UnitError
from airpath.scenario.adaptation import (
    AdaptiveLink,
    DualRegimePolicy,
    FixedPolicy,
    LinkAdaptation,
    MaxPhyThroughput,
    OptimumPolicy,
    Qawla,
    Tagla,
    Tfer,
)
from airpath.scenario.channels import BurstErrors, Channel, GilbertElliott, IndependentErrors
from airpath.scenario.flows import (
    Cbr,
    Congestion,
    Cubic,
    Dctcp,
    NewReno,
    Poisson,
    Reno,
    Source,
    Tcp,
    Uniform,
    Wire,
    flows,
)
from airpath.scenario.links import (
    DualRegimeLink,
    FixedLink,
    Link,
    MultiRegimeLink,
    RateTraceLink,
    Regime,
    TraceLink,
)
from airpath.scenario.load import load, loads
from airpath.scenario.profiles import PROFILES, Option, TcpOptions
from airpath.scenario.queues import Ared, CoDel, DropTail, FqCoDel, Gred, Pie, QueueDisc, Red
from airpath.scenario.resolve import resolve
from airpath.scenario.rlc import RlcLink
from airpath.scenario.scenario import (
    CAPTURE_POINTS,
    SERIES,
    AckPath,
    Bottleneck,
    Capture,
    Control,
    IdealAckPath,
    LinkAckPath,
    Record,
    ReverseAckPath,
    Scenario,
)
from airpath.scenario.slope import RlcRed, RlcRedRow, Sbd, SbdRow
from airpath.scenario.tables import shipped_tables, table_path
from airpath.scenario.traces import recorded_traces, trace_path
from airpath.scenario.traffic import Arrivals, OnOff, Pareto, RandomSize, RandomTime
from airpath.scenario.units import ArrivalRate, Duration, Packets, Rate, Size
from airpath.scenario.windows import DrainWindow, FixedWindow, ReceiveWindow

__all__ = [
    "CAPTURE_POINTS",
    "MISSING",
    "PROFILES",
    "SERIES",
    "AckPath",
    "AdaptiveLink",
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
    "FixedPolicy",
    "FixedWindow",
    "FqCoDel",
    "GilbertElliott",
    "Gred",
    "IdealAckPath",
    "IndependentErrors",
    "Link",
    "LinkAckPath",
    "LinkAdaptation",
    "MaxPhyThroughput",
    "MultiRegimeLink",
    "NewReno",
    "OnOff",
    "OptimumPolicy",
    "Option",
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
    "ReverseAckPath",
    "RlcLink",
    "RlcRed",
    "RlcRedRow",
    "Sbd",
    "SbdRow",
    "Scenario",
    "ScenarioError",
    "Size",
    "Source",
    "Tagla",
    "Tcp",
    "TcpOptions",
    "Tfer",
    "TraceLink",
    "Uniform",
    "UnitError",
    "Wire",
    "flows",
    "load",
    "loads",
    "recorded_traces",
    "resolve",
    "shipped_tables",
    "table_path",
    "trace_path",
]
