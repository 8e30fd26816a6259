"""A backhaul with a limit is a queue: it is listed, and an advisory reports a large delay in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import airpath as ap
from airpath.results.overview import tables
from airpath.sweeps.job import job_of, run_job
from airpath.sweeps.metrics import evaluate

WINDOW = {"receive_window": "2 MB"}


def scenario(rate: str = "16 Mbit/s", **keys: Any) -> ap.Scenario:
    given: dict[str, Any] = {
        "flows": ap.flows(2, base_rtt="60 ms", cc="cubic", tcp=WINDOW),
        "bottleneck": ap.Bottleneck(aqm="codel", link=ap.link.Fixed(rate="20 Mbit/s")),
        "backhaul": {"rate": rate, "delay": "10 ms", "limit": "200 packets"},
        "duration": "20 s",
        "warmup": "5 s",
    }
    return ap.Scenario(**(given | keys))


def by_name(result: ap.Result, table: str) -> dict[str, dict[str, Any]]:
    rows = result.table(table).to_dict("records")
    return {row[table.removesuffix("s")]: row for row in rows}


def test_backhaul_queue_is_listed() -> None:
    """Regression: the backhaul caused a delay of 160 ms, but the table of queues showed 0.0 ms and
    no drops.
    """
    result = ap.simulate(scenario(record={"series": ["sojourn", "drop"]}), reps=1)
    queues = by_name(result, "queues")
    assert list(queues) == ["bottleneck", "backhaul", "backhaul_reverse"]
    wait = queues["backhaul"]["mean_sojourn_s"]
    assert queues["bottleneck"]["mean_sojourn_s"] < 0.001
    # The delay of a packet is the sum of this sojourn time, 30 ms and its transmission times.
    delay = result.intervals("flows")[-1]["mean_delay_s"].mean
    assert wait == pytest.approx(delay - 0.03 - 0.00135, abs=0.002)
    assert wait > 0.08
    assert queues["backhaul"]["max_packets"] == 200
    assert queues["backhaul"]["drops_overflow"] > 0
    assert set(result.series("drop")["queue"]) == {"backhaul"}
    assert {"bottleneck", "backhaul"} == set(result.series("sojourn")["queue"])
    assert by_name(result, "links")["backhaul"]["utilisation"] > 0.95
    shown = next(table for table in tables(result, "") if table.title == "Queues")
    assert [row[0] for row in shown.rows] == list(queues)


def test_bottleneck_remains_the_first_queue_and_link() -> None:
    made = scenario()
    job, contents = job_of(made)
    run = run_job(job, contents, 1, 0, 1)[0].measured()
    names = ["mean_sojourn_s", "utilisation"]
    queue, backhaul = run["queues"][:2]
    assert queue["mean_sojourn_s"] < 0.001 < 0.08 < backhaul["mean_sojourn_s"]
    assert run["links"][0]["utilisation"] < 0.9
    assert evaluate([*names, "queues.backhaul.mean_sojourn_s"], run, job.resolved) == {
        "mean_sojourn_s": queue["mean_sojourn_s"],
        "utilisation": run["links"][0]["utilisation"],
        "queues.backhaul.mean_sojourn_s": backhaul["mean_sojourn_s"],
    }
    control = [{"at": "10 s", "rate": "20 Mbit/s"}]
    phases = ap.simulate(scenario(control=control), reps=1).table("phases")
    assert (phases["mean_sojourn_s"] < 0.001).all()


def backhaul_advisories(result: ap.Result) -> list[str]:
    return [str(found) for found in result.advisories if found.code == "backhaul-queue"]


def test_advisory_reports_a_backhaul_with_a_large_delay() -> None:
    result = ap.simulate(scenario(), reps=2)
    wait = 1e3 * result.intervals("queues")[1]["mean_sojourn_s"].mean
    assert backhaul_advisories(result) == [
        f"backhaul: packets wait {wait:.3g} ms on average for the backhaul and 0 ms for the "
        "link next to it: the backhaul is the bottleneck. Set backhaul.rate above the rate of "
        "that link."
    ]
    assert not backhaul_advisories(ap.simulate(scenario("100 Mbit/s"), reps=2))


def test_advisory_reports_a_backhaul_with_a_large_delay_of_uploads() -> None:
    keys: dict[str, Any] = {
        "flows": ap.flows(2, base_rtt="60 ms", cc="cubic", tcp=WINDOW, direction="reverse"),
        "ack_path": {"kind": "link", "link": {"kind": "fixed", "rate": "20 Mbit/s"}},
    }
    result = ap.simulate(scenario(**keys), reps=1)
    queues = by_name(result, "queues")
    assert list(queues) == ["bottleneck", "ack_path", "backhaul", "backhaul_reverse"]
    waits = [queues[name]["mean_sojourn_s"] for name in ("ack_path", "backhaul_reverse")]
    assert waits[0] < 0.08 < waits[1]
    [found] = backhaul_advisories(result)
    assert "for the backhaul in reverse direction" in found
    assert not backhaul_advisories(ap.simulate(scenario("100 Mbit/s", **keys), reps=1))


def test_advisory_reports_a_saturated_backhaul_without_a_limit() -> None:
    """Regression: this queue is not measured, and its delay was not reported."""
    [found] = backhaul_advisories(ap.simulate(scenario(backhaul={"rate": "16 Mbit/s"}), reps=2))
    assert found.startswith("backhaul: flows use 100% of the backhaul and 80% of the link next")
    assert not backhaul_advisories(ap.simulate(scenario(backhaul={"rate": "30 Mbit/s"}), reps=2))


def test_backhaul_without_a_limit_has_no_queue() -> None:
    result = ap.simulate(scenario(backhaul={"rate": "16 Mbit/s"}), reps=1)
    assert list(result.table("queues")["queue"]) == ["bottleneck"]


def test_sweep_reports_points_with_a_slow_backhaul(tmp_path: Path) -> None:
    """The outline of the replications decides whether they are read for advisories."""
    grid = {"backhaul.rate": ["16 Mbit/s", "100 Mbit/s"]}
    with pytest.warns(ap.errors.AdvisoryWarning):
        sweep = ap.sweep(scenario(), grid=grid, reps=5, out=tmp_path / "out")
    found = sweep.advisories()
    assert found.loc[found["code"] == "backhaul-queue", "point"].tolist() == [0]
