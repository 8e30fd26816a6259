"""The ``sweeps.toml`` of a paper: points by axes, scenarios, replications."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import airpath as ap
from airpath.errors import BadValueError
from airpath.reproduction import Effort
from airpath.reproduction.claims import Claims
from airpath.reproduction.sweep_keys import Share
from airpath.reproduction.sweeps import SweepPoint, Sweeps

MODE = Effort(3, 10.0, 1.0, grid_step=2)


def path(rate: int, flows: int = 1, aqm: str = "droptail") -> ap.Scenario:
    return ap.Scenario(
        duration="1 s",
        bottleneck=ap.Bottleneck(
            aqm=ap.aqm.Red(limit=50, min_th=5, max_th=15)
            if aqm == "red"
            else ap.aqm.DropTail(limit="50 packets"),
            link=ap.link.Fixed(rate=f"{rate} Mbit/s"),
        ),
        flows=ap.flows(flows, cc="newreno", base_rtt="20 ms"),
    )


def rate_of(scenario: Any) -> str:
    return str(scenario.bottleneck.link.rate)


def sweeps(tmp_path: Path, text: str, **more: Any) -> Sweeps:
    (tmp_path / "sweeps.toml").write_text(text)
    return Sweeps(tmp_path, path, **more)


def test_points_are_named_by_axes_in_order_of_parts(tmp_path: Path) -> None:
    found = sweeps(
        tmp_path,
        """
        [[all]]
        set.flows = 2
        grid = {rate = [1, 2], aqm = ["droptail", "red"]}
        exclude = [{rate = 2, aqm = "red"}]
        place.part = "first"
        [[all]]
        points = [{rate = 3, "flows.0.base_rtt" = "40 ms"}]
        """,
    )
    points = found.points("all")
    assert [point.place for point in points] == [
        {"rate": 1, "aqm": "droptail", "part": "first"},
        {"rate": 1, "aqm": "red", "part": "first"},
        {"rate": 2, "aqm": "droptail", "part": "first"},
        {"rate": 3, "flows.0.base_rtt": "40 ms"},
    ]
    assert points[0].cell.axes == {"rate": 1, "aqm": "droptail", "flows": 2}
    assert found.cells("all", rate=(2, 3)) == [point.cell for point in points[2:]]
    last = found.scenario(points[-1].cell, MODE)
    assert str(last.flows[0].base_rtt) == "40 ms"
    assert rate_of(last) == "3 Mbit/s"


def test_equal_points_of_two_sweeps_are_the_same(tmp_path: Path) -> None:
    text = "[a]\ngrid = {rate = [1], flows = [2]}\n[b]\nset = {flows = 2, rate = 1}\n"
    found = sweeps(tmp_path, text)
    assert found.cells("a") == found.cells("b")
    assert found.points("b")[0].place == {}


def test_duration_of_point_is_that_of_sweep_or_mode(tmp_path: Path) -> None:
    found = sweeps(
        tmp_path,
        """
        [mode]
        set.rate = 1
        [own]
        set.rate = 1
        reps = 7
        duration_s = 5.0
        warmup_s = 0.0
        series = ["queue"]
        changes.long = {about = "a longer run", duration_s = 50.0}
        """,
    )
    [mode], [own] = found.cells("mode"), found.cells("own")
    assert found.effort_of(mode, MODE) == MODE
    effort = found.effort_of(own, MODE)
    assert (effort.replications, effort.duration_s, effort.warmup_s) == (7, 50.0, 0.0)
    scenario = found.scenario(own, effort)
    assert (str(scenario.duration), str(scenario.warmup)) == ("50 s", "0 s")
    assert list(scenario.record.series) == ["queue"]
    assert found.changes("own") == {"long": "a longer run"}
    assert own.label == "path: rate=1, 7 runs, 50 s, records queue"


@pytest.mark.parametrize(
    ("share", "mode", "expected"),
    [
        ("one_in = 10, min = 4", (100, 30.0), (10, 30.0)),
        ("one_in = 10, min = 4", (20, 30.0), (4, 30.0)),
        ("one_in = 10, min = 4", (4, 30.0), (4, 12.0)),
        ("one_in = 2", (5, 30.0), (2, 30.0)),
        ("one_in = 2", (2, 30.0), (2, 20.0)),
        ("one_in = 2", (1, 30.0), (1, 20.0)),
    ],
)
def test_share_of_few_replications_shortens_duration(
    share: str, mode: tuple[int, float], expected: tuple[int, float], tmp_path: Path
) -> None:
    found = sweeps(tmp_path, f"[a]\nset.rate = 1\nreps = {{{share}}}\n")
    [cell] = found.cells("a")
    effort = found.effort_of(cell, Effort(*mode, warmup_s=10.0))
    assert (effort.replications, effort.duration_s, effort.warmup_s) == (*expected, 10.0)
    assert cell.label == f"path: rate=1, one run in {share.split(',')[0].removeprefix('one_in = ')}"


def test_share_of_replications_applies_to_each_change(tmp_path: Path) -> None:
    text = (
        "[a]\nset.rate = 1\nreps = {one_in = 2}\nchanges.two = {about = 'two flows', flows = 2}\n"
    )
    [cell] = sweeps(tmp_path, text).cells("a")
    assert cell.reps == Share(2)


def test_study_may_use_changes_of_its_paper(tmp_path: Path) -> None:
    text = "[a]\nset.rate = 1\nchanges.two = {about = 'two flows', flows = 2}\n"
    parent = sweeps(tmp_path, text)
    (tmp_path / "study").mkdir()
    study = sweeps(tmp_path / "study", "[b]\nset.rate = 1\n", parent=parent)
    assert study.changes("a") == {"two": "two flows"}


def test_change_sets_keys_of_the_scenario_and_names_the_point(tmp_path: Path) -> None:
    found = sweeps(
        tmp_path,
        """
        [sensitivity]
        grid.rate = [1, 2]
        exclude = [{rate = 2, change = "far"}]
        [sensitivity.changes.far]
        about = "a longer path"
        "flows.0.base_rtt" = "80 ms"
        [sensitivity.changes.deep]
        about = "a larger buffer"
        "bottleneck.aqm.limit" = "100 packets"
        """,
    )
    points = found.points("sensitivity")
    assert [(p.place["rate"], p.place["change"]) for p in points] == [
        (1, "far"),
        (1, "deep"),
        (2, "deep"),
    ]
    scenarios = [found.scenario(point.cell, MODE) for point in points]
    assert [str(each.flows[0].base_rtt) for each in scenarios] == ["80 ms", "20 ms", "20 ms"]
    assert [str(each.bottleneck.aqm.limit) for each in scenarios] == [  # type: ignore[attr-defined]
        "50 packets",
        "100 packets",
        "100 packets",
    ]


def test_scenario_in_two_sweeps_gets_largest_number_of_replications(tmp_path: Path) -> None:
    text = """
        [table]
        set = {rate = 2, aqm = "droptail"}
        reps = 100
        [figure]
        grid.rate = [1, 2]
        reps_as = ["table"]
        """
    found = sweeps(tmp_path, text)
    counts = [found.effort_of(each, MODE).replications for each in found.cells("figure")]
    assert counts == [3, 100]


def test_limit_of_replications_applies_to_every_point(tmp_path: Path) -> None:
    text = """
        [own]
        set.rate = 1
        reps = 100
        [mode]
        set.rate = 2
        [share]
        set.rate = 3
        reps = {one_in = 2}
        [figure]
        set.rate = 1
        reps_as = ["own"]
        """
    found = sweeps(tmp_path, text)
    limited = Effort(4, 10.0, 1.0, note="100 runs of own.").limited_to(2)
    counts = {
        name: [found.effort_of(each, limited).replications for each in found.cells(name)]
        for name in found.names()
    }
    assert counts == {"own": [2], "mode": [2], "share": [2], "figure": [2]}
    assert limited.note == "At most 2 runs of each point. Without this limit: 100 runs of own."
    assert limited.resamples == 4
    assert Effort(4, 10.0, 1.0, resamples=10).limited_to(9).resamples == 10


def test_mode_may_use_only_some_values_of_an_axis(tmp_path: Path) -> None:
    text = 'grid = {rate = [1, 2, 3, 4], flows = [1, 2]}\nthin = ["rate"]\nreps = {one_in = 2}\n'
    found = sweeps(tmp_path, f"[figure]\n{text}")
    rates = [point.axes["rate"] for point in found.cells("figure", effort=MODE, flows=1)]
    assert rates == [1, 3, 4]
    assert len(found.cells("figure")) == 8


def test_labels_replace_values_in_names(tmp_path: Path) -> None:
    text = '[figure]\ngrid.rate = [1, 2]\nlabels.values.rate = ["slow", "fast"]\n'
    found = sweeps(tmp_path, text)
    assert [point.place for point in found.points("figure")] == [{"rate": "slow"}, {"rate": "fast"}]
    assert [point.axes for point in found.cells("figure", rate="fast")] == [{"rate": 2}]


def test_points_of_a_sweep_without_a_scenario_are_not_simulated(tmp_path: Path) -> None:
    text = """
        [law]
        scenario = ""
        grid.snr_db = {from = 1, to = 2.2, step = 0.5}
        grid.per = {from = 0.1, to = 3.2, per_decade = 2}
        place.of = "law"
        """
    found = sweeps(tmp_path, text)
    points = found.points("law")
    assert [point.place for point in points[:4]] == [
        {"snr_db": 1.0, "per": per, "of": "law"} for per in (0.1, 10**-0.5, 1.0, 10**0.5)
    ]
    assert [point.place["snr_db"] for point in points[::4]] == [1.0, 1.5, 2.0]
    assert points[-1].cell.axes == {"snr_db": 2.0, "per": 10**0.5}
    assert {point.cell.scenario for point in points} == {""}
    assert found.known_cells() == set()


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("reps = 3", "law: reps: unknown key of a paper's sweep. Remove it."),
        ("grid.x = {from = 2, to = 1, step = 0.5}", "law: grid.x = {from = 2, to = 1, step = 0.5}"),
        ("grid.x = {from = 0, to = 1, step = 0}", "law: grid.x = {from = 0, to = 1, step = 0}: no"),
        (
            "grid.x = {from = 0, to = 1, per_decade = 2}",
            "per_decade = 2}: no range. Use",
        ),
        (
            'grid.x = {from = "0", to = 1, step = 1}',
            '{from = "0", to = 1, step = 1}: no',
        ),
        ("grid.x = {from = 0, to = 1}", "law: grid.x = {from = 0, to = 1}: no range."),
        ("grid.x = {from = 0, to = 1, step = 1, n = 2}", "step = 1, n = 2}: no range."),
        ("grid.x = 3", "law: grid.x = 3: "),
        ("grid.x = []", "law: grid.x = []: no values."),
    ],
)
def test_wrong_entries_of_sweep_without_scenario_are_rejected(
    entry: str, expected: str, tmp_path: Path
) -> None:
    with pytest.raises(BadValueError) as raised:
        sweeps(tmp_path, f'[law]\nscenario = ""\n{entry}\n').points("law")
    message = str(raised.value)
    assert message.startswith(f"{tmp_path.name}/sweeps.toml: law: ")
    assert expected in message
    assert "\n" not in message


def test_numbers_of_criterion_are_used_as_values(tmp_path: Path) -> None:
    (tmp_path / "claims.toml").write_text(
        '[a]\nitems = []\ntext = ""\ncriterion = ""\nrates = [1, 2]\nlast_s = {own = 9.0}\n'
        'check.points = "claim"\ncheck.measures = {}\ncheck.holds = ["axis(\'rate\') > 0"]\n'
    )
    text = '[claim]\ngrid.rate = "$rates"\nduration_s = "$last_s.own"\n'
    found = sweeps(tmp_path, text)
    claims = Claims(tmp_path, found)
    points = claims.criterion("a").points
    assert [(point.place, point.cell.duration_s) for point in points] == [
        ({"rate": 1}, 9.0),
        ({"rate": 2}, 9.0),
    ]
    with pytest.raises(BadValueError, match=r'"\$rates": no number of the criterion'):
        found.points("claim")


def test_study_has_the_sweeps_and_functions_of_its_paper(tmp_path: Path) -> None:
    paper = sweeps(tmp_path, "[table]\nset.rate = 1\n")
    (tmp_path / "study").mkdir()
    study = sweeps(tmp_path / "study", "[more]\nset.rate = 2\n", parent=paper)
    assert study.names() == ["table", "more"]
    assert study.cells("table") == paper.cells("table")
    assert rate_of(study.scenario(study.cells("more")[0], MODE)) == "2 Mbit/s"


def test_study_rejects_the_name_of_a_sweep_of_its_paper(tmp_path: Path) -> None:
    paper = sweeps(tmp_path, "[table]\nset.rate = 1\n")
    (tmp_path / "study").mkdir()
    problem = r"study/sweeps\.toml: table: the paper has a sweep of this name\. Use another name\."
    with pytest.raises(BadValueError, match=problem):
        sweeps(tmp_path / "study", "[table]\nset.rate = 2\n", parent=paper)


def test_base_may_be_a_scenario_file(tmp_path: Path) -> None:
    (tmp_path / "path.toml").write_text(path(4).to_toml())
    text = '[a]\nscenario = "path.toml"\ngrid."flows.0.count" = [10, 20]\n'
    found = sweeps(tmp_path, text)
    scenarios = [found.scenario(cell, MODE) for cell in found.cells("a")]
    assert [each.flows[0].count for each in scenarios] == [10, 20]
    assert {rate_of(each) for each in scenarios} == {"4 Mbit/s"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("grid.speed = [1]", '"speed": no axis. Expected a key of the scenario, or one of: aqm'),
        ("seed = 3", "seed: unknown key of a paper's sweep. Remove it."),
        ("grid.rate = 3", "grid.rate = 3: not a list of values"),
        ("rates = [3]", "rates = [3]: unknown key"),
        ("reps = 0", "reps = 0: below 1. Use an integer from 1 to"),
        ("reps = {min = 4}", "reps = {min = 4}: not a share of the mode's"),
        ("reps = {one_in = 0}", "below 1. Use an integer"),
        ("duration_s = true", "duration_s = true: not a number from 0 on"),
        ('thin = "rate"', 'thin = "rate": not a list of names'),
        ("set = 3", "set = 3: not a table"),
        (
            "points = [{rate = 1}]\nchanges.far = {about = 'far', flows = 2}",
            "points: not accepted together with changes. Leave one of them out.",
        ),
        (
            'grid.rate = [1]\nthin = ["flows"]',
            'thin = "flows": no axis of grid. Expected one of: rate',
        ),
        ('zip.rate = [1, 2]\nthin = ["rate"]', 'thin = "rate": no axis of grid. It has none'),
        (
            "grid.rate = [1]\nzip.rate = [2]",
            '"rate" is in grid and in zip. Leave it in one of them.',
        ),
        ("changes = 3", "changes = 3: not a table"),
        ("changes.x = 3", "changes.x = 3: not a table. Use keys with values"),
        ('set.duration_s = "long"', 'duration_s = "long": not a number from 0 on. Use seconds'),
        ("warmup_s = nan", "warmup_s = nan: not a number from 0 on"),
        ("set.reps = -2", "reps = -2: below 1. Use an integer"),
        ('set.reps = "many"', 'reps = "many": not an integer. Use an integer'),
        ("changes.x = {about = 'x', reps = 0}", "reps = 0: below 1. Use an integer"),
        (
            "set.rate = 1\nduration_s = 5.0\nwarmup_s = 5.0",
            "duration_s = 5: not above the warm-up of 5 s. Use a longer",
        ),
        ('reps_as = ["wrong"]', 'reps_as = ["wrong"]: leads back to this sweep.'),
        ('reps_as = ["b"]\n[b]\nreps_as = ["wrong"]', 'reps_as = ["b"]: leads back to this sweep.'),
        ('scenario = "road"', 'scenario = "road": unknown value; expected one of: path, or a'),
    ],
)
def test_wrong_entry_is_reported(text: str, problem: str, tmp_path: Path) -> None:
    found = sweeps(tmp_path, f"[wrong]\n{text}\n")
    with pytest.raises(BadValueError, match=re.escape(problem)) as raised:
        found.points("wrong")
    assert str(raised.value).startswith(f"{tmp_path.name}/sweeps.toml: wrong")


def test_unknown_sweep_is_reported(tmp_path: Path) -> None:
    found = sweeps(tmp_path, "[one]\n[two]\n")
    for query in (found.points, found.changes):
        with pytest.raises(BadValueError, match=r'"three": no sweep\. Expected one of: one, two'):
            query("three")


@pytest.mark.parametrize("entry", ["3", "[1]", "[]"])
def test_sweep_that_is_no_table_is_reported(entry: str, tmp_path: Path) -> None:
    problem = re.escape(f"sweeps.toml: a = {entry}: not a table. Use a table [a], or several")
    with pytest.raises(BadValueError, match=problem):
        sweeps(tmp_path, f"a = {entry}\n")


def test_points_are_chosen_by_axes_that_the_sweep_has(tmp_path: Path) -> None:
    found = sweeps(tmp_path, "[a]\ngrid = {rate = [1], flows = [2]}\n[b]\nset.rate = 1\n")
    assert found.cells("a", rate=9) == []
    with pytest.raises(
        BadValueError,
        match=r'toml: a: "rat": no axis of this sweep\. Expected one of: rate, flows\.',
    ):
        found.cells("a", rat=1)
    with pytest.raises(
        BadValueError, match=r'toml: b: "rate": no axis of this sweep\. It has none\.'
    ):
        found.points("b", rate=1)


def test_change_is_described_in_words(tmp_path: Path) -> None:
    found = sweeps(tmp_path, "[a]\nset.rate = 1\nchanges.two = {flows = 2}\n")
    with pytest.raises(
        BadValueError, match=r"toml: a: changes\.two\.about: no text. Set the changes"
    ):
        found.changes("a")


def test_point_shorter_than_warm_up_is_reported(tmp_path: Path) -> None:
    found = sweeps(tmp_path, "[a]\nset.rate = 1\nduration_s = 1.0\n")
    [cell] = found.cells("a")
    with pytest.raises(
        BadValueError, match=r"path: rate=1, 1 s: duration_s = 1: not above the warm"
    ):
        found.effort_of(cell, MODE)


def test_point_is_named_by_differences_from_mode() -> None:
    assert SweepPoint("path", '{"rate": 1}').label == "path: rate=1"
    assert SweepPoint("path", "{}", 0, 20.0, 5.0).label == "path: 20 s, from 5 s"
    assert SweepPoint("path", "{}").label == "path"
