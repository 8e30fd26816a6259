"""The ledger of a sweep: stored data, one writing process, any number of readers."""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

import airpath as ap
from airpath.errors import BadValueError
from airpath.sweeps.job import job_of
from airpath.sweeps.ledger import Build, Ledger, coordinator_of
from airpath.sweeps.ledger.prune import prune
from airpath.sweeps.ledger.schema import checksum
from ledger_samples import OTHER, OWN, added, digest, made, metrics, plan, run
from required import program


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


def rejection(path: Path, **how: bool) -> str:
    with pytest.raises(BadValueError) as error:
        Ledger.open(path, **how).close()
    text = str(error.value)
    assert text.startswith(f"{path}: ")
    assert "\n" not in text
    return text.removeprefix(f"{path}: ")


def test_stored_data_is_read_back(path: Path) -> None:
    with Ledger.open(path) as ledger:
        assert ledger.plan() is None
        ledger.add([(run(n), metrics(n)) for n in (4, 0, 2)])
        ledger.add([(run(1, seed=2**64 - 1), {})])
        ledger.add([])
    assert os.listdir(path.parent) == [path.name]  # noqa: PTH208
    with Ledger.open(path) as ledger:
        assert ledger.finished(digest(0), 1) == [0, 2, 4]
        assert ledger.values(digest(0), 1) == {n: metrics(n) for n in (0, 2, 4)}
        assert list(ledger.runs(digest(0), 1)) == [run(n) for n in (0, 2, 4)]
        assert list(ledger.runs(digest(0), 2**64 - 1)) == [run(1, seed=2**64 - 1)]
        assert ledger.finished(digest(1), 1) == []
        assert ledger.cpu_s() == 1.0
        assert ledger.builds() == {Build(*OWN): 4}
        assert ledger.stored().replications == {(digest(0), 1): 3, (digest(0), 2**64 - 1): 1}


def test_ledger_created_during_the_search_for_it_is_readable(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: `Ledger.read` raised OverflowError if the file appeared after its first check."""
    Ledger.open(path).close()
    monkeypatch.setattr(Path, "is_file", lambda _path: False)
    with Ledger.read(path) as ledger:
        assert ledger.stored().replications == {}


def test_plan_and_jobs_are_read_back(path: Path) -> None:
    scenario = ap.Scenario(
        name="a → b",
        flows=ap.flows(1, cc="cubic", base_rtt="20 ms"),
        bottleneck=ap.Bottleneck(aqm=ap.aqm.CoDel(), link=ap.link.Fixed(rate="5 Mbit/s")),
        duration="3 s",
    )
    job, _ = job_of(scenario)
    with Ledger.open(path) as ledger:
        ledger.set_plan(plan(3), {job.digest: job})
        ledger.set_plan(plan(2, seed=9), {job.digest: job})
    with Ledger.read(path) as ledger:
        found = ledger.plan()
        assert found is not None
        assert json.dumps(found.to_dict()) == json.dumps(plan(2, seed=9).to_dict())
        stored = ledger.job(job.digest)
        assert stored is not None
        assert (stored.name, stored.text, stored.files) == (job.name, job.text, job.files)
        assert ledger.job(digest(7)) is None


def test_existing_replication_is_not_overwritten(path: Path) -> None:
    with Ledger.open(path) as ledger:
        ledger.add([(run(0), metrics(0))])
        ledger.add([(run(0, packed=b"other"), {}), (run(1), {})])
        assert [found.packed for found in ledger.runs(digest(0), 1)] == [
            run(0).packed,
            run(1).packed,
        ]
        assert ledger.values(digest(0), 1)[0] == metrics(0)


def test_metrics_can_be_added_later_and_none_means_not_measured(path: Path) -> None:
    with Ledger.open(path) as ledger:
        ledger.add([(run(0), {"a": math.nan, "b": 0.1 + 0.2}), (run(1), {"a": -math.inf})])
        ledger.add_values(digest(0), 1, {0: {"c": 1e-300}, 1: {"a": 5.0}})
        assert ledger.values(digest(0), 1) == {
            0: {"a": None, "b": 0.1 + 0.2, "c": 1e-300},
            1: {"a": 5.0},
        }
        assert list(ledger.runs(digest(0), 1)) == [run(0), run(1)]
        with pytest.raises(KeyError):
            ledger.add_values(digest(0), 1, {2: {}})


def test_failure_is_kept_until_its_replication_is_finished(path: Path) -> None:
    with Ledger.open(path) as ledger:
        ledger.add_failure(digest(0), 1, 3, "first")
        ledger.add_failure(digest(0), 1, 3, "again: \udcff")
        ledger.add_failure(digest(0), 1, 2, "other")
        assert ledger.failed(digest(0), 1) == {2: "other", 3: "again: \\udcff"}
        ledger.add([(run(3), {})])
        assert ledger.failed(digest(0), 1) == {2: "other"}
        assert ledger.failed(digest(0), 2) == {}


def test_solution_is_stored_as_metrics_or_as_reason_for_refusal(path: Path) -> None:
    with Ledger.open(path) as ledger:
        ledger.add_solved(digest(0), {"goodput_bps": 3.5, "jain": None})
        ledger.add_solved(digest(1), "not covered: aqm = codel")
        assert ledger.solved(digest(0)) == {"goodput_bps": 3.5, "jain": None}
        assert ledger.solved(digest(1)) == "not covered: aqm = codel"
        assert ledger.solved(digest(2)) is None


# --- versions ----------------------------------------------------------------------------------


def test_replications_of_another_version_are_rejected_with_the_version(path: Path) -> None:
    with Ledger.open(path) as ledger:
        added(ledger, 2, build=OTHER)
        added(ledger, 1, job=1)
    assert rejection(path) == (
        "2 replications were made by other versions (2 by airpath 0.0.9 (feedbeef0123)), this is "
        f"airpath {OWN[0]} ({OWN[1]}). Use --accept-version to use them, or give another "
        "directory."
    )
    with Ledger.open(path, accept_version=True) as ledger:
        assert ledger.finished(digest(0), 1) == [0, 1]
        assert ledger.builds() == {Build(*OTHER): 2, Build(*OWN): 1}
        assert ledger.versions() == [Build(*OTHER), Build(*OWN)]
    assert not path.with_name("ledger.sqlite.lock").exists()


def test_replications_of_another_version_can_be_ignored(path: Path) -> None:
    with Ledger.open(path) as ledger:
        added(ledger, 2, build=OTHER)
    with Ledger.open(path, leave_others=True) as ledger:
        assert ledger.finished(digest(0), 1) == []
        assert ledger.cpu_s() == 0.0
        ledger.add([(run(1, packed=b"own"), {})])
        assert ledger.finished(digest(0), 1) == [1]
        assert ledger.builds() == {Build(*OTHER): 2, Build(*OWN): 1}
    with Ledger.open(path, accept_version=True) as ledger:
        assert [found.version for found in ledger.runs(digest(0), 1)] == [OTHER[0], OWN[0]]


# --- one writer, many readers ------------------------------------------------------------------


def test_second_writer_is_rejected_until_the_first_ends(path: Path) -> None:
    with Ledger.open(path):
        assert coordinator_of(path) == os.getpid()
        assert rejection(path) == (
            f"is being written by process {os.getpid()}. "
            "Wait until it is done, or give another directory."
        )
    assert coordinator_of(path) is None
    Ledger.open(path).close()


def test_lock_of_a_killed_writer_is_free_while_its_forked_worker_lives(
    path: Path,
) -> None:
    script = (
        "import os, signal, sys\n"
        "from airpath.sweeps.ledger import Ledger\n"
        "ledger = Ledger.open(sys.argv[1])\n"
        "if os.fork() == 0:\n    signal.pause()\n    os._exit(0)\n"
        "print('ready', flush=True)\nsignal.pause()\n"
    )
    command = [sys.executable, "-c", script, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as first:
        assert first.stdout is not None
        try:
            assert first.stdout.readline() == b"ready\n"
            assert coordinator_of(path) == first.pid
            assert rejection(path).startswith(f"is being written by process {first.pid}.")
            first.kill()
            first.wait()
            Ledger.open(path).close()
        finally:
            os.killpg(first.pid, 9)


def test_readers_see_stored_data_during_writing(path: Path) -> None:
    wrong: list[object] = []
    done = threading.Event()

    def look() -> None:
        before = 0
        try:
            while not done.is_set():
                with Ledger.read(path) as ledger:
                    found = ledger.finished(digest(0), 1)
                    if found != list(range(len(found))) or len(found) < before or len(found) % 2:
                        wrong.append(found)
                    before = len(found)
        except BaseException as error:
            wrong.append(error)

    with Ledger.open(path) as ledger:
        readers = [threading.Thread(target=look) for _ in range(2)]
        for reader in readers:
            reader.start()
        for n in range(0, 60, 2):
            ledger.add([(run(n), {}), (run(n + 1), {})])
        with Ledger.read(path) as last:
            assert last.finished(digest(0), 1) == list(range(60))
            with pytest.raises(BadValueError, match="read-only"):
                last.add([(run(99), {})])
        done.set()
        for reader in readers:
            reader.join()
    assert wrong == []


def test_reader_continues_while_the_file_is_pruned(path: Path) -> None:
    with Ledger.open(path) as ledger:
        ledger.set_plan(plan(1), {})
        added(ledger, 200, job=7)
        added(ledger, 3)
        added(ledger, 9, job=8)
    with Ledger.read(path) as reader:
        kept, gone = (reader.runs(digest(job), 1) for job in (0, 8))
        assert (next(kept), next(gone)) == (run(0), run(0, job=8))
        assert prune(path).kept == 3
        assert list(kept) == [run(1), run(2)]
        assert list(gone) == []


def test_failed_transaction_stores_nothing(path: Path) -> None:
    with Ledger.open(path) as ledger:
        ledger.add([(run(0), {})])
        with pytest.raises(OverflowError):
            ledger.add([(run(1), {}), (run(2**70), {})])
        assert ledger.finished(digest(0), 1) == [0]


# --- invalid files -----------------------------------------------------------------------------


def test_file_that_is_no_ledger_is_rejected_and_unchanged(path: Path) -> None:
    foreign = sqlite3.connect(path)
    foreign.execute("CREATE TABLE runs (a)")
    foreign.commit()
    foreign.close()
    for content, line in (
        (path.read_bytes(), "not a ledger (another program's file). Use another name."),
        (b"metric,mean\n" * 20, "not a ledger (not an SQLite file). Use another name."),
        (
            b"",
            "damaged (empty). Put a copy that is whole into its place, or give another directory.",
        ),
    ):
        path.write_bytes(content)
        assert rejection(path) == line
        with pytest.raises(BadValueError):
            Ledger.read(path)
        assert path.read_bytes() == content
        assert os.listdir(path.parent) == [path.name]  # noqa: PTH208


def test_newer_format_is_rejected(path: Path) -> None:
    made(path)
    data = bytearray(path.read_bytes())
    data[60:64] = (2).to_bytes(4, "big")
    path.write_bytes(data)
    assert rejection(path) == ("of format 2, which a newer airpath wrote. This one reads format 1.")


def test_missing_or_non_regular_file_is_rejected(path: Path) -> None:
    with pytest.raises(BadValueError, match=r"no such file or directory. Use the directory of a"):
        Ledger.read(path)
    path.mkdir()
    assert rejection(path) == "cannot be read: is a directory."
    with pytest.raises(BadValueError, match=r"ledger.sqlite.lock: cannot be locked \(no such"):
        Ledger.open(path / "missing" / "ledger.sqlite")
    assert list(path.iterdir()) == []


def test_log_of_a_deleted_ledger_is_not_used_for_a_new_one(path: Path) -> None:
    log = path.with_name("ledger.sqlite-wal")
    log.write_bytes(b"x" * 100)
    assert rejection(path).startswith("is missing, and its log ledger.sqlite-wal exists. Move the")
    assert log.read_bytes() == b"x" * 100
    assert not path.exists()


def test_full_disk_is_reported_in_one_line_and_loses_nothing(path: Path) -> None:
    with Ledger.open(path) as ledger:
        added(ledger, 3)
        pages = ledger._connection.execute("PRAGMA page_count").fetchone()[0]
        ledger._connection.execute(f"PRAGMA max_page_count = {pages + 1}")
        with pytest.raises(BadValueError) as error:
            ledger.add([(run(n), {}) for n in range(3, 300)])
        assert str(error.value) == (
            f"{path}: cannot be written (the disk is full). What was stored before is kept."
        )
        assert ledger.finished(digest(0), 1) == [0, 1, 2]
        ledger._connection.execute("PRAGMA max_page_count = 100000")
        ledger.add([(run(3), {})])
    with Ledger.read(path) as ledger:
        assert list(ledger.runs(digest(0), 1)) == [run(n) for n in range(4)]


READ_ONLY = """
import os, sys
from ledger_samples import digest
from airpath.errors import BadValueError
from airpath.sweeps.ledger import Ledger
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)  # for root nothing is read-only
for way in (Ledger.read, Ledger.open):
    try:
        with way(sys.argv[1]) as ledger:
            print(list(ledger.finished(digest(0), 1)))
    except BadValueError as error:
        print(error)
"""


@pytest.mark.parametrize("is_open", [False, True], ids=["closed", "with a log"])
def test_ledger_in_a_read_only_directory_is_readable(is_open: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        source, directory = Path(name, "source"), Path(name, "directory")
        source.mkdir()
        with Ledger.open(source / "ledger.sqlite") as ledger:
            added(ledger, 2)
            if is_open:
                shutil.copytree(source, directory, ignore=shutil.ignore_patterns("*.lock", "*-shm"))
        if not is_open:
            shutil.copytree(source, directory)
        Path(name).chmod(0o755)
        directory.chmod(0o555)
        path = directory / "ledger.sqlite"
        answers = subprocess.run(
            [sys.executable, "-c", READ_ONLY, str(path)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sys.path))},
            capture_output=True,
            text=True,
            check=False,
        )
        directory.chmod(0o755)
    log = (
        f"{path}: cannot be read with its log in a directory that is read-only. "
        "Copy both into one that can be written to."
    )
    assert (answers.stderr, answers.stdout.splitlines()) == (
        "",
        [
            log if is_open else "[0, 1]",
            f"{path}.lock: cannot be locked (permission denied). "
            "Use a directory that can be written to, on a disk with locks.",
        ],
    )


FULL = """
import os, sys
from ledger_samples import digest, run
from airpath.errors import BadValueError
from airpath.sweeps.ledger import Ledger

path = sys.argv[1] + "/ledger.sqlite"
draw = __import__("random").Random(1)
stored = 0
try:
    with Ledger.open(path) as ledger:
        while True:
            ledger.add([(run(stored, packed=draw.randbytes(20_000)), {})])
            stored += 1
except BadValueError as error:
    print(error)
for _ in range(2):
    try:
        with Ledger.open(path) as ledger:
            assert list(ledger.finished(digest(0), 1)) == list(range(stored))
            draw = __import__("random").Random(1)
            for one in ledger.runs(digest(0), 1):
                assert one.packed == draw.randbytes(20_000)
            ledger.add([(run(stored + n, packed=os.urandom(20_000)), {}) for n in range(99)])
    except BadValueError as error:
        print(error)
"""


def test_full_file_system_loses_nothing(tmp_path: Path) -> None:
    """A file system of 2 MiB in a private mount namespace."""
    script = 'mount -t tmpfs -o size=2m none "$1" && exec "$2" -c "$3" "$1"'
    inside = ["sh", "-c", script, "sh", str(tmp_path), sys.executable, FULL]
    done = subprocess.run(
        [program("unshare", package="util-linux"), "-rm", *inside],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    if "unshare failed" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"no separate file system: {done.stderr.strip()}")
    line = f"{tmp_path}/ledger.sqlite: cannot be written (the disk is full). "
    assert (done.stdout, done.stderr) == (3 * f"{line}What was stored before is kept.\n", "")


def test_checksum_follows_the_documented_rule() -> None:
    stated = b"t2:\xc3\xa9i2:-7t0:n0:"
    assert checksum(["é", -7, "", None]) == hashlib.sha256(stated).hexdigest()[:16]
