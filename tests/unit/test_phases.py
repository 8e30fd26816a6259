"""Statistics between the events of ``[[control]]``."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import airpath as ap
from airpath.results.phases import phase_rows
from airpath.scenario.examples import example_path


def make(**changes: Any) -> ap.Scenario:
    """Return datagrams at 3 Mbit/s over a link of 4, then 2, 0 and 4 Mbit/s again."""
    steps = [("0 s", "4 Mbit/s"), ("20 s", "2 Mbit/s"), ("30 s", "0 bit/s"), ("40 s", "4 Mbit/s")]
    keys: dict[str, Any] = {
        "flows": ap.flows(2, source="poisson", rate="1.5 Mbit/s", packet="1500 B"),
        "bottleneck": ap.Bottleneck(
            aqm=ap.aqm.DropTail(limit="20 packets"), link=ap.link.Fixed(rate="4 Mbit/s")
        ),
        "duration": "50 s",
        "warmup": "10 s",
        "control": [{"at": at, "rate": rate} for at, rate in steps],
        "record": {"series": ["queue", "sojourn", "drop", "delivered"]},
    }
    return ap.Scenario(**(keys | changes))


def test_phase_statistics_match_the_series() -> None:
    """Regression: only one mean was reported, over the phases of 2 and of 4 Mbit/s."""
    result = ap.simulate(make(), reps=2, seed=5)
    phases = result.table("phases")
    assert phases["replication"].tolist() == [0] * 4 + [1] * 4
    edges = [10.0, 20.0, 30.0, 40.0, 50.0]
    for replication, found in phases.groupby("replication"):
        assert found["from_s"].tolist() == edges[:-1]
        assert found["until_s"].tolist() == edges[1:]
        delivered, drops, waits, queue = (
            result.series(name, int(replication))
            for name in ("delivered", "drop", "sojourn", "queue")
        )
        bits = np.histogram(delivered["time_s"], edges, weights=8 * delivered["value"])[0]
        assert found["goodput_bps"].to_numpy() == pytest.approx(bits / 10)
        assert found["drops"].tolist() == np.histogram(drops["time_s"], edges)[0].tolist()
        count = np.histogram(waits["time_s"], edges)[0]
        total = np.histogram(waits["time_s"], edges, weights=waits["value"])[0]
        expected = [s / n if n else np.nan for s, n in zip(total, count, strict=True)]
        assert found["mean_sojourn_s"].to_numpy() == pytest.approx(expected, nan_ok=True)
        lengths = [mean_level(queue, *pair) for pair in pairwise(edges)]
        assert found["mean_packets"].to_numpy() == pytest.approx(lengths)
        used = found["utilisation"].to_numpy()
        assert used[:2] == pytest.approx([0.75, 1.0], abs=0.08)
        assert used[2] < 0.001


def test_phase_of_a_cell_has_the_queues_of_all_stations() -> None:
    """Regression: the phase had the queue of station 0 only, labelled as that of the cell."""
    cell = ap.load(example_path("wimax-cell"))
    cell = cell.replace("control", [{"at": "20 s", "rate": "8 Mbit/s"}])
    (run,) = ap.simulate(cell, reps=1).replications
    rows = phase_rows(run, "bottleneck")
    assert len(rows) == 2
    queues = [queue for queue in run["queues"] if queue["name"].startswith("bottleneck/")]
    assert len(queues) > 1
    assert sum(row["arrived"] for row in rows) == sum(queue["arrived"] for queue in queues)
    waits = [queue["mean_sojourn_s"] * queue["departed"] for queue in queues]
    mean_s = sum(waits) / sum(queue["departed"] for queue in queues)
    first, second = (row["mean_sojourn_s"] for row in rows)
    assert first < mean_s < second


def mean_level(queue: Any, begins: float, ends: float) -> float:
    """Return the time average of a level that is recorded at each change."""
    time, value = queue["time_s"].to_numpy(), queue["value"].to_numpy()
    first = value[time <= begins][-1]
    inside = (time > begins) & (time < ends)
    edges = np.concatenate(([begins], time[inside], [ends]))
    return float(np.diff(edges) @ np.concatenate(([first], value[inside])) / (ends - begins))


def test_phases_add_up_to_the_whole_run_and_change_no_result() -> None:
    flows = ap.flows(2, cc="cubic", base_rtt="30 ms", start={"uniform": ["0 s", "1 s"]})
    result = ap.simulate(make(flows=flows), reps=1)
    run, phases = result.replications[0], result.table("phases")
    spans = (phases["until_s"] - phases["from_s"]).to_numpy()
    full = sum(flow["goodput_bps"] for flow in run["flows"])
    assert phases["goodput_bps"].to_numpy() @ spans / 40 == pytest.approx(full)
    assert phases["mean_packets"].to_numpy() @ spans / 40 == pytest.approx(
        run["queues"][0]["mean_packets"]
    )
    for name in ("retransmissions", "timeouts", "delivered_packets"):
        assert phases[name].sum() == sum(flow[name] for flow in run["flows"])
    # An event that changes nothing divides the time and leaves the totals unchanged.
    same = [{"at": "25 s", "rate": "4 Mbit/s"}]
    parted, plain = (
        ap.simulate(make(flows=flows, control=control), reps=1).replications[0]
        for control in (same, [])
    )
    assert "phases" not in plain
    assert len(parted.pop("phases")) == 2
    assert parted == plain


def test_phases_over_a_trace_have_its_offered_capacity(tmp_path: Path) -> None:
    (tmp_path / "t.down").write_text("".join(f"{ms}\n" for ms in range(1, 1001)))
    link = ap.link.Trace(file=str(tmp_path / "t.down"))
    control = [{"at": "30 s", "rate": "1.5 Mbit/s"}]
    scenario = make(bottleneck=ap.Bottleneck(aqm="droptail", link=link), control=control)
    used = ap.simulate(scenario, reps=1).table("phases")["utilisation"].to_numpy()
    assert used == pytest.approx([0.25, 1.0], abs=0.03)


def test_phases_are_in_the_document_and_in_files(tmp_path: Path) -> None:
    result = ap.simulate(make(), reps=2)
    result.save(tmp_path, figure_formats=None)
    document = json.loads((tmp_path / "result.json").read_text())
    assert [phase["from_s"] for phase in document["phases"]] == [10, 20, 30, 40]
    assert document["phases"][1]["goodput_bps"]["reps"] == 2
    assert ap.load_result(tmp_path).table("phases").equals(result.table("phases"))
    assert "Phases between changes" in result._repr_html_()
    none = ap.simulate(make(control=[]), reps=1)
    assert none.table("phases").empty
    assert "phases" not in none.to_dict()


def test_corrupted_packets_are_not_drops_of_the_queue() -> None:
    """Regression: losses on the link counted as drops of the queue."""
    link = ap.link.Fixed(rate="4 Mbit/s", loss=0.05)
    changes = {"bottleneck": ap.Bottleneck(aqm=ap.aqm.DropTail(limit="20 packets"), link=link)}
    result = ap.simulate(make(**changes), reps=1)
    run = result.replications[0]
    assert run["links"][0]["lost_packets"] > 0
    assert result.table("phases")["drops"].sum() == sum(run["queues"][0]["drops"].values()) > 0


def test_phases_that_exceed_the_memory_are_rejected() -> None:
    """Regression: thousands of events and flows caused an abort."""
    control = [{"at": f"{ms} ms", "rate": "1 Mbit/s"} for ms in range(1000)]
    flows = ap.flows(50_000, source="poisson", rate="100 bit/s", packet="100 B")
    with pytest.raises(ap.errors.BadValueError, match=r"control = 1000 events: about 5e\+09 "):
        ap.simulate(make(flows=flows, control=control), reps=100)
