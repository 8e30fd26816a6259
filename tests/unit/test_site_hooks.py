"""The site's hooks for links, notebooks and reproduced papers."""

from __future__ import annotations

import base64
import json
import runpy
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from mkdocs.utils import yaml_load

ROOT = Path(__file__).parents[2]
SITE = ROOT / "scripts" / "site"
MOST_ENTRIES = 9


@cache
def hooks() -> dict[str, Any]:
    """The names defined in the hooks file."""
    return runpy.run_path(str(SITE / "hooks.py"))


def lists(entries: list[Any]) -> Iterator[list[Any]]:
    """Yield each list of the navigation."""
    yield entries
    for entry in entries:
        for below in entry.values() if isinstance(entry, dict) else ():
            if isinstance(below, list):
                yield from lists(below)


def test_navigation_lists_are_short() -> None:
    nav = yaml_load((SITE / "mkdocs.yml").read_text("utf-8"))["nav"]
    config = hooks()["on_config"](SimpleNamespace(nav=nav, docs_dir=ROOT / "docs"))
    found = list(lists(config.nav))
    assert [entries for entries in found if len(entries) > MOST_ENTRIES] == []
    # The lists of the sections are included.
    assert len(found) > 30


def on_page(markdown: str, page: str) -> str:
    """The text of a page for the site."""
    file = SimpleNamespace(src_uri=page)
    return hooks()["on_page_markdown"](markdown, SimpleNamespace(file=file, is_homepage=False))


@pytest.mark.parametrize(
    ("page", "link", "expected"),
    [
        ("how-to/a.md", "[x](b.md#c)", "[x](b.md#c)"),
        (
            "how-to/a.md",
            "[x](../tutorial/first-figure.ipynb)",
            "(../tutorial/first-figure-notebook.md)",
        ),
        (
            "how-to/a.md",
            "[x](../../papers/airpath_papers/sbd/README.md#y)",
            "papers/sbd-notes.md#y)",
        ),
        (
            "reference/papers/sbd-notes.md",
            "[x](../../../docs/reference/units.md)",
            "[x](../units.md)",
        ),
        ("how-to/a.md", "[x](../../pyproject.toml)", "x (`pyproject.toml`)"),
        ("how-to/a.md", "[`pyproject.toml`](../../pyproject.toml)", "`pyproject.toml`"),
        ("how-to/a.md", "[x](../../missing.toml)", "[x](../../missing.toml)"),
        ("reference/papers/sbd.md", "`sbd-full.md`", "[`sbd-full.md`](sbd-numbers.md)"),
    ],
)
def test_links_point_to_the_new_position_of_their_targets(
    page: str, link: str, expected: str
) -> None:
    assert on_page(link, page).endswith(expected)


def test_notebook_outputs_are_shown() -> None:
    outputs = [
        {"image/png": base64.b64encode(b"PNG").decode(), "text/plain": "<Figure>"},
        {"text/html": '<table border="1" class="dataframe">1</table>', "text/plain": "1"},
        {"text/plain": "2"},
    ]
    cell = nbformat.v4.new_code_cell("code")
    cell.outputs = [nbformat.v4.new_output("display_data", data) for data in outputs]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Title"), cell])
    text, figures = hooks()["_notebook"](nbformat.writes(notebook), "tutorial/trial")
    assert text.split("\n\n") == [
        "# Title",
        "```python\ncode\n```",
        "![Figure of the cell above](trial-1.png)",
        "<table>1</table>",
        "```text\n2\n```\n",
    ]
    assert figures == {"tutorial/trial-1.png": b"PNG"}


def test_figures_of_a_reproduction_are_on_the_page_of_the_paper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    items: list[dict[str, Any]] = [
        {"title": "Fig. 1", "figures": ["out/sbd/sbd-fig1.svg", "out/sbd/sbd-fig1.csv"]},
        {"title": "Table 2", "figures": []},
    ]
    document = {"provenance": {"mode": "quick", "replications": 2}, "items": items}
    (tmp_path / "sbd").mkdir()
    (tmp_path / "sbd" / "sbd.json").write_text(json.dumps(document))
    monkeypatch.setenv("AIRPATH_SITE_PAPERS", str(tmp_path))
    section = on_page("", "reference/papers/sbd.md")
    assert "`airpath reproduce sbd --quick`" in section
    assert "### Fig. 1\n\n![Fig. 1](sbd-fig1.svg){loading=lazy}\n" in section
    assert "Table 2" not in section
    assert "csv" not in section
    assert on_page("", "reference/papers/vcp.md") == ""
