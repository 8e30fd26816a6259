"""The report of a sweep: points, differences, failures, values on hover, equal bytes."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from airpath.cli import main
from airpath.execution import Machine
from airpath.report import report_of_sweep
from airpath.results.differences import Difference
from airpath.results.estimates import change, estimate
from airpath.results.intervals import Interval, mean_interval
from airpath.results.intervals import text as run_text
from airpath.results.quantities import resolution
from airpath.sweeps.ledger import Ledger
from airpath.sweeps.ledger.sessions import Session
from airpath.sweeps.plan import Rule
from airpath.sweeps.result import Sweep
from report_samples import HOSTILE
from report_sweeps import write_sweep

NO_FIGURES: dict[str, bytes] = {}


def text_of(path: Path, **options: object) -> str:
    """Return a report without figures, which take time."""
    settings: dict[str, object] = {"figures": NO_FIGURES, **options}
    return report_of_sweep(Sweep(path), **settings)  # type: ignore[arg-type]


def table_after(page: str, heading: str) -> list[list[str]]:
    """Return the cells of the first table after a heading."""
    body = page[page.index(heading) :].partition("<tbody>")[2].partition("</tbody>")[0]
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in body.splitlines() if row]


def first_lines(page: str) -> str:
    return page[page.index("<h1>") : page.index("<h2>")]


# --- contents ----------------------------------------------------------------------------------


def test_points_are_listed_with_means_and_intervals(tmp_path: Path) -> None:
    sweep = Sweep(write_sweep(tmp_path))
    page = report_of_sweep(sweep, figures=NO_FIGURES)
    rows = table_after(page, "Means over the replications")
    assert len(rows) == 12
    assert rows[3][:5] == ["3", "droptail", "cubic", "5 Mbit/s", "4"]
    found = sweep.readings.interval(3, "goodput_bps")
    half = (found.high - found.low) / 2
    assert rows[3][5] == f"{found.mean / 1e6:.3f} ± {half / 1e6:.3f}"
    assert "goodput, Mbit/s" in page


def test_request_is_first_if_nothing_failed(tmp_path: Path) -> None:
    page = text_of(write_sweep(tmp_path))
    first = first_lines(page)
    assert "12 points: queue discipline (3) × congestion control (2) × link rate (2)" in first
    assert "<dt>queue discipline</dt>" in text_of(tmp_path / "ledger.sqlite")
    assert "12 points, 48 replications, all replications are stored." in first
    assert 'class="verdict good"' in first
    assert "What failed" not in page


def test_emulated_points_are_not_called_paired(tmp_path: Path) -> None:
    path = write_sweep(tmp_path, engines=["emulate"], metrics=["mean_sojourn_s"])
    page = report_of_sweep(Sweep(path))
    assert "the kernel&#39;s runs are independent" in page
    assert "of independent replications (Welch)" in page
    # Marks of emulated points also have values on hover.
    lines = page[page.index('id="figure-lines-mean-sojourn-s-') :]
    assert "<title>point 0\n" in lines[: lines.index("</svg>")]
    assert "paired" not in page
    assert "within pairs" not in page


def test_failures_and_missing_points_are_listed_first(tmp_path: Path) -> None:
    why = {4: "no link", 7: "no link", 9: "other"}
    page = text_of(write_sweep(tmp_path, missing=[1], failed=why))
    first = first_lines(page)
    assert 'class="verdict bad"' in first
    assert "! Unfinished: points 1, 4, 7, 9." in first
    assert first.index("! Failed: no link (points 4, 7)") < first.index("! Failed: other (point 9)")
    rows = table_after(page, "What failed")
    assert [row[-2:] for row in rows] == [["3", "no link"], ["3", "no link"], ["3", "other"]]
    assert table_after(page, "Means over")[1][4] == "! 3"


def test_interval_that_stayed_too_wide_is_named(tmp_path: Path) -> None:
    rule = Rule(2, 4, "goodput_bps", relative=1e-9)
    first = first_lines(text_of(write_sweep(tmp_path, rule=rule)))
    assert "! 4 replications were not enough for the target interval of goodput:" in first
    (tmp_path / "other").mkdir()
    rule = Rule(2, 4, "goodput_bps", relative=0.9)
    assert "not enough" not in text_of(write_sweep(tmp_path / "other", rule=rule))


def test_differences_are_those_of_the_sweep(tmp_path: Path) -> None:
    sweep = Sweep(write_sweep(tmp_path))
    page = report_of_sweep(sweep, figures=NO_FIGURES)
    counts = table_after(page, "congestion control, less newreno</h3>")
    assert counts[0][:2] == ["cubic", "higher at 6, lower at 0 of 6"]
    rows = table_after(page, "6 differences, point by point</p>")
    found = sweep.differences("flows.0.cc", "goodput_bps", base="newreno").iloc[0]
    half = 50 * (found["relative_high"] - found["relative_low"])
    assert rows[0][3] == "2 − 0"
    assert rows[0][4] == f"+{100 * found['relative']:.2f} ± {half:.2f} %"


def test_values_that_differ_from_the_base_are_highlighted(tmp_path: Path) -> None:
    page = text_of(write_sweep(tmp_path))
    rows = table_after(page, "What 12 points change")
    assert rows[0][:4] == ["base", "{kind = &#34;droptail&#34;}", "&#34;newreno&#34;", "not set"]
    lines = page[page.index("What 12 points change") :].splitlines()
    first, last = (next(line for line in lines if f'">{name}</td>' in line) for name in ("0", "11"))
    assert first.count('class="quiet"') == 3  # queue, congestion control, digest
    assert last.count('class="quiet"') == 1
    assert "[bottleneck]" in page


def test_constant_metric_is_stated_once_in_words(tmp_path: Path) -> None:
    page = text_of(write_sweep(tmp_path, metrics=["goodput_bps", "utilisation"]))
    assert "<dt>the same everywhere</dt><dd>utilisation 1; no column</dd>" in page
    assert len(table_after(page, "Means over")[0]) == 6
    assert "± 0<" not in page
    assert page.count("utilisation") == 2  # this line and the list of metrics


def test_model_has_separate_lines(tmp_path: Path) -> None:
    page = text_of(write_sweep(tmp_path, engines=["simulate", "solve"]))
    rows = table_after(page, "Means over the replications")
    assert [row[4] for row in rows[:2]] == ["simulate", "solve"]
    assert rows[1][5:] == ["", "", ""]


def test_figures_have_values_on_hover(tmp_path: Path) -> None:
    path = write_sweep(tmp_path, metrics=["goodput_bps"])
    page = report_of_sweep(Sweep(path))
    assert page.count("<figure>") == page.count("</svg>") >= 2
    titles = re.findall(r"<title>(point \d+\n.*?)</title>", page, re.DOTALL)
    assert len(titles) >= 12
    cell = estimate(Sweep(path).readings.interval(3, "goodput_bps"), 1e-6)
    title = (
        "point 3\nqueue discipline: droptail\ncongestion control: cubic\nlink rate: 5 Mbit/s\n"
        f"goodput: {cell.text} Mbit/s"
    )
    assert title in titles
    names = re.findall(r' id="([^"]+)"', page)
    assert len(names) == len(set(names))


def test_run_time_and_machines_are_those_of_all_sessions(tmp_path: Path) -> None:
    path = write_sweep(tmp_path)
    assert "<dt>run time</dt><dd>not recorded</dd>" in text_of(path)
    machines = [Machine(f"processor {of}", of, "Linux 6.1 (x86_64)") for of in (1, 8)]
    with Ledger.open(path) as ledger:
        for n in (0, 1):
            session = Session(ledger.own, f"airpath sweep {n}.toml", 24, 61.5 + n, machines[n:])
            ledger.add_session(session)
    page = text_of(path)
    time = "2 min 4 s for 48 replications, 4.8 s of processor time"
    assert f"<dt>run time</dt><dd>{time}</dd>" in page
    first, second = ("processor 1, 1 core, Linux", "processor 8, 8 cores, Linux")
    assert f"<dt>machines</dt><dd>{first} 6.1 (x86_64); {second} 6.1 (x86_64)</dd>" in page
    assert "<dt>command</dt><dd>airpath sweep 0.toml; airpath sweep 1.toml</dd>" in page


# --- size, bytes, safety -----------------------------------------------------------------------


def test_equal_ledgers_give_equal_bytes(tmp_path: Path) -> None:
    directories = [tmp_path / name for name in ("a", "b")]
    pages = []
    for directory in directories:
        directory.mkdir()
        pages.append(report_of_sweep(Sweep(write_sweep(directory, metrics=["goodput_bps"]))))
    assert pages[0] == pages[1]
    assert str(tmp_path) not in pages[0]


def test_many_points_are_cut_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("blocks", "differences", "sweep"):
        monkeypatch.setattr(f"airpath.report.{module}.MOST_ROWS", 5)
    page = text_of(write_sweep(tmp_path))
    assert "The first 5 of 12 rows; all of them are in points.csv." in page
    assert len(table_after(page, "Means over")) == 5
    assert "Of 12 points the first 5 are compared; runs.csv has all of them." in page
    assert "The first 5 of 13 rows; all of them are in ledger.sqlite." in page


def test_omitted_points_and_missing_values_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("airpath.report.sweep._MOST_DRAWN", 11)
    path = write_sweep(tmp_path, metrics=["goodput_bps", "my_metric"])
    page = report_of_sweep(Sweep(path))
    assert "Not drawn: 12 points are more than the 11 that can be distinguished." in page
    assert "<figure>" not in page
    assert "Without a value: my_metric; nothing measured it, or it is a function" in page


def test_foreign_names_are_escaped(tmp_path: Path) -> None:
    grid = {"flows.0.cc": ["newreno", HOSTILE]}
    path = write_sweep(tmp_path, name=HOSTILE, grid=grid, failed={1: HOSTILE}, base=HOSTILE)
    page = report_of_sweep(Sweep(path))
    assert page.count("<script>") == 1
    assert "<img" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in first_lines(page)


# --- numbers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mean", "half", "text"),
    [
        (4.0123, 0.0701, "4.012 ± 0.070"),
        (151.13, 2.51, "151.1 ± 2.5"),
        (1234.5, 321.0, "1234 ± 321"),
        (0.5, 0.0, "0.5 ± 0"),
        (1e-12, 2e-13, "1e-12 ± 2e-13"),
        (-3.0, float("nan"), "-3"),
        (float("nan"), float("nan"), ""),
    ],
)
def test_estimate_has_the_digits_of_its_interval(mean: float, half: float, text: str) -> None:
    cell = estimate(Interval(mean, mean - half, mean + half, 0.99, 4))
    assert cell.text == text
    assert cell.value == (mean if text else None)


def test_interval_that_ends_at_the_minimum_is_written_with_both_ends() -> None:
    cell = estimate(Interval(0.0784, 0.0, 0.1979, 0.99, 3), 1e3)
    assert cell.text == "78 (0 … 198)"
    # A difference in the last bit does not change the form.
    assert estimate(Interval(0.3, 0.1 + 0.2, 0.1 + 0.2, 0.99, 3)).text == "0.3 ± 0"


def test_interval_without_width_shows_four_digits() -> None:
    assert estimate(Interval(4.51004, 4.51004, 4.51004, 0.99, 5)).text == "4.51 ± 0"
    # The mean of equal numbers may have a rounding error.
    equal = mean_interval([238.0271828] * 7, 0.99)
    assert estimate(equal).text == "238 ± 0"
    assert run_text(equal, 1, 3, "ms") == "238.0 ± 0.0 ms"
    assert run_text(mean_interval([14_820.0] * 3, 0.99), 1, 1) == "14820 ± 0"
    quantile = mean_interval([0.0192675] * 4, 0.99, resolution=resolution("p95_sojourn_s"))
    assert estimate(quantile, 1e3).text == "19.27 ± 0.15"


def test_zero_change_has_the_unit_of_the_metric() -> None:
    nan = float("nan")
    absolute = Interval(2.0, 1.0, 3.0, 0.99, 4)
    relative = Interval(nan, nan, nan, 0.99, 4)
    assert change(Difference(0.0, absolute, relative, "paired")).text == "+2.0 ± 1.0"
    no_change = Interval(2.0, -1.0, 5.0, 0.99, 4)
    relative = Interval(0.05, 0.03, 0.07, 0.99, 4)
    cell = change(Difference(40.0, no_change, relative, "paired"))
    assert (cell.text, cell.tone, cell.hint) == ("+5.0 ± 2.0 %", "quiet", "-1 to 5")


# --- the command -------------------------------------------------------------------------------


def test_command_accepts_a_directory_or_a_ledger(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_sweep(tmp_path, metrics=["goodput_bps"], engines=["solve"])
    out = tmp_path / "report.html"
    assert main(["report", str(tmp_path), "-o", str(out)]) == 0
    first = out.read_text()
    assert 'href="ledger.sqlite"' in first
    assert "differences are paired" not in first  # Nothing is random.
    shutil.copy(path, tmp_path / "copy.db")
    assert main(["report", str(tmp_path / "copy.db"), "-o", str(out)]) == 0
    assert out.read_text() == first


def test_damaged_ledger_is_rejected_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_sweep(tmp_path)
    path.write_bytes(path.read_bytes()[:6000])
    out = tmp_path / "report.html"
    assert main(["report", str(path), "-o", str(out)]) == 2
    assert capsys.readouterr().err.startswith(f"{path}: ")
    assert not out.exists()
