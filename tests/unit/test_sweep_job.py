"""A job gives the results of `simulate`; its digest depends on all inputs that affect results."""

from __future__ import annotations

from pathlib import Path

import pytest

import airpath as ap
from airpath.sweeps.job import job_of, run_job
from airpath.sweeps.runs import unpacked


def scenario(**changes: object) -> ap.Scenario:
    keys: dict[str, object] = {
        "name": "short",
        "flows": ap.flows(2, cc="newreno", base_rtt="20 ms"),
        "bottleneck": ap.Bottleneck(aqm=ap.aqm.DropTail(), link=ap.link.Fixed(rate="5 Mbit/s")),
        "duration": "3 s",
    }
    return ap.Scenario(**(keys | changes))  # type: ignore[arg-type]


def test_replications_equal_those_of_simulate_from_any_first_number() -> None:
    job, contents = job_of(scenario())
    full = ap.simulate(scenario(), reps=4, seed=7).replications
    parts = [*run_job(job, contents, 7, 0, 1), *run_job(job, contents, 7, 1, 3)]
    assert [run.replication for run in parts] == [0, 1, 2, 3]
    assert [run.measured() for run in parts] == full
    assert all(1e-5 < run.cpu_s < 10 for run in parts)


def test_digest_depends_on_values_and_contents_but_not_on_name_or_recording(
    tmp_path: Path,
) -> None:
    first = job_of(scenario())[0].digest
    assert job_of(scenario(name="other"))[0].digest == first
    assert job_of(scenario(record={"series": ["cwnd"], "interval": "1 s"}))[0].digest == first
    assert job_of(scenario(duration="4 s"))[0].digest != first
    link = ap.link.Trace(file=str(tmp_path / "a.trace"))
    traced = scenario(bottleneck=ap.Bottleneck(aqm=ap.aqm.DropTail(), link=link))
    (tmp_path / "a.trace").write_text("1\n5\n")
    before = job_of(traced)[0].digest
    (tmp_path / "a.trace").write_text("1\n6\n")
    assert job_of(traced)[0].digest != before


def test_requested_series_are_recorded() -> None:
    job, contents = job_of(scenario(record={"series": ["queue"], "interval": "1 s"}), ["queue"])
    (run,) = run_job(job, contents, 1, 0, 1)
    assert set(run.series) == {"queue"}
    assert len(run.series["queue"][0]) > 0


def test_stopped_job_returns_finished_replications() -> None:
    job, contents = job_of(scenario(duration="10 h"))
    assert run_job(job, contents, 1, 0, 2, stop=lambda: True) == []


def test_invalid_packed_replication_is_rejected() -> None:
    for data in (b"", b"x", b"x\x9c"):
        with pytest.raises(ValueError, match="not a packed replication"):
            unpacked(data)
