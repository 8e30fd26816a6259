"""Tables of error rates: lookup, rejected files, measurement."""

from __future__ import annotations

import json
import math
import re
import warnings
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import airpath as ap
import airpath.phy
from airpath.errors import BadValueError
from airpath.phy import IncompleteTableWarning, OutsideTableWarning, PerTable, components
from airpath.phy.measure import FILE_NAME
from airpath.phy.settings import MeasurementSettings
from airpath.phy.tables import parse
from random_examples import examples

MCS = {"name": "a", "bits_per_symbol": 2, "code_rate": 0.5, "block_bytes": 60, "rate_bps": 1e6}


def document(*points: tuple[float, int, int], **changes: Any) -> dict[str, Any]:
    counted = [{"snr_db": snr, "errors": e, "blocks": n} for snr, e, n in points]
    return {"channel": "awgn", "curves": [{"mcs": MCS, "points": counted}], **changes}


@pytest.fixture
def table(tmp_path: Path) -> PerTable:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(document((0, 90, 100), (2, 9, 1000), (4, 0, 1000))))
    return airpath.phy.load(file)


# --- lookup ------------------------------------------------------------------------------------


def test_rates_between_points_are_interpolated(table: PerTable) -> None:
    assert table.fer("a", 0.0) == 0.9
    assert table.fer(0, 2) == 0.009
    assert table.fer("a", 1.0) == pytest.approx(math.sqrt(0.9 * 0.009))
    assert table.fer("a", 4.0) == 0.0
    assert isinstance(table.fer("a", 1), float)


def test_rates_have_the_shape_of_the_arguments(table: PerTable) -> None:
    found = table.per("a", [[0.0, 2.0, 3.0], [4.0, 1.0, 0.5]], packet="150 B")
    assert isinstance(found, np.ndarray)
    assert found.shape == (2, 3)
    # 150 bytes are three blocks of 60 bytes.
    np.testing.assert_allclose(found[0, :2], [1 - 0.1**3, 1 - 0.991**3])
    assert found[1, 0] == 0.0


@pytest.mark.parametrize(("snr_db", "fer"), [(-3.0, 0.9), ([1.0, -0.1], [math.sqrt(0.0081), 0.9])])
def test_lookup_outside_the_range_warns(table: PerTable, snr_db: Any, fer: Any) -> None:
    with pytest.warns(OutsideTableWarning, match=r"a was measured from 0 to 4 dB; outside, the ne"):
        assert table.fer("a", snr_db) == pytest.approx(fer)
    with pytest.warns(OutsideTableWarning):
        table.per("a", 4.1)


def test_lookup_inside_the_range_does_not_warn(table: PerTable) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table.fer("a", np.linspace(0, 4, 41))


def test_curve_without_errors_at_its_end_covers_the_measured_range(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    file.write_text(json.dumps(document((0, 9, 10), (2, 0, 10), snr_range_db=[0, 30])))
    table = airpath.phy.load(file)
    assert table.fer("a", 30.0) == 0.0
    with pytest.warns(OutsideTableWarning, match="from 0 to 30 dB"):
        table.fer("a", 30.5)


def test_points_are_a_table_with_intervals(table: PerTable) -> None:
    points = table.points("60 B")
    assert list(points.columns) == [
        "mcs", "snr_db", "errors", "blocks", "fer", "fer_low", "fer_high", "per", "per_low",
        "per_high",
    ]  # fmt: skip
    assert points["fer"].tolist() == [0.9, 0.009, 0.0]
    # A packet of one block.
    np.testing.assert_allclose(points["per"], points["fer"])
    np.testing.assert_allclose(points["per_high"], points["fer_high"])
    # No errors in 1000 blocks: z^2 / (n + z^2).
    assert points["fer_high"].iloc[2] == pytest.approx(3.8414588 / 1003.8414588)
    assert points["fer_low"].iloc[2] == 0


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.99])
def test_wilson_intervals_solve_their_equation(table: PerTable, confidence: float) -> None:
    points = table.points(confidence=confidence)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    for end in (points["fer_low"], points["fer_high"]):
        reach = z * np.sqrt(end * (1 - end) / points["blocks"])
        np.testing.assert_allclose(abs(points["fer"] - end), reach, atol=1e-12)


def test_points_reject_invalid_confidence(table: PerTable) -> None:
    with pytest.raises(BadValueError, match=r"confidence = 95: not between 0 and 1\. Use a"):
        table.points(confidence=95)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda table: table.fer("b", 0), 'mcs = "b": not in mine.json. Expected one of: a.'),
        (lambda table: table.fer(1, 0), "mcs = 1: not in mine.json. Expected one of: a."),
        (
            lambda table: table.fer("a", [1, math.nan]),
            "snr_db = [1, nan]: not finite. Use numbers of dB.",
        ),
        (lambda table: table.fer("a", "x"), 'snr_db = "x": not finite. Use numbers of dB.'),
        (lambda table: table.per("a", 1, "1500"), 'packet = "1500": no unit. Use a number with '),
    ],
)
def test_invalid_arguments_are_rejected(table: PerTable, call: Any, message: str) -> None:
    table.name = "mine.json"
    with pytest.raises(ap.errors.BadValueError) as raised:
        call(table)
    assert str(raised.value).startswith(message)


def test_scheme_name_has_priority_over_label() -> None:
    points = [{"snr_db": 0, "errors": errors, "blocks": 10} for errors in (1, 2)]
    mcss = [MCS | {"label": "b"}, MCS | {"name": "b", "label": "c"}]
    curves = [{"mcs": mcs, "points": [point]} for mcs, point in zip(mcss, points, strict=True)]
    table = parse(json.dumps({"channel": "awgn", "curves": curves}), "two")
    assert [table.fer(name, 0) for name in ("a", "b", "c")] == [0.1, 0.2, 0.2]


def test_figure_shows_every_point(table: PerTable) -> None:
    figure = table.plot()
    fer, per = figure.axes
    assert per.get_title(loc="left") == "packets of 1500 bytes"
    markers = {line.get_marker(): list(line.get_xdata()) for line in fer.lines}
    assert (markers["o"], markers["v"]) == ([0.0, 2.0], [4.0]), "the last point has no error"
    assert fer.get_yscale() == "log"


# --- files -------------------------------------------------------------------------------------


def test_invalid_file_is_reported_with_its_field(tmp_path: Path) -> None:
    file = tmp_path / "bad.json"
    file.write_text(json.dumps(document((0, 90, 100), (2, 1001, 1000))))
    with pytest.raises(ap.errors.BadValueError) as raised:
        airpath.phy.load(file)
    assert str(raised.value) == (f"{file}: curves.0.points.1.errors = 1001: above the 1000 blocks.")


def test_missing_file_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(
        ap.errors.BadValueError, match=r'table = "none.json": cannot be read: no such file'
    ):
        airpath.phy.load("none.json")
    for name in ("none", "../tables/802.16-ctc-awgn"):
        with pytest.raises(
            ap.errors.BadValueError, match=r'table = "airpath:.*": not shipped. Expected one of:'
        ):
            airpath.phy.load(f"airpath:{name}")


def test_unfinished_table_warns(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    file.write_text(json.dumps(document((0, 90, 100), complete=False)))
    with pytest.warns(IncompleteTableWarning, match="points are missing"):
        airpath.phy.load(file)


def test_saved_table_is_equal(table: PerTable, tmp_path: Path) -> None:
    table.save(tmp_path / "again.json")
    assert airpath.phy.load(tmp_path / "again.json").document == table.document


ODD = [None, True, -1, 0, 1.5, 1e300, 10**30, "", "x", [], {}, [[1]], {"a": 1}]
PLACES: list[tuple[str | int, ...]] = [
    ("channel",), ("snr_range_db",), ("curves",), ("curves", 0), ("curves", 0, "mcs"),
    *(("curves", 0, "mcs", key) for key in MCS),
    ("curves", 0, "points"), ("curves", 0, "points", 1),
    *(("curves", 0, "points", 1, key) for key in ("snr_db", "errors", "blocks")),
    ("complete",), ("settings",), ("provenance",),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("odd", ODD, ids=repr)
@pytest.mark.parametrize("place", PLACES, ids=lambda place: ".".join(map(str, place)))
def test_table_with_an_unusual_value_is_rejected_or_works(place: tuple[Any, ...], odd: Any) -> None:
    changed = document((0, 90, 100), (2, 9, 1000), (4, 0, 1000))
    part: Any = changed
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = odd
    try:
        table = parse(json.dumps(changed), "odd.json")
    except ap.errors.BadValueError as refused:
        assert str(refused).startswith("odd.json: ")
        assert len(str(refused).splitlines()) == 1
        return
    assert 0 <= table.fer(0, 1.0) <= table.per(0, 1.0) <= 1
    assert len(table.points()) == 3
    assert table.plot().axes


@examples(300)
@example("0,0.001,1")  # read as a range with a step of 0.001: more values than are accepted
@given(
    st.text(max_size=20)
    | st.lists(st.sampled_from(["1", "-2.5", ":", ",", "e9", "nan", " ", "1e-9", "٣"])).map("".join)
)
def test_any_text_is_an_snr_list_or_is_rejected(text: str) -> None:
    try:
        chosen = settings(snr_db=text)
    except ap.errors.BadValueError as refused:
        assert len(str(refused).splitlines()) == 1
        return
    assert list(chosen.snr_db) == sorted(set(chosen.snr_db))
    written = re.search(r"--snr[ =](\S+)", chosen.command())
    assert written
    assert settings(snr_db=written[1]).snr_db == chosen.snr_db


# --- measurement -------------------------------------------------------------------------------

FEW: dict[str, Any] = {"errors": 50, "blocks": 8_000, "mcs": ["mcs0", 3]}


def test_number_of_threads_does_not_change_the_counts() -> None:
    one, three = (
        airpath.phy.measure("vehicular-a", [10, 20.5], threads=n, **FEW).document for n in (1, 3)
    )
    assert one == three


def test_mapping_is_part_of_the_channel() -> None:
    table = airpath.phy.measure("vehicular-a", 12, mapping="fusc", **FEW)
    assert table.channel == "vehicular-a/fusc"
    assert "--channel vehicular-a --mapping fusc " in table.document["provenance"]["command"]


def test_skipped_blocks_are_counted_as_correct() -> None:
    given: dict[str, Any] = {"mcs": 3, "errors": 10**6, "blocks": 100_000}
    full, skipping = (
        airpath.phy.measure("vehicular-a", 26, skip_rule=skip, **given) for skip in (False, True)
    )
    assert skipping.document["settings"]["skip_rule"] is True
    assert " --skip-rule " in skipping.document["provenance"]["command"]
    point = skipping.document["curves"][0]["points"][0]
    assert point["blocks"] == 100_000
    assert 0.5 < point["skipped"] / point["blocks"] < 1
    # Both counts are about 19 errors.
    counted = full.document["curves"][0]["points"][0]
    assert "skipped" not in counted
    assert abs(point["errors"] - counted["errors"]) < 5 * math.sqrt(2 * 19)


def test_demapper_changes_the_error_counts() -> None:
    rough, exact = (
        airpath.phy.measure("awgn", 11.5, mcs=4, errors=10**6, blocks=8192, demapper=name)
        for name in ("max-log", "linear-log")
    )
    assert "demapper" not in rough.document["settings"]
    assert exact.document["settings"]["demapper"] == "linear-log"
    assert " --demapper linear-log " in exact.document["provenance"]["command"]
    # The exact demapper is better by about 0.1 dB.
    assert exact.fer("mcs4", 11.5) < rough.fer("mcs4", 11.5)


def test_callback_that_raises_ends_the_measurement() -> None:
    class EnoughError(Exception):
        pass

    def raising(_fraction: float, _what: str) -> None:
        raise EnoughError

    with pytest.raises(EnoughError):
        airpath.phy.measure("awgn", 0, errors=10**9, blocks=10**12, progress=raising)


def test_progress_increases_and_has_the_estimate(tmp_path: Path) -> None:
    heard: list[tuple[float, str]] = []
    airpath.phy.measure(
        "awgn",
        [1, 2],
        mcs=0,
        errors=10**6,
        blocks=20_000,
        threads=1,
        progress=lambda fraction, what: heard.append((fraction, what)),
    )
    fractions = [fraction for fraction, _ in heard]
    assert fractions == sorted(fractions)
    assert 0 <= fractions[0] <= fractions[-1] <= 1
    assert any(re.match(r"mcs0, 1 dB: FER \d\.\de-\d\d \(", what) for _, what in heard)


def test_finished_points_are_kept(tmp_path: Path) -> None:
    made = airpath.phy.measure("awgn", "1,2", out=tmp_path, **FEW)
    assert made.kept == 0
    again = airpath.phy.measure("awgn", [2, 1], out=tmp_path / FILE_NAME, **FEW)
    assert (again.kept, again.document) == (4, made.document)
    with pytest.raises(
        ap.errors.BadValueError, match=r"other settings: snr_db \[1.0, 2.0\], not \[1.0\]"
    ):
        airpath.phy.measure("awgn", 1, out=tmp_path, **FEW)


def test_table_of_another_build_is_not_continued(tmp_path: Path) -> None:
    made = airpath.phy.measure("awgn", 1, out=tmp_path, **FEW)
    made.document["provenance"]["commit"] = "0123456789ab"  # type: ignore[index]
    made.save(tmp_path / FILE_NAME)
    with pytest.raises(ap.errors.BadValueError, match="other settings: commit 0123456789ab, not "):
        airpath.phy.measure("awgn", 1, out=tmp_path, **FEW)


@pytest.mark.parametrize(
    ("given", "chosen"),
    [
        ("all", [mcs["name"] for mcs in components().mcss]),
        ("0", ["mcs0"]),
        ("7, mcs2,64qam-2/3", ["mcs2", "mcs5", "mcs7"]),
        (3, ["mcs3"]),
        ([3, "mcs3", "16qam-3/4"], ["mcs3"]),
        (np.array([4, 1]), ["mcs1", "mcs4"]),
        ("MCS1", ["mcs1"]),
    ],
)
def test_schemes_are_selected_by_number_name_or_label(given: Any, chosen: list[str]) -> None:
    assert list(settings(mcs=given).mcs) == chosen


@pytest.mark.parametrize(
    ("given", "values", "written"),
    [
        ("14:40:2", [float(snr) for snr in range(14, 41, 2)], "--snr 14:40:2 "),
        ("0:1:0.1", [n / 10 for n in range(11)], "--snr 0:1:0.1 "),
        ("0:5:2", [0.0, 2.0, 4.0], "--snr 0:4:2 "),
        ("10,12.5", [10.0, 12.5], "--snr 10,12.5 "),
        ("-0.0", [0.0], "--snr 0 "),
        ("-4:-2:1", [-4.0, -3.0, -2.0], "--snr=-4:-2:1 "),
        ("3,1:2:1,3", [1.0, 2.0, 3.0], "--snr 1:3:1 "),
        (np.array([2, 1]), [1.0, 2.0], "--snr 1,2 "),
        (7, [7.0], "--snr 7 "),
        ("1e1:3e1:1e1", [10.0, 20.0, 30.0], "--snr 10:30:10 "),
        ("5:5:1", [5.0], "--snr 5 "),
    ],
)
def test_snr_list_is_parsed(given: Any, values: list[float], written: str) -> None:
    chosen = settings(snr_db=given)
    assert list(chosen.snr_db) == values
    assert math.copysign(1, chosen.snr_db[0]) == math.copysign(1, values[0])
    assert written in chosen.command()


def settings(**changes: Any) -> MeasurementSettings:
    given = {
        "channel": "awgn", "snr_db": 1, "mcs": 0, "mapping": "random", "errors": 1, "blocks": 1,
        "iterations": 1, "algorithm": "max-log", "demapper": "max-log", "skip_rule": False,
        "stop_at_zero_errors": False, "seed": 1,
    }  # fmt: skip
    return MeasurementSettings.checked(given | changes)


def test_python_call_names_its_own_arguments() -> None:
    with pytest.raises(ap.errors.BadValueError) as raised:
        airpath.phy.measure("awgn", [1, math.inf], blocks=0, stop_at_zero_errors=True)
    lines = str(raised.value).splitlines()
    assert lines[0].startswith("snr_db = [1, inf]: not finite.")
    assert lines[1] == (
        "blocks = 0: below 1. Use an integer from 1 to 1e+15, for example 10000000."
    )


def test_wrong_type_does_not_hide_a_range_error_of_another_argument() -> None:
    with pytest.raises(ap.errors.BadValueError) as raised:
        settings(channel="x", errors=0, iterations=1001, snr_db=101, skip_rule=True)
    assert [line.split(" = ")[0] for line in str(raised.value).splitlines()] == [
        "channel",
        "snr_db",
        "errors",
        "iterations",
    ]


def test_snr_list_has_at_most_a_thousand_values() -> None:
    assert len(settings(snr_db="0:99.9:0.1").snr_db) == 1000
    with pytest.raises(ap.errors.BadValueError) as raised:
        settings(snr_db="0:100:0.1")
    assert str(raised.value) == 'snr_db = "0:100:0.1": 1001 values. Use at most 1000.'


@pytest.mark.parametrize("threads", ["2", 1.5, True, 0, 10_001, 10**20])
def test_threads_that_are_no_integer_are_rejected(threads: Any) -> None:
    with pytest.raises(ap.errors.BadValueError) as raised:
        airpath.phy.measure("awgn", 1, mcs=0, blocks=1, threads=threads)
    assert re.fullmatch(
        r"threads = .+: (not an integer|below 1|above 10000)\. Use an integer from 1 .+",
        str(raised.value),
    )


@pytest.mark.parametrize("key", ["iterations", "errors", "blocks", "seed"])
def test_true_is_rejected_as_a_number(key: str) -> None:
    with pytest.raises(ap.errors.BadValueError, match=f"^{key} = true: not "):
        settings(**{key: True})


def test_skip_rule_requires_the_iterations_of_its_thresholds() -> None:
    given = {"channel": "vehicular-a", "skip_rule": True}
    for iterations in (10, 20):
        assert settings(**given, iterations=iterations).skip_rule
    for iterations in (1, 9):
        with pytest.raises(ap.errors.BadValueError) as raised:
            settings(**given, iterations=iterations)
        assert str(raised.value) == (
            "skip_rule = true: has no thresholds for fewer than 10 iterations. "
            "Remove it, or decode with 10 iterations or more."
        )


def test_counts_are_those_of_the_engine() -> None:
    """At 4 dB below the threshold of mcs0 almost every block fails; at 5 dB above it, no block of
    several thousand fails.
    """
    table = airpath.phy.measure("awgn", [-2, 7], mcs=0, errors=10**6, blocks=3000)
    low, high = table.document["curves"][0]["points"]
    assert low["errors"] > 2990
    assert low["iterations"] >= 10 * low["errors"]
    assert high == {"snr_db": 7.0, "errors": 0, "blocks": 3000, "iterations": 3000}
