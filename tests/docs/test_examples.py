"""The documentation is correct: its examples run and its links are valid."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import markdown_pages
import pytest
import run_page

from airpath import _airpath, scenario
from airpath.scenario import recorded_traces
from airpath.solutions import Solution
from forked import ForkServer

ROOT = Path(__file__).parents[2]
PAGES = markdown_pages.pages(ROOT)
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]
RUNNABLE = re.compile(r"^ *```(python|toml|console|sh|bash|shell)\b", re.MULTILINE)
MAKEFILE = ROOT / "Makefile"
MODELS = ROOT / "docs" / "reference" / "models"

FAMILIES = {**scenario.FAMILIES, "model": Solution}
"""Families of components that a user can select by name, and the analytic models."""
LONG = {"docs/explanation/fixed-point-validity.md", "docs/how-to/ask-the-kernel.md"}
"""Pages whose examples take long. Tests of the papers cover the first page; a shorter emulation
test covers the second page."""
EMULATES = "<!-- needs emulation -->"
HEADINGS = ("what it models", "source and equations", "left out", "parameters", "validation")


# --- examples ----------------------------------------------------------------------------------


def pages_to_run() -> Iterator[Any]:
    for name, page in zip(NAMES, PAGES, strict=True):
        text = page.read_text("utf-8")
        if RUNNABLE.search(text):
            long = [pytest.mark.long] if name in LONG else []
            realtime = [pytest.mark.realtime] if EMULATES in text else []
            yield pytest.param(name, marks=long + realtime)


@pytest.mark.parametrize("page", list(pages_to_run()))
def test_every_example_runs(
    page: str, tmp_path: Path, run_a_page: Callable[[str, Path], tuple[int, str]]
) -> None:
    if "papers/studies" in (ROOT / page).read_text("utf-8"):
        shutil.copytree(ROOT / "papers" / "studies", tmp_path / "papers" / "studies")
    status, printed = run_a_page(page, tmp_path)
    assert status == 0, printed
    skipped = [line for line in printed.splitlines() if line.startswith("skipped blocks: ")]
    if skipped:
        pytest.skip(f"{page}: {'; '.join(skipped)} (traces are in {recorded_traces()})")


@pytest.fixture(scope="module")
def run_a_page() -> Iterator[Callable[[str, Path], tuple[int, str]]]:
    """Run a page in a directory. Return its exit status and its output."""
    traces = recorded_traces_of_the_project()
    environment = {
        **{key: value for key, value in os.environ.items() if key != "AIRPATH_TRACES"},
        **({"AIRPATH_TRACES": str(traces)} if traces else {}),
        "MPLBACKEND": "Agg",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "PYTHONWARNINGS": "error",
        "PYTHONIOENCODING": "utf-8",
    }
    programs = {"airpath": "airpath.cli:main", "run-page": "run_page:main"}
    server = ForkServer(programs, environment)

    def run(page: str, directory: Path) -> tuple[int, str]:
        paths = filter(None, [str(directory), environment.get("PYTHONPATH")])
        done = subprocess.run(
            [server.directory / "run-page", ROOT / page],
            cwd=directory,
            env={
                **environment,
                "PAGE_NAME": page,
                "PATH": os.pathsep.join([str(server.directory), environment["PATH"]]),
                "PYTHONPATH": os.pathsep.join(paths),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    yield run
    server.close()


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("python\nassert 1 == 2", "AssertionError"),
        ("python\n>>> 1 + 1\n3", "Expected:\n    3\nGot:\n    2\n"),
        ("console\n$ airpath --version\n2", "wrong.md:2: $ airpath --version\ndoes not print\n2\n"),
        ('toml\nduration = "x"\nbottleneck = {}\nflows = []', "exit status 2, not 0:\n"),
        ("toml\nduration", "wrong.md:2: not TOML"),
    ],
)
def test_wrong_example_is_detected(
    block: str, message: str, tmp_path: Path, run_a_page: Callable[[str, Path], tuple[int, str]]
) -> None:
    page = tmp_path / "wrong.md"
    page.write_text(f"```{block}\n```\n", "utf-8")
    status, printed = run_a_page(str(page), tmp_path)
    assert status == 1
    assert message in printed


EQUAL = """\
```python
import airpath as ap

scenario = ap.Scenario(
    flows=ap.flows(1, base_rtt="40 ms"),
    bottleneck=ap.Bottleneck(aqm="codel", link=ap.link.Fixed(rate="5 Mbit/s")),
    duration="2 s",
)
```
```python
result = ap.simulate(scenario, reps=5)
```
```python
sweep = ap.sweep(scenario, grid={"duration": ["2 s"]}, reps=5)
```
```console
$ airpath run cell.toml --reps 5
...
```
"""


@pytest.mark.parametrize("kind", ["ap.simulate", "ap.sweep", "airpath run"])
def test_tutorial_with_equal_replications_is_detected(
    kind: str, tmp_path: Path, run_a_page: Callable[[str, Path], tuple[int, str]]
) -> None:
    """Regression test: the last block of a tutorial had `low == mean == high` in each row."""
    head, *others = EQUAL.split("```\n```")
    page = tmp_path / "docs" / "tutorial" / "wrong.md"
    page.parent.mkdir(parents=True)
    block = next(block for block in others if kind in block)
    page.write_text(f"{head}```\n```{block.removesuffix('```')}```\n", "utf-8")
    (tmp_path / "cell.toml").write_text(
        'duration = "2 s"\nflows = [{base_rtt = "40 ms"}]\n'
        'bottleneck = {aqm = "codel", link = {kind = "fixed", rate = "5 Mbit/s"}}\n'
    )
    status, printed = run_a_page(str(page), tmp_path)
    assert status == 1
    assert "Every replication gave the same" in printed
    page = page.rename(tmp_path / "wrong.md")
    status, printed = run_a_page(str(page), tmp_path)
    assert (status == 0) == (kind != "ap.sweep"), printed


def recorded_traces_of_the_project() -> Path | None:
    directory = recorded_traces()
    return directory.resolve() if directory.is_dir() else None


GUIDES = [name for name in NAMES if name.startswith(("docs/how-to/", "docs/tutorial/", "README"))]


@pytest.mark.parametrize("page", GUIDES)
def test_every_number_of_a_guide_has_a_check(page: str) -> None:
    """Regression test: pages contained the results of an earlier version."""
    assert markdown_pages.unchecked((ROOT / page).read_text("utf-8")) == []


def test_check_compares_paragraph_with_result() -> None:
    page = "It takes 3 s,\nnot 4 s.\n\n<!-- check: f'{1 + 2} s' -->\n\nAnd 5 %.\n"
    [check] = markdown_pages.checks(page)
    assert (check.line, check.paragraph) == (4, "It takes 3 s,\nnot 4 s.")
    run_page.run_check(check, "page", {})
    check.expression = "f'{1 + 1} s'"
    with pytest.raises(run_page.PageError, match="the results say '2 s'"):
        run_page.run_check(check, "page", {})
    assert markdown_pages.unchecked(page) == ["And 5 %."]
    assert markdown_pages.unchecked(page + "<!-- no result: an example -->\n") == []


def test_expected_output_is_compared() -> None:
    printed = ["a 1", "", "b 2", "c 3"]
    assert run_page.first_missing([], printed) is None
    assert run_page.first_missing(["a 1", "b 2", "c 3"], printed) is None
    assert run_page.first_missing(["a ...", "...", "c 3"], printed) is None
    assert run_page.first_missing(["a 1", "..."], printed) is None
    assert run_page.first_missing(["a 1", "c 3"], printed) == "c 3"
    assert run_page.first_missing(["...", "d"], printed) == "d"
    assert run_page.first_missing(["a 1"], printed) == "(the end, before 'b 2')"


def test_varying_numbers_are_not_compared() -> None:
    printed = ["rate    9.51 ± 0.02 Mbit/s   +0.1 ± 0.3 %", "───────"]
    varied = ["rate   10.2 (9.8 … 11.0) Mbit/s   -12.0 %", "─────────────"]
    assert run_page.first_missing(varied, printed, varies=True) is None
    assert run_page.first_missing(varied, printed) is not None
    assert run_page.first_missing(["rate 9 kbit/s +1 %"], printed, varies=True) is not None


def test_examples_without_their_requirements_are_skipped_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    block = markdown_pages.Block("console", 1, "", ["needs emulation"])
    monkeypatch.setattr(run_page, "emulation_misses", lambda: "no TUN device")
    assert run_page.what_is_missing(block, has_traces=True) == "no TUN device"
    assert (
        run_page.what_is_missing(markdown_pages.Block("console", 1, "", []), has_traces=False)
        is None
    )
    traces = markdown_pages.Block("console", 1, "", ["needs recorded traces"])
    assert run_page.what_is_missing(traces, has_traces=False) == "there are no recorded traces"
    assert run_page.what_is_missing(traces, has_traces=True) is None


def test_real_time_command_is_judged_only_if_valid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression test: an invalid real-time run was skipped without a message."""
    monkeypatch.chdir(tmp_path)
    block = markdown_pages.Block("console", 1, "$ echo run >> runs; echo INVALID; exit 3\n9\n", [])
    with pytest.raises(run_page.PageError, match="exit status 3, not 0"):
        run_page.run_console(block, update=False)
    block.comments.append("needs emulation")
    with pytest.raises(run_page.NotJudgedError, match="not judged: run invalid in 3 runs"):
        run_page.run_console(block, update=False)
    assert Path("runs").read_text() == "run\n" * 4
    block.text = "$ grep -c run runs && echo run >> runs || echo INVALID\n4\n"
    run_page.run_console(block, update=False)


# --- links -------------------------------------------------------------------------------------


def test_links_of_the_read_me_are_valid() -> None:
    """The build of the site checks the links of all other pages."""
    broken = []
    for link in markdown_pages.links((ROOT / "README.md").read_text("utf-8")):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = ROOT / (path or "README.md")
        if not target.exists():
            broken.append(f"{link}: no such file")
        elif anchor and anchor not in markdown_pages.anchors(target.read_text("utf-8")):
            broken.append(f"{link}: no such heading")
    assert not broken, "\n".join(broken)


CONTRIBUTORS = (
    ".github/CONTRIBUTING.md",
    "docs/maintaining.md",
    "docs/project/",
    "docs/how-to/add-a-",
)
IDENTIFIER = re.compile(r"\b_{0,2}[A-Za-z]\w*_\w+|\b[A-Z][a-z]+[A-Z]\w+")


def test_identifiers_on_the_pages_for_contributors_exist() -> None:
    """Regression test: pages contained former names of methods."""
    pages = [(ROOT / name).read_text("utf-8") for name in NAMES if name.startswith(CONTRIBUTORS)]
    spans = [span for page in pages for span in markdown_pages.code_spans(page)]
    names = {name for span in spans for name in IDENTIFIER.findall(span)}
    searches = [["ls-files"], ["grep", "-hwoF", *(f"-e{name}" for name in names), "--", ":!*.md"]]
    found = ""
    for search in searches:
        done = subprocess.run(
            ["git", *search], cwd=ROOT, capture_output=True, text=True, check=False
        )
        if done.returncode:
            pytest.skip("not a git checkout")
        found += done.stdout
    assert len(names) > 20
    assert names - set(re.findall(r"\w+", found)) == set()


def test_targets_of_make_on_the_pages_exist() -> None:
    """Regression test: targets were renamed, and `make docs` did nothing because a directory has
    this name."""
    rules = re.findall(
        r"^([a-z][\w%-]*)(?=[^=\n]*:(?!=))", MAKEFILE.read_text("utf-8"), re.MULTILINE
    )
    target = re.compile("|".join(rule.replace("%", r"[\w-]+") for rule in rules))
    missing = set()
    for name, page in zip(NAMES, PAGES, strict=True):
        calls = re.findall(
            r"(?:^\$ |`)make ([\w -]+)(?![\w=])", page.read_text("utf-8"), re.MULTILINE
        )
        words = (word for call in calls for word in call.split())
        missing |= {f"{name}: make {word}" for word in words if not target.fullmatch(word)}
    assert missing == set()


# --- every component has its page and its class ------------------------------------------------


def built_in_components() -> list[tuple[str, str]]:
    registry = json.loads(_airpath.registry())
    return [(family, name) for family in FAMILIES for name, _summary in registry[family]]


@pytest.mark.parametrize(("family", "name"), built_in_components())
def test_every_built_in_component_has_a_class(family: str, name: str) -> None:
    assert name in FAMILIES[family].registry


def model_page(family: str, name: str) -> Path:
    """Return the page named after the component, or the page that lists its parameters."""
    own = MODELS / f"{name}.md"
    shown = re.compile(rf"<!-- parameters: .*\b{FAMILIES[family].registry[name].__name__}\b")
    shared = (page for page in sorted(MODELS.glob("*.md")) if shown.search(page.read_text("utf-8")))
    return own if own.is_file() else next(shared, own)


@pytest.mark.parametrize(("family", "name"), built_in_components())
def test_every_built_in_component_has_a_page_with_the_usual_headings(
    family: str, name: str
) -> None:
    page = model_page(family, name)
    assert page.is_file(), f"write {page.relative_to(ROOT)}"
    headings = " ".join(re.findall(r"^## (.*)$", page.read_text("utf-8"), re.MULTILINE)).lower()
    assert [heading for heading in HEADINGS if heading not in headings] == []
