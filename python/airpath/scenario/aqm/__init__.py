"""Queue disciplines, in the order of ``airpath list``."""

from airpath.scenario.aqm import (
    queues as queues,
    dualpi2 as dualpi2,
    l4span as l4span,
    clamp as clamp,
    rem as rem,
    vcp as vcp,
    ack_priority as ack_priority,
    sbd as sbd,
)
