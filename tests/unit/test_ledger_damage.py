"""After a power failure a ledger returns stored data only, or reports that it is damaged."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from airpath.errors import BadValueError
from airpath.execution import this_machine
from airpath.sweeps.job import File, Job
from airpath.sweeps.ledger import Ledger
from airpath.sweeps.ledger.sessions import Session
from ledger_samples import OWN, digest, metrics, plan, run

JOBS, RUNS, SECTOR = 3, 12, 512
NEW = RUNS + 5
"""A replication that is not part of the sweep."""

NOTED = {"code": "few-replications", "text": "They are few.", "place": ""}
JOB = {
    digest(n): Job(f"job {n}", ("{}" * 300,), (File("t", "csv", digest(9)),), digest(n))
    for n in range(JOBS)
}


def as_text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=list)


def everything(ledger: Ledger) -> set[tuple[Any, ...]]:
    """Return each readable value, with its kind and position."""
    found: set[tuple[Any, ...]] = set()
    stored = ledger.plan()
    if stored is not None:
        found.add(("plan", as_text(stored.to_dict())))
    for key in JOB:
        job = ledger.job(key)
        found |= {("job", key, job)} if job is not None else set()
        numbers = ledger.finished(key, 1)
        assert list(numbers) == sorted(set(numbers))
        found |= {("finished", key, n) for n in numbers}
        for n, values in ledger.values(key, 1).items():
            found.add(("values", key, n, as_text(values)))
        for one in ledger.runs(key, 1):
            found.add(("run", key, one.replication, one.packed, one.cpu_s, one.version))
        for n, message in ledger.failed(key, 1).items():
            found.add(("failed", key, n, message))
        noted = ledger.advisories(key, 1)
        found |= {("advisories", key, as_text(noted))} if noted is not None else set()
        solved = ledger.solved(key)
        found |= {("solved", key, as_text(solved))} if solved is not None else set()
    found |= {("session", as_text(session.to_row())) for session in ledger.sessions()}
    assert {(build.version, build.commit) for build in ledger.versions()} <= {OWN}
    stored_counts = ledger.stored().replications
    assert all(seed == 1 and count <= RUNS + 1 for (_, seed), count in stored_counts.items())
    return found


@dataclass
class History:
    """The ledger files at several times, and every value that was readable at one of them."""

    files: list[dict[str, bytes]] = field(default_factory=list)
    values: set[tuple[Any, ...]] = field(default_factory=set)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    """Return the files that a sweep writes to disk while it runs, with and without a log."""
    directory = tmp_path_factory.mktemp("whole")
    path = directory / "ledger.sqlite"
    made = History()

    def record_values(ledger: Ledger) -> None:
        made.values |= everything(ledger)
        names = (path, path.with_name("ledger.sqlite-wal"))
        made.files.append({file.name: file.read_bytes() for file in names if file.exists()})

    with Ledger.open(path) as ledger:
        ledger.set_plan(plan(JOBS), JOB)
        ledger.add_failure(digest(1), 1, 3, "it failed")
        record_values(ledger)
        for n in range(RUNS):
            job = n % JOBS
            ledger.add([(run(i, job), metrics(i, job)) for i in range(n, n + 2)])
            if n == RUNS // 2:
                ledger._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                record_values(ledger)
        record_values(ledger)
        ledger.add_values(digest(0), 1, {0: {"later": 0.5}})
        ledger.add_solved(digest(0), {"goodput_bps": 1.5})
        ledger.add_solved(digest(1), "not covered")
        ledger.set_plan(plan(JOBS, most=9), JOB)
        ledger.add([], [(digest(n), 1, 4, [NOTED] * n) for n in range(JOBS)])
        ledger.add_session(Session(ledger.own, "airpath sweep", RUNS, 1.5, [this_machine()]))
        record_values(ledger)
        for job in range(JOBS):
            numbers = ledger.finished(digest(job), 1)
            packed = {one.replication: one.packed for one in ledger.runs(digest(job), 1)}
            assert packed == {n: run(n, job).packed for n in numbers}
    made.files.append({path.name: path.read_bytes()})
    with Ledger.read(path) as ledger:
        made.values |= everything(ledger)
    assert [len(files) for files in made.files] == [2, 2, 2, 2, 1]
    return made


# --- kinds of damage ---------------------------------------------------------------------------


def truncated(data: bytes, draw: random.Random, _other: bytes) -> bytes:
    return data[: draw.randrange(len(data))]


def overwritten(data: bytes, draw: random.Random, _other: bytes) -> bytes:
    length = draw.choice([1, 2, 16, SECTOR, 4096])
    at = draw.randrange(len(data))
    filling = draw.choice([bytes(length), b"\xff" * length, draw.randbytes(length)])
    return data[:at] + filling + data[at + length :]


def flipped(data: bytes, draw: random.Random, _other: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.choice([1, 3])):
        changed[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def torn(data: bytes, draw: random.Random, other: bytes) -> bytes:
    """Return sectors of two times: some were written before the power failure, some were not."""
    part = draw.random()
    sectors = range(0, max(len(data), len(other)), SECTOR)
    chosen = (other if draw.random() < part else data for _ in sectors)
    return b"".join(
        source[at : at + SECTOR].ljust(min(SECTOR, len(data) - at), b"\0")
        for at, source in zip(sectors, chosen, strict=True)
        if at < len(data)
    )


def misplaced(data: bytes, draw: random.Random, _other: bytes) -> bytes:
    source, target = (SECTOR * draw.randrange(len(data) // SECTOR + 1) for _ in range(2))
    block = data[source : source + draw.choice([SECTOR, 4096])]
    return data[:target] + block + data[target + len(block) :]


WAYS: list[Callable[[bytes, random.Random, bytes], bytes]] = [
    truncated,
    overwritten,
    flipped,
    torn,
    misplaced,
]


def damaged_copy(history: History, directory: Path, draw: random.Random) -> Path:
    """Write the files of one time, with one or both of them damaged; return the ledger's path."""
    files = dict(draw.choice(history.files))
    for name in draw.choice([list(files), [draw.choice(list(files))]]):
        if name.endswith("wal") and draw.random() < 0.1:
            del files[name]
            continue
        other = draw.choice(history.files).get(name, files[name])
        if files[name]:
            files[name] = draw.choice(WAYS)(files[name], draw, other)
    for name, data in files.items():
        (directory / name).write_bytes(data)
    return directory / "ledger.sqlite"


def outcome(
    path: Path, record_values: Callable[[], set[tuple[Any, ...]]], history: History
) -> bool:
    """Return True if the data read had been stored; False if the file was reported as damaged."""
    try:
        found = record_values()
    except BadValueError as error:
        text = str(error)
        assert text.startswith(f"{path}: "), text
        assert "\n" not in text
        assert any(word in text for word in ("damaged", "not a ledger", "of format")), text
        return False
    assert found <= history.values, found - history.values
    return True


def tried(history: History, directory: Path, seed: int) -> bool:
    """Damage a copy; return whether it was readable and a sweep resumed with it."""
    directory.mkdir()
    path = damaged_copy(history, directory, random.Random(seed))

    def read() -> set[tuple[Any, ...]]:
        with Ledger.read(path) as ledger:
            return everything(ledger)

    def resumed() -> set[tuple[Any, ...]]:
        with Ledger.open(path) as ledger:
            found = everything(ledger)
            ledger.add([(run(NEW), {})])
            assert NEW in ledger.finished(digest(0), 1)
            return found

    if seed % 2:
        return outcome(path, read, history)
    could = outcome(path, resumed, history)
    new = {("run", digest(0), NEW, run(NEW).packed, 0.25, run(0).version)}
    new |= {("finished", digest(0), NEW), ("values", digest(0), NEW, "{}")}
    return outcome(path, read, History(values=history.values | new)) and could


def test_damaged_file_returns_stored_data_or_is_reported(history: History, tmp_path: Path) -> None:
    found = []
    for seed in range(100):
        found.append(tried(history, tmp_path / str(seed), seed))
        shutil.rmtree(tmp_path / str(seed))
    # Both outcomes must occur: if no copy, or every copy, is readable, the test shows nothing.
    assert 15 < sum(found) < 85


def test_index_without_a_replication_is_reported_as_damage(tmp_path: Path) -> None:
    """Regression: an added replication was not found, and each resumed sweep ran it again."""
    path = tmp_path / "ledger.sqlite"
    with Ledger.open(path) as ledger:
        ledger.add([(run(n), metrics(n)) for n in range(3)])
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_runs_1'"
        (root,) = connection.execute(query).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    data = bytearray(path.read_bytes())
    entry = data.rindex(digest(0).encode(), 0, root * size)
    assert entry > (root - 1) * size
    data[entry] ^= 1
    path.write_bytes(data)
    with pytest.raises(BadValueError, match=r"damaged \(row \d missing from index"):
        Ledger.open(path)


@pytest.mark.long
def test_many_damaged_files_return_stored_data_or_are_reported(
    history: History, tmp_path: Path
) -> None:
    for seed in range(1000, 11_000):
        tried(history, tmp_path / str(seed), seed)
        shutil.rmtree(tmp_path / str(seed))


# --- SIGKILL -----------------------------------------------------------------------------------

CHILD = """
import sys
from types import SimpleNamespace
from airpath.sweeps.ledger import Ledger
path, digest, version, commit = sys.argv[1:]
def run(n):
    packed = f"0 1 {n}".encode() * 60
    return SimpleNamespace(digest=digest, seed=1, replication=n, version=version, commit=commit,
                           cpu_s=0.25, packed=packed)
with Ledger.open(path) as ledger:
    number = max(ledger.finished(digest, 1), default=-1) + 1
    print("from", number, flush=True)
    while True:
        ledger.add([(run(i), {"goodput_bps": i / 3}) for i in range(number, number + 3)])
        print(number + 2, flush=True)
        number += 3
"""


def killed_repeatedly(path: Path, times: int) -> None:
    draw = random.Random(5)
    reported = -1
    for _ in range(times):
        command = [sys.executable, "-c", CHILD, str(path), digest(0), *OWN]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            first = child.stdout.readline().split()
            assert first[0] == "from"
            # Nothing that was reported is lost, and only whole transactions are stored.
            assert int(first[1]) > reported
            assert int(first[1]) % 3 == 0
            lines = [child.stdout.readline() for _ in range(draw.randrange(10))]
            os.kill(child.pid, signal.SIGKILL)
            lines += child.stdout.read().splitlines()
        reported = max(reported, int(first[1]) - 1, *map(int, lines))
    with Ledger.open(path) as ledger:
        numbers = ledger.finished(digest(0), 1)
        assert list(numbers) == list(range(len(numbers)))
        assert len(numbers) > reported
        assert list(ledger.runs(digest(0), 1)) == [run(n) for n in numbers]
        assert ledger.values(digest(0), 1) == {n: {"goodput_bps": n / 3} for n in numbers}


def test_writer_killed_at_any_time_loses_nothing_reported(tmp_path: Path) -> None:
    killed_repeatedly(tmp_path / "ledger.sqlite", 20)


@pytest.mark.long
def test_writer_killed_a_hundred_times_loses_nothing(tmp_path: Path) -> None:
    killed_repeatedly(tmp_path / "ledger.sqlite", 100)
