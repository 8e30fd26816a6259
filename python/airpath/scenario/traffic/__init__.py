"""Sources of traffic: who sends what, and when, in the order of ``airpath list``."""

from airpath.scenario.traffic import (
    flows as flows,
    arrivals as arrivals,
    start as start,
)
