"""Hooks of MkDocs for the documentation site, which `make site` builds.

* The navigation: an entry that is a section's `index.md` takes the list of pages in that file.
* Pages outside `docs/` (`.github/CONTRIBUTING.md`) and the notebooks become pages of the site.
* Every number of a paper is a page, made from the paper's `results.json`.
* A link to another file of the repository becomes the path of that file.

`make site` sets these variables; a build without them is faster:

* AIRPATH_SITE_EXECUTE: the notebooks are executed. Else they are shown as they are kept, without
  outputs.
* AIRPATH_SITE_PAPERS: a directory with PAPER/PAPER.json of `airpath reproduce`, and the figures
  that it names. They are shown on the page of the paper.
* AIRPATH_SITE_RUST: a directory of `cargo doc`. It becomes `rust/` of the site.
"""

from __future__ import annotations

import base64
import json
import os
import posixpath
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbclient
import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from airpath.reproduction.archive import unpacked
from airpath.reproduction.page import page as page_of_paper

ROOT = Path(__file__).resolve().parents[2]
PAPERS = "papers/airpath_papers"
PAGES = "reference/papers"
FACADE = "crates/airpath/src/lib.rs"
_ITEM = re.compile(r"( *)[-*] (?:\[(?P<title>.+?)\]\((?P<page>[^)]+)\).*|(?P<group>.+))")
_LINK = re.compile(
    r"(?P<text>!?\[(?:[^][]|\[[^]]*\])*\])\((?P<path>[^)\s#:]+)(?P<anchor>#[^)\s]*)?\)"
)
_KINDS = ("image/png", "text/html", "text/plain")


def moved() -> dict[str, str]:
    """Return the page of the site, in `docs/`, of each file that is shown at another place."""
    pages = {
        ".github/CODE_OF_CONDUCT.md": "project/code-of-conduct.md",
        ".github/CONTRIBUTING.md": "project/contributing.md",
        ".github/SECURITY.md": "project/security.md",
        "crates/airpath/plugins/README.md": "project/plugins.md",
    }
    for readme in sorted(ROOT.glob(f"{PAPERS}/*/README.md")):
        pages[_name(readme)] = f"{PAGES}/{readme.parent.name}-notes.md"
    for readme in sorted(ROOT.glob("papers/studies/*/README.md")):
        pages[_name(readme)] = f"project/studies/{readme.parent.name}.md"
    for notebook in sorted(ROOT.glob("docs/**/*.ipynb")):
        pages[_name(notebook)] = _name(notebook)[len("docs/") : -len(".ipynb")] + "-notebook.md"
    return pages


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the lists of the sections into the navigation."""
    config.nav = [_expanded(entry, Path(config.docs_dir)) for entry in config.nav or []]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not Markdown files in `docs/`."""
    for name, page in moved().items():
        content = (ROOT / name).read_text("utf-8")
        if name.endswith(".ipynb"):
            content, figures = _notebook(content, page.removesuffix(".md"))
            for figure, data in figures.items():
                files.append(File.generated(config, figure, content=data))
        files.append(File.generated(config, page, content=content))
    for results in sorted(ROOT.glob(f"{PAPERS}/*/results.json")):
        content = page_of_paper(unpacked(json.loads(results.read_text("utf-8"))))
        name = f"{PAGES}/{results.parent.name}-numbers.md"
        files.append(File.generated(config, name, content=content))
    for figure in (path for found in _reproductions() for path in _figures(found)):
        files.append(File.generated(config, f"{PAGES}/{figure.name}", abs_src_path=str(figure)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Point the links and images of a page to where their targets are on the site."""
    if page.is_homepage:
        page.meta["hide"] = ["navigation"]
    shown = moved()
    sources = {target: name for name, target in shown.items()}
    source = sources.get(page.file.src_uri, f"docs/{page.file.src_uri}")

    def link(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), found["path"]))
        if target in shown:
            uri = shown[target]
        elif target.startswith("docs/"):
            uri = target[len("docs/") :]
        elif target == FACADE and os.environ.get("AIRPATH_SITE_RUST"):
            # Not a page, so a link that MkDocs does not check.
            relative = posixpath.relpath(
                "rust/airpath/index.html", posixpath.dirname(page.file.src_uri)
            )
            return f'<a href="{relative}">{found["text"][1:-1]}</a>'
        elif (ROOT / target).exists() and not found["text"].startswith("!"):
            text = found["text"][1:-1]
            return text if target in text else f"{text} (`{target}`)"
        else:
            return found[0]
        relative = posixpath.relpath(uri, posixpath.dirname(page.file.src_uri))
        return f"{found['text']}({relative}{found['anchor'] or ''})"

    for found in _reproductions():
        if page.file.src_uri == f"{PAGES}/{found.stem}.md":
            markdown += _figure_section(found)
    markdown = re.sub(r"`([a-z]+)-full\.md`", r"[\g<0>](\1-numbers.md)", markdown)
    return _LINK.sub(link, markdown)


def on_post_build(config: MkDocsConfig) -> None:
    """Copy the documentation of the plug-in crate."""
    if rust := os.environ.get("AIRPATH_SITE_RUST"):
        shutil.copytree(rust, Path(config.site_dir) / "rust")


def _name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def _expanded(entry: Any, docs: Path) -> Any:
    """Return an entry of the navigation, with the list of a section's index below it."""
    if not isinstance(entry, dict):
        return entry
    ((title, value),) = entry.items()
    if isinstance(value, list):
        return {title: [_expanded(each, docs) for each in value]}
    if posixpath.basename(value) != "index.md" or "/" not in value:
        return entry
    lines = (docs / value).read_text("utf-8").splitlines()
    return {title: [value, *_tree(lines, posixpath.dirname(value))]}


def _tree(lines: list[str], directory: str) -> list[Any]:
    """Return the nested list of a page as entries of the navigation."""
    shown = moved()
    root: list[Any] = []
    levels = [(-1, root)]
    for found in filter(None, map(_ITEM.fullmatch, lines)):
        while len(found[1]) <= levels[-1][0]:
            levels.pop()
        if found["group"]:
            below: list[Any] = []
            levels[-1][1].append({found["group"]: below})
            levels.append((len(found[1]), below))
        else:
            page = posixpath.normpath(posixpath.join("docs", directory, found["page"]))
            title = found["title"].replace("`", "")
            levels[-1][1].append({title: shown.get(page, page.removeprefix("docs/"))})
    return root


def _reproductions() -> list[Path]:
    """Return the documents of reproduced papers."""
    directory = os.environ.get("AIRPATH_SITE_PAPERS")
    names = [results.parent.name for results in sorted(ROOT.glob(f"{PAPERS}/*/results.json"))]
    found = [Path(directory) / name / f"{name}.json" for name in names] if directory else []
    return [document for document in found if document.is_file()]


def _figures(found: Path) -> list[Path]:
    items = json.loads(found.read_text("utf-8"))["items"]
    figures = (found.with_name(Path(name).name) for item in items for name in item["figures"])
    return [figure for figure in figures if figure.suffix in (".png", ".svg")]


def _figure_section(found: Path) -> str:
    """Return the figures of a reproduction, by item."""
    document = json.loads(found.read_text("utf-8"))
    made = document["provenance"]
    text = (
        f"\n## Figures\n\nMade by `airpath reproduce {found.stem} --{made['mode']}`, with "
        f"{made['replications']} replications of a point: shorter runs than those of the numbers "
        "above. Numbers that the paper prints are in the figures, and on the page of "
        f"[every number]({found.stem}-numbers.md).\n"
    )
    shown = {figure.name for figure in _figures(found)}
    for item in document["items"]:
        title, names = item["title"], [Path(name).name for name in item["figures"]]
        pictures = [f"![{title}]({name}){{loading=lazy}}" for name in names if name in shown]
        if pictures:
            text += f"\n### {title}\n\n" + "\n\n".join(pictures) + "\n"
    return text


def _notebook(content: str, name: str) -> tuple[str, dict[str, bytes]]:
    """Return a notebook as Markdown, and the figures that it shows."""
    notebook = nbformat.reads(content, as_version=4)
    if os.environ.get("AIRPATH_SITE_EXECUTE"):
        with tempfile.TemporaryDirectory() as directory:
            resources = {"metadata": {"path": directory}}
            nbclient.NotebookClient(notebook, kernel_name="python3", resources=resources).execute()
    parts, figures = [], {}
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for kind, data in _outputs(cell):
            if kind == "image/png":
                figure = f"{name}-{number}.png"
                figures[figure] = base64.b64decode(data)
                parts.append(f"![Figure of the cell above]({posixpath.basename(figure)})")
            else:
                # The theme makes tables without a class scroll.
                table = data.replace('<table border="1" class="dataframe">', "<table>")
                parts.append(table if kind == "text/html" else f"```text\n{data}\n```")
    return "\n\n".join(parts) + "\n", figures


def _outputs(cell: Any) -> Iterator[tuple[str, str]]:
    """Yield the richest form of each output of a cell."""
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        kind = next((each for each in _KINDS if data.get(each)), None)
        if kind:
            yield kind, data[kind]
