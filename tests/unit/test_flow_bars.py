"""Figure of several results per flow: the bars show the measured values."""

from __future__ import annotations

from typing import Any

import pytest

import airpath as ap
from airpath.results.flow_bars import flow_bars, propagation_s
from airpath.results.overview import tables
from airpath.scenario.examples import shipped_examples

EXAMPLES = shipped_examples()


@pytest.fixture(scope="module")
def results() -> dict[str, ap.Result]:
    stems = {"NewReno": "cell-newreno", "CLAMP": "cell-clamp"}
    return {
        label: ap.simulate(ap.load(EXAMPLES / f"{stem}.toml"), reps=2)
        for label, stem in stems.items()
    }


def heights(axis: Any) -> list[float]:
    return [bar.get_height() for bar in axis.patches]


def test_bars_show_rate_and_delay_of_each_flow_and_result(results: dict[str, ap.Result]) -> None:
    rates, delays = flow_bars(results, "four flows").axes
    both = list(results.values())
    assert heights(rates) == [
        result.intervals("flows")[flow]["ip_throughput_bps"].mean * 1e-6
        for result in both
        for flow in range(4)
    ]
    waited, *_ = (heights(delays)[8 * place : 8 * place + 4] for place in range(2))
    assert waited == [
        both[0].intervals("flows")[flow]["mean_delay_s"].mean * 1e3 for flow in range(4)
    ]
    assert [text.get_text() for text in rates.get_xticklabels()] == [
        "flow 0\n32 ms\nuser 0",
        "flow 1\n132 ms\nuser 1",
        "flow 2\n12 ms\nuser 2",
        "flow 3\n182 ms\nuser 2",
    ]


def test_propagation_delay_is_the_smallest_delay(results: dict[str, ap.Result]) -> None:
    found = [propagation_s(results["CLAMP"], flow) for flow in range(4)]
    assert found == pytest.approx([0.016, 0.066, 0.006, 0.091])


def test_results_that_do_not_match_are_rejected(results: dict[str, ap.Result]) -> None:
    other = ap.simulate(ap.load(EXAMPLES / "poisson-md1.toml"), reps=2)
    with pytest.raises(
        ap.errors.BadValueError, match=r"^4, 1 flows: draw results of the same number"
    ):
        flow_bars({"cell": results["CLAMP"], "queue": other}, "title")
    with pytest.raises(ap.errors.BadValueError, match=r"^0 results: draw 1 to 4 side by side"):
        flow_bars({}, "title")


def test_users_of_a_cell_are_printed(results: dict[str, ap.Result]) -> None:
    (users,) = (table for table in tables(results["CLAMP"], "files") if table.title == "Users")
    assert [row[0] for row in users.rows] == [f"bottleneck/user {user}" for user in range(3)]
    jain = results["CLAMP"].jain_of_users()["bottleneck"]
    (note,) = users.notes
    assert note.startswith(f"Jain's index of the users' throughputs, bottleneck: {jain.mean:.4f}")
