"""Scenario classes: flows, bottleneck, ACK path, and quantities such as ``"5 Mbit/s"``.

`load` reads a scenario from a TOML file; `Scenario` builds one from Python objects.
`Scenario.resolve` converts a scenario into the resolved form, which is the input of the simulator
and the analytic models. Each family of components has a module and a namespace of the same name in
`airpath`: `airpath.aqm.CoDel` is defined in `airpath.scenario.aqm`.
"""

from airpath.errors import MISSING as MISSING
from airpath.scenario.control import Control as Control
from airpath.scenario.hops import (
    Bottleneck as Bottleneck,
    Hop as Hop,
    HopDirection as HopDirection,
)
from airpath.scenario.load import load as load, loads as loads
from airpath.scenario.components import FAMILIES as FAMILIES
from airpath.scenario.resolve import resolve as resolve
from airpath.scenario.scenario import (
    CAPTURE_POINTS as CAPTURE_POINTS,
    SERIES as SERIES,
    Capture as Capture,
    Record as Record,
    Scenario as Scenario,
)
from airpath.scenario.tables import shipped_tables as shipped_tables, table_path as table_path
from airpath.scenario.tcp.config import TcpConfig as TcpConfig
from airpath.scenario.tcp.profiles import profiles as profiles
from airpath.scenario.traces import recorded_traces as recorded_traces, trace_path as trace_path
from airpath.scenario.wires import Wire as Wire
