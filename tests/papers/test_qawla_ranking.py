"""The qawla study that simulates link-adaptation policies for a sample of links, and ranks them."""

from __future__ import annotations

from typing import Any

import pytest

from airpath.reproduction import Effort, reproduce
from studies.qawla import PAPER as STUDIES
from studies.qawla.ranking import NAMES


@pytest.mark.long
def test_ranking_compares_simulated_with_modelled_throughput(fake_engine: Any) -> None:
    effort = Effort(replications=4, duration_s=30.0, warmup_s=3.0)
    report = fake_engine.reproduce(STUDIES, ["ranking"], effort=effort)
    [item] = report.items
    assert item.complete
    # All simulations return the same result, so that no two policies can be distinguished.
    means = [row for row in item.rows if row.quantity == "mean_normalised_throughput_simulation"]
    assert [row.row["policy"] for row in means] == [*NAMES, *NAMES]
    assert [row.computed for row in means] == pytest.approx([1.0] * 12)
    [summary] = report.summaries
    assert summary.values["told_apart"] == summary.values["points_told_apart"] == 0


def test_ranking_detects_order_that_differs_from_model(fake_engine: Any) -> None:
    effort = Effort(replications=4, duration_s=30.0, warmup_s=3.0)
    # Links with the fastest MCS are much better in the simulation than in the model.
    fake_engine.throughput = lambda name: 40e6 if name.endswith("mcs7") else 5e6
    report = fake_engine.reproduce(STUDIES, ["ranking"], effort=effort)
    [summary] = report.summaries
    assert summary.values["told_apart"] > summary.values["agree"]
    assert summary.values["points_told_apart"] > summary.values["points_agree"] > 0
    assert any("MaxPHYThru-FER" in text for text in summary.values["other_order"])


@pytest.mark.long
def test_simulator_matches_order_of_table_6() -> None:
    report = reproduce(STUDIES, ["ranking"], mode="quick")
    [summary] = report.summaries
    # TAGLA and TFER make equal choices in the sample, on both channels.
    assert summary.values["pairs"] == 20
    assert summary.values["told_apart"] >= 18
    assert summary.values["other_order"] == summary.values["better_than_optimum"] == []
    assert summary.values["points_agree"] >= 0.95 * summary.values["points_told_apart"]
