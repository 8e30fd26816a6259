"""How the statements of ``statements.toml`` are checked: a function each.

| file | what |
| --- | --- |
| `link.py` | the link of constant rate: Fig. 2 |
| `rates.py` | rates over the mean queueing delay: Figs. 4, 5, 9 and 10 |
| `later.py` | the same; criteria that were added later |
| `runs.py` | the scheduler; windows and queues: Figs. 6 and 7 |
| `arrivals.py` | flows that come and go: Fig. 8 |
"""

from airpath.papers.clamp.statements import arrivals, later, link, rates, runs
from airpath.papers.clamp.statements.common import CHECKS, SAYS

__all__ = ["CHECKS", "SAYS", "arrivals", "later", "link", "rates", "runs"]
