"""How the statements of ``statements.toml`` are checked: a function each.

| file | what |
| --- | --- |
| `settings.py` | T_r, minth, α, from Table 2 to Table 3, RED with one flow and four, Table 6 |
| `runs.py` | buffer sizes, the start, short downloads, the bearer that falls to 128 kbit/s |
"""

from airpath.papers.sbd.statements import runs, settings
from airpath.papers.sbd.statements.common import SAYS

__all__ = ["SAYS", "runs", "settings"]
