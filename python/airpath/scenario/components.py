"""Registry of all families of components, such as queue disciplines and links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airpath.scenario.aqm.queues import QueueDisc
from airpath.scenario.cc.base import Congestion
from airpath.scenario.frame_errors import ErrorProcess
from airpath.scenario.grant import GrantPolicy
from airpath.scenario.link.base import Link
from airpath.scenario.policy import LinkAdaptation
from airpath.scenario.request import RequestProcedure
from airpath.scenario.scheduler import Scheduler
from airpath.scenario.snr import SnrProcess
from airpath.scenario.window import ReceiveWindow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airpath.scenario.base import Component

FAMILIES: Mapping[str, type[Component]] = {
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
"""Maps the engine's name of each family to the family. ``airpath list``, the reference
documentation and the tests iterate over this mapping."""
