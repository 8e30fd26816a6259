"""Beyond qawla-2015: random three-regime links, the errors of the model and their causes."""

from __future__ import annotations

import io
import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import airpath as ap
from airpath.engine.flows import Flows
from airpath.reproduction import Effort, Row, reproduce
from airpath.reproduction.render import print_report
from airpath.reproduction.session import Session
from airpath_papers.qawla.scenarios import SWEEPS
from conformance import Law
from studies.qawla import PAPER as STUDIES
from studies.qawla import random_links, scenarios, three_regimes
from studies.qawla.explain import ASSUMPTIONS, CellAverages, Explanation, explain
from studies.qawla.explain import Path as ModelPath
from studies.qawla.random_links import (
    FLOWS,
    LINK_SEED,
    LINKS,
    MEAN_RTT0_MS,
    draw,
    random_link,
)

SHORT = Effort(replications=2, duration_s=40.0, warmup_s=10.0)
REPLACED = Law(
    area="Papers",
    source="qawla-2015: the model with each assumption replaced by what the simulation had",
    allows="0.5 %, of which 0.13 % are the frame header",
)


def links(*numbers: int) -> list[Any]:
    return STUDIES.sweeps.cells("links", link=numbers)


[LINK_27] = links(27)

# --- the links ---------------------------------------------------------------------------------


def test_links_are_sampled_as_documented() -> None:
    for link in draw(500, seed=7):
        assert all(low < high for low, high in pairwise(link.rates_mbps))
        assert {*link.rates_mbps} <= {5.376, 8.0, 10.752, 16.0, 21.0, 24.0, 26.88}
        assert all(low <= high for low, high in pairwise(link.pers))
        assert 1e-5 <= link.pers[0] <= link.pers[-1] <= 0.3
        assert 5 <= link.thresholds[0] < link.thresholds[1] <= 40
        assert link.flows in FLOWS
        assert link.mean_rtt0_ms in MEAN_RTT0_MS


def test_links_are_platform_independent() -> None:
    links = draw(LINKS, LINK_SEED)
    assert links[26] == random_link(27)
    assert links[26].rates_mbps == (5.376, 8.0, 26.88)
    assert links[26].pers == (0.000118, 0.000767, 0.266)
    assert (links[26].thresholds, links[26].traffic) == ((9, 11), "SU(2,60)")
    assert draw(3, LINK_SEED) == links[:3]


def test_random_link_is_simulated_on_the_papers_path() -> None:
    link = random_link(27)
    resolved = json.loads(STUDIES.sweeps.scenario(LINK_27, SHORT).resolve()[0])
    made = resolved["bottleneck"]["link"]
    assert made["thresholds"] == [9, 11]
    assert [regime["per"] for regime in made["regimes"]] == list(link.pers)
    assert made["framing"]["overhead_bytes"] == 2
    assert resolved["ack_path"]["link"]["rate_bps"] == 5_376_000
    assert len(Flows(resolved["flows"])) == 2
    analysed = scenarios.random_path(27, idealised=True)
    assert json.loads(analysed.resolve()[0])["ack_path"]["kind"] == "ideal"


# --- the explanation ---------------------------------------------------------------------------


IDX_10, IDX_15 = (SWEEPS.cells("table5", idx=idx) for idx in (10, 15))


def explained(cell: Any, effort: Effort = SHORT) -> tuple[float, Explanation]:
    """Return the relative difference of the engine's model from a short simulation, and the parts
    that explain it.
    """
    run = ap.simulate(STUDIES.sweeps.scenario(cell, effort), reps=effort.replications)
    measured = CellAverages.of(run.replications)
    difference = math.log(scenarios.solution(cell).throughput_bps / measured.throughput_bps)
    return difference, explain(random_links.model_path(random_links.link_of(cell)), measured)


@pytest.mark.parametrize("cell", [*links(3, 12, 27, 36), *IDX_10], ids=repr)
def test_parts_add_up_to_the_compiled_models_difference(cell: Any) -> None:
    # The explanation solves the fixed point with separate equations.
    difference, why = explained(cell)
    assert why.difference == pytest.approx(difference, abs=1e-5)
    assert sum(why.parts.values()) == pytest.approx(difference, abs=1e-5)
    assert list(why.parts) == [*ASSUMPTIONS, "rest"]


@pytest.mark.parametrize("cell", [*links(12, 27, 31), *IDX_10, *IDX_15], ids=repr)
def test_all_assumptions_replaced_give_the_simulated_throughput(cell: Any) -> None:
    # 0.13 % of the difference is caused by the frame header, which is not in the model.
    rest = explained(cell)[1].parts["rest"]
    REPLACED.close(f"log of the ratio of throughputs, {cell}", "", rest, 0.0, 0.005)


def test_drops_explain_published_point_with_18_percent_difference() -> None:
    # Table 5, idx 10: RED starts to drop at 30 packets, where the regime also changes.
    _, why = explained(*IDX_10, Effort(replications=4, duration_s=120.0, warmup_s=30.0))
    assert why.difference > 0.13
    assert why.parts["drops"] > 0.8 * why.difference


def test_assumptions_of_the_fixed_point_have_no_effect_where_they_hold() -> None:
    # With one regime, no drops and a constant queue, the only difference is that of TCP from its
    # formula.
    path = ModelPath.of([12.0, 12.0], [1e-3, 1e-3], [10], [0.05, 0.05])
    system = np.zeros(22)
    system[21] = 1.0
    why = explain(path, CellAverages(12e6 * 0.999, system, 1000.0, 0.0, np.array([0.0, 1000.0])))
    for name in ("spread", "start", "drops", "bursts", "rest"):
        assert abs(why.parts[name]) < 1e-6, name


# --- the item ----------------------------------------------------------------------------------


def limit_links_to(monkeypatch: pytest.MonkeyPatch, *numbers: int) -> None:
    chosen = [*links(*numbers), *IDX_10]
    monkeypatch.setattr(three_regimes, "cells", lambda: chosen)


def test_few_links_are_compared_and_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    limit_links_to(monkeypatch, 27, 36)
    session = Session(STUDIES, SHORT)
    session.simulate(three_regimes.cells())
    item = three_regimes.evaluate(session, None)
    rows = {(str(row.row), row.quantity): row for row in item.rows}
    assert len(rows) == 9
    model = rows["{'link': 27}", "throughput_analysis"]
    simulated = rows["{'link': 27}", "throughput_simulation"]
    average = rows["{'link': 27}", "throughput_average"]
    assert model.published is simulated.published is average.published is None
    assert model.computed is not None
    assert simulated.computed is not None
    difference = model.computed / simulated.computed - 1
    assert model.extra["difference_from_simulation"] == pytest.approx(difference)
    assert difference > 0.3
    assert average.extra["warned"] is True
    assert model.extra["explained"]["spread"] > 0.3
    # The distribution of an empty queue has no effect: TCP is the cause, and no warning is given.
    assert rows["{'link': 36}", "throughput_analysis"].extra["explained"]["tcp"] < -0.05


def test_summary_counts_are_correct() -> None:
    def rows(link: int, difference: float, average: float, spread: float) -> list[Row]:
        key = {"link": link}
        parts = {**dict.fromkeys(three_regimes.PARTS, 0.0), "spread": spread}
        parts["tcp"] = difference - spread
        analysis = {"difference_from_simulation": difference, "explained": parts}
        swings = {"difference_from_simulation": average, "warned": difference > 0.05}
        return [
            Row(key, "throughput_analysis", "Mbit/s", None, 1.0, extra=analysis),
            Row(key, "throughput_average", "Mbit/s", None, 1.0, extra=swings),
        ]

    from airpath.reproduction import ItemResult

    made = [*rows(1, 0.1, 0.01, 0.12), *rows(2, -0.02, -0.02, -0.02), *rows(3, 0.03, 0.03, 0.0)]
    [summary] = three_regimes.summarise([ItemResult(three_regimes.KEY, "", made)])
    assert summary.values["fixed_point"]["median"] == pytest.approx(0.03)
    assert summary.values["average"]["largest"] == pytest.approx(0.03)
    assert summary.values["warned"] == 1
    # The share is (0.12 + 0.02 + 0) / (0.1 + 0.02 + 0.03); a part with the opposite sign is
    # negative.
    assert summary.values["shares"]["spread"] == pytest.approx(0.14 / 0.15)
    assert summary.values["shares"]["tcp"] == pytest.approx(0.01 / 0.15)
    assert three_regimes.summarise([]) == []


def test_report_lists_worst_links_and_figures(
    fake_engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit_links_to(monkeypatch, *range(27, 27 + three_regimes.WORST))
    report = fake_engine.reproduce(STUDIES, ["three_regimes"], effort=SHORT, out=tmp_path)
    stems = ("qawla-three_regimes", "qawla-three_regimes-why")
    assert {path.name for path in report.items[0].figures} == {
        f"{stem}.{kind}" for stem in stems for kind in ("png", "svg")
    }
    json.dumps(report.to_dict(), allow_nan=False)
    assert "random_path: link=27" in report.provenance["scenarios"]
    text = io.StringIO()
    print_report(report, Console(file=text, width=80))
    lines = text.getvalue().splitlines()
    assert max(len(line) for line in lines if line.lstrip().startswith(("link ", "idx "))) <= 80
    assert sum(line.lstrip().startswith("link ") for line in lines) == 2 * three_regimes.WORST


def test_interrupted_item_shows_finished_links(fake_engine: Any, tmp_path: Path) -> None:
    fake_engine.raise_at = 5
    report = fake_engine.reproduce(STUDIES, ["three_regimes"], effort=SHORT, out=tmp_path)
    assert report.interrupted
    assert not report.items[0].complete
    assert len(report.items[0].rows) == 15
    assert report.items[0].figures == []
    fake_engine.raise_at = len(fake_engine.runs)
    assert fake_engine.reproduce(STUDIES, ["three_regimes"]).items[0].rows == []


@pytest.mark.long
def test_quick_mode_meets_the_goal_over_50_links() -> None:
    report = reproduce(STUDIES, ["three_regimes"], mode="quick")
    [summary] = [found for found in report.summaries if found.key == three_regimes.KEY]
    values = summary.values
    assert values["links"] == 50
    # The model averaged over the oscillation of the windows meets the goal. The bare fixed point
    # does not: its median is 4.0 % over 400 other links (docs/explanation/fixed-point-validity.md).
    assert values["average"]["median"] <= three_regimes.MEDIAN_GOAL
    assert values["fixed_point"]["median"] <= 0.05
    assert values["average"]["upper_quartile"] < 0.6 * values["fixed_point"]["upper_quartile"]
    shares = values["shares"]
    assert shares["spread"] + shares["drops"] > 0.8
    assert abs(shares["rest"]) < 0.02


# --- all studies -------------------------------------------------------------------------------


@pytest.mark.long
def test_each_cell_of_the_studies_is_simulated_once(fake_engine: Any) -> None:
    fake_engine.reproduce(STUDIES, ["ranking", "three_regimes"], effort=SHORT)
    names = [run["name"] for run in fake_engine.runs]
    assert len(names) == len(set(names))
    assert sum("idx" in name for name in names) == len(three_regimes.PAPER_CELLS)
    assert sum("random" in name for name in names) == LINKS
    # The sample of Section 6: all distinct links at each SNR and traffic scenario.
    adapted = [name for name in names if "dB" in name]
    assert len(adapted) == len(names) - len(three_regimes.PAPER_CELLS) - LINKS
    assert 96 < len(adapted) < 6 * 96
