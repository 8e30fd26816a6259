"""Events and other objects that the engine passes to parts in Python."""

from airpath._airpath import (
    Ack,
    BuiltInCongestion,
    CongestionSetup,
    Idle,
    Loss,
    LostSegment,
    Open,
    PolicySetup,
    Random,
    RateSample,
    SchedulerSetup,
    Scheme,
    Sent,
    Undo,
    User,
)

__all__ = [
    "Ack",
    "BuiltInCongestion",
    "CongestionSetup",
    "Idle",
    "Loss",
    "LostSegment",
    "Open",
    "PolicySetup",
    "Random",
    "RateSample",
    "SchedulerSetup",
    "Scheme",
    "Sent",
    "Undo",
    "User",
]
