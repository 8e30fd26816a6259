"""Reports in a real browser: no errors, complete pages, sortable tables, no overflow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

import airpath as ap
from airpath.report import (
    report_of_comparison,
    report_of_paper,
    report_of_result,
    report_of_sweep,
)
from airpath.sweeps.result import Sweep
from report_results import write_comparison, write_result
from report_samples import HOSTILE, row, write_paper
from report_sweeps import GRID, VARYING, write_sweep

if TYPE_CHECKING:
    from conftest import Browser

pytestmark = pytest.mark.browser

WIDTHS = (400, 800, 1280, 1600, 2560)

SORTED = """
const [table, column, keys] = arguments;
const head = document.querySelectorAll("table")[table].querySelectorAll("th[scope=col]")[column];
const button = head.querySelector("button");
if (keys) button.focus(); else button.click();
return head.getAttribute("aria-sort");
"""
COLUMN = """
const rows = [...document.querySelectorAll("table")[arguments[0]].tBodies[0].rows];
return rows.filter((row) => !row.hidden).map((row) => row.cells[arguments[1]].textContent);
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a paper's report with a figure, long names and a name that contains HTML."""
    directory = tmp_path_factory.mktemp("report")
    names = ["sbd", "red", HOSTILE, "codel with a name that is rather long for a column"]
    rows = [row({"aqm": name, "buffer": 5}, 300.0, 295.0 + 10 * k) for k, name in enumerate(names)]
    many = [row({"buffer": 7 * each % 30}, None, 100.0 + each) for each in range(30)]
    figures = ["small-fig2.png", "small-fig2.svg"]
    items = [
        {"item": "table1", "title": f"Goodput {HOSTILE}", "rows": rows, "figures": []},
        {"item": "fig2", "title": "Goodput over the buffer", "rows": many, "figures": figures},
        {"item": "fig3", "title": "The same again", "rows": [], "figures": figures},
    ]
    source = write_paper(directory, items=items)
    page = directory / "report.html"
    page.write_text(report_of_paper(json.loads(source.read_text()), directory=directory))
    return page


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a sweep's report with figures, a failure and a name that contains HTML."""
    directory = tmp_path_factory.mktemp("sweep")
    results = Sweep(write_sweep(directory, failed={4: HOSTILE}, missing=[7]))
    results.save(directory, figure_formats=None)
    page = directory / "report.html"
    page.write_text(report_of_sweep(results))
    return page


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a sweep's report with many rows and columns, long names and a figure."""
    directory = tmp_path_factory.mktemp("table")
    names = [f"traces:{name}-{'driving-through-a-town-' * 2}short.down" for name in ("A", "B")]
    grid = {**GRID, "bottleneck.link.file": names, "flows.0.count": range(3)}
    path = write_sweep(directory, reps=2, grid=grid, metrics=["goodput_bps", *VARYING])
    page = directory / "report.html"
    write_paper(directory)
    figures = {"pareto": (directory / "small-fig2.svg").read_bytes()}
    page.write_text(report_of_sweep(Sweep(path), figures=figures))
    return page


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of a run whose name contains HTML and no spaces."""
    directory = write_result(tmp_path_factory.mktemp("run"), name=HOSTILE + "x" * 90)
    page = directory / "report.html"
    page.write_text(report_of_result(ap.load_result(directory), directory=directory))
    return page


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of a comparison."""
    directory = write_comparison(tmp_path_factory.mktemp("comparison"))
    page = directory / "report.html"
    page.write_text(report_of_comparison(ap.load_comparison(directory), directory=directory))
    return page


@pytest.fixture(scope="module")
def filtered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a sweep's report with two names, one of which contains the other."""
    directory = tmp_path_factory.mktemp("filtered")
    aqms = [{"kind": kind} for kind in ("droptail", "codel", "fq-codel")]
    grid = {"bottleneck.aqm": aqms, "flows.0.cc": ["newreno", "dctcp"], "flows.0.count": range(4)}
    page = directory / "report.html"
    page.write_text(report_of_sweep(Sweep(write_sweep(directory, reps=2, grid=grid)), figures={}))
    return page


@pytest.mark.parametrize("name", ["report", "table", "run", "comparison"])
def test_report_opens_without_errors_or_overflow(
    browser: Browser, request: pytest.FixtureRequest, name: str
) -> None:
    browser.open(request.getfixturevalue(name))
    assert browser.console_messages() == []
    assert browser.run("return document.scripts.length") == 1
    for width in WIDTHS:
        browser.resize(width)
        assert browser.run("return window.innerWidth") == width
        assert browser.cut() == [], width


def test_figure_has_full_size_in_small_window(browser: Browser, report: Path) -> None:
    browser.open(report, 400)
    width = "return document.querySelector('figure svg').getBoundingClientRect().width"
    button = browser.driver.find_element("css selector", "button.size")
    assert browser.run(width) < 400
    button.click()
    assert browser.run(width) == 576
    assert browser.cut()[0].startswith("figure cut")
    button.click()
    assert browser.cut() == []


def test_report_fetches_nothing_and_runs_no_foreign_script(browser: Browser, report: Path) -> None:
    browser.open(report)
    assert browser.run("return performance.getEntriesByType('resource').map((e) => e.name)") == []
    assert browser.run("return document.scripts.length") == 1
    # A script that is inserted later does not match the digest in the policy.
    browser.run(
        "const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
        "document.body.append(s);"
        "fetch('https://elsewhere.example/').catch(() => { window.refused = 1; });"
    )
    assert browser.run("return window.ran") is None
    messages = " ".join(browser.console_messages())
    assert "script-src" in messages
    assert "default-src" in messages


def test_every_figure_is_plotted(browser: Browser, report: Path) -> None:
    browser.open(report)
    assert browser.run("return document.querySelectorAll('figure svg').length") == 2
    # Both figures use the same internal names; each must refer to its own elements.
    used = "[...document.querySelectorAll('use')].map((use) => use.getAttribute('href').slice(1))"
    assert browser.run(f"return {used}.every((name) => document.getElementById(name))")
    names = "[...document.querySelectorAll('[id]')].map((each) => each.id)"
    assert browser.run(f"const all = {names}; return all.length === new Set(all).size")


def test_every_link_is_valid(browser: Browser, report: Path) -> None:
    browser.open(report)
    links = browser.run(
        "return [...document.querySelectorAll('a')].map((a) => a.getAttribute('href'))"
    )
    assert len(links) > 10
    for link in links:
        if link.startswith("#"):
            assert browser.run("return document.getElementById(arguments[0]) !== null", link[1:])
        else:
            assert (report.parent / unquote(link)).is_file()


def test_tables_sort_by_click_and_by_key(browser: Browser, report: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.open(report)
    table, computed = 1, 3
    as_written = browser.run(COLUMN, table, computed)
    assert as_written == ["295.0 ± 1.0", "305.0 ± 1.0", "315.0 ± 1.0", "325.0 ± 1.0"]
    assert browser.run(SORTED, table, computed, False) == "ascending"
    assert browser.run(SORTED, table, computed, False) == "descending"
    assert browser.run(COLUMN, table, computed) == as_written[::-1]
    browser.run(SORTED, table, 0, True)
    browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
    names = browser.run(COLUMN, table, 0)
    assert names[1:] == ["codel with a name that is rather long for a column", "red", "sbd"]
    states = "[...document.querySelectorAll('table')[1].querySelectorAll('th[scope=col]')]"
    found = browser.run(f"return {states}.map((th) => th.getAttribute('aria-sort'))")
    assert found == ["ascending", "none", "none", "none", "none"]


def test_numbers_sort_as_numbers_and_rows_are_filtered(browser: Browser, report: Path) -> None:
    browser.open(report)
    browser.run("for (const each of document.querySelectorAll('details')) each.open = true;")
    table = 2
    browser.run(SORTED, table, 0, False)
    buffers = [int(text) for text in browser.run(COLUMN, table, 0)]
    assert buffers == sorted(buffers)
    assert len(buffers) == 30
    field = browser.driver.find_element("css selector", ".filter input")
    field.send_keys("129.0")
    assert len(browser.run(COLUMN, table, 0)) == 1
    assert browser.run("return document.querySelector('.filter output').value") == "1 of 30 rows"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("CoDel", {"codel"}),
        ("*codel", {"codel", "fq-codel"}),
        ("code", set()),
    ],
)
def test_filter_matches_complete_words(
    browser: Browser, filtered: Path, words: str, found: set[str]
) -> None:
    browser.open(filtered)
    browser.driver.find_element("css selector", ".filter input").send_keys(f"{words} dctcp")
    points = "const tables = [...document.querySelectorAll('table')];"
    points += "return tables.findIndex((each) => each.tBodies[0].rows.length === 24);"
    place = browser.run(points)
    assert set(browser.run(COLUMN, place, 1)) == found
    assert set(browser.run(COLUMN, place, 2)) == ({"dctcp"} if found else set())


def test_points_show_values_on_hover(browser: Browser, sweep: Path) -> None:
    browser.open(sweep)
    assert browser.console_messages() == []
    drawn = (
        "return [...document.querySelectorAll('figure')].map((figure) =>"
        " [...figure.querySelectorAll('.has-value')].map((mark) => {"
        "  const box = mark.getBoundingClientRect();"
        "  return [mark.querySelector('title').textContent, box.width * box.height]; }))"
    )
    figures = browser.run(drawn)
    assert len(figures) >= 3
    for marks in figures:
        assert marks
        assert all(text.startswith("point ") and area > 0 for text, area in marks)
    texts = [text for text, _area in figures[0]]
    assert len(texts) == len(set(texts)) == 12
    assert all(
        "goodput: " in text and "95th percentile of sojourn times: " in text for text in texts
    )
    # The element under the pointer at the centre of a mark is the mark.
    meets = (
        "const mark = document.querySelector('.has-value'); mark.scrollIntoView();"
        "const box = mark.getBoundingClientRect();"
        "const met = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);"
        "return met.closest('.has-value') !== null"
    )
    assert browser.run(meets)


def test_links_of_a_sweep_are_valid(browser: Browser, sweep: Path) -> None:
    browser.open(sweep)
    links = browser.run(
        "return [...document.querySelectorAll('a')].map((a) => a.getAttribute('href'))"
    )
    inside = {link[1:] for link in links if link.startswith("#")}
    assert {"summary", "figures", "failures", "points", "differences", "provenance"} <= inside
    assert all(browser.run("return document.getElementById(arguments[0])", name) for name in inside)
    files = {unquote(link) for link in links if not link.startswith("#")}
    assert {"points.csv", "runs.csv", "ledger.sqlite"} <= files
    assert all((sweep.parent / name).is_file() for name in files)


def test_text_is_legible_in_dark_scheme(browser: Browser, report: Path) -> None:
    dark = {"name": "prefers-color-scheme", "value": "dark"}
    try:
        browser.call("Emulation.setEmulatedMedia", features=[dark])
        browser.open(report)
        ground, ink = browser.run(
            "const of = getComputedStyle(document.body); return [of.backgroundColor, of.color]"
        )
        figure = browser.run(
            "return getComputedStyle(document.querySelector('.drawn')).backgroundColor"
        )
    finally:
        browser.call("Emulation.setEmulatedMedia", features=[])
    assert (ground, ink, figure) == ("rgb(20, 25, 29)", "rgb(230, 234, 237)", "rgb(255, 255, 255)")
