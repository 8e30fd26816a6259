"""A sweep has the advisories that `airpath run` prints for its points."""

from __future__ import annotations

import json
import sqlite3
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import airpath as ap
from airpath.errors import AdvisoryWarning, BadValueError
from airpath.report.sweep import report_of_sweep
from airpath.sweeps.ledger import FILE_NAME, Ledger

TRACES = Path(ap.__file__).parent / "examples" / "traces"
AQMS = ["droptail", "red", "gred", "codel", "pie", "fq-codel"]
CONTROLS = ["newreno", "cubic", "dctcp"]


def cell(trace: str = "pedestrian", **changes: Any) -> ap.Scenario:
    keys: dict[str, Any] = {
        "name": "cell",
        "flows": ap.flows(2, base_rtt="60 ms"),
        "bottleneck": ap.Bottleneck(
            aqm="droptail", link=ap.link.Trace(file=str(TRACES / f"{trace}.trace"))
        ),
        "duration": "4 s",
        "warmup": "1 s",
    }
    return ap.Scenario(**(keys | changes))


RANDOM = {"start": {"uniform": ["0 s", "1 s"]}, "tcp": {"receive_window": "4 MB"}}


def swept(out: Path, **keys: Any) -> tuple[ap.Sweep, list[str]]:
    """Return a sweep of queue disciplines and congestion controls, and its warnings."""
    grid = {"bottleneck.aqm": ["droptail", "fq-codel"], "flows.0.cc": CONTROLS}
    base = keys.pop("base", cell())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sweep = ap.sweep(base, **({"grid": grid, "reps": 5, "out": out} | keys))
    noted = [str(each.message) for each in caught if each.category is AdvisoryWarning]
    return sweep, [text.replace(str(TRACES), "TRACES") for text in noted]


def stored(out: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(out / FILE_NAME)) as ledger:
        query = "SELECT digest, seed, replications, found FROM advisories ORDER BY digest"
        return ledger.execute(query).fetchall()


def as_an_earlier_version(out: Path) -> None:
    """Remove the data from a ledger that earlier versions did not record."""
    with Ledger.open(out / FILE_NAME) as ledger:
        plan = ledger.plan()
        assert plan is not None
        document = plan.to_dict()
        for point in document["points"]:
            point["advisories"] = None
        ledger.set_plan(type(plan).of(document), {})
    with closing(sqlite3.connect(out / FILE_NAME)) as connection:
        connection.execute("DROP TABLE advisories")


def test_campaign_has_the_advisories_of_its_runs(tmp_path: Path) -> None:
    """Regression: at a third of the points DCTCP behaved as NewReno, without a warning."""
    files = [str(TRACES / f"{name}.trace") for name in ("pedestrian", "vehicular")]
    grid = {"bottleneck.aqm": AQMS, "flows.0.cc": CONTROLS, "bottleneck.link.file": files}
    sweep, noted = swept(tmp_path, grid=grid)
    table = sweep.advisories()
    assert list(table.columns) == ["point", *grid, "code", "place", "text"]
    of_code = dict(iter(table.groupby("code")))
    ecn = of_code["ecn-without-marks"]
    assert set(ecn["flows.0.cc"]) == {"dctcp"}
    assert sorted(set(ecn["bottleneck.aqm"])) == sorted(set(AQMS) - {"fq-codel"})
    assert len(ecn) == 10
    assert set(of_code["equal-replications"]["bottleneck.aqm"]) >= {"droptail", "codel"}
    for point in sweep.plan.points[::5]:
        aqm, control, file = point.values.values()
        made = ap.Bottleneck(aqm=aqm, link=ap.link.Trace(file=file))
        flows = ap.flows(2, cc=control, base_rtt="60 ms")
        alone = ap.simulate(cell(bottleneck=made, flows=flows), reps=5)
        found = table[table["point"] == point.number][["code", "text", "place"]]
        assert found.to_dict("records") == [each.to_dict() for each in alone.advisories]
    assert [text.partition(":")[0] for text in noted] == list(dict.fromkeys(table["code"]))
    [line] = [text for text in noted if text.startswith("ecn")]
    assert line == (
        "ecn-without-marks: 10 of 36 points, the first is point 4 (bottleneck.aqm = droptail, "
        "flows.0.cc = dctcp, bottleneck.link.file = TRACES/pedestrian.trace): flows.0: ECN is on, "
        "but nothing marks at the bottleneck, so it does nothing. "
        "Set ecn = true in [bottleneck.aqm], for a discipline that has the key."
    )


def test_points_name_their_advisories(tmp_path: Path) -> None:
    sweep, _ = swept(tmp_path, metrics=["goodput_bps"])
    table = sweep.points()
    assert list(table.columns)[-1] == "advisories"
    assert table["advisories"][2] == "ecn-without-marks; equal-replications"
    assert "ecn" not in table["advisories"][5]
    document = sweep.to_dict()
    of_code = {each["code"]: each for each in document["advisories"]}
    noted = document["points"][of_code["ecn-without-marks"]["points"][0]]["advisories"]
    assert {**noted[0], "points": [2]} == of_code["ecn-without-marks"]
    page = report_of_sweep(sweep, directory=tmp_path, figures={})
    assert 'id="advisories"' in page
    assert "ECN is on, but nothing marks at the bottleneck" in page
    assert "Advisories: equal-replications at points 0, 1, 2" in page
    assert 'class="verdict good"' not in page
    assert "ecn-without-marks: 1 of 6 points, point 2 (" in sweep._repr_html_()


def test_sweep_without_problems_has_no_advisories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The statistics of its replications are not unpacked a second time."""

    def refuse(*_: Any) -> Iterator[Any]:
        raise AssertionError("read again")
        yield

    monkeypatch.setattr(Ledger, "runs", refuse)
    base = cell(flows=ap.flows(2, base_rtt="60 ms", **RANDOM))
    sweep, noted = swept(tmp_path, base=base, grid={"flows.0.cc": CONTROLS[:2]})
    assert noted == []
    assert set(sweep.points()["advisories"]) == {""}
    assert [found for *_, found in stored(tmp_path)] == ["[]", "[]"]
    page = report_of_sweep(sweep, figures={})
    assert 'class="verdict good"' in page
    assert 'id="advisories"' not in page


def test_advisories_do_not_depend_on_the_workers(tmp_path: Path) -> None:
    swept(tmp_path / "1", threads=1)
    swept(tmp_path / "2", threads=2)
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        swept(tmp_path / "3", executor=executor)
    for name in ("2", "3"):
        assert stored(tmp_path / name) == stored(tmp_path / "1")
        for directory in ("1", name):
            ap.load_sweep(tmp_path / directory).save(tmp_path / directory, figure_formats=None)
        one, other = (tmp_path / each / "points.csv" for each in ("1", name))
        assert one.read_bytes() == other.read_bytes()


def test_advisories_of_an_extended_point_are_updated(tmp_path: Path) -> None:
    """Additional replications remove the advisory about few replications; a replication with
    different values removes the advisory about equal replications.
    """
    base = cell(flows=ap.flows(2, base_rtt="60 ms", **RANDOM))
    grid = {"flows.0.cc": CONTROLS[:2]}
    codes = {}
    for reps in (2, 5, 3):
        sweep, _ = swept(tmp_path, base=base, grid=grid, reps=reps)
        codes[reps] = set(sweep.points()["advisories"])
        assert [row[2] for row in stored(tmp_path)] == [reps, reps]
    assert codes == {2: {"few-replications"}, 5: {""}, 3: {"few-replications"}}


def test_resumed_point_has_the_same_advisories(tmp_path: Path) -> None:
    full, noted = swept(tmp_path / "whole")
    assert len(noted) == 2
    swept(tmp_path / "resumed")
    with closing(sqlite3.connect(tmp_path / "resumed" / FILE_NAME)) as ledger:
        ledger.execute("DELETE FROM advisories")
        ledger.execute("DELETE FROM runs WHERE replication IN (1, 3)")
        ledger.commit()
    again, _ = swept(tmp_path / "resumed")
    assert again.points().equals(full.points())
    assert stored(tmp_path / "resumed") == stored(tmp_path / "whole")


def test_ledger_of_an_earlier_version_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = swept(tmp_path)
    complete = first.points()
    as_an_earlier_version(tmp_path)
    sweep = ap.load_sweep(tmp_path)
    assert set(sweep.points()["advisories"]) == {"not recorded"}
    assert len(sweep.advisories()) == 0
    page = report_of_sweep(sweep, directory=tmp_path, figures={})
    assert "Not recorded at points 0, 1, 2, 3, 4, 5: an earlier version ran them." in page
    # The same sweep again runs nothing and records them.
    monkeypatch.setattr("airpath.sweeps.coordinator.Coordinator._send", None)
    again, noted = swept(tmp_path)
    assert again.points().equals(complete)
    assert [text.partition(":")[0] for text in noted] == ["equal-replications", "ecn-without-marks"]


def test_unfinished_point_has_the_advisories_on_its_scenario(tmp_path: Path) -> None:
    sweep, _ = swept(tmp_path)
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as ledger:
        ledger.execute("DELETE FROM runs WHERE replication = 3")
        ledger.commit()
    sweep = ap.load_sweep(tmp_path)
    codes = sweep.points()["advisories"].drop_duplicates().tolist()
    assert codes == ["not recorded", "ecn-without-marks; not recorded"]
    page = report_of_sweep(sweep, figures={})
    assert "an earlier version" not in page


def test_sweep_that_only_solves_has_no_advisories(tmp_path: Path) -> None:
    sweep, noted = swept(tmp_path, engines=["solve"])
    assert noted == []
    assert set(sweep.points()["advisories"]) == {""}


def test_damaged_record_is_rejected(tmp_path: Path) -> None:
    swept(tmp_path)
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as ledger:
        ledger.execute("UPDATE advisories SET found = '[]'")
        ledger.commit()
    with pytest.raises(BadValueError, match="a row of advisories does not match its checksum"):
        ap.load_sweep(tmp_path).points()


def test_prune_removes_the_advisories_of_other_jobs(tmp_path: Path) -> None:
    from airpath.sweeps.ledger.prune import prune

    swept(tmp_path)
    assert len(stored(tmp_path)) == 6
    swept(tmp_path, grid={"flows.0.cc": CONTROLS[:2]})
    prune(tmp_path / FILE_NAME)
    assert len(stored(tmp_path)) == 2


def test_status_counts_points_by_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from airpath.cli.sweep_ledger import status

    swept(tmp_path)
    status(tmp_path)
    line = "  advisories    equal-replications at 6 points, ecn-without-marks at 1 point\n"
    assert line in capsys.readouterr().out
    status(tmp_path, json=True)
    document = json.loads(capsys.readouterr().out)
    assert document["advisories"] == {"equal-replications": 6, "ecn-without-marks": 1}
    assert document["advisories_not_recorded"] == 0
    as_an_earlier_version(tmp_path)
    status(tmp_path)
    assert "  advisories    not recorded at 6 points\n" in capsys.readouterr().out
