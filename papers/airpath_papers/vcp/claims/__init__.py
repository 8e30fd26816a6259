"""How the claims of ``claims.toml`` are checked: a function each.

| file | what |
| --- | --- |
| `channel.py` | symbol errors, packets and codes: by the law alone, Figs. 1, 3 and 4 |
| `delivered.py` | what the transports deliver: Figs. 5 and 6 |
| `text.py` | what the text says of other settings: larger links, short flows, capacities |
| `later.py` | criteria that were written later |
| `acks.py` | ACKs protected apart from data |
"""

from airpath_papers.vcp.claims import acks, channel, delivered, later, text
from airpath_papers.vcp.claims.common import CLAIMS

__all__ = ["CLAIMS", "acks", "channel", "delivered", "later", "text"]
