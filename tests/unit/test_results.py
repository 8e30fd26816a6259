"""Results: tables, intervals, series, files, provenance."""

from __future__ import annotations

import csv
import io
import json
import math
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet

import airpath as ap
from airpath.results.capacity import Capacity
from airpath.results.intervals import mean_interval
from airpath.results.provenance import as_comment
from airpath.results.quantities import FLOW_QUANTITIES

T_99_OF_3 = 9.924843
"""Student's t, two-sided 99 %, 2 degrees of freedom."""


def make(**changes: Any) -> ap.Scenario:
    keys: dict[str, Any] = {
        "name": "two flows and datagrams",
        "flows": ap.flows(2, cc="reno", base_rtt="20 ms", start={"uniform": ["0 s", "1 s"]})
        + ap.flows(source="poisson", rate="1 Mbit/s", packet="500 B"),
        "bottleneck": ap.Bottleneck(
            aqm=ap.aqm.Gred(), link=ap.link.Fixed(rate="10 Mbit/s", delay="5 ms", loss=1e-3)
        ),
        "duration": "12 s",
        "warmup": "2 s",
        "record": {"series": ["cwnd", "delivered", "queue", "drop"]},
    }
    return ap.Scenario(**(keys | changes))


@pytest.fixture(scope="module")
def result() -> ap.Result:
    return ap.simulate(make(), reps=3, seed=7)


# --- intervals ---------------------------------------------------------------------------------


def test_interval_uses_student_t() -> None:
    values = [1.0, 2.0, 4.5]
    found = mean_interval(values, 0.99)
    half = T_99_OF_3 * statistics.stdev(values) / math.sqrt(3)
    assert (found.mean, found.low, found.high) == pytest.approx((2.5, 2.5 - half, 2.5 + half))
    assert (found.confidence, found.reps) == (0.99, 3)


def test_single_value_has_no_interval() -> None:
    found = mean_interval([3.0], 0.95)
    assert math.isnan(found.half_width)
    assert (found.error_bar, found.excludes_zero) == (0.0, False)
    assert mean_interval([3.0, 5.0], 0.5).error_bar == pytest.approx(1.0)
    assert found.mean == 3.0
    assert math.isnan(found.low)
    assert found.to_dict() == {
        "mean": 3.0,
        "low": None,
        "high": None,
        "confidence": 0.95,
        "reps": 1,
    }


def test_unmeasured_quantities_are_omitted() -> None:
    assert mean_interval([None, 2.0, math.nan, 4.0], 0.99).reps == 2
    assert mean_interval([None], 0.99).to_dict()["mean"] is None


# --- tables ------------------------------------------------------------------------------------


def test_flows_has_one_row_per_flow_and_replication(result: ap.Result) -> None:
    flows = result.table("flows")
    assert len(flows) == 9
    assert list(flows.columns) == [
        "replication",
        "flow",
        "kind",
        "direction",
        "start_s",
        *FLOW_QUANTITIES,
    ]
    assert not flows.duplicated(["replication", "flow"]).any()
    assert set(flows["kind"]) == {"tcp", "datagram"}
    assert flows["completed_at_s"].dtype == np.float64
    assert flows.loc[flows["kind"] == "datagram", "mean_rtt_s"].isna().all()


def test_flows_table_has_the_raw_numbers(result: ap.Result) -> None:
    raw = result.replications[2]["flows"][1]
    row = result.table("flows").query("replication == 2 and flow == 1").iloc[0]
    assert row["goodput_bps"] == raw["goodput_bps"]
    assert raw["goodput_bps"] == pytest.approx(raw["delivered_bytes"] * 8 / 10)


@pytest.mark.parametrize(("name", "key"), [("groups", ["group"]), ("queues", ["name"])])
def test_every_table_has_a_summary(result: ap.Result, name: str, key: list[str]) -> None:
    summary, rows = result.summary(name), result.intervals(name)
    assert list(summary.index.names) == key
    assert list(summary.index) == [row[key[0]] for row in rows]
    quantities = [quantity for quantity, of in rows[0].items() if isinstance(of, ap.Interval)]
    assert list(summary.columns.get_level_values(0).unique()) == quantities
    for quantity in quantities:
        assert summary[quantity].iloc[0].tolist() == pytest.approx(
            [rows[0][quantity].mean, rows[0][quantity].low, rows[0][quantity].high], nan_ok=True
        )


def test_summary_is_the_mean_over_replications(result: ap.Result) -> None:
    summary, flows = result.summary(), result.table("flows")
    by_flow = flows.groupby("flow")["goodput_bps"].mean()
    for flow in range(3):
        assert summary.loc[flow, ("goodput_bps", "mean")] == pytest.approx(by_flow[flow])
    totals = flows.groupby("replication")["goodput_bps"].sum().tolist()
    found = summary.loc["all", "goodput_bps"]
    half = T_99_OF_3 * statistics.stdev(totals) / math.sqrt(3)
    assert found["mean"] == pytest.approx(statistics.fmean(totals))
    assert found["high"] - found["mean"] == pytest.approx(half, rel=1e-6)


def test_aggregate_delay_is_weighted_by_delivered_packets(result: ap.Result) -> None:
    by_hand = [
        sum(f["mean_delay_s"] * f["delivered_packets"] for f in run["flows"])
        / sum(f["delivered_packets"] for f in run["flows"])
        for run in result.replications
    ]
    found = result.intervals("flows")[-1]["mean_delay_s"].mean
    assert found == pytest.approx(statistics.fmean(by_hand))


def test_jain_index_is_between_one_over_n_and_one(result: ap.Result) -> None:
    assert 1 / 3 <= result.jain().mean <= 1
    alone = ap.simulate(make(flows=ap.flows(base_rtt="20 ms")), reps=2)
    assert alone.jain().mean == 1


def test_queues_and_links_add_up(result: ap.Result) -> None:
    queues, links = result.table("queues"), result.table("links")
    dropped = queues.filter(like="drops_").sum(axis=1)
    still_there = queues["arrived"] - queues["departed"] - dropped
    assert (still_there.abs() <= queues["max_packets"]).all()
    assert set(links["link"]) == {"bottleneck"}
    assert links["utilisation"].between(0.5, 1).all()


def test_queue_length_distribution_sums_to_one(result: ap.Result) -> None:
    pmf = result.pmf()
    assert pmf["mean"].sum() == pytest.approx(1)
    mean = (pmf["packets"] * pmf["mean"]).sum()
    assert mean == pytest.approx(result.table("queues")["mean_packets"].mean(), rel=1e-6)
    with pytest.raises(ap.errors.BadValueError, match='queue "uplink": does not exist'):
        result.pmf("uplink")


def test_combined_transfer_completes_with_the_last_flow() -> None:
    short = ap.flows(2, base_rtt=["20 ms", "60 ms"], size="50 kB")
    done = ap.simulate(make(flows=short, warmup="0 s"), reps=1)
    times = done.table("flows")["completed_at_s"]
    assert done.intervals("flows")[-1]["completed_at_s"].mean == times.max()
    endless = ap.flows(base_rtt="20 ms")
    mixed = ap.simulate(make(flows=short + endless), reps=1)
    assert mixed.intervals("flows")[-1]["completed_at_s"].reps == 0


# --- series ------------------------------------------------------------------------------------


def test_delivered_series_adds_up_to_the_goodput(result: ap.Result) -> None:
    series = result.series("delivered", 1)
    counted = series.query("id == 0 and time_s >= 2")["value"].sum()
    assert counted == result.replications[1]["flows"][0]["delivered_bytes"]
    assert series["time_s"].is_monotonic_increasing


def test_every_sent_segment_is_received_or_dropped() -> None:
    series = ["seq_sent", "seq_received", "seq_dropped"]
    short = ap.Bottleneck(
        aqm=ap.aqm.DropTail(limit="5 packets"), link=ap.link.Fixed(rate="5 Mbit/s", loss=0.01)
    )
    changes = {"bottleneck": short, "record": {"series": series}, "warmup": "0 s"}
    done = ap.simulate(make(flows=ap.flows(base_rtt="20 ms", size="1 MB"), **changes), reps=1)
    assert done.replications[0]["flows"][0]["completed_at_s"] is not None
    sent, received, dropped = (sorted(done.series(name)["value"]) for name in series)
    assert len(dropped) > 0
    assert sent == sorted([*received, *dropped])
    # 684 full segments of 1460 bytes and one of 1360 bytes.
    assert sorted(set(received)) == [1460.0 * n for n in range(685)]


def test_missing_series_are_named(result: ap.Result) -> None:
    with pytest.raises(ap.errors.BadValueError) as error:
        result.series("rtt")
    assert str(error.value) == (
        'series "rtt": not recorded. Recorded is: cwnd, delivered, queue, drop. '
        "Add it to record.series."
    )
    with pytest.raises(ap.errors.BadValueError, match="replication = 3: does not exist"):
        result.series("cwnd", 3)


def test_capacity_of_a_trace_is_its_opportunities(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("1\n1\n4\n5\n")
    bottleneck = ap.Bottleneck(aqm=ap.aqm.DropTail(), link=ap.link.Trace(file=str(tmp_path / "t")))
    traced = ap.simulate(
        make(
            bottleneck=bottleneck, duration="20 ms", warmup="0 s", record={"series": ["capacity"]}
        ),
        reps=1,
    )
    series = traced.series("capacity")
    assert series["value"].tolist() == [3008, 1504, 1504] * 4
    at_ms = (series["time_s"] * 1e3).round().astype(int).tolist()
    assert at_ms == [5 * n + k for n in range(4) for k in (1, 4, 5)]


def test_capacity_of_a_fixed_link_follows_the_control() -> None:
    change = [{"at": "6 s", "rate": "1 Mbit/s"}]
    changed = ap.simulate(make(control=change), reps=1)
    capacity = changed.capacity()
    assert capacity is not None
    assert capacity.rates([0, 6, 12]) == pytest.approx([10e6, 1e6])


def test_capacity_of_a_trace_follows_the_control(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("1\n1\n4\n5\n")
    bottleneck = ap.Bottleneck(aqm=ap.aqm.DropTail(), link=ap.link.Trace(file=str(tmp_path / "t")))
    # The mean is 4 times 1504 bytes in 5 ms.
    mean = 9_625_600
    change = [
        {"at": f"{at} ms", "rate": f"{rate} bit/s"} for at, rate in ((10, mean // 2), (15, 0))
    ]
    recorded = {"series": ["capacity"]}
    changed = ap.simulate(
        make(
            bottleneck=bottleneck, duration="20 ms", warmup="0 s", control=change, record=recorded
        ),
        reps=1,
    )
    assert changed.series("capacity")["value"].tolist() == [3008, 1504, 1504] * 2 + [1504, 752, 752]
    capacity = changed.capacity()
    assert capacity is not None
    assert capacity.rates([0, 10e-3, 15e-3, 20e-3]) == pytest.approx([mean, mean / 2, 0])


def test_capacity_of_regimes_follows_the_control() -> None:
    link = ap.link.DualRegime(rates=("8 Mbit/s", "8 Mbit/s"), pers=(0, 0.1), threshold=5)
    changed = ap.simulate(
        make(
            bottleneck=ap.Bottleneck(aqm=ap.aqm.Gred(), link=link),
            record={"series": ["regime"]},
            control=[{"at": "8 s", "rate": "2 Mbit/s"}, {"at": "4 s", "rate": "0 bit/s"}],
        ),
        reps=1,
    )
    capacity = changed.capacity()
    assert capacity is not None
    assert capacity.rates([0, 4, 8, 12]) == pytest.approx([8e6, 0, 2e6])


def test_capacity_of_regimes_needs_their_series() -> None:
    link = ap.link.DualRegime(rates=("8 Mbit/s", "16 Mbit/s"), pers=(0, 0.1), threshold=5)
    bottleneck = ap.Bottleneck(aqm=ap.aqm.Gred(), link=link)
    assert ap.simulate(make(bottleneck=bottleneck), reps=1).capacity() is None
    known = ap.simulate(make(bottleneck=bottleneck, record={"series": ["regime"]}), reps=1)
    capacity = known.capacity()
    assert isinstance(capacity, Capacity)
    assert 8e6 < capacity.rates([0, 12])[0] < 16e6


# --- documents and files -----------------------------------------------------------------------


def test_document_begins_with_its_provenance(result: ap.Result) -> None:
    document = json.loads(result.to_json())
    parts = ["provenance", "complete", "advisories", "summary", "flows", "groups"]
    assert list(document) == [*parts, "queues", "links"]
    assert document["complete"] is True
    assert document["flows"][0]["id"] == 0
    found = document["flows"][0]["goodput_bps"]
    assert set(found) == {"mean", "low", "high", "confidence", "reps"}
    assert found["low"] <= found["mean"] <= found["high"]
    assert document["summary"]["jain"]["reps"] == 3
    assert json.loads(result.to_json(raw=True))["replications"] == result.replications


def test_provenance_names_version_scenario_and_seed(result: ap.Result) -> None:
    about = result.provenance
    assert about["version"] == ap.__version__
    assert (about["seed"], about["replications"], about["confidence"]) == (7, 3, 0.99)
    assert about["command"] == "airpath.simulate(reps=3, seed=7, confidence=0.99)"
    assert about["scenario"] == json.loads(make().resolve()[0])


def test_result_can_be_run_again_from_its_own_provenance(result: ap.Result, tmp_path: Path) -> None:
    result.save(tmp_path, figure_formats=None)
    again = ap.load(tmp_path / "scenario.toml")
    assert ap.simulate(again, reps=3, seed=7).replications == result.replications
    # Also from the head of any table.
    lines = (tmp_path / "flows.csv").read_text().splitlines()
    head = [line for line in lines if line.startswith("#")]
    toml = "\n".join(line[2:] for line in head[head.index("# scenario:") + 1 :])
    (tmp_path / "again.toml").write_text(toml)
    assert ap.simulate(ap.load(tmp_path / "again.toml"), reps=3, seed=7).replications == (
        result.replications
    )


def test_saved_tables_are_read_back_unchanged(result: ap.Result, tmp_path: Path) -> None:
    paths = {path.name for path in result.save(tmp_path / "new" / "directory", figure_formats=None)}
    directory = tmp_path / "new" / "directory"
    assert paths >= {
        "result.json",
        "scenario.toml",
        "summary.csv",
        "flows.csv",
        "queues.csv",
        "links.csv",
        "queue-lengths.csv",
        "series-cwnd.csv",
    }
    assert {path.name for path in directory.iterdir()} == paths
    flows = pd.read_csv(directory / "flows.csv", comment="#")
    pd.testing.assert_frame_equal(flows, result.table("flows"), check_dtype=False)
    cwnd = pd.read_csv(directory / "series-cwnd.csv", comment="#")
    assert set(cwnd["replication"]) == {0, 1, 2}
    assert (
        json.loads((directory / "result.json").read_text())["replications"] == result.replications
    )


def test_every_csv_begins_with_its_provenance(result: ap.Result, tmp_path: Path) -> None:
    for path in result.save(tmp_path, figure_formats=None):
        if path.suffix == ".csv":
            first, second = path.read_text().splitlines()[:2]
            assert first.startswith(f"# airpath {ap.__version__} (")
            assert second.startswith("# python: ")


def test_names_cannot_end_the_header(tmp_path: Path) -> None:
    odd = ap.simulate(make(name='x"\ny\n1,2'), reps=1)
    odd.save(tmp_path, figure_formats=None)
    text = (tmp_path / "queues.csv").read_text()
    rows = list(csv.reader(io.StringIO(text.rpartition("# ")[2].partition("\n")[2])))
    assert rows[0][0] == "replication"
    assert len(rows) == 2


def test_parquet_has_the_same_tables_with_their_provenance(
    result: ap.Result, tmp_path: Path
) -> None:
    paths = result.save(tmp_path, formats=["parquet", "csv"], figure_formats=None)
    stems = {path.stem for path in paths if path.suffix == ".csv"}
    assert {path.stem for path in paths if path.suffix == ".parquet"} == stems
    for stem in stems:
        table = parquet.read_table(tmp_path / f"{stem}.parquet")
        assert json.loads(table.schema.metadata[b"airpath"]) == result.provenance
        # The numbers that pandas reads from decimal text may differ in the last digits.
        text = pd.read_csv(tmp_path / f"{stem}.csv", comment="#")
        frame = table.to_pandas()
        named = frame.select_dtypes("category").columns
        frame = frame.astype(dict.fromkeys(named, object))
        pd.testing.assert_frame_equal(frame, text, check_dtype=False, rtol=1e-14)


def test_parquet_replaces_csv(result: ap.Result, tmp_path: Path) -> None:
    suffixes = {
        path.suffix for path in result.save(tmp_path, formats="parquet", figure_formats=None)
    }
    assert suffixes == {".json", ".toml", ".parquet"}


@pytest.mark.parametrize(
    ("formats", "message"),
    [
        (
            "xlsx",
            'formats = "xlsx": not a format of tables. '
            "Expected one of: csv, csv.gz, parquet, latex.",
        ),
        (
            ["csv", "parqet"],
            'formats = "parqet": not a format of tables. '
            "The nearest is parquet; expected one of: csv, csv.gz, parquet, latex.",
        ),
        ([], 'formats = "": not a format of tables. Expected one of: csv, csv.gz, parquet, latex.'),
    ],
)
def test_unknown_formats_are_rejected(
    result: ap.Result, formats: Any, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ap.errors.BadValueError) as error:
        result.save(tmp_path / "new", formats=formats, figure_formats=None)
    assert str(error.value) == message
    assert not (tmp_path / "new").exists()


def test_missing_pyarrow_is_reported_with_the_fix(
    result: ap.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(
        ap.errors.BadValueError, match=r'Install it with: pip install "airpath\[parquet\]"'
    ):
        result.save(tmp_path, formats="parquet", figure_formats=None)


def test_directory_that_is_not_writable_is_named(result: ap.Result, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ap.errors.BadValueError) as error:
        result.save(tmp_path / "file" / "directory", figure_formats=None)
    assert str(error.value) == (
        f'directory = "{tmp_path}/file/directory": cannot be written to (not a directory). '
        "Use a directory that can."
    )


def test_comment_keeps_every_line_behind_its_mark() -> None:
    text = as_comment({"version": "1", "commit": "c", "seed": 3, "scenario_toml": "a = 1\n\nb = 2"})
    assert text == "# airpath 1 (c)\n# seed: 3\n# scenario:\n# a = 1\n#\n# b = 2\n"


def test_trace_in_the_provenance_has_its_digest(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("1\n")
    bottleneck = ap.Bottleneck(aqm=ap.aqm.DropTail(), link=ap.link.Trace(file=str(tmp_path / "t")))
    about = ap.simulate(make(bottleneck=bottleneck, duration="3 s"), reps=1).provenance
    digest = "4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865"
    assert about["traces"] == {"t": {"file": str(tmp_path / "t"), "sha256": digest}}


# --- remarks -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("queue", "ecn", "starts", "expected"),
    [
        (ap.aqm.CoDel(ecn=True), "on", {}, ["equal-replications"]),
        (ap.aqm.CoDel(ecn=True), "on", {"start": {"uniform": ["0 s", "1 s"]}}, []),
        (ap.aqm.CoDel(), "off", {"start": {"uniform": ["0 s", "1 s"]}}, []),
        (ap.aqm.CoDel(), "on", {"start": {"uniform": ["0 s", "1 s"]}}, ["ecn-without-marks"]),
    ],
)
def test_remarks_on_effects_that_the_tables_do_not_show(
    queue: ap.aqm.CoDel, ecn: str, starts: dict[str, Any], expected: list[str]
) -> None:
    scenario = ap.Scenario(
        flows=ap.flows(2, base_rtt="20 ms", tcp={"ecn": ecn}, **starts),
        bottleneck=ap.Bottleneck(aqm=queue, link=ap.link.Fixed(rate="5 Mbit/s")),
        duration="5 s",
        warmup="2 s",
    )
    result = ap.simulate(scenario, reps=5, seed=1)
    assert [advisory.code for advisory in result.advisories] == expected


def test_figures_are_saved_unless_disabled(result: ap.Result, tmp_path: Path) -> None:
    """Regression: `Sweep.save` wrote figures, and `Result.save` did not."""
    both = result.save(tmp_path / "both", figure_formats=["svg", "pdf"])
    figures = sorted(path.name for path in both if path.suffix in (".svg", ".pdf", ".png"))
    stems = ("queue-lengths", "timeline")
    assert figures == [f"{stem}.{kind}" for stem in stems for kind in ("pdf", "svg")]
    none = result.save(tmp_path / "none", figure_formats=None)
    assert {path.name for path in none} | set(figures) == {path.name for path in both}
