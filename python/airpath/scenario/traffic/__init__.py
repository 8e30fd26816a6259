"""Traffic sources, in the order of ``airpath list``."""

from airpath.scenario.traffic import (
    flows as flows,
    datagrams as datagrams,
    arrivals as arrivals,
    requests as requests,
    start as start,
    video as video,
    voice as voice,
)
