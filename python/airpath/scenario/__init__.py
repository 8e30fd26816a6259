"""The user's description of a path: flows, bottleneck, ACK path; units in the text, clear errors.

`load` reads it from a TOML file, `Scenario` is the same as Python objects, and
`Scenario.resolve` turns either into the resolved form that models and simulator take.
"""

from airpath.errors import MISSING as MISSING
from airpath.scenario.links import *  # kinds are listed in this order: theirs first
from airpath.scenario.load import load as load, loads as loads
from airpath.scenario.parts import *
from airpath.scenario.tcp.profiles import profiles as profiles
from airpath.scenario.resolve import resolve as resolve
from airpath.scenario.tables import shipped_tables as shipped_tables, table_path as table_path
from airpath.scenario.traces import recorded_traces as recorded_traces, trace_path as trace_path
