"""Exported tables: bytes of a CSV, parts, and a directory of an earlier run."""

from __future__ import annotations

import gzip
import json
import struct
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import airpath as ap
from airpath import _airpath
from airpath.results import export
from airpath.results.export import write_table

HEAD = "# made by a test\n"


def written(tmp_path: Path, parts: list[pd.DataFrame], form: str = "csv") -> bytes:
    path = tmp_path / f"table.{form}"
    write_table(path, parts, form, HEAD, {"version": "0"})
    return path.read_bytes()


@given(st.lists(st.floats(width=64) | st.integers(0, 10**16).map(lambda ns: ns / 1e9)))
def test_numbers_have_the_format_of_python(values: list[float]) -> None:
    numbers = struct.pack(f"<{len(values)}d", *values)
    rows = _airpath.csv_rows([("f8", numbers, [])]).decode().splitlines()
    assert rows == ["" if value != value else repr(value) for value in values]


@pytest.mark.parametrize(
    "value",
    [0.0, -0.0, 0.1, 1e-4, 9.999e-5, 1e-5, 5e-324, 1e15, 1e16, 9999999999999998.0, 1.5e300, -2.5],
)
def test_numbers_at_format_boundaries_have_the_format_of_python(value: float) -> None:
    assert _airpath.csv_rows([("f8", struct.pack("<d", value), [])]).decode() == f"{value!r}\n"


def test_ties_are_formatted_with_an_even_digit() -> None:
    """If two shortest decimals are equally near to a number, Python writes the decimal with an even
    last digit, and Rust writes the larger decimal.
    """
    halves = [(2**51 + 2 * n + 1) / 4 for n in range(2000)]
    below = [2.0**exponent for exponent in range(-1074, 1024)]
    values = [562949953421312.25, *halves, *(-value for value in halves), *below]
    numbers = struct.pack(f"<{len(values)}d", *values)
    rows = _airpath.csv_rows([("f8", numbers, [])]).decode().splitlines()
    assert rows == [repr(value) for value in values]


def table(rows: int) -> pd.DataFrame:
    numbers = np.arange(rows)
    return pd.DataFrame(
        {
            "time_s": numbers * 0.0012345,
            "id": numbers.astype(np.uint32),
            "value": np.where(numbers % 7 == 0, np.nan, numbers * 1e13),
            "state": np.array(["a", 'b "c", d', "e\nf", None], dtype=object)[numbers % 4],
            "flow": np.array([0, "all"], dtype=object)[numbers % 2],
            "found": numbers % 3 == 0,
        }
    )


def test_csv_equals_that_of_pandas_for_any_chunk_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = table(1000)
    expected = HEAD + full.to_csv(index=False, lineterminator="\n")
    monkeypatch.setattr(export, "_ROWS", 77)
    parts = [full[:300], full[300:300], full[300:]]
    assert written(tmp_path, parts).decode() == expected
    compressed = written(tmp_path, parts, "csv.gz")
    assert gzip.decompress(compressed).decode() == expected
    assert written(tmp_path, parts, "csv.gz") == compressed
    assert len(compressed) < len(expected) / 2


def test_parquet_in_parts_is_one_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "_ROW_GROUP", 77)
    full = table(1000)
    written(tmp_path, [full[:300], full[300:300], full[300:]], "parquet")
    read = parquet.read_table(tmp_path / "table.parquet")
    assert json.loads(read.schema.metadata[b"airpath"]) == {"version": "0"}
    pd.testing.assert_frame_equal(
        read.to_pandas(), full.assign(flow=full["flow"].map(str)), check_dtype=False
    )


# --- a directory that held another run -----------------------------------------------------------


def run(*, record: str = "[]", **settings: object) -> ap.Result:
    scenario = ap.Scenario(
        flows=ap.flows(1, cc="reno", base_rtt="20 ms"),
        bottleneck=ap.Bottleneck(aqm="droptail", link=ap.link.Fixed(rate="2 Mbit/s")),
        duration="2 s",
        record={"series": json.loads(record)},
    )
    return ap.simulate(scenario, reps=1, **settings)  # type: ignore[arg-type]


def test_files_of_an_earlier_run_are_removed(tmp_path: Path) -> None:
    """Regression: earlier series, figures and captures remained next to the new tables."""
    directory = tmp_path / "out"
    old = run(record='["cwnd", "queue"]', capture=["sender"], capture_to=directory)
    old.save(directory, formats=["csv", "csv.gz"], figure_formats=None)
    old.plot.save(directory)
    (directory / "mine.csv").write_text("")
    new = run(record='["cwnd"]')
    paths = new.save(directory, figure_formats=None)
    assert {path.name for path in directory.iterdir()} == {path.name for path in paths} | {
        "mine.csv"
    }


def test_files_of_the_result_itself_are_kept(tmp_path: Path) -> None:
    result = run(record='["cwnd"]', capture=["sender"], capture_to=tmp_path)
    for _ in range(2):
        result.plot.save(tmp_path)
        result.save(tmp_path, figure_formats=None)
    names = {path.name for path in tmp_path.iterdir()}
    assert {"queue-lengths.png", "timeline.png", "sender.pcapng", "series-cwnd.csv"} <= names
    assert names <= set(json.loads((tmp_path / "result.json").read_text())["files"]) | {
        "result.json"
    }


@pytest.mark.parametrize(
    "text",
    [
        '{"provenance": {}, "files": ["../other", "/other", ".", "..", "result.json", 5]}',
        '{"provenance": {}, "files": "other"}',
        '{"files": ["other"]}',
        '["files"]',
        "[" * 100_000,
        "\udcff",
    ],
)
def test_only_named_files_of_the_directory_are_removed(text: str, tmp_path: Path) -> None:
    directory = tmp_path / "out"
    directory.mkdir()
    for other in (tmp_path / "other", directory / "other"):
        other.write_text("")
    (directory / "result.json").write_text(text, errors="surrogateescape")
    run().save(directory, figure_formats=None)
    assert (tmp_path / "other").exists()
    assert (directory / "other").exists()
