"""Ozturk and Akar 2015: queue-aware link adaptation and its fixed-point TCP model.

README.md in this folder lists what is modelled, what is left out, every parameter that the paper
leaves open with the value chosen, and the errata.
"""

from __future__ import annotations

from typing import Final

from airpath.papers.base import Effort, Item, Paper
from airpath.papers.qawla import scenarios, three_regimes
from airpath.papers.qawla.data import TABLE_OF
from airpath.papers.qawla.figures import FIG5_CELLS, FIG6_CELLS, evaluate_fig5, evaluate_fig6
from airpath.papers.qawla.statements import STATEMENTS
from airpath.papers.qawla.tables import (
    cells_of_table,
    evaluate_table2,
    results_table,
    summarise,
)

__all__ = ["PAPER"]

PAPER: Final = Paper(
    key="qawla",
    title="A novel queue-aware wireless link adaptation mechanism and its fixed-point "
    "analytical model",
    citation="Ozturk and Akar, A novel queue-aware wireless link adaptation mechanism and its "
    "fixed-point analytical model, EURASIP Journal on Wireless Communications and Networking "
    "(2015).",
    cell_names=("idx", "B"),
    modes={
        "quick": Effort(
            replications=4,
            duration_s=120.0,
            warmup_s=30.0,
            note="quick: fewer and shorter runs than the paper's 10 of 300 s, so cells may differ "
            "more and intervals are wider. --full is the paper's.",
        ),
        "default": Effort(
            replications=4,
            duration_s=300.0,
            warmup_s=30.0,
            note="4 of the paper's 10 runs; --full is all of them.",
        ),
        "full": Effort(replications=10, duration_s=300.0, warmup_s=30.0),
    },
    items=(
        Item("table2", "the 18 scenarios, rates computed from Table 1", (), evaluate_table2),
        *(
            Item(
                key,
                f"throughput for B = {boundary}: simulation and analysis",
                cells_of_table(boundary),
                results_table(boundary),
                ("optimistic-model",) if boundary == 10 else (),
            )
            for boundary, key in TABLE_OF.items()
        ),
        Item(
            "fig5",
            "queue-length distribution of idx 2 for B = 10, 20 and 30",
            FIG5_CELLS,
            evaluate_fig5,
            ("empty-queue", "optimistic-model"),
        ),
        Item(
            "fig6",
            "queue-length distributions of six scenarios for B = 20",
            FIG6_CELLS,
            evaluate_fig6,
            ("mass-at-boundary",),
        ),
        Item(
            three_regimes.KEY,
            "beyond the paper: 50 random three-regime links, the differences explained",
            three_regimes.cells(),
            three_regimes.evaluate,
        ),
    ),
    headings={
        "link_rate": "rate, Mbit/s",
        "throughput_simulation": "T simulated, Mbit/s",
        "throughput_analysis": "T analysed, Mbit/s",
        "queue_analysis": "x*, packets",
        "alpha_analysis": "α*",
    },
    simulated_scenario=scenarios.simulated,
    analysed_scenario=scenarios.analysed,
    statements=STATEMENTS,
    summarise=lambda results: [*summarise(results), *three_regimes.summarise(results)],
)
