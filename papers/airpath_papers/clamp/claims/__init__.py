"""How the claims of ``claims.toml`` are checked: a function each.

| file | what |
| --- | --- |
| `link.py` | the link of constant rate: Fig. 2 |
| `rates.py` | rates over the mean queueing delay: Figs. 4, 5, 9 and 10 |
| `later.py` | the same; criteria that were added later |
| `runs.py` | the scheduler; windows and queues: Figs. 6 and 7 |
| `arrivals.py` | flows that come and go: Fig. 8 |
"""

from airpath_papers.clamp.claims import arrivals, later, link, rates, runs
from airpath_papers.clamp.claims.common import CHECKS, CLAIMS

__all__ = ["CHECKS", "CLAIMS", "arrivals", "later", "link", "rates", "runs"]
