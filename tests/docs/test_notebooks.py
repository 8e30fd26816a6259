"""Tutorials that are notebooks run in a separate kernel and show each figure once."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorial"
NOTEBOOKS = ("first-figure.ipynb", "first-campaign.ipynb")


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable the debugger in the kernel, which would warn about frozen modules."""
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    monkeypatch.delenv("MPLBACKEND", raising=False)


def executed(notebook: Any, directory: Path) -> list[Any]:
    """Return the code cells after all of them were run in `directory`."""
    client = nbclient.NotebookClient(
        notebook, kernel_name="python3", resources={"metadata": {"path": str(directory)}}
    )
    client.execute()
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def pictures(cell: Any) -> list[bytes]:
    found = (output.get("data", {}).get("image/png") for output in cell.outputs)
    return [base64.b64decode(data) for data in found if data]


def test_all_notebooks_are_run() -> None:
    assert sorted(path.name for path in TUTORIALS.glob("*.ipynb")) == sorted(NOTEBOOKS)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook_runs_and_shows_each_figure_once(name: str, tmp_path: Path) -> None:
    notebook = nbformat.read(TUTORIALS / name, as_version=4)
    # Notebooks are committed without outputs, because outputs change with each version.
    assert all(not cell.get("outputs") for cell in notebook.cells)
    for cell in executed(notebook, tmp_path):
        *_, last = cell.source.splitlines()
        assert [each for each in cell.outputs if each.output_type == "stream"] == []
        shown = pictures(cell)
        assert len(shown) == (".plot." in last), cell.source
        assert all(data.startswith(b"\x89PNG") for data in shown)


def test_pyplot_import_has_no_effect(tmp_path: Path) -> None:
    """Regression test: a figure was not shown in a fresh kernel, and twice after an import of
    pyplot."""
    code = [
        "import airpath as ap\n"
        "path = ap.Bottleneck(aqm='gred', link=ap.link.Fixed(rate='1 Mbit/s'))\n"
        "flows = ap.flows(base_rtt='20 ms')\n"
        "scenario = ap.Scenario(flows=flows, duration='2 s', bottleneck=path)\n"
        "result = ap.simulate(scenario, reps=1)",
        "result.plot.pmf()",
        "figure = result.plot.pmf()",
        "import matplotlib.pyplot as plt\nresult.plot.pmf()",
        "%matplotlib inline\nresult.plot.pmf()",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in code])
    assert [len(pictures(cell)) for cell in executed(notebook, tmp_path)] == [0, 1, 0, 1, 1]


def bars(code: str, directory: Path) -> tuple[list[str], list[Any]]:
    """Return the HTML shown while a cell ran, and the final outputs."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    client = nbclient.NotebookClient(
        notebook, kernel_name="python3", resources={"metadata": {"path": str(directory)}}
    )
    shown: list[str] = []
    handle = client.process_message

    def listen(message: Any, *place: Any) -> Any:
        data = message["content"].get("data", {})
        shown.extend([data["text/html"]] if "text/html" in data else [])
        return handle(message, *place)

    client.process_message = listen
    client.execute()
    return shown, notebook.cells[0].outputs


def test_progress_bar_of_long_call_is_removed(tmp_path: Path) -> None:
    shown, left = bars(
        "from airpath.present import progress\n"
        "progress._AT_ONCE_S = 0.0\n"
        "with progress.reporting_to('auto') as notify:\n"
        "    notify(0.25, 'a <quarter>')\n"
        "    notify(0.5, 'half')\n",
        tmp_path,
    )
    assert shown == [
        '<progress value="0.250" max="1"></progress> a &lt;quarter&gt;',
        '<progress value="0.500" max="1"></progress> half',
        "",
    ]
    assert [output.data for output in left] == [{"text/html": "", "text/plain": ""}]
