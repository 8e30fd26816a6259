"""How the statements of ``statements.toml`` are checked: a function each.

| file | what |
| --- | --- |
| `link.py` | the link of constant rate: Fig. 2 |
| `rates.py` | rates over the mean queueing delay: Figs. 4, 5, 9 and 10 |
| `runs.py` | the scheduler; windows, queues, flows that come and go: Figs. 6 to 8 |
"""

from airpath.papers.clamp.statements import link, rates, runs
from airpath.papers.clamp.statements.common import SAYS

__all__ = ["SAYS", "link", "rates", "runs"]
