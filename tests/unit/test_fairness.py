"""Jain's index covers bulk flows of one kind of source."""

from __future__ import annotations

import math
from typing import Any

import pytest

import airpath as ap
from airpath.comparison.quantities import quantities
from airpath.engine.resolved import ResolvedScenario
from airpath.results.fairness import comparable
from airpath.results.overview import tables
from airpath.sweeps.job import job_of, run_job
from airpath.sweeps.metrics import evaluate


def scenario(*flows: ap.traffic.Source, **keys: Any) -> ap.Scenario:
    given: dict[str, Any] = {
        "flows": list(flows),
        "bottleneck": ap.Bottleneck(aqm="codel", link=ap.link.Fixed(rate="10 Mbit/s")),
        "duration": "22 s",
        "warmup": "2 s",
    }
    return ap.Scenario(**(given | keys))


def bulk(count: int = 1, **keys: Any) -> list[ap.traffic.Source]:
    return ap.flows(count, base_rtt="40 ms", cc="cubic", **keys)


def resolved(made: ap.Scenario) -> ResolvedScenario:
    return ResolvedScenario.from_json(made.resolve()[0])


def index(goodputs: list[float]) -> float:
    return sum(goodputs) ** 2 / len(goodputs) / sum(each * each for each in goodputs)


TRANSFERS = ap.flows(
    30, arrivals={"poisson": "3 /s"}, size={"exponential": "20 kB"}, base_rtt="40 ms"
)
CALL = ap.flows(source="cbr", rate="100 kbit/s", packet="200 B")


def test_transfers_and_calls_are_excluded_from_the_index_of_bulk_flows() -> None:
    """Regression: 600 short transfers and five bulk flows had an index of 0.0077."""
    made = scenario(*TRANSFERS, *bulk(5), *CALL)
    result = ap.simulate(made, reps=1)
    goodputs = result.table("flows")["goodput_bps"][30:35].tolist()
    assert result.jain().mean == pytest.approx(index(goodputs))
    assert result.jain().mean > 0.9
    transfers, five, call = result.table("groups")["jain"]
    assert math.isnan(transfers)
    assert (five, call) == (result.jain().mean, 1)
    intervals = [group["jain"] for group in result.intervals("groups")]
    assert [found.reps for found in intervals] == [0, 1, 1]
    assert result.to_dict()["summary"]["jain"]["mean"] == result.jain().mean
    [notes] = [table.notes for table in tables(result, "") if table.title == "Flows"]
    shown = f"Jain's index of the goodputs of 5 bulk tcp flows: {result.jain().mean:.4f}"
    assert shown in notes
    job, contents = job_of(made)
    run = run_job(job, contents, result.provenance["seed"], 0, 1)[0].measured()
    names = ["jain", "groups.0.jain", "groups.1.jain"]
    assert list(evaluate(names, run, job.resolved).values()) == [five, None, five]
    [row] = [each for each in quantities(job.resolved, [run]) if each.name == "jain"]
    assert row.of == "5 of 36"


def test_only_flows_of_one_direction_and_one_rate_are_compared() -> None:
    """Downloads and uploads do not share a link, and calls of two rates need different goodputs."""
    link = {"kind": "link", "link": {"kind": "fixed", "rate": "2 Mbit/s"}}
    both = scenario(*bulk(2, direction="reverse"), *bulk(2), ack_path=link)
    assert comparable(resolved(both), range(4)) == [2, 3]
    assert comparable(resolved(both), [0, 1]) == [0, 1]
    keys: dict[str, Any] = {"source": "cbr", "packet": "200 B"}
    calls = ap.flows(2, rate="3 Mbit/s", **keys) + ap.flows(2, rate="1 Mbit/s", **keys)
    assert comparable(resolved(scenario(*calls)), range(4)) == [0, 1]


def test_index_is_missing_without_comparable_flows() -> None:
    result = ap.simulate(scenario(*TRANSFERS), reps=2)
    assert math.isnan(result.jain().mean)
    assert result.to_dict()["summary"]["jain"]["mean"] is None
    [notes] = [table.notes for table in tables(result, "") if table.title == "Flows"]
    assert not [note for note in notes if "Jain" in note]


@pytest.mark.parametrize(
    ("flows", "found"),
    [
        (bulk(3), [0, 1, 2]),
        ([*CALL, *bulk(2), *CALL], [1, 2]),
        ([*CALL, *ap.flows(source="poisson", rate="1 Mbit/s")], [0]),
        (bulk(2, size="1 GB"), []),
        (bulk(2, stop="21 s"), []),
        ([*bulk(2, start="4 s"), *bulk(start="4.1 s")], [0, 1]),
        (bulk(2, start={"uniform": ["0 s", "4 s"]}), [0, 1]),
        (bulk(2, start={"uniform": ["0 s", "5 s"]}), []),
        (bulk(2, on_off={"burst": "100 kB", "off": "1 s"}), []),
    ],
)
def test_bulk_flows_must_be_active_in_the_measured_time(
    flows: list[ap.traffic.Source], found: list[int]
) -> None:
    made = scenario(*flows)
    assert comparable(resolved(made), range(9)) == found
