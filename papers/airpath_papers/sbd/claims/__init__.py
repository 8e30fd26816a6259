"""How the claims of ``claims.toml`` are checked: a function each.

| file | checks |
| --- | --- |
| `settings.py` | T_r, minth, α, from Table 2 to Table 3, RED with one flow and four, Table 6 |
| `runs.py` | buffer sizes, the start, short downloads, the bearer that falls to 128 kbit/s |
| `revised.py` | later criteria for sentences of these two |
| `table6.py` | later criteria for Table 6 |
| `later.py` | sentences that had no criterion: the setting by rate, minth, one flow, timers |
"""

from airpath_papers.sbd.claims import later, revised, runs, settings, table6
from airpath_papers.sbd.claims.common import CLAIMS

__all__ = ["CLAIMS", "later", "revised", "runs", "settings", "table6"]
"""The paper's claims and the modules that check them."""
