"""Traffic sources, in the order of ``airpath list``."""

from airpath.scenario.traffic import (
    flows as flows,
    arrivals as arrivals,
    start as start,
    voice as voice,
)
