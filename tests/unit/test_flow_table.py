"""Flow measurements of the engine in columns, and their vocabulary."""

import json
import math
import pickle
import struct
from typing import Any

import numpy as np
import pytest

import airpath as ap
from airpath import _airpath
from airpath.engine.vocabulary import AT_QUEUES, DROP_REASONS, LEVELS, SERIES_UNITS, names
from airpath.results.flow_table import FlowTable
from airpath.scenario.scenario import SERIES

COLUMNS = [
    ("mean_rtt_s", "f8", struct.pack("<2d", 0.25, float("nan"))),
    ("timeouts", "i8", struct.pack("<2q", 3, 0)),
    ("transfer_bytes", "i8", struct.pack("<2q", -1, 1000)),
]
ROWS: list[dict[str, Any]] = [
    {"id": 0, "kind": "tcp", "mean_rtt_s": 0.25, "timeouts": 3},
    {"id": 1, "kind": "datagram", "mean_rtt_s": None, "timeouts": 0, "transfer_bytes": 1000},
]


def test_rows_are_decoded_by_their_columns() -> None:
    table = FlowTable(b"\1\0", COLUMNS)
    assert [dict(row) for row in table] == ROWS
    assert [dict(row) for row in table[-1:]] == ROWS[1:]
    assert table[0]["transfer_bytes"] is None
    assert type(table[1]["timeouts"]) is int
    assert type(table[0]["mean_rtt_s"]) is float
    assert table == ROWS
    assert table == pickle.loads(pickle.dumps(table))
    other = FlowTable(b"\1\0", [*COLUMNS[:1], ("timeouts", "i8", bytes(16)), *COLUMNS[2:]])
    assert table != other
    with pytest.raises(IndexError):
        table[2]
    with pytest.raises(KeyError):
        table[0]["colour"]


def scenario(**changes: Any) -> ap.Scenario:
    keys: dict[str, Any] = {
        "flows": ap.flows(2, base_rtt="40 ms", size={"exponential": "300 kB"})
        + ap.flows(source="cbr", rate="1 Mbit/s"),
        "bottleneck": ap.Bottleneck(aqm="codel", link=ap.link.Fixed(rate="5 Mbit/s")),
        "duration": "5 s",
    }
    return ap.Scenario(**(keys | changes))


def test_document_contains_every_row_and_can_be_read() -> None:
    result = ap.simulate(scenario(), reps=2)
    document = json.loads(result.to_json(raw=True))
    for run, stored in zip(result.replications, document["replications"], strict=True):
        assert run["flows"] == stored["flows"]
        assert list(stored["flows"][0])[:2] == ["id", "kind"]
        assert "transfer_bytes" in stored["flows"][0]
        assert "transfer_bytes" not in stored["flows"][2]


def test_tables_contain_the_units_of_their_columns() -> None:
    result = ap.simulate(scenario(record={"series": ["queue", "rtt"]}), reps=1)
    units = result.table("flows").attrs["units"]
    assert (units["goodput_bps"], units["mean_rtt_s"], units["start_s"]) == ("bit/s", "s", "s")
    assert result.table("queues").attrs["units"]["mean_packets"] == "packets"
    assert result.table("links").attrs["units"]["utilisation"] == "1"
    assert result.series("queue").attrs["units"] == {"time_s": "s", "value": "packets"}
    assert result.series("rtt").attrs["units"]["value"] == "s"


def test_column_name_with_a_unit_has_this_unit() -> None:
    vocabulary = json.loads(_airpath.vocabulary())
    units = {"bps": "bit/s", "s": "s", "bytes": "bytes", "packets": "packets", "share": "1"}
    tables = ("given", "flow", "queue", "link")
    for name, unit in [pair for of in tables for pair in vocabulary[of]]:
        assert units.get(name.rsplit("_", 1)[-1], unit) == unit, name


def test_scenarios_accept_the_series_of_the_engine() -> None:
    assert set(SERIES) - {"capacity"} == set(SERIES_UNITS)
    assert set(LEVELS) | set(AT_QUEUES) <= set(SERIES_UNITS)
    assert set(names("flow")) & set(names("queue")) == set()


def test_series_at_queues_name_a_queue_and_others_do_not() -> None:
    # Series that neither a link of constant rate nor these queues have.
    recorded = [name for name in SERIES if name not in ("capacity", "mcs", "load_factor")]
    flows = ap.flows(3, base_rtt="40 ms", tcp={"receive_window": "1 MB", "ecn": "on"})
    aqm = ap.aqm.Clamp(a="5 kB", inner=ap.aqm.CoDel(ecn=True))
    marking = ap.Bottleneck(aqm=aqm, link=ap.link.Fixed(rate="5 Mbit/s", loss=0.01))
    made = scenario(flows=flows, bottleneck=marking, record={"series": recorded})
    result = ap.simulate(made, reps=1)
    for name in recorded:
        series = result.series(name)
        assert ("queue" in series) == (name in AT_QUEUES)
        if name in AT_QUEUES:
            assert len(series) > 0, name
            assert (series["queue"] == "bottleneck").any(), name
    drops = result.series("drop")["value"].unique()
    assert {DROP_REASONS[int(value)] for value in drops} == {"channel"}
    # The engine's column agrees: only events at queues have a queue number.
    output = _airpath.simulate(made.resolve()[0], {}, 1, 0, 1, 1)
    for name in recorded:
        queues = np.frombuffer(output.series(0, name)[2], "<u4")
        if name not in AT_QUEUES:
            assert (queues == 2**32 - 1).all(), name


def test_aborted_flow_reports_its_time() -> None:
    still = ap.Control(at="1 s", rate="0 bit/s")
    path = {"base_rtt": "40 ms", "cc": "reno"}
    group = ap.flows(tcp={"max_retries": 1}, **path) + ap.flows(tcp={"max_syn_retries": 1}, **path)
    result = ap.simulate(scenario(flows=group, control=[still], duration="9 s"), reps=1)
    aborted, kept = result.table("flows")["aborted_at_s"]
    # Timeouts of 1 s and 2 s after the last ACK, followed by an abort.
    assert 4.0 < aborted < 4.3
    assert math.isnan(kept)
    rows = result.replications[0]["flows"]
    assert rows[0]["aborted_at_s"] == aborted
    assert ("aborted_at_s" in list(rows[0]), "aborted_at_s" in list(rows[1])) == (True, False)
    unlimited = scenario(flows=ap.flows(tcp={"max_retries": "unlimited"}, **path))
    assert "aborted_at_s" not in ap.simulate(unlimited, reps=1).table("flows")
    assert unlimited.resolve() == scenario(flows=ap.flows(**path)).resolve()


@pytest.mark.parametrize("value", [-1, 1.5, True, "never"])
def test_number_of_retransmissions_is_an_integer(value: Any) -> None:
    with pytest.raises(ap.errors.ScenarioError) as error:
        ap.flows(base_rtt="40 ms", tcp={"max_syn_retries": value})
    assert str(error.value).endswith(
        'not a number of retransmissions. Use an integer from 0, or "unlimited", for example 15.'
    )
