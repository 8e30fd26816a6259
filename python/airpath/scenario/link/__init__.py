"""Links and their components, in the order of ``airpath list``."""

from airpath.scenario.link import (
    retransmission as retransmission,
    base as base,
    links as links,
    cell as cell,
    radio as radio,
    stations as stations,
    tdd as tdd,
    mimo as mimo,
    adaptive as adaptive,
    rlc as rlc,
)
