"""Stored results: directories, pickles, tables in notebooks."""

from __future__ import annotations

import json
import pickle
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import airpath as ap
from airpath.phy import load as load_table

SERIES = ["cwnd", "delivered", "queue", "drop", "capacity"]


def make(directory: Path, **changes: Any) -> ap.Scenario:
    trace = directory / "steady.down"
    trace.write_text("".join(f"{ms}\n" for ms in range(1, 1001)))
    keys: dict[str, Any] = {
        "name": "two <flows> & datagrams",
        "flows": ap.flows(2, cc="cubic", base_rtt="20 ms", start={"uniform": ["0 s", "1 s"]})
        + ap.flows(source="poisson", rate="2 Mbit/s", packet="500 B"),
        "bottleneck": ap.Bottleneck(
            aqm=ap.aqm.Gred(), link=ap.link.Trace(file=str(trace), offset="random", loss=0.01)
        ),
        "duration": "6 s",
        "warmup": "1 s",
        "record": {"series": SERIES, "ss": True, "flow_monitor": True},
    }
    return ap.Scenario(**(keys | changes))


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> ap.Result:
    return ap.simulate(make(tmp_path_factory.mktemp("made")), reps=3, seed=4)


def same(one: ap.Result, other: ap.Result) -> None:
    """Check that two results are equal, except for their source."""
    assert one.to_json(raw=True) == other.to_json(raw=True)
    assert one.advisories == other.advisories
    pd.testing.assert_frame_equal(one.summary(), other.summary())
    for replication in range(len(one.replications)):
        for name in one.resolved.recording.series:
            tables = (each.series(name, replication) for each in (one, other))
            pd.testing.assert_frame_equal(*tables)
        if one.resolved.recording.has_ss:
            pd.testing.assert_frame_equal(one.ss(replication), other.ss(replication))
    if one.resolved.recording.has_flow_monitor:
        pd.testing.assert_frame_equal(one.flow_monitor(), other.flow_monitor())
        assert one.flow_monitor_xml(1) == other.flow_monitor_xml(1)
    first_capacity, other_capacity = one.capacity(1), other.capacity(1)
    assert (first_capacity is None) == (other_capacity is None)
    if first_capacity is not None and other_capacity is not None:
        assert first_capacity.bits([0.5, 3.0]).tolist() == other_capacity.bits([0.5, 3.0]).tolist()


# --- directories -------------------------------------------------------------------------------


@pytest.mark.parametrize("formats", ["csv", "csv.gz", "parquet"])
def test_directory_gives_the_written_result(
    result: ap.Result, tmp_path: Path, formats: str
) -> None:
    result.save(tmp_path, formats=formats, figure_formats=None)
    loaded = ap.load_result(tmp_path)
    assert repr(loaded) == repr(result)
    same(result, loaded)


def test_output_of_the_command_is_read(tmp_path: Path) -> None:
    from airpath.cli import main

    scenario = make(tmp_path)
    (tmp_path / "a.toml").write_text(scenario.to_toml())
    out = tmp_path / "out"
    done = main(["run", str(tmp_path / "a.toml"), "--reps", "2", "--out", str(out), "--no-plot",
                 "--capture", "sender"])  # fmt: skip
    assert done == 0
    loaded = ap.load_result(str(out))
    assert loaded.provenance["command"].startswith("airpath run ")
    assert loaded.captures == {"sender": out / "sender.pcapng"}
    assert [advisory.code for advisory in loaded.advisories] == ["few-replications"]
    assert loaded.complete
    assert loaded.plot.timeline() is not None


def test_loaded_result_can_be_written_to_its_own_directory(
    result: ap.Result, tmp_path: Path
) -> None:
    result.save(tmp_path, figure_formats=None)
    ap.load_result(tmp_path).save(tmp_path, figure_formats=None)
    same(result, ap.load_result(tmp_path))


def test_incomplete_result_stays_incomplete(result: ap.Result, tmp_path: Path) -> None:
    part = pickle.loads(pickle.dumps(result))
    part.interrupted, part.requested = True, 9
    part.save(tmp_path, figure_formats=None)
    loaded = ap.load_result(tmp_path)
    assert (loaded.complete, loaded.interrupted, loaded.requested) == (False, True, 9)


def test_directory_without_a_result_is_rejected(result: ap.Result, tmp_path: Path) -> None:
    with pytest.raises(
        ap.errors.BadValueError, match=r"holds no result\.json\. Name a directory that run"
    ):
        ap.load_result(tmp_path / "none")
    document = tmp_path / "result.json"
    document.write_text("{")
    with pytest.raises(ap.errors.BadValueError, match=r"result\.json: not JSON: "):
        ap.load_result(tmp_path)
    document.write_text("[1]")
    with pytest.raises(
        ap.errors.BadValueError, match="not the document of a result: provenance is mis"
    ):
        ap.load_result(tmp_path)
    old = json.loads(result.to_json(raw=True))
    for run in old["replications"]:
        for flow in run["flows"]:
            del flow["rwnd_limited_share"]
    document.write_text(json.dumps(old))
    with pytest.raises(
        ap.errors.BadValueError, match=r"have no rwnd_limited_share\. Run its scenario"
    ):
        ap.load_result(tmp_path)


def test_missing_quantity_is_named_on_access(result: ap.Result, tmp_path: Path) -> None:
    scenario = make(tmp_path)
    out = tmp_path / "out"
    ap.simulate(scenario, reps=1).save(out, figure_formats=None)
    (out / "series-cwnd.csv").unlink()
    (tmp_path / "steady.down").write_text("1\n2\n")
    loaded = ap.load_result(out)
    assert loaded.summary().equals(loaded.summary())
    with pytest.raises(
        ap.errors.BadValueError, match=r"series-cwnd\.csv: does not exist, nor as csv\.gz"
    ):
        loaded.series("cwnd")
    with pytest.raises(
        ap.errors.BadValueError, match="not the trace of this result; it was changed"
    ):
        loaded.capacity()


# --- pickles -----------------------------------------------------------------------------------


def test_result_can_be_pickled(result: ap.Result, tmp_path: Path) -> None:
    """Regression: a process of a pool could not return a result."""
    same(result, pickle.loads(pickle.dumps(result)))
    result.save(tmp_path, figure_formats=None)
    same(result, pickle.loads(pickle.dumps(ap.load_result(tmp_path))))


def test_interrupt_is_pickled_with_its_result(result: ap.Result) -> None:
    again = pickle.loads(pickle.dumps(ap.errors.Interrupted(result)))
    assert str(again) == "interrupted: 3 of 3 replications were finished"
    same(again.result, result)


@pytest.mark.filterwarnings("ignore::airpath.errors.ModelWarning")
def test_solution_can_be_pickled() -> None:
    scenario = ap.Scenario(
        flows=ap.flows(4, cc="reno", base_rtt="40 ms"),
        bottleneck=ap.Bottleneck(aqm=ap.aqm.Gred(), link=ap.link.Fixed(rate="5 Mbit/s")),
        duration="10 s",
    )
    solution = ap.solve(scenario)
    assert pickle.loads(pickle.dumps(solution)).to_json() == solution.to_json()
    assert "<td" in html_of(solution)


def test_trace_can_be_pickled(tmp_path: Path) -> None:
    generated = ap.Trace.generate(
        "3 s", mean_snr=15, bandwidth=10e6, cap="50 Mbit/s", speed=1.0, carrier=2e9
    )
    text = "time_s,rate_bps\n0,12345678.25\n0.3333333,0\n1,7e6\n2,7e6\n"
    rates = ap.Trace.parse(text, "r", "csv")
    for trace in (generated, rates):
        again = pickle.loads(pickle.dumps(trace))
        assert (again.name, again.kind, again.info()) == (trace.name, trace.kind, trace.info())
        assert (again.bin_rates(10**6) == trace.bin_rates(10**6)).all()
        assert "longest outage" in html_of(trace)


def test_error_rate_table_can_be_pickled() -> None:
    table = load_table("airpath:802.16-ctc-awgn")
    before = table.per("mcs0", 1.0)
    again = pickle.loads(pickle.dumps(table))
    assert (again.per("mcs0", 1.0), again.document) == (before, table.document)
    assert "mcs7" in html_of(table)


# --- notebooks ---------------------------------------------------------------------------------


def html_of(thing: Any) -> str:
    """Return the notebook output, after a check that it is well-formed."""
    shown: str = thing._repr_html_()
    ET.fromstring(f"<div>{shown}</div>")
    return shown


def test_result_is_shown_as_tables(result: ap.Result) -> None:
    shown = html_of(result)
    assert "two &lt;flows&gt; &amp; datagrams" in shown
    root = ET.fromstring(f"<div>{shown}</div>")
    assert [caption.text for caption in root.iter("caption")] == [
        "Flows",
        "Queues",
        "Delays of packets",
        "Links",
    ]
    goodput = result.intervals("flows")[0]["goodput_bps"].mean / 1e6
    assert f"{goodput:.3f}" in shown
    assert str(result.advisories[0]) in "".join(root.itertext())


@pytest.mark.parametrize(
    "document",
    [
        {"provenance": 5, "summary": {}, "complete": True, "replications": []},
        {"provenance": {}, "summary": {}, "complete": True, "replications": [1]},
        {"provenance": {}, "summary": [], "complete": True, "replications": 7},
        {"provenance": {"scenario": {}}, "summary": {}, "complete": 1, "replications": [{}]},
    ],
)
def test_incomplete_document_is_rejected(document: Any, tmp_path: Path) -> None:
    """Regression: each of these documents caused a KeyError or a TypeError."""
    (tmp_path / "result.json").write_text(json.dumps(document))
    with pytest.raises(ap.errors.BadValueError) as error:
        ap.load_result(tmp_path)
    accepted = "not the complete document of a result. Run it again with --out."
    assert str(error.value) == f"{tmp_path / 'result.json'}: {accepted}"
