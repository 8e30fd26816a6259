"""A link that starts at an offset within its trace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import airpath as ap
from airpath.results import overview

PERIOD_S = 8.0


@pytest.fixture
def mahimahi(tmp_path: Path) -> Path:
    """Write a trace of 8 s: 4 opportunities per millisecond for 1 s, then one per millisecond."""
    times = [ms for ms in range(1, 1001) for _ in range(4)] + list(range(1001, 8001))
    (tmp_path / "steps.down").write_text("".join(f"{ms}\n" for ms in times))
    return tmp_path / "steps.down"


@pytest.fixture
def rates(tmp_path: Path) -> Path:
    """Write the same link as rates."""
    text = "time_s,rate_bps\n0,48000000\n1,12000000\n8,12000000\n"
    (tmp_path / "steps.csv").write_text(text)
    return tmp_path / "steps.csv"


def make(link: ap.link.Link, **changes: Any) -> ap.Scenario:
    keys: dict[str, Any] = {
        "flows": ap.flows(source="cbr", rate="100 Mbit/s"),
        "bottleneck": ap.Bottleneck(aqm=ap.aqm.DropTail(limit="100 packets"), link=link),
        "duration": "4 s",
        "record": {"series": ["capacity", "delivered"]},
    }
    return ap.Scenario(**(keys | changes))


def links(mahimahi: Path, rates: Path, **keys: Any) -> list[ap.link.Link]:
    return [
        ap.link.Trace(file=str(mahimahi), **keys),
        ap.link.RateTrace(file=str(rates), **keys),
    ]


def test_zero_offset_changes_nothing(mahimahi: Path, rates: Path) -> None:
    """The resolved form is unchanged, and therefore all random numbers and results."""
    for plain, zero in zip(
        links(mahimahi, rates), links(mahimahi, rates, offset="0 s"), strict=True
    ):
        assert "offset" not in json.loads(make(plain).resolve()[0])["bottleneck"]["link"]
        assert make(plain).resolve()[0] == make(zero).resolve()[0]
        run = ap.simulate(make(plain), reps=1)
        assert "counters" not in run.replications[0]["links"][0]


def test_offset_shifts_the_link_and_its_capacity(mahimahi: Path, rates: Path) -> None:
    # The run covers 6.5 s to 10.5 s of the trace: 48 Mbit/s from 1.5 s to 2.5 s of the run, else
    # 12.
    for link in links(mahimahi, rates, offset=f"{3 * PERIOD_S + 6.5} s"):
        result = ap.simulate(make(link), reps=1)
        assert result.table("links")["trace_offset_s"].tolist() == [6.5]
        capacity = result.capacity()
        assert capacity is not None
        edges = [0, 1.5, 2.5, 4]
        assert capacity.rates(edges) == pytest.approx([12e6, 48e6, 12e6], rel=0.004)
        delivered = result.series("delivered")
        counted = np.histogram(delivered["time_s"], edges, weights=delivered["value"])[0]
        # Payload of datagrams of 1500 bytes.
        offered_bytes = np.array([12e6, 48e6, 12e6]) * np.diff(edges) / 8
        assert counted == pytest.approx(1472 / 1500 * offered_bytes, rel=0.01)
        offered = result.series("capacity")
        assert offered["value"].sum() == pytest.approx(float(capacity.bits(4.0)) / 8)


@pytest.mark.parametrize("offset", ["random", {"uniform": ["1 s", "7 s"]}])
def test_replications_over_one_trace_use_different_parts_of_it(
    mahimahi: Path, rates: Path, offset: Any
) -> None:
    """Regression: the replications differed only in the start times of the flows."""
    for link in links(mahimahi, rates, offset=offset):
        result = ap.simulate(make(link), reps=4, seed=2)
        offsets = result.table("links")["trace_offset_s"].to_numpy()
        assert len(set(offsets)) == 4
        assert ((offsets >= (0 if offset == "random" else 1)) & (offsets < PERIOD_S)).all()
        assert np.round(offsets * 1000) == pytest.approx(offsets * 1000, abs=1e-9)
        assert result.table("flows")["goodput_bps"].nunique() > 1
        assert "equal-replications" not in {advisory.code for advisory in result.advisories}
        for index, begins in enumerate(offsets):
            alone = ap.link.RateTrace if isinstance(link, ap.link.RateTrace) else ap.link.Trace
            at = alone(file=link.file, offset=f"{begins:.3f} s")
            same = ap.simulate(make(at), reps=1)
            flows, expected = (r.replications[n]["flows"] for r, n in ((result, index), (same, 0)))
            assert flows == expected
            capacity, shifted = result.capacity(index), same.capacity()
            assert capacity is not None
            assert shifted is not None
            assert capacity.rates([0, 1, 2, 3, 4]) == pytest.approx(
                shifted.rates([0, 1, 2, 3, 4]), rel=1e-9
            )


@pytest.mark.parametrize(
    ("offset", "line"),
    [
        ("6.5 s", "bottleneck: its trace begins at 6.5 s"),
        ("random", "bottleneck: its trace begins between {} and {} s, elsewhere in each "
                   "replication"),
    ],
)  # fmt: skip
def test_offset_is_no_measured_quantity(mahimahi: Path, offset: str, line: str) -> None:
    """Regression: the table had a mean of *trace offset s*, with an interval that ended beyond the
    trace.
    """
    result = ap.simulate(make(ap.link.Trace(file=str(mahimahi), offset=offset)), reps=3)
    [link] = result.to_dict()["links"]
    assert link["counters"] == {}
    assert link["trace_offset_s"] == result.table("links")["trace_offset_s"].tolist()
    printed = list(overview.tables(result, ""))
    least, most = min(link["trace_offset_s"]), max(link["trace_offset_s"])
    assert [note for table in printed for note in table.notes] == [
        line.format(f"{least:g}", f"{most:g}")
    ]
    assert "trace offset" not in str(printed)


@pytest.mark.parametrize(
    ("offset", "message"),
    [
        (
            "anywhere",
            'offset = "anywhere": not a position in the trace. Use a duration, '
            '{uniform = ["0 s", "600 s"]} or "random", for example "30 s".',
        ),
        ("5 m", "offset = \"5 m\": not a duration. Use a number with ns, us, ms, s, min or h, "
                'for example "40 ms".'),
        ({"uniform": ["2 s", "1 s"]}, 'offset.uniform.1 = "1 s": before the earliest '
                                      'time. Use a duration from "2 s" on.'),
    ],
)  # fmt: skip
def test_invalid_offsets_are_rejected(offset: Any, message: str) -> None:
    with pytest.raises(ap.errors.ScenarioError) as raised:
        ap.link.Trace(file="a.down", offset=offset)
    assert str(raised.value) == f"link.Trace: {message}"


@pytest.mark.parametrize("offset", ["5.5 ms", {"uniform": ["0 s", "1.0005 s"]}])
def test_offset_is_in_whole_milliseconds(offset: Any) -> None:
    """Regression: the plotted capacity was up to 2 kB behind the deliveries of the link."""
    with pytest.raises(
        ap.errors.BadValueError, match=": must be an integer number of milliseconds, as the trace"
    ):
        ap.link.Trace(file="steps.down", offset=offset)
