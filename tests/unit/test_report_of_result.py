"""Reports of a run and of a comparison; accepted arguments of `airpath report`."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import airpath as ap
from airpath.cli import main
from airpath.execution import this_machine
from airpath.report import report_of_comparison, report_of_result
from airpath.results.intervals import text
from report_results import write_comparison, write_result


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_result(tmp_path_factory.mktemp("result"))


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_comparison(tmp_path_factory.mktemp("comparison"))


def cells(page: str) -> list[str]:
    return re.findall(r"<td[^>]*>(.*?)</td>", page)


def test_report_of_a_run_has_tables_advisories_figures_and_provenance(result: Path) -> None:
    loaded = ap.load_result(result)
    page = report_of_result(loaded, directory=result)
    goodput = loaded.intervals("flows")[0]["goodput_bps"]
    assert text(goodput, 1e-6, 3, "Mbit/s") in cells(page)
    assert f'data-value="{round(goodput.mean / 1e6, 3)}"' in page
    first = page[page.index("<h1>") : page.index("<h2>")]
    assert "2 replications simulated, complete." in first
    assert "Advisories: few-replications." in first
    assert "The intervals come from 2 replications" in page[page.index('id="advisories"') :]
    assert page.count("<figure>") == page.count("</svg>") == 1
    assert f"<dt>commit</dt><dd>{loaded.provenance['commit']}</dd>" in page
    assert "<dt>queue discipline</dt><dd>gred</dd>" in page
    assert 'href="result.json"' in page
    assert f"<dt>machine</dt><dd>{this_machine()}</dd>" in page
    assert re.search(r"<dt>run time</dt><dd>[^<]+ s, [^<]+ s of processor time</dd>", page)
    assert "[bottleneck.link]" in page


def test_report_has_all_default_figures_with_their_titles(tmp_path: Path) -> None:
    record = {"series": ["queue"], "distributions": ["sojourn", "ack_delay"]}
    directory = write_result(tmp_path, record=record)
    loaded = ap.load_result(directory)
    page = report_of_result(loaded, directory=directory)
    titles = re.findall(r"<figcaption>([^<]*)", page)
    assert len(titles) == len(set(titles)) == len(loaded.plot.defaults()) == 4
    assert {"Queue length at the bottleneck", "One replication over time"} < {*titles}


def test_report_of_an_invalid_or_incomplete_run_states_it_first(result: Path) -> None:
    loaded = ap.load_result(result)
    loaded.interrupted = True
    loaded.validity_reports = [{"valid": False, "reasons": ["too late."]}]
    first = report_of_result(loaded)
    first = first[first.index("<h1>") : first.index("<h2>")]
    assert 'class="verdict bad"' in first
    assert "! INVALID: too late." in first
    assert "! Incomplete: 2 of 2 were finished." in first


def test_report_of_a_run_without_series_shows_the_saved_figure(tmp_path: Path) -> None:
    directory = write_result(tmp_path, record={"series": ["queue"]})
    ap.load_result(directory).plot.save(directory)
    (directory / "series-queue.csv").unlink()
    page = report_of_result(ap.load_result(directory), directory=directory)
    assert page.count("data:image/png;base64,") == 2
    assert "! Not drawn: " in page


def test_report_of_a_comparison_has_answers_differences_and_reasons(comparison: Path) -> None:
    loaded = ap.load_comparison(comparison)
    page = report_of_comparison(loaded, directory=comparison)
    first = page[page.index("<h1>") : page.index("<h2>")]
    assert "solve less simulate: " in first
    assert "<dt>solve</dt><dd>model fixed-point</dd>" in page
    assert "emulate: not compared: no TUN device here." in first
    assert page.count("</svg>") == 1
    assert "[window-oscillation] solve: the fixed point is " in page
    assert 'href="simulate/result.json"' in page
    assert "few-replications: simulate" in page


def test_comparison_is_loaded_as_it_was_written(comparison: Path) -> None:
    document = json.loads((comparison / "comparison.json").read_text())
    for path in (comparison, comparison / "comparison.json"):
        loaded = ap.load_comparison(path)
        assert loaded.to_dict() == document
    turned = loaded.relative_to("solve")
    assert turned.rows[0].differences["simulate"].difference.absolute.mean == pytest.approx(
        -loaded.rows[0].differences["solve"].difference.absolute.mean
    )


def test_comparison_is_green_only_if_all_differences_are_noise(comparison: Path) -> None:
    loaded = ap.load_comparison(comparison)
    for engine, answer in loaded.answers.items():
        loaded.answers[engine] = replace(answer, advisories=())
    assert 'class="verdict good"' in report_of_comparison(loaded)
    first = loaded.rows[0]
    found = first.differences["solve"]
    loaded.rows[0] = first.with_differences({"solve": replace(found, verdict="explained")})
    assert 'class="verdict good"' not in report_of_comparison(loaded)


@pytest.mark.parametrize("broken", ["", "{}", '{"engines": [1]}', "[]"])
def test_invalid_comparison_is_reported_in_one_line(tmp_path: Path, broken: str) -> None:
    file = tmp_path / "comparison.json"
    file.write_text(broken)
    with pytest.raises(ap.errors.BadValueError) as caught:
        ap.load_comparison(tmp_path)
    assert str(caught.value).startswith(f"{file}: not ")
    assert "\n" not in str(caught.value)


# --- the command -------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "name"), [("result", "result.json"), ("comparison", "")])
def test_command_accepts_a_document_or_its_directory(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str, name: str
) -> None:
    out = tmp_path / "report.html"
    assert main(["report", str(request.getfixturevalue(kind) / name), "-o", str(out)]) == 0
    assert "<h1>short</h1>" in out.read_text()


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("result", '"confidence": 0.99', '"confidence": "high"'),
        ("result", '"delivered_bytes": ', '"delivered_bytes": {}, "_": '),
        ("result", '"advisories": [{', '"advisories": [{"more": 1, '),
        ("comparison", '"scale": 1e-06', '"scale": "large"'),
        ("comparison", '"values": {', '"values": [], "_": {'),
        ("comparison", '"duration_ns": 3000000000', '"duration_ns": []'),
    ],
)
def test_damaged_document_is_reported_in_one_line(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    kind: str,
    before: str,
    after: str,
) -> None:
    full = (request.getfixturevalue(kind) / f"{kind}.json").read_text()
    assert before in full
    file = tmp_path / f"{kind}.json"
    file.write_text(full.replace(before, after))
    assert main(["report", str(file), "-o", str(tmp_path / "report.html")]) == 2
    found = capsys.readouterr().err
    assert found.startswith(f"{file}: not the")
    assert found.count("\n") == 1
    assert not (tmp_path / "report.html").exists()


def test_several_sources_are_named(
    result: Path, comparison: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(result / "result.json", tmp_path)
    shutil.copy(comparison / "comparison.json", tmp_path)
    assert main(["report", str(tmp_path), "-o", str(tmp_path / "report.html")]) == 2
    wrong = "has several sources of reports (comparison.json, result.json). Name one of these files"
    assert capsys.readouterr().err == f"{tmp_path}: {wrong}.\n"
