"""Recorded series: each event at a queue names the queue."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest

import airpath as ap
from airpath.results.recordings import DROP_REASONS


@pytest.fixture(scope="module")
def result() -> ap.Result:
    """One flow whose ACKs return over a link so slow that its queue overflows."""
    scenario = ap.Scenario(
        duration="20 s",
        bottleneck={
            "aqm": {"kind": "droptail", "limit": "40 packets"},
            "link": {"kind": "fixed", "rate": "10 Mbit/s", "loss": 0.002},
        },
        ack_path={
            "kind": "link",
            "link": {"kind": "fixed", "rate": "64 kbit/s"},
            "aqm": {"kind": "droptail", "limit": "5 packets"},
        },
        flows=[{"base_rtt": "40 ms", "tcp": {"receive_window": "500 kB"}}],
        record={"series": ["drop", "queue", "sojourn", "mark", "seq_dropped", "cwnd"]},
    )
    return ap.simulate(scenario, reps=1)


def drops_of(result: ap.Result, queue: str) -> pd.DataFrame:
    series = result.series("drop")
    return series[series["queue"] == queue]


def test_drops_name_their_queue(result: ap.Result) -> None:
    """The series and the tables have the same number of drops, because there is no warm-up."""
    for row in result.table("queues").itertuples():
        drops = drops_of(result, row.queue)
        overflows = drops[drops["value"] == DROP_REASONS.index("overflow")]
        assert len(overflows) == row.drops_overflow
    lost = drops_of(result, "bottleneck")
    assert (lost["value"] == DROP_REASONS.index("channel")).sum() > 5
    assert len(drops_of(result, "ack_path")) > 50
    assert not result.series("drop")["queue"].isna().any()


@pytest.mark.parametrize("name", ["queue", "sojourn", "seq_dropped"])
def test_queue_events_name_the_queue(result: ap.Result, name: str) -> None:
    series = result.series(name)
    assert "bottleneck" in set(series["queue"])
    if name == "queue":
        assert (series["queue"].cat.codes == series["id"]).all()


def test_other_series_have_no_queue(result: ap.Result) -> None:
    assert list(result.series("cwnd").columns) == ["time_s", "id", "value"]


def test_bottleneck_queue_panel_shows_its_own_drops_only(result: ap.Result) -> None:
    figure = result.plot.timeline()
    labels = [line.get_label() for axis in figure.axes for line in axis.get_lines()]
    drop_labels = sorted(str(label) for label in labels if str(label).startswith("dropped by"))
    at_bottleneck = drops_of(result, "bottleneck")["value"].value_counts()
    assert len(drop_labels) == len(at_bottleneck)
    assert {int(label.rpartition(": ")[2]) for label in drop_labels} == set(at_bottleneck)
    plt.close(figure)


def test_saved_series_keep_the_queue_names(result: ap.Result, tmp_path: Path) -> None:
    result.save(tmp_path, figure_formats=None)
    loaded = ap.load_result(tmp_path)
    pd.testing.assert_frame_equal(loaded.series("drop"), result.series("drop"))


def test_directory_without_queue_names_is_read(result: ap.Result, tmp_path: Path) -> None:
    result.save(tmp_path, figure_formats=None)
    file = tmp_path / "series-drop.csv"
    lines = file.read_text().splitlines()
    head = [line for line in lines if line.startswith("#")]
    table = pd.read_csv(file, comment="#").drop(columns="queue")
    file.write_text("\n".join(head) + "\n" + table.to_csv(index=False))
    series = ap.load_result(tmp_path).series("drop")
    assert series["queue"].isna().all()
    assert series["value"].tolist() == result.series("drop")["value"].tolist()
