"""The comparison with a real kernel: the files are complete, and the page matches them.

Method and results: `docs/explanation/real-kernel.md`.
"""

from __future__ import annotations

import importlib
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from emulator import cannot_emulate, judged

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def scripts() -> Iterator[dict[str, ModuleType]]:
    """Import the scripts of this directory, which is not a package, and remove them afterwards."""
    names = ["cases", "bins", "run", "analyse", "page"]
    sys.path.insert(0, str(HERE))
    try:
        yield {name: importlib.import_module(name) for name in names}
    finally:
        sys.path.remove(str(HERE))
        for name in names:
            sys.modules.pop(name, None)


def test_cases_have_unique_names_and_valid_durations(
    scripts: dict[str, ModuleType],
) -> None:
    found = scripts["cases"].all_cases()
    assert len({case.id for case in found}) == len(found)
    for case in found:
        counted = (case.kernel.duration - case.kernel.warmup) / 1e9
        assert counted >= (15 if case.part in ("fixed", "fast") else 60), case.id


def test_matrix_has_the_required_rows(scripts: dict[str, ModuleType]) -> None:
    rows = scripts["cases"].MATRIX
    assert [row[0] for row in rows] == list(range(1, 17))
    assert {row[1] for row in rows} == {"reno", "cubic"}
    assert {row[2] for row in rows} == {"droptail", "red-ecn", "codel", "fq-codel", "sbd"}
    assert (min(row[3] for row in rows), max(row[3] for row in rows)) == (0.0, 0.03)
    assert {row[4] for row in rows} == {1, 4, 16}


def test_kept_row_is_valid_attempt_or_last_attempt(scripts: dict[str, ModuleType]) -> None:
    def row(run: int, attempt: int, valid: int) -> dict[str, str]:
        return {"case": "a", "run": str(run), "attempt": str(attempt), "valid": str(valid)}

    rows = [row(1, 1, 0), row(1, 2, 1), row(2, 1, 0), row(2, 2, 0), row(2, 3, 0)]
    kept = scripts["analyse"].kept(rows)
    assert [(one["run"], one["attempt"]) for one in kept] == [("1", "2"), ("2", "3")]


def test_packets_of_a_capture_are_read_with_time_and_direction(
    scripts: dict[str, ModuleType], tmp_path: Path
) -> None:
    def block(at: int, flags: int, body: bytes) -> bytes:
        padded = body + bytes(-len(body) % 4)
        inside = struct.pack("<IIIII", 0, at >> 32, at & 0xFFFFFFFF, len(body), len(body)) + padded
        inside += struct.pack("<HHI", 2, 4, flags) + struct.pack("<HH", 0, 0)
        length = len(inside) + 12
        return struct.pack("<II", 6, length) + inside + struct.pack("<I", length)

    file = tmp_path / "client.pcapng"
    section = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
    file.write_bytes(section + block(5 << 33, 1, b"\x45abc\x01") + block(7, 2, b"\x60"))
    found = list(scripts["bins"].packets(file))
    assert found == [(5 << 33, True, b"\x45abc\x01"), (7, False, b"\x60")]


def test_page_contains_tables_of_the_files(scripts: dict[str, ModuleType]) -> None:
    page = scripts["page"]
    text = page.PAGE.read_text("utf-8")
    assert page.filled(text, scripts["analyse"].Results()) == text
    assert {name for _, name, _ in page.PLACE.findall(text)} == set(page.TABLES)


def test_every_run_has_validity_and_reasons(scripts: dict[str, ModuleType]) -> None:
    rows = [row for name in ("kernel", "ping") for row in scripts["analyse"].read(name)]
    assert rows
    assert all((row["valid"] == "1") == (row["reasons"] == "") for row in rows)


@pytest.mark.realtime
@pytest.mark.slow
def test_echo_rtt_matches_configuration(scripts: dict[str, ModuleType]) -> None:
    """In real time: the smallest RTT is within 0.3 ms plus the median lateness of packets in both
    directions.

    The mean also depends on the load of the machine; it is on the page.
    """
    if reason := cannot_emulate():
        pytest.skip(reason)
    case = scripts["cases"].fixed(20, 40, (25.0, 10.0))
    row = judged(
        lambda: scripts["run"].pinged(case),
        lambda row: [] if row["valid"] else [row["reasons"]],
    )
    configured = scripts["analyse"].configured_rtt_s("fixed-20-40")
    assert row["received"] == row["sent"] == scripts["run"].PINGS
    assert 0 <= row["min_s"] - configured < 0.3e-3 + 2 * row["lateness_p50_s"]
