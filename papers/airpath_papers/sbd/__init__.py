"""Alcaraz and Cerdán 2006: AQM at the RLC buffer of 3G radio bearers.

README.md in this folder lists what is modelled, what is left out, and every parameter that the
paper leaves open with the value chosen; paper.toml has the modes and the items, claims.toml
what the text says.
"""

from __future__ import annotations

from typing import Final

from airpath.reproduction.manifest import paper_of
from airpath_papers.paths import SBD
from airpath_papers.sbd import scenarios
from airpath_papers.sbd.claims import CLAIMS
from airpath_papers.sbd.figures import (
    FIG1_CELLS,
    GRIDS,
    TRACES,
    cells_of_others,
    cells_of_trace,
    evaluate_best,
    evaluate_fig1,
    grid_item,
    trace_item,
)
from airpath_papers.sbd.tables import (
    TABLE6_CELLS,
    cells_of_table,
    evaluate_table6,
    setting_table,
    summarise,
)

__all__ = ["PAPER"]

PAPER: Final = paper_of(
    SBD,
    CLAIMS,
    {
        "fig1": (FIG1_CELLS, evaluate_fig1),
        **{f"table{n}": (cells_of_table(n), setting_table(n)) for n in (2, 3, 4, 5)},
        "table6": (TABLE6_CELLS, evaluate_table6),
        **{key: (grid.cells, grid_item(key)) for key, grid in GRIDS.items()},
        **{key: (cells_of_trace(key), trace_item(key)) for key in TRACES},
        "bearers": (cells_of_others, evaluate_best),
    },
    cell_names=scenarios.Case._fields,
    simulated_scenario=scenarios.simulated,
    effort_of=scenarios.effort_of,
    summarise=summarise,
)
