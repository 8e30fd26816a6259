"""Ozturk and Akar 2015: queue-aware link adaptation and its fixed-point TCP model.

README.md in this folder lists what is modelled, what is left out, every parameter that the paper
leaves open with the value chosen, and the errata.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from airpath.papers.kit.base import Effort, Item, ItemResult, Paper, Summary
from airpath.papers.qawla import scenarios
from airpath.papers.qawla.adaptation_statements import ADAPTATION_STATEMENTS
from airpath.papers.qawla.curves import curve_item
from airpath.papers.qawla.data import TABLE_OF
from airpath.papers.qawla.figures import FIG5_CELLS, FIG6_CELLS, evaluate_fig5, evaluate_fig6
from airpath.papers.qawla.policies import evaluate_table6
from airpath.papers.qawla.policies import summarise as summarise_policies
from airpath.papers.qawla.statements import STATEMENTS
from airpath.papers.qawla.tables import (
    cells_of_table,
    evaluate_table2,
    results_table,
    summarise,
)
from airpath.papers.qawla.thresholds import FIGURES, figure_item

__all__ = ["PAPER"]

_BY_H = ("h-100", "b-40", "b-40-one-optimum", "b-20", "b-20-one-optimum")
_OVER_RATED = ("insensitive", "over-rating", "over-rating-mean", "dependent")
_WORST = ("worst-case", "worst-peak", "worst-peak-tagla")

_STATEMENTS_OF = {
    "fig7": _BY_H,
    "fig8": _BY_H,
    "fig9": _OVER_RATED,
    "fig10": _OVER_RATED,
    "fig11": _WORST,
    "fig12": _WORST,
}


def _summarise(results: Sequence[ItemResult]) -> list[Summary]:
    makers = (summarise, summarise_policies)
    return [summary for make in makers for summary in make(results)]


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
        *(
            Item(
                key,
                f"packet error rates over the SNR: {name}",
                (),
                curve_item(key),
                ("support", "least-snr", "mcs3-mcs4", "steepness"),
            )
            for key, name in (("fig2", "AWGN"), ("fig3", "ITU-A"))
        ),
        Item(
            "table2",
            "the 18 scenarios: rates computed from Table 1, our error rates",
            (),
            evaluate_table2,
        ),
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
        *(
            Item(key, shown.title, (), figure_item(key), _STATEMENTS_OF[key])
            for key, shown in FIGURES.items()
        ),
        Item(
            "table6",
            "normalised throughput of the link adaptation policies",
            (),
            evaluate_table6,
            ("near-optimum", "order"),
        ),
    ),
    headings={
        "link_rate": "rate, Mbit/s",
        "throughput_simulation": "T simulated, Mbit/s",
        "throughput_analysis": "T analysed, Mbit/s",
        "queue_analysis": "x*, packets",
        "alpha_analysis": "α*",
        "per": "PER",
        "mean_normalised_throughput": "T_M",
        "worst_normalised_throughput": "T_W",
        "best_threshold": "best threshold",
    },
    decimals={"mean_normalised_throughput": 3, "worst_normalised_throughput": 3},
    simulated_scenario=scenarios.simulated,
    analysed_scenario=scenarios.analysed,
    statements=(*STATEMENTS, *ADAPTATION_STATEMENTS),
    summarise=_summarise,
)
