"""Rates measured by other programs, as traces, and messages about invalid files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import airpath as ap
from airpath.foreign_traces import csv_of_iperf3


def iperf3(*intervals: tuple[float, float, float, bool]) -> str:
    """Return output of iperf3 with the parsed fields: begin, end, bit/s, omitted."""
    keys = ("start", "end", "bits_per_second", "omitted")
    rows = [{"streams": [], "sum": dict(zip(keys, each, strict=True))} for each in intervals]
    return json.dumps({"start": {"version": "iperf 3.16"}, "intervals": rows, "end": {}})


def test_intervals_of_iperf3_are_the_rows_of_a_csv(tmp_path: Path) -> None:
    text = iperf3((0, 1.0, 9e9, True), (1.0, 2.000_1, 20e6, False), (2.000_1, 3.0, 5e6, False))
    file = tmp_path / "measured.json"
    file.write_text(text)
    assert csv_of_iperf3(text, "x") == (
        "time_s,rate_bps\n0.000000,20000000\n1.000100,5000000\n2.000000,5000000\n"
    )
    trace = ap.Trace.load(file, format="iperf3")
    assert trace.duration_s == 2.0
    assert trace.info().mean_bps == pytest.approx((1.0001 * 20e6 + 0.9999 * 5e6) / 2)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[]", "x: not the JSON of iperf3. Use one of iperf3 --json."),
        ("{", "x: not the JSON of iperf3. Use one of iperf3 --json."),
        (iperf3(), "x: no intervals. Run iperf3 with --interval."),
        (
            iperf3((0, 1, 1e6, False), (3, 4, 1e6, False)),
            "x: intervals[1].sum: does not begin where the one before it ends.",
        ),
        (
            iperf3((0, 0, 1e6, False)),
            "x: intervals[0].sum: ends before it begins, or has a rate below 0.",
        ),
        ('{"intervals": [{}]}', "x: intervals[0].sum: missing."),
        (
            '{"intervals": [], "error": "unable to connect"}',
            "x: iperf3 said: unable to connect. Run iperf3 with --interval.",
        ),
        (
            '{"intervals": [{"sum": {"start": 0}, "sum_bidir_reverse": {}}]}',
            "x: intervals[0].sum: of two directions. Run iperf3 without --bidir.",
        ),
        (
            '{"intervals": [{"sum": {"start": 0, "sender": true, "packets": 5}}]}',
            "x: intervals[0].sum: what was sent, not what arrived. Run iperf3 -u with -R, or on "
            "the receiving side.",
        ),
        (
            '{"intervals": [{"sum": {"start": 0, "end": true, "bits_per_second": 1}}]}',
            "x: intervals[0].sum: without start, end and bits_per_second as numbers.",
        ),
        (
            '{"intervals": [{"sum": {"start": 0, "end": 1, "bits_per_second": 1%s}}]}'
            % ("0" * 400),
            "x: intervals[0].sum: without start, end and bits_per_second as numbers.",
        ),
        (
            '{"intervals": [{"sum": {"start": 0, "end": 1}}]}',
            "x: intervals[0].sum: without start, end and bits_per_second as numbers.",
        ),
    ],
)
def test_invalid_iperf3_output_is_rejected(text: str, line: str) -> None:
    with pytest.raises(ap.errors.BadValueError) as caught:
        csv_of_iperf3(text, "x")
    assert str(caught.value) == line


@pytest.mark.parametrize(
    ("document", "what"),
    [
        (json.loads(iperf3((0, 1, 1e6, False))), "the JSON of iperf3. Convert it: airpath trace"),
        ({"results": {}, "x_values": [], "metadata": {}}, "a data file of flent. Write the rates"),
        ({"a": 1}, "JSON, not a trace. Use a CSV with the columns time_s,rate_bps."),
    ],
)
@pytest.mark.parametrize("name", ["x.json", "x.csv"])
def test_file_of_another_kind_is_reported_as_such(
    tmp_path: Path, document: Any, what: str, name: str
) -> None:
    file = tmp_path / name
    file.write_text(json.dumps(document, indent=1))
    with pytest.raises(ap.errors.BadValueError) as caught:
        ap.Trace.load(file)
    assert str(caught.value).startswith(f"{file}: {what}")
