"""Events and other objects that the engine passes to parts in Python."""

from airpath._airpath import (
    Ack,
    BuiltInCongestion,
    CongestionSetup,
    Idle,
    Loss,
    LostSegment,
    Open,
    Random,
    RateSample,
    Sent,
    Undo,
)

__all__ = [
    "Ack",
    "BuiltInCongestion",
    "CongestionSetup",
    "Idle",
    "Loss",
    "LostSegment",
    "Open",
    "Random",
    "RateSample",
    "Sent",
    "Undo",
]
