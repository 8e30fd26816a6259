"""Differences between two values of an axis: paired, or by Welch's test where seeds differ."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import airpath as ap
from airpath.report.differences import differences_along
from airpath.results import mean_interval
from airpath.sweeps.differences import differences
from airpath.sweeps.plan import Rule
from airpath.sweeps.readings import PointData, Readings
from sweep_ledgers import GRID, plan_of, sweep_of

RATE = ["goodput_bps"]


def noise(seed: int, number: int) -> float:
    return float(np.random.default_rng([seed, number]).normal())


def measured(values: Mapping[str, Any], number: int) -> dict[str, float | None]:
    """Return a mean of 100 or 90 plus noise: 5 common to all points, 1 separate for each point."""
    own = sum(map(ord, str(values))) % 1000
    mean = 90.0 if values["cc"] == "cubic" else 100.0
    return {"goodput_bps": mean + 5 * noise(1, number) + noise(own, number)}


def test_common_random_numbers_are_compared_replication_by_replication(tmp_path: Path) -> None:
    sweep = sweep_of(tmp_path, plan_of(GRID, RATE, rule=Rule(30, 30)), measured)
    table = sweep.differences("cc", "goodput_bps", "newreno")
    assert table[["value", "base", "limit", "point", "base_point"]].to_numpy().tolist() == [
        ["cubic", "newreno", "100 packets", 2, 0],
        ["cubic", "newreno", "50 packets", 3, 1],
    ]
    runs = sweep.runs()
    x, y = (runs[runs["point"] == n]["goodput_bps"].to_numpy() for n in (0, 2))
    expected = mean_interval(list(y - x), 0.99)
    row = table.iloc[0]
    assert (row["mean"], row["low"], row["high"]) == (expected.mean, expected.low, expected.high)
    assert (row["pairs"], row["method"]) == (30, "paired")
    assert row["base_mean"] == pytest.approx(x.mean(), rel=1e-14)
    assert row["significant"]
    # The variance of the difference is 2; without pairing it would be 26 + 26.
    ratio = np.var(y - x, ddof=1) / (np.var(x, ddof=1) + np.var(y, ddof=1))
    assert row["variance_ratio"] == pytest.approx(ratio, rel=1e-12)
    assert row["variance_ratio"] < 0.3


def test_relative_difference_is_the_ratio_by_the_delta_method(tmp_path: Path) -> None:
    sweep = sweep_of(tmp_path, plan_of(GRID, RATE, rule=Rule(6, 6)), measured)
    row = sweep.differences("cc", "goodput_bps", "newreno").iloc[1]
    runs = sweep.runs()
    x, y = (runs[runs["point"] == n]["goodput_bps"].to_numpy() for n in (1, 3))
    ratio = y.mean() / x.mean()
    error = np.std(y - ratio * x, ddof=1) / x.mean() / math.sqrt(6)
    from scipy import stats as scipy_stats

    half = scipy_stats.t.ppf(0.995, 5) * error
    found = [row[name] for name in ("relative", "relative_low", "relative_high")]
    assert found == pytest.approx([ratio - 1, ratio - 1 - half, ratio - 1 + half], rel=1e-9)


@pytest.mark.parametrize(
    ("counts", "how"),
    [
        *((counts, {"common": False}) for counts in [(3, 3), (5, 9), (30, 4)]),
        ((3, 3), {"engines": ("emulate",)}),
    ],
)
def test_points_with_separate_seeds_and_emulated_ones_are_compared_by_welch(
    counts: tuple[int, int], how: dict[str, Any]
) -> None:
    plan = plan_of({"cc": ["newreno", "cubic"]}, RATE, confidence=0.95, **how)
    columns = [
        [10.0 + (n + 1) * noise(n, number) for number in range(count)]
        for n, count in enumerate(counts)
    ]
    points = [
        PointData(point, [{"goodput_bps": value} for value in column], complete=True)
        for point, column in zip(plan.points, columns, strict=True)
    ]
    [of_point] = differences(Readings(plan, points), "cc", "goodput_bps", "newreno")
    found = of_point.difference
    x, y = map(np.array, columns)
    errors = [np.var(each, ddof=1) / len(each) for each in (x, y)]
    df = sum(errors) ** 2 / sum(error**2 / (n - 1) for error, n in zip(errors, counts, strict=True))
    from scipy import stats as scipy_stats

    half = scipy_stats.t.ppf(0.975, math.floor(df)) * math.sqrt(sum(errors))
    mean = y.mean() - x.mean()
    assert found.method == "Welch"
    assert found.absolute.reps == 0
    assert math.isnan(found.variance_ratio)
    assert (found.absolute.low, found.absolute.high) == pytest.approx(
        (mean - half, mean + half), rel=1e-9
    )
    assert found.relative.mean == pytest.approx(y.mean() / x.mean() - 1)
    assert found.relative.low < found.relative.mean < found.relative.high


def test_sequential_stopping_compares_the_common_prefix(tmp_path: Path) -> None:
    def values_of_different_spread(
        values: Mapping[str, Any], number: int
    ) -> dict[str, float | None]:
        spread = 20.0 if values["cc"] == "cubic" else 0.1
        return {"goodput_bps": 100.0 + spread * noise(2, number)}

    rule = Rule(3, 12, "goodput_bps", relative=0.02)
    sweep = sweep_of(
        tmp_path, plan_of({"cc": GRID["cc"]}, RATE, rule=rule), values_of_different_spread
    )
    assert sweep.wide()["reps"].tolist() == [3, 12]
    row = sweep.differences("cc", "goodput_bps", "newreno").iloc[0]
    runs = sweep.runs()
    assert row["pairs"] == 3
    x, y = (runs[runs["point"] == n]["goodput_bps"].to_numpy()[:3] for n in (0, 1))
    assert row["mean"] == pytest.approx((y - x).mean(), rel=1e-12)
    assert not row["significant"]


def test_pairs_without_a_value_are_left_out(tmp_path: Path) -> None:
    def values_with_gaps(values: Mapping[str, Any], number: int) -> dict[str, float | None]:
        found = measured(values, number)
        is_gap = number == (1 if values["cc"] == "cubic" else 2)
        return {"goodput_bps": None} if is_gap else found

    sweep = sweep_of(tmp_path, plan_of(GRID, RATE, rule=Rule(5, 5)), values_with_gaps)
    assert sweep.differences("cc", "goodput_bps", "newreno")["pairs"].tolist() == [3, 3]


def test_one_replication_has_no_interval_and_equal_ones_an_interval_of_zero_width(
    tmp_path: Path,
) -> None:
    one = sweep_of(tmp_path, plan_of(GRID, RATE, rule=Rule(1, 1)), measured)
    row = one.differences("cc", "goodput_bps", "newreno").iloc[0]
    assert math.isnan(row["low"])
    assert not row["significant"]
    same = tmp_path / "same"
    same.mkdir()

    def fixed(values: Mapping[str, Any], _: int) -> dict[str, float | None]:
        return {"goodput_bps": 0.0 if values["cc"] == "newreno" else 2.0}

    row = sweep_of(same, plan_of(GRID, RATE), fixed).differences("cc", *RATE, "newreno").iloc[0]
    assert (row["low"], row["high"], row["significant"]) == (2.0, 2.0, False)
    assert row["untested"] == "the differences do not vary"
    # Zero relative to zero is undefined.
    assert math.isnan(row["relative"])


@pytest.mark.parametrize("common", [True, False])
def test_constant_quantiles_differ_within_their_resolution(tmp_path: Path, common: bool) -> None:
    def on_a_lattice(values: Mapping[str, Any], _: int) -> dict[str, float | None]:
        return {"p95_sojourn_s": 0.0192 if values["cc"] == "newreno" else 0.0216}

    plan = plan_of({"cc": ["newreno", "cubic"]}, ["p95_sojourn_s"], common=common)
    sweep = sweep_of(tmp_path, plan, on_a_lattice)
    row = sweep.differences("cc", "p95_sojourn_s", "newreno").iloc[0]
    half = (0.0192 + 0.0216) / 128
    assert (row["low"], row["high"]) == pytest.approx((0.0024 - half, 0.0024 + half))
    half = 2 / 128 * 0.0216 / 0.0192
    ends = row["relative_low"], row["relative_high"]
    assert ends == pytest.approx((0.125 - half, 0.125 + half))
    assert not row["significant"]
    assert "resolution" in row["untested"]
    point = sweep.points().iloc[0]
    assert (point["low"], point["high"]) == pytest.approx((0.0192 * 127 / 128, 0.0192 * 129 / 128))


def test_quantiles_that_vary_are_tested_with_their_resolution(tmp_path: Path) -> None:
    def measured_s(values: Mapping[str, Any], number: int) -> dict[str, float | None]:
        mean = {"newreno": 0.02, "cubic": 0.0202, "vegas": 0.03}[values["cc"]]
        return {"p95_sojourn_s": mean * (1 + 1e-4 * noise(ord(values["cc"][0]), number))}

    plan = plan_of({"cc": ["newreno", "cubic", "vegas"]}, ["p95_sojourn_s"], rule=Rule(8, 8))
    table = sweep_of(tmp_path, plan, measured_s).differences("cc", "p95_sojourn_s", "newreno")
    # A difference of 1 % is within two half buckets; a difference of 50 % is not.
    assert table["significant"].tolist() == [False, True]
    assert table["untested"].tolist() == ["", ""]


def test_relative_difference_is_missing_if_a_mean_is_within_its_error_of_zero(
    tmp_path: Path,
) -> None:
    def losses(values: Mapping[str, Any], number: int) -> dict[str, float | None]:
        return {"drop_share": float(number == 3) if values["cc"] == "newreno" else 0.0}

    sweep = sweep_of(tmp_path, plan_of(GRID, ["drop_share"], rule=Rule(8, 8)), losses)
    row = sweep.differences("cc", "drop_share", "newreno").iloc[0]
    assert row["mean"] == -1 / 8
    assert math.isnan(row["relative"])


def test_base_is_a_label_or_a_written_value(tmp_path: Path) -> None:
    parts = [{"kind": "droptail"}, {"kind": "codel", "target": "5 ms"}]
    plan = plan_of({"aqm": parts, "cc": ["newreno"]}, RATE)
    sweep = sweep_of(tmp_path, plan, measured)
    by_label = sweep.differences("aqm", "goodput_bps", "codel")
    by_value = sweep.differences("aqm", "goodput_bps", {"target": "5 ms", "kind": "codel"})
    assert by_label.equals(by_value)
    assert by_label["value"].tolist() == ["droptail"]


@pytest.mark.parametrize(
    ("axis", "metric", "base", "line"),
    [
        (
            "c",
            "goodput_bps",
            "cubic",
            'axis = "c": not an axis of the sweep. The nearest is cc; expected one of: cc, limit.',
        ),
        (
            "cc",
            "goodput",
            "cubic",
            'metric = "goodput": not a metric of the sweep. The nearest is goodput_bps; '
            "expected one of: goodput_bps.",
        ),
        (
            "cc",
            "goodput_bps",
            "vegas",
            'base = "vegas": not a value of the axis cc. Expected one of: "newreno", "cubic".',
        ),
        (
            7,
            "goodput_bps",
            "vegas",
            "axis = 7: not an axis of the sweep. Expected one of: cc, limit.",
        ),
    ],
)
def test_names_missing_in_the_sweep_are_reported(
    tmp_path: Path, axis: Any, metric: str, base: str, line: str
) -> None:
    sweep = sweep_of(tmp_path, plan_of(GRID, RATE), measured)
    with pytest.raises(ap.errors.BadValueError) as caught:
        sweep.differences(axis, metric, base)
    assert str(caught.value) == line


def test_points_that_differ_in_several_axes_are_not_compared(tmp_path: Path) -> None:
    plan = plan_of([{"cc": "cubic", "n": 1}, {"cc": "newreno", "n": 2}], RATE)
    sweep = sweep_of(tmp_path, plan, measured)
    with pytest.raises(
        ap.errors.BadValueError, match=r"^axis = \"cc\": no two points differ in it alone"
    ):
        sweep.differences("cc", "goodput_bps", "cubic")
    model = plan_of(GRID, RATE, engines=("solve",))
    other = tmp_path / "model"
    other.mkdir()
    solved = sweep_of(other, model, measured, replications=0, solved=lambda _: {"goodput_bps": 1.0})
    assert solved.complete
    with pytest.raises(ap.errors.BadValueError, match="nothing is simulated in this sweep"):
        solved.differences("cc", "goodput_bps", "cubic")


def test_report_and_figure_mark_untested_differences(tmp_path: Path) -> None:
    def constant(values: Mapping[str, Any], number: int) -> dict[str, float | None]:
        late = 0.0192 if values["cc"] == "newreno" else 0.0216
        return {**measured(values, number), "p95_sojourn_s": late}

    plan = plan_of(GRID, [*RATE, "p95_sojourn_s"], rule=Rule(8, 8))
    sweep = sweep_of(tmp_path, plan, constant)
    of_cc = next(iter(next(differences_along(sweep.readings, plan.metrics)).parts))
    counts, table = of_cc.blocks
    assert [[cell.text for cell in row] for row in counts.rows] == [
        ["cubic", "higher at 0, lower at 2 of 2", "higher at 0, lower at 0 of 2"]
    ]
    assert [row[-1].tone for row in table.rows] == ["quiet", "quiet"]
    (note,) = (note for note in table.notes if "not tested" in note)
    assert note.startswith("2 of 4 differences are not tested, and grey: the differences do not")
    figure = sweep.plot.forest("p95_sojourn_s", "cc", "newreno")
    faces = [line.get_markerfacecolor() for axes in figure.axes for line in axes.lines]
    assert faces.count("white") == 2
    texts = [" ".join(text.get_text().split()) for text in figure.texts]
    assert any("2 hollow: not tested" in text for text in texts)
