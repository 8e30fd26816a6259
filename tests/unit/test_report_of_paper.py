"""Reports of papers: contents, safety of the page, rejected input."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from airpath.cli import main
from airpath.errors import BadValueError
from airpath.execution import Machine
from airpath.report import report_of_paper
from airpath.report.blocks import MOST_ROWS
from airpath.report.figures import inlined
from airpath.sweeps.ledger import Ledger
from airpath.sweeps.ledger.sessions import Session
from report_samples import HOSTILE, document, row, write_paper
from report_sweeps import write_sweep

ACCEPTED = (
    "Name result.json of run or emulate --out, the ledger of sweep --out, comparison.json of "
    "compare --out, PAPER.json of reproduce --out, or the directory of one of them"
)

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="60pt" height="30pt">{}</svg>'


class Read(HTMLParser):
    """Parsed page: its elements with their attributes, its texts by kind of element, and
    its IDs.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._tag = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._tag = tag
        self.found.append((tag, dict(attrs)))
        self.texts.setdefault(tag, []).append("")

    def handle_data(self, data: str) -> None:
        if self._tag:
            self.texts[self._tag][-1] += data

    def named(self, attribute: str) -> list[str]:
        return [of[attribute] or "" for _tag, of in self.found if attribute in of]

    @property
    def cells(self) -> list[str]:
        return [text.strip() for text in self.texts["td"]]

    def tags(self, tag: str) -> list[dict[str, str | None]]:
        return [of for name, of in self.found if name == tag]


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    return write_paper(tmp_path)


def report_text(path: Path) -> str:
    return report_of_paper(json.loads(path.read_text()), directory=path.parent)


# --- contents ----------------------------------------------------------------------------------


def test_published_and_simulated_numbers_have_difference_and_mark() -> None:
    page = Read(report_of_paper(document()))
    assert page.cells[12:16] == ["sbd", "300.0", "301.5 ± 1.0", "+0.50 %"]
    assert page.cells[16:20] == ["red", "200.0", "150.0 ± 1.0", "! -25.00 %"]
    bad = [of for of in page.tags("td") if "bad" in (of.get("class") or "")]
    assert [each["data-value"] for each in bad] == ["1", "-25.0"]


def test_disagreements_are_listed_first() -> None:
    page = report_of_paper(document())
    first = page[page.index("<h1>") : page.index("<h2>")]
    assert "2 of 3 published numbers are within tolerance" in first
    assert "! Outside its tolerance: table1, goodput, aqm red" in first
    assert "! Does not hold: It falls (§3). (falls)" in first
    assert 'class="verdict bad"' in first


def test_report_without_disagreements_states_it() -> None:
    fine = {**document()["verdict"], "outside_text": [], "do_not_hold": []}
    page = report_of_paper(document(verdict=fine))
    assert 'class="verdict good"' in page
    assert "Outside its tolerance" not in page


def test_interrupted_reproduction_is_marked() -> None:
    items = document()["items"]
    items[1]["complete"] = False
    page = report_of_paper(document(complete=False, items=items))
    assert "! Interrupted. Not complete: fig2." in page


def test_claims_are_shown_with_verdicts_and_numbers() -> None:
    page = report_of_paper(document())
    assert "Holds: It rises (§2)." in page
    assert "DOES NOT HOLD: It falls (§3)." in page
    assert page.count("<li>12, 11, 10</li>") == 2


def test_links_lead_to_a_position_on_the_page_or_to_a_file(paper: Path) -> None:
    page = Read(report_text(paper))
    names = page.named("id")
    assert len(names) == len(set(names))
    targets = [target for target in page.named("href") if not target.startswith("data:")]
    inside = {target[1:] for target in targets if target.startswith("#")}
    assert inside <= set(names)
    assert {"summary", "items", "item-table1", "item-fig2", "claims", "provenance"} <= inside
    beside = {target for target in targets if not target.startswith("#")}
    assert beside == {"small-fig2.png", "small-fig2.svg", "small.json"}


def test_links_to_files_are_relative_to_the_report(paper: Path, tmp_path: Path) -> None:
    page = report_of_paper(document(), directory=tmp_path, out=tmp_path / "a" / "b c")
    assert 'href="../../small.json"' in page


def test_same_input_gives_the_same_bytes(paper: Path, tmp_path: Path) -> None:
    first = report_text(paper)
    (tmp_path / "again").mkdir()
    assert report_text(write_paper(tmp_path / "again")) == first
    assert str(tmp_path) not in first


def test_run_time_is_that_of_the_ledger_next_to_the_document(paper: Path) -> None:
    assert "run time" not in report_text(paper)
    path = write_sweep(paper.parent)
    with Ledger.open(path) as ledger:
        machine = Machine("processor", 8, "Linux 6.1 (x86_64)")
        ledger.add_session(Session(ledger.own, "", 48, 5400.0, [machine]))
    page = report_text(paper)
    assert "<dt>run time</dt><dd>1 h 30 min for 48 replications, 4.8 s of processor time" in page
    assert "<dt>machine</dt><dd>processor, 8 cores, Linux 6.1 (x86_64)</dd>" in page
    path.write_bytes(b"no ledger")
    assert "run time" not in report_text(paper)


def test_missing_figure_is_named(paper: Path) -> None:
    (paper.parent / "small-fig2.svg").unlink()
    page = report_text(paper)
    assert "data:image/png;base64," in page
    assert "Missing, or" not in page
    (paper.parent / "small-fig2.png").unlink()
    assert "! Missing, or not a figure: small-fig2.png, small-fig2.svg." in report_text(paper)


def test_long_table_is_cut_with_a_note() -> None:
    rows = [row({"buffer": each}, None, float(each)) for each in range(MOST_ROWS + 5)]
    items = [{"item": "fig2", "title": "many", "rows": rows, "figures": []}]
    page = report_of_paper(document(items=items))
    assert f"The first {MOST_ROWS} of {MOST_ROWS + 5} rows; all of them are in small.json." in page
    assert page.count("<tr>") == 3 + MOST_ROWS  # two headings, one item


# --- no scripts, no external resources ---------------------------------------------------------


def test_policy_forbids_everything_outside_the_file() -> None:
    text = report_of_paper(document())
    page = Read(text)
    policy = next(of["content"] for of in page.tags("meta") if "http-equiv" in of)
    script = text[text.index("<script>") + len("<script>") : text.rindex("</script>")]
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def test_page_names_no_other_server(paper: Path) -> None:
    assert re.findall(r"(?:https?:)?//[a-z]", report_text(paper)) == []


def test_foreign_names_are_escaped(paper: Path, tmp_path: Path) -> None:
    document_ = json.loads(paper.read_text().replace("small", "sm<b>all"))
    hostile = json.loads(json.dumps(document_), object_hook=_hostile)
    page = Read(report_of_paper(hostile, directory=tmp_path))
    assert len(page.tags("script")) == 1
    assert page.tags("img") == page.tags("b") == []
    assert not [name for _tag, of in page.found for name in of if name.startswith("on")]
    assert HOSTILE in "".join(page.texts["p"])


def _hostile(found: dict[str, Any]) -> dict[str, Any]:
    """Insert the text wherever any text is allowed."""
    return {
        name: HOSTILE if isinstance(value, str) and name not in {"item", "quantity"} else value
        for name, value in found.items()
    }


@pytest.mark.parametrize(
    "inside",
    [
        "<script>alert(1)</script>",
        '<g onload="alert(1)"/>',
        '<a href="javascript:alert(1)"><path d="M 0 0"/></a>',
        '<foreignObject><p xmlns="http://www.w3.org/1999/xhtml">alert</p></foreignObject>',
        '<image href="https://elsewhere.example/alert.png"/>',
        '<use href="elsewhere.svg#alert"/>',
        '<path style="fill: url(https://elsewhere.example/alert)"/>',
        "<style>@import 'https://elsewhere.example/alert'</style>",
        '<set attributeName="href" to="javascript:alert(1)"/>',
    ],
)
def test_active_content_of_a_figure_is_removed(inside: str) -> None:
    made = inlined(SVG.format(inside).encode(), "a-")
    assert "alert" not in made
    assert "elsewhere" not in made


def test_figure_has_unique_names_and_values_on_hover() -> None:
    inside = (
        '<defs><clipPath id="c"><rect/></clipPath><path id="m"/></defs>'
        '<g id="point-3" clip-path="url(#c)" style="fill: url(#m)"><use href="#m"/></g>'
    )
    made = ET.fromstring(
        inlined(SVG.format(inside).encode(), "x-", "A <title>", {"point-3": "3 < 4"})
    )
    assert made.get("aria-label") == "A <title>"
    point = made.find(".//g")
    assert point is not None
    assert (point.get("id"), point.get("clip-path")) == ("x-point-3", "url(#x-c)")
    assert point.get("style") == "fill: url(#x-m)"
    assert [title.text for title in point.iter("title")] == ["3 < 4"]
    assert [use.get("href") for use in point.iter("use")] == ["#x-m"]
    assert made.get("viewBox") == "0 0 60 30"


@pytest.mark.parametrize("data", [b"", b"\x89PNG", b"<html/>", b"<svg"])
def test_invalid_svg_is_rejected(data: bytes) -> None:
    with pytest.raises(BadValueError, match=r"^Delay: not a figure in SVG\.$"):
        inlined(data, "a-", "Delay")


# --- the command -------------------------------------------------------------------------------


def test_command_writes_the_text_of_the_function(
    paper: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for source, name in ((paper, "one.html"), (paper.parent, "two.html")):
        out = tmp_path / name
        assert main(["report", str(source), "-o", str(out)]) == 0
        assert capsys.readouterr() == ("", f"written: {out}\n")
        assert out.read_text("utf-8") == report_text(paper)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("gone", None, "gone: cannot be read: no such file or directory."),
        ("text", "a text", f"text: cannot be reported on. {ACCEPTED}."),
        ("other.json", "[1, 2]", f"other.json: cannot be reported on. {ACCEPTED}."),
        ("brief.json", '{"paper": "qawla", "items": [], "claims": []}', "brief.json: not a "
         "reproduction. Use what airpath reproduce --out wrote."),
        (".", None, f".: has nothing to report on. {ACCEPTED}."),
    ],
)  # fmt: skip
def test_invalid_source_is_rejected_in_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    content: str | None,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path(name).write_text(content)
    before = sorted(Path().iterdir())
    assert main(["report", name, "-o", "report.html"]) == 2
    assert capsys.readouterr().err == message + "\n"
    assert sorted(Path().iterdir()) == before


def test_directory_with_several_reproductions_requires_a_choice(
    paper: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other.json").write_text(paper.read_text())
    assert main(["report", str(tmp_path), "-o", str(tmp_path / "report.html")]) == 2
    wrong = "has several sources of reports (other.json, small.json). Name one of these files."
    assert capsys.readouterr().err == f"{tmp_path}: {wrong}\n"


def test_data_file_is_not_overwritten(paper: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = paper.read_text()
    assert main(["report", str(paper), "-o", str(paper)]) == 2
    wrong = "not the name of a page. Use one that ends in .html."
    assert capsys.readouterr().err == f'--out: "{paper}": {wrong}\n'
    assert paper.read_text() == before


def test_missing_directory_is_rejected_before_the_work(
    paper: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "no" / "report.html"
    assert main(["report", str(paper), "-o", str(out)]) == 2
    assert "cannot be written (no such file or directory)" in capsys.readouterr().err
