"""Error rates of the physical layer: measured by decoding, stored in tables, interpolated.

`measure` creates a table, `load` reads a shipped table or one of your files::

    table = airpath.phy.load("802.16-ctc-vehicular-a")
    table.per("mcs3", snr_db=22.0)

`cost231_hata_db` and `link_budget_snr_db` compute the SNR at a distance. `symbol_error_rate`,
`ErrorChain` and `ReedSolomon` compute the resulting error rates of symbols, bursts and coded
packets.
"""

from __future__ import annotations

from airpath.phy.bit_errors import Block, ErrorChain, ReedSolomon
from airpath.phy.measure import measure
from airpath.phy.propagation import (
    OutsideRangeWarning,
    cost231_hata_db,
    link_budget_snr_db,
    sinr_db,
)
from airpath.phy.settings import Components, components
from airpath.phy.shadowing import mean_over_shadowing
from airpath.phy.symbol_errors import symbol_error_rate
from airpath.phy.tables import (
    IncompleteTableWarning,
    OutsideTableWarning,
    PerTable,
    load,
    shipped,
)

__all__ = [
    "Block",
    "Components",
    "ErrorChain",
    "IncompleteTableWarning",
    "OutsideRangeWarning",
    "OutsideTableWarning",
    "PerTable",
    "ReedSolomon",
    "components",
    "cost231_hata_db",
    "link_budget_snr_db",
    "load",
    "mean_over_shadowing",
    "measure",
    "shipped",
    "sinr_db",
    "symbol_error_rate",
]
