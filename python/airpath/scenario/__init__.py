"""The user's description of a path: flows, bottleneck, ACK path; units in the text, clear errors.

`load` reads it from a TOML file, `Scenario` is the same as Python objects, and
`Scenario.resolve` turns either into the resolved form that models and simulator take. Components
are in a module for each family, which `airpath` has under the same name: `airpath.aqm.CoDel` is
from `airpath.scenario.aqm`.
"""

from airpath.errors import MISSING as MISSING
from airpath.scenario.control import Control as Control
from airpath.scenario.hops import Bottleneck as Bottleneck
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
