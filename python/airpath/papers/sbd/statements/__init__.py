"""How the statements of ``statements.toml`` are checked: a function each.

| file | checks |
| --- | --- |
| `settings.py` | T_r, minth, α, from Table 2 to Table 3, RED with one flow and four, Table 6 |
| `runs.py` | buffer sizes, the start, short downloads, the bearer that falls to 128 kbit/s |
| `revised.py` | later criteria for sentences of these two |
| `table6.py` | later criteria for Table 6 |
| `claims.py` | sentences that had no criterion: the setting by rate, minth, one flow, timers |
"""

from airpath.papers.sbd.statements import claims, revised, runs, settings, table6
from airpath.papers.sbd.statements.common import SAYS

__all__ = ["SAYS", "claims", "revised", "runs", "settings", "table6"]
"""The paper's statements and the modules that check them."""
