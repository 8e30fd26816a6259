"""Metrics of one replication have the names and values of the tables of its `Result`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest

import airpath as ap
from airpath.engine.resolved import ResolvedScenario
from airpath.results.frames import plain
from airpath.results.quantities import FLOW_QUANTITIES
from airpath.scenario import loads
from airpath.scenario.examples import shipped_examples
from airpath.sweeps.job import job_of, run_job
from airpath.sweeps.metrics import Metric, evaluate, known_names, solve_metrics

EXAMPLES = shipped_examples()
PATHS = {
    "codel": """
duration = "6 s"
warmup = "1 s"
bottleneck = {aqm = "codel", link = {kind = "fixed", rate = "5 Mbit/s"}}
control = [{at = "3 s", rate = "2 Mbit/s"}]
[[flows]]
count = 2
cc = "cubic"
base_rtt = "40 ms"
[[flows]]
size = "50 kB"
start = "2 s"
base_rtt = "20 ms"
""",
    "both ways": """
duration = "4 s"
bottleneck.aqm = {kind = "droptail", limit = "20 packets"}
bottleneck.link = {kind = "fixed", rate = "4 Mbit/s"}
ack_path = {kind = "link", link = {kind = "fixed", rate = "1 Mbit/s"}}
[[flows]]
base_rtt = "30 ms"
[[flows]]
source = "poisson"
rate = "1 Mbit/s"
base_rtt = "30 ms"
""",
}


def replication(text: str) -> tuple[dict[str, Any], dict[str, Any], ap.Result]:
    return replication_of(loads(text))


def replication_of(scenario: ap.Scenario) -> tuple[dict[str, Any], dict[str, Any], ap.Result]:
    job, contents = job_of(scenario)
    run = run_job(job, contents, 3, 0, 1)[0]
    return run.measured(), job.resolved, ap.simulate(scenario, reps=1, seed=3)


def tables(result: ap.Result) -> Iterator[tuple[str, Any]]:
    """Yield every number of every table of a result of one replication, by its metric."""
    together = result.summary().loc["all"]
    for name in FLOW_QUANTITIES:
        yield name, together[(name, "mean")]
    yield "jain", result.jain().mean
    identifiers = {
        "flows": ("flow", ("kind", "direction")),
        "groups": ("group", ("kind", "direction")),
        "queues": ("queue", ()),
        "links": ("link", ()),
        "phases": ("phase", ()),
        "transfers": ("group", ()),
    }
    for table, (key, texts) in identifiers.items():
        for row in result.table(table).to_dict("records"):
            for column, value in row.items():
                if column not in ("replication", key, *texts):
                    yield f"{table}.{row[key]}.{column}", value


@pytest.mark.parametrize("path", PATHS)
def test_every_column_of_every_table_is_a_metric_with_its_value(path: str) -> None:
    run, resolved, result = replication(PATHS[path])
    found = dict(tables(result))
    values = evaluate(found, run, resolved)
    assert len(found) > 100
    for name, value in found.items():
        missing = value is None or (isinstance(value, float) and math.isnan(value))
        assert values[name] == (None if missing else value), name


RADIO = {"users": "cell-newreno.toml", "stations": "wimax-download.toml"}


@pytest.mark.parametrize("table", RADIO)
def test_users_and_stations_have_metrics(table: str) -> None:
    short = [("warmup", "1 s"), ("duration", "4 s"), ("control", "[]")]
    run, resolved, result = replication_of(ap.load(EXAMPLES / RADIO[table], short))
    rows = result.table(table).to_dict("records")
    for row in rows:
        of = f"{table}.{row['link']}.{row[table.removesuffix('s')]}"
        names = [name for name in row if name not in ("replication", "link", table[:-1])]
        found = evaluate([f"{of}.{name}" for name in names], run, resolved)
        for name in names:
            value = found[f"{of}.{name}"]
            assert value == row[name] or (value is None and math.isnan(row[name])), name
    assert rows
    for cell, index in result.jain_of_users().items():
        name = f"jain_of_users.{cell}"
        assert evaluate([name], run, resolved) == {name: index.mean}


@pytest.mark.parametrize("path", PATHS)
def test_every_known_name_is_a_metric_of_the_engine(path: str) -> None:
    run, resolved, _ = replication(PATHS[path])
    for name in known_names(run, resolved):
        Metric.parse(name).value(run, resolved)


def test_short_name_refers_to_all_flows_then_first_queue_then_first_link() -> None:
    run, resolved, result = replication(PATHS["codel"])
    queue, link = plain(result.intervals("queues"))[0], plain(result.intervals("links"))[0]
    names = ["delivered_bytes", "jain", "p95_sojourn_s", "utilisation", "lost_packets"]
    found = evaluate(names, run, resolved)
    assert found["delivered_bytes"] == sum(flow["delivered_bytes"] for flow in run["flows"])
    assert found["delivered_bytes"] != link["delivered_bytes"]["mean"]
    assert found["p95_sojourn_s"] == queue["p95_sojourn_s"]["mean"]
    assert found["utilisation"] == link["utilisation"]["mean"]
    assert found["lost_packets"] == 0.0


def test_total_drops_and_their_share_of_arrivals_are_metrics() -> None:
    run, resolved, _ = replication(PATHS["codel"])
    queue = run["queues"][0]
    found = evaluate(["drops", "drop_share", "drops_early", "drops_channel"], run, resolved)
    assert found["drops_early"] == queue["drops"]["early"] > 0
    assert found["drops_channel"] == 0.0
    assert found["drops"] == sum(queue["drops"].values())
    assert found["drop_share"] == found["drops"] / queue["arrived"]


def test_metrics_missing_in_a_scenario_are_none() -> None:
    run, resolved, _ = replication(PATHS["codel"])
    names = [
        "margin",
        "flows.9.goodput_bps",
        "flows.-1.goodput_bps",
        "queues.x.marks",
        "phases.7.x",
    ]
    names += ["groups.0.transfer_bytes", "transfers.0.mean_s", "users.cell.0.slots", "", ".", "a.b"]
    assert evaluate(names, run, resolved) == dict.fromkeys(names)


def test_unmeasured_metrics_are_none() -> None:
    run, resolved, _ = replication(PATHS["both ways"])
    assert run["flows"][1]["kind"] == "datagram"
    assert evaluate(["flows.1.mean_rtt_s"], run, resolved) == {"flows.1.mean_rtt_s": None}


def test_flow_that_was_not_aborted_has_the_metric_without_a_value() -> None:
    """Regression: the validity of a sweep over `aborted_at_s` depended on the seed."""
    text = PATHS["both ways"].replace(
        'base_rtt = "30 ms"\n', 'base_rtt = "30 ms"\ntcp = {max_retries = 0}\n', 1
    )
    run, resolved, _ = replication(
        text.replace('rate = "4 Mbit/s"', 'rate = "4 Mbit/s", loss = 0.6')
    )
    names = ["flows.0.aborted_at_s", "flows.1.aborted_at_s"]
    aborted, living = evaluate(names, run, resolved).values()
    assert (aborted is not None, living) == (True, None)
    assert "flows.0.aborted_at_s" in known_names(run, resolved)
    run, resolved, _ = replication(PATHS["both ways"])
    assert "flows.0.aborted_at_s" not in known_names(run, resolved)


# --- analytic models ---------------------------------------------------------------------------

POISSON = """
duration = "400 s"
warmup = "10 s"
bottleneck.aqm = {kind = "droptail", limit = "20 packets"}
bottleneck.link = {kind = "fixed", rate = "5 Mbit/s"}
flows = [{source = "poisson", rate = "4 Mbit/s", packet = "1000 B"}]
"""
RENO = """
duration = "200 s"
warmup = "20 s"
bottleneck.aqm = "gred"
bottleneck.link = {kind = "fixed", rate = "5 Mbit/s"}
flows = [{count = 4, base_rtt = "40 ms"}]
"""
SOLVED = {
    POISSON: {
        "goodput_bps": 0.01,
        "ip_throughput_bps": 0.01,
        "mean_packets": 0.1,
        "mean_sojourn_s": 0.1,
        "utilisation": 0.01,
        "flows.0.mean_delay_s": 0.1,
        "flows.0.goodput_bps": 0.01,
        "jain": 1e-9,
    },
    RENO: {"goodput_bps": 0.06, "ip_throughput_bps": 0.06, "jain": 0.05},
}
"""Mapping from a metric of both engines to the accepted relative difference, due to chance and
model error.
"""


@pytest.mark.filterwarnings("ignore::airpath.errors.ModelWarning")
@pytest.mark.parametrize("text", SOLVED, ids=["md1k", "fixed-point"])
def test_model_and_simulation_have_metrics_of_the_same_name(text: str) -> None:
    run, resolved, _ = replication(text)
    solution = ap.solve(loads(text))
    found = solve_metrics([*SOLVED[text], "p95_delay_s", "nothing"], solution)
    measured = evaluate(SOLVED[text], run, resolved)
    for name, relative in SOLVED[text].items():
        assert found[name] == pytest.approx(measured[name], rel=relative), name
    assert found["p95_delay_s"] is found["nothing"] is None


def test_model_without_a_scenario_has_no_goodput() -> None:
    solution = ap.solve(loads(POISSON))
    bare = type(solution)(**{**vars(solution), "provenance": {}})
    assert solve_metrics(["goodput_bps"], bare) == {"goodput_bps": None}
    resolved = ResolvedScenario(solution.provenance["scenario"])
    assert solve_metrics(["goodput_bps"], bare, resolved) == solve_metrics(
        ["goodput_bps"], solution
    )
