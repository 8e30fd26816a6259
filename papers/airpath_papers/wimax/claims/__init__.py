"""How the claims of ``claims.toml`` are checked: a function each.

| file | what |
| --- | --- |
| `model.py` | the model of §3: Figs. 3 and 4 |
| `tables.py` | Tables 1 and 2, the abstract |
| `delays.py` | the distribution of the uplink delay: Fig. 6 |
| `losses.py` | data that is lost: Fig. 7 |
| `others.py` | larger ACKs, other schedulers, the radio |
| `crowds.py` | stations that collide |
"""

from airpath_papers.wimax.claims import (
    crowds,
    delays,
    losses,
    model,
    others,
    tables,
)
from airpath_papers.wimax.claims.common import CLAIMS

__all__ = ["CLAIMS", "crowds", "delays", "losses", "model", "others", "tables"]
