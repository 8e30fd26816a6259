"""What a scenario is made of: the classes that a user names, and the families that they form.

A class is here by the `__all__` of its module, and so in `airpath` too. A family is one line of
`FAMILIES`: what ``airpath list`` lists, what the reference describes and what the tests go through
follow from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airpath.errors import (
    AirpathError as AirpathError,
    BadValueError as BadValueError,
    Problem as Problem,
    ScenarioError as ScenarioError,
    UnitError as UnitError,
)
from airpath.scenario.adaptation import *
from airpath.scenario.cell import *
from airpath.scenario.congestion import *
from airpath.scenario.control import *
from airpath.scenario.decibels import Decibels as Decibels
from airpath.scenario.error_processes import *
from airpath.scenario.flows import *
from airpath.scenario.grants import *
from airpath.scenario.hops import *
from airpath.scenario.link import *
from airpath.scenario.links import *
from airpath.scenario.mimo import *
from airpath.scenario.policies import *
from airpath.scenario.pricing import *
from airpath.scenario.tcp.config import TcpConfig as TcpConfig
from airpath.scenario.queues import *
from airpath.scenario.radio import *
from airpath.scenario.recovery import *
from airpath.scenario.requests import *
from airpath.scenario.rlc import *
from airpath.scenario.scenario import *
from airpath.scenario.schedulers import *
from airpath.scenario.signals import *
from airpath.scenario.slope import *
from airpath.scenario.snr import *
from airpath.scenario.stations import *
from airpath.scenario.tdd import *
from airpath.scenario.traffic import *
from airpath.scenario.units import (
    ArrivalRate as ArrivalRate,
    Duration as Duration,
    Frequency as Frequency,
    Length as Length,
    Packets as Packets,
    Rate as Rate,
    Segments as Segments,
    Size as Size,
    Speed as Speed,
)
from airpath.scenario.windows import *
from airpath.scenario.wires import *

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airpath.scenario.base import Part

FAMILIES: Mapping[str, type[Part]] = {
    "congestion": Congestion,
    "aqm": QueueDisc,
    "link": Link,
    "scheduler": Scheduler,
    "request": RequestProcedure,
    "grant": GrantPolicy,
    "window": ReceiveWindow,
    "errors": ErrorProcess,
    "snr": SnrProcess,
    "policy": LinkAdaptation,
}
"""The families of parts that a user chooses from, by the names that the engine has for them."""

NAMES = tuple(sorted(name for name in globals() if name[:1].isupper() and not name.isupper()))
"""The classes."""
