"""Alcaraz and Cerdán 2006: AQM at the RLC buffer of 3G radio bearers.

README.md in this folder lists what is modelled, what is left out, and every parameter that the
paper leaves open with the value chosen.
"""

from __future__ import annotations

from typing import Final, NoReturn

from airpath.papers.kit.base import Cell, Effort, Item, Paper
from airpath.papers.sbd import scenarios
from airpath.papers.sbd.buffers import FIG1_CELLS, evaluate_fig1
from airpath.papers.sbd.clouds import (
    CLOUDS,
    cells_of_cloud,
    cells_of_others,
    cloud_item,
    evaluate_best,
)
from airpath.papers.sbd.data import flows_named
from airpath.papers.sbd.statements import STATEMENTS
from airpath.papers.sbd.tables import (
    TABLE6_CELLS,
    TITLES,
    cells_of_table,
    evaluate_table6,
    setting_table,
    summarise,
)
from airpath.papers.sbd.traces import TRACES, cells_of_trace, trace_item

__all__ = ["PAPER"]

_STATEMENTS_OF = {
    "fig1": ("buffer-size", "over-buffering", "newcomer"),
    "fig2": ("drop-tail-trace",),
    "table3": ("proposal",),
    "table6": ("conclusions", "sbd-or-red-1", "sbd-or-red-4"),
    "fig6": ("reaction-time", "rising-t-r", "minth-bdp", "kept-goodput", "alpha", "alpha-delay"),
    "fig10": ("red-responsive",),
    "fig14": (
        "slow-start",
        "first-losses",
        "short-downloads",
        "short-downloads-red",
        "reconfiguration",
        "less-after-the-change",
    ),
    "fig15": ("slow-start", "first-losses", "reconfiguration", "less-after-the-change"),
}


def _no_analysis(_cell: Cell) -> NoReturn:
    raise LookupError("the paper has no analytic model")


PAPER: Final = Paper(
    key="sbd",
    title="Performance Evaluation of AQM Schemes in Rate-Varying 3G Links",
    citation="Alcaraz and Cerdán, Performance Evaluation of AQM Schemes in Rate-Varying 3G Links "
    "(2006).",
    cell_names=scenarios.Case._fields,
    confidence=0.9,
    decimals={"goodput": 1, "delay": 2, "goodput_improvement": 1, "delay_improvement": 1},
    modes={
        "quick": Effort(
            replications=4,
            duration_s=60.0,
            warmup_s=0.0,
            note=f"Tables 2 to 6: {scenarios.TABLE_RUNS} runs. Figures: 4 runs instead of 20, "
            "every fourth value of T_r and maxp.",
            grid_step=4,
        ),
        "default": Effort(
            replications=20,
            duration_s=60.0,
            warmup_s=0.0,
            note=f"Tables 2 to 6: {scenarios.TABLE_RUNS} runs. Figures: every second value of T_r "
            "and maxp.",
            grid_step=2,
        ),
        "full": Effort(
            replications=20,
            duration_s=60.0,
            warmup_s=0.0,
            note=f"Tables 2 to 6: {scenarios.TABLE_RUNS} runs.",
        ),
    },
    items=(
        Item(
            "fig1",
            "drop-tail over the buffer size",
            FIG1_CELLS,
            evaluate_fig1,
            _STATEMENTS_OF["fig1"],
        ),
        *(
            Item(
                f"table{number}",
                title,
                cells_of_table(number),
                setting_table(number),
                _STATEMENTS_OF.get(f"table{number}", ()),
            )
            for number, title in TITLES.items()
        ),
        Item(
            "table6",
            "drop-tail, and the improvements by SBD and RED",
            TABLE6_CELLS,
            evaluate_table6,
            _STATEMENTS_OF["table6"],
        ),
        *(
            Item(
                key,
                f"goodput and delay over the grid: {cloud.aqm.upper()}, {cloud.bearer} kbit/s, "
                f"{flows_named(cloud.flows)}",
                cells_of_cloud(cloud),
                cloud_item(key),
                _STATEMENTS_OF.get(key, ()),
            )
            for key, cloud in CLOUDS.items()
        ),
        *(
            Item(
                key,
                f"two flows, 384 to 128 kbit/s at 50 s: {name}",
                cells_of_trace(key),
                trace_item(key),
                _STATEMENTS_OF[key],
            )
            for key, (name, _) in TRACES.items()
        ),
        Item(
            "bearers",
            "the grids on all bearers, their best settings",
            cells_of_others,
            evaluate_best,
        ),
    ),
    simulated_scenario=scenarios.simulated,
    analysed_scenario=_no_analysis,
    effort_of=scenarios.effort_of,
    statements=STATEMENTS,
    summarise=summarise,
)
