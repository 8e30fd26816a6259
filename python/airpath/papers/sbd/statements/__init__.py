"""What the paper's text says about its results, checked on ours.

| file | what |
| --- | --- |
| `settings.py` | T_r, minth, α; from Table 2 to Table 3; RED with one flow and four |
| `start.py` | buffer sizes, sharing, slow start, short downloads |
| `change.py` | the bearer that falls from 384 to 128 kbit/s |
| `conclusions.py` | the averages of Table 6, SBD against RED |
| `ours.py` | measures beside them that ask for less |

A criterion is committed before its first number is seen, and stays as it is when the outcome is
that the statement does not hold.
"""

from __future__ import annotations

from airpath.papers.kit.base import StatementSpec
from airpath.papers.sbd.statements.change import DROP_TAIL_TRACE, RECONFIGURATION
from airpath.papers.sbd.statements.conclusions import CONCLUSIONS, SBD_OR_RED
from airpath.papers.sbd.statements.ours import OURS
from airpath.papers.sbd.statements.settings import (
    ALPHA,
    MIN_TH,
    PROPOSAL,
    REACTION_TIME,
    RESPONSIVE,
)
from airpath.papers.sbd.statements.start import (
    BUFFER_SIZE,
    DOWNLOADS,
    DOWNLOADS_AGAINST_RED,
    OVER_BUFFERING,
    SLOW_START,
)

__all__ = ["CLAIMS", "OURS", "STATEMENTS"]

CLAIMS: tuple[StatementSpec, ...] = (
    BUFFER_SIZE,
    OVER_BUFFERING,
    DROP_TAIL_TRACE,
    REACTION_TIME,
    MIN_TH,
    ALPHA,
    PROPOSAL,
    RESPONSIVE,
    CONCLUSIONS,
    *SBD_OR_RED,
    SLOW_START,
    DOWNLOADS,
    DOWNLOADS_AGAINST_RED,
    RECONFIGURATION,
)
"""What the paper says."""

STATEMENTS: tuple[StatementSpec, ...] = (*CLAIMS, *OURS)
"""Everything that is checked."""
