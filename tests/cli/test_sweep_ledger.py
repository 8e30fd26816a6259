"""`airpath sweep status | export | prune`, on ledgers with artificial replications."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from airpath.cli.sweep_ledger import export, prune, status
from airpath.errors import BadValueError
from airpath.sweeps.ledger import Ledger
from ledger_samples import OTHER, OWN, added, digest, made, metrics, plan, run


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("out").mkdir()
    return Path("out/ledger.sqlite")


def with_others(path: Path) -> None:
    """Create a ledger of two points with three replications each, and with replications that no
    point uses.
    """
    made(path)
    with Ledger.open(path) as ledger:
        ledger.add([(run(n), metrics(n)) for n in (3, 4)])
        added(ledger, 2, job=7)
        ledger.add([(run(0, seed=2), {})])
        ledger.add([(run(n, job=1, build=OTHER), {}) for n in range(4)])
        ledger.add_failure(digest(1), 1, 2, "it\nfailed")
        ledger.add_failure(digest(9), 1, 0, "long ago")


def test_status_counts_points_replications_failures_and_versions(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with_others(path)
    assert status(Path("out")) == 0
    assert capsys.readouterr().out == (
        "out/ledger.sqlite: made up\n"
        "  points        2 of 2 finished\n"
        "  replications  6 of 6, and 6 others\n"
        "  failures      2\n"
        "  advisories    not recorded at 2 points\n"
        "  CPU time      3.8 s\n"
        f"  versions      airpath {OTHER[0]} ({OTHER[1]}): 4, airpath {OWN[0]} ({OWN[1]}): 11\n"
        "  coordinator   none\n"
        "  point 1, replication 2: it\\nfailed\n"
        "  no point of the plan, replication 0: long ago\n"
    )


def test_status_json_is_one_document(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made(path, count=2)
    with Ledger.open(path):
        assert status(path, json=True) == 0
    document = json.loads(capsys.readouterr().out)
    assert document.pop("provenance")["version"] == OWN[0]
    assert document == {
        "ledger": "out/ledger.sqlite",
        "name": "made up",
        "points": 2,
        "finished_points": 0,
        "wanted": {"least": 6, "most": 6},
        "replications": 4,
        "others": 0,
        "failures": [],
        "advisories": {},
        "advisories_not_recorded": 0,
        "cpu_s": 1.0,
        "versions": [{"version": OWN[0], "commit": OWN[1], "replications": 4}],
        "coordinator": os.getpid(),
    }


def test_point_with_a_sufficiently_narrow_interval_is_finished(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from airpath.sweeps.plan import Plan, Rule

    document = plan(2).to_dict()
    rule = Rule(2, 9, metric="a", relative=0.1)
    with Ledger.open(path) as ledger:
        ledger.set_plan(Plan.of({**document, "rule": vars(rule)}), {})
        ledger.add([(run(n), {"a": 1.0}) for n in range(2)])
        ledger.add([(run(n, job=1), {"a": float(n)}) for n in range(4)])
    status(path)
    assert (
        "points        1 of 2 finished\n  replications  6 of 4 to 18\n" in capsys.readouterr().out
    )


def test_status_works_for_a_ledger_without_a_sweep(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Ledger.open(path).close()
    status(path)
    assert capsys.readouterr().out == (
        "out/ledger.sqlite: no sweep\n"
        "  replications  0\n"
        "  failures      0\n"
        "  CPU time      0.0 s\n"
        "  versions      none\n"
        "  coordinator   none\n"
    )
    with Ledger.open(path) as ledger:
        added(ledger, 2)
    status(path)
    assert "no sweep\n  replications  2\n" in capsys.readouterr().out


def test_export_writes_points_and_runs(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import pandas as pd

    made(path)
    with Ledger.open(path) as ledger:
        ledger.add([(run(n), metrics(n)) for n in (3, 4)])
        added(ledger, 2, job=7)
    assert export(Path("out"), "tables", "csv,parquet") == 0
    files = [f"tables/{stem}.{form}" for stem in ("points", "runs") for form in ("csv", "parquet")]
    assert capsys.readouterr().err == "".join(f"written: {name}\n" for name in files)
    runs = pd.read_csv("tables/runs.csv", comment="#")
    # Every replication that counts, and no other.
    assert list(runs["goodput_bps"]) == [
        metrics(n, job)["goodput_bps"] for job in (0, 1) for n in range(3)
    ]
    assert len(pd.read_parquet("tables/runs.parquet")) == 6
    points = pd.read_csv("tables/points.csv", comment="#")
    means = points[points["metric"] == "goodput_bps"]["mean"]
    assert list(means) == pytest.approx([1 / 3, 1e6 + 1 / 3])
    again = Path("tables/points.csv").read_bytes()
    export(path, "again")
    assert Path("again/points.csv").read_bytes() == again


def test_export_rejects_other_files_and_unknown_formats(path: Path) -> None:
    with pytest.raises(BadValueError, match=r"^out/ledger.sqlite: cannot be read: no such file"):
        export(Path("out"), "tables")
    made(path)
    with pytest.raises(BadValueError, match='formats = "xlsx": not a format of tables'):
        export(path, "tables", "xlsx")
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(BadValueError, match=r"^out/ledger.sqlite: damaged \("):
        export(path, "tables")
    assert not Path("tables").exists()


def test_prune_removes_replications_outside_the_plan(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with_others(path)
    before = path.read_bytes()
    assert prune(path, dry_run=True) == 0
    assert capsys.readouterr().out == (
        "out/ledger.sqlite: 9 replications would be removed, 4 of other versions, 3 of jobs or "
        "seeds that are not in the plan, 2 beyond the most that a point may have; "
        "2 failures would be removed; 6 replications kept.\n"
    )
    assert path.read_bytes() == before
    assert prune(path) == 0
    assert capsys.readouterr().out.startswith("out/ledger.sqlite: 9 replications removed, 4 of ")
    assert len(path.read_bytes()) < len(before)
    with Ledger.open(path) as ledger:
        for job in range(2):
            assert list(ledger.runs(digest(job), 1)) == [run(n, job) for n in range(3)]
        assert sum(ledger.stored().replications.values()) == 6
        assert ledger.failures() == []
    prune(path)
    assert ": 0 replications removed; 0 failures removed; 6" in capsys.readouterr().out


def test_prune_removes_the_series_of_removed_replications(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made(path)
    directory = path.parent / "series"
    directory.mkdir()
    with Ledger.open(path) as ledger:
        added(ledger, 2, job=7)
    kept, gone = (f"{digest(job)[:12]}-1-1.parquet" for job in (0, 7))
    for name in (kept, gone, "mine.parquet"):
        (directory / name).touch()
    prune(path, dry_run=True)
    assert capsys.readouterr().out.endswith(" 1 files of series would be removed.\n")
    assert (directory / gone).exists()
    prune(path)
    assert sorted(file.name for file in directory.iterdir()) == sorted([kept, "mine.parquet"])


def test_prune_can_keep_other_versions(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with_others(path)
    prune(path, accept_version=True)
    assert ": 6 replications removed, 3 of jobs or " in capsys.readouterr().out
    with Ledger.open(path, accept_version=True) as ledger:
        assert ledger.finished(digest(1), 1) == [0, 1, 2]


def test_prune_without_a_plan_removes_other_versions_only(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Ledger.open(path) as ledger:
        added(ledger, 2)
        added(ledger, 3, build=OTHER)
    prune(path)
    assert ": 3 replications removed, 3 of other versions; " in capsys.readouterr().out
    with Ledger.open(path) as ledger:
        assert ledger.finished(digest(0), 1) == [0, 1]


def test_prune_of_a_missing_ledger_creates_none(path: Path) -> None:
    with pytest.raises(BadValueError, match=r"no such file or directory. Use the directory of a"):
        prune(path)
    assert not path.exists()
    with Ledger.open(path), pytest.raises(BadValueError, match="is being written by process"):
        prune(path)
