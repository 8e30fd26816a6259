"""Papers as plug-ins: found by entry points, absent from the wheel."""

from __future__ import annotations

from pathlib import Path

import pytest

from airpath import demo
from airpath.cli import main
from airpath.errors import BadValueError
from airpath.present.tables import Table
from airpath.report.demonstration import Example
from airpath.reproduction import installed_papers, load, plugins
from airpath.reproduction.plugins import paper_directory

ROOT = Path(__file__).parents[2]
INSTALL = "Run pip install 'airpath[papers]', or use the directory of a paper."


@pytest.fixture
def no_papers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "entry_points", lambda **_group: ())


@pytest.fixture
def other_distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install two papers of another distribution; the code of one of them fails."""
    for name, code in {"fine": "from airpath_papers.sbd import PAPER", "bad": "1 / 0"}.items():
        directory = tmp_path / "others" / name
        directory.mkdir(parents=True)
        (directory / "__init__.py").write_text(code)
    (tmp_path / "others" / "__init__.py").write_text("")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "__init__.py").write_text("1 / 0")
    (tmp_path / "others" / "fine" / "paper.toml").write_text('description = "A fine paper"\n')
    metadata = tmp_path / "others-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1.0\n")
    points = ["fine = others.fine:PAPER", "bad = others.bad:PAPER", "gone = nowhere.gone:PAPER"]
    points.append("broken = broken.paper:PAPER")
    (metadata / "entry_points.txt").write_text("\n".join(["[airpath.papers]", *points]))
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("other_distribution")
def test_paper_of_another_distribution_is_found() -> None:
    found = installed_papers()
    assert {"bad", "broken", "fine", "gone", "qawla", "sbd"} <= found.keys()
    assert (found["fine"], found["bad"], found["gone"]) == ("A fine paper", "", "")
    assert load("fine").key == "sbd"


@pytest.mark.usefixtures("other_distribution")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bad", '"bad": its code fails: ZeroDivisionError: division by zero.'),
        ("gone", "\"gone\": its code fails: ModuleNotFoundError: No module named 'nowhere'."),
    ],
)
def test_paper_that_cannot_be_loaded_is_reported_in_one_line(name: str, message: str) -> None:
    with pytest.raises(BadValueError) as error:
        load(name)
    assert str(error.value) == message


def test_two_papers_with_equal_names_are_rejected(
    other_distribution: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    points = other_distribution / "others-1.0.dist-info" / "entry_points.txt"
    points.write_text("[airpath.papers]\nqawla = others.fine:PAPER\n")
    expected = 'paper = "qawla": is in airpath-papers and others. Uninstall one of them.\n'
    for arguments in (["reproduce", "qawla", "table2"], ["list", "paper"]):
        assert main(arguments) == 2
        assert capsys.readouterr() == ("", expected)
    # The same entry point twice, from a package installed in two places, counts as one paper.
    points.write_text("[airpath.papers]\nqawla = airpath_papers.qawla:PAPER\n")
    assert load("qawla").key == "qawla"


@pytest.mark.usefixtures("other_distribution")
def test_summary_lists_papers_with_results(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--summary"]) == 0
    assert "\nfine" not in capsys.readouterr().out
    assert main(["reproduce", "fine", "--summary"]) == 2
    assert capsys.readouterr().err == 'paper = "fine": has no results.json of a full run.\n'


@pytest.mark.usefixtures("no_papers")
@pytest.mark.parametrize(
    ("arguments", "begin"),
    [
        (["reproduce"], "PAPER: missing; "),
        (["reproduce", "qawla", "table2"], 'paper = "qawla": '),
        (["reproduce", "--summary"], ""),
    ],
)
def test_missing_papers_print_installation_hint(
    capsys: pytest.CaptureFixture[str], arguments: list[str], begin: str
) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr() == ("", f"{begin}no papers are installed. {INSTALL}\n")


@pytest.mark.usefixtures("no_papers")
def test_list_and_demo_report_missing_papers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", "paper"]) == 0
    assert capsys.readouterr().out == f"no papers are installed. {INSTALL}\n"
    for name in ("lte_link", "fading_cell"):
        example = Example(name, Table(name, ["rate"], [["1"]]), {})
        monkeypatch.setattr(demo, name, lambda *_, found=example: found)
    assert demo.main(str(tmp_path)) == 0
    assert (
        "\nNo papers are installed. pip install 'airpath[papers]' adds" in capsys.readouterr().out
    )
    page = (tmp_path / demo.PAGE).read_text()
    assert "2 simulated examples and 0 reproduced papers." in page


def test_every_paper_is_an_entry_point_with_a_description() -> None:
    directories = sorted(
        file.parent for file in (ROOT / "papers" / "airpath_papers").rglob("paper.toml")
    )
    assert [directory.name for directory in directories] == sorted(installed_papers())
    for name, description in installed_papers().items():
        assert description == load(name).description
        assert description
        assert paper_directory(name) in directories


def test_wheel_does_not_depend_on_papers() -> None:
    sources = (ROOT / "python" / "airpath").rglob("*.py")
    found = [str(file) for file in sources if "airpath_papers" in file.read_text("utf-8")]
    # `plugins.py` contains an example of an entry point; the other files link the notes of papers.
    allowed = {"plugins.py", "page.py", "overview.py", "__main__.py"}
    assert [name for name in found if Path(name).name not in allowed] == []
