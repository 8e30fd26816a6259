"""Write the class tables on the pages of the reference; `make generate-docs` runs this script.

A generated block starts with one of these markers and ends with `<!-- end -->`:

* `<!-- parameters: CLASS -->`: the table of the parameters of a class
* `<!-- components: FAMILY -->`: all classes of a family
* `<!-- words: LIST -->`, in a table cell: the accepted values of a key
* `<!-- models -->`, in `models/index.md`: the list of the model pages, ordered by `INDEX`
* `<!-- tcp: TABLE -->`: a table about the TCP parameters

The blocks are created from the classes, their docstrings, the registries and the table of TCP
parameters. The text around them is written by hand.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import parameter_docs
import tcp_texts
from parameter_docs import Parameter

from airpath.scenario import FAMILIES
from airpath.scenario.base import Model
from airpath.scenario.scenario import CAPTURE_POINTS, DISTRIBUTIONS, SERIES
from airpath.scenario.tcp.profiles import profiles
from airpath.scenario.units import quote

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
MODELS = REFERENCE / "models"
_BLOCK = re.compile(
    r"(<!-- (parameters|components|words|models|tcp)(?:: (.*?))? -->\n?)(.*?)(<!-- end -->)",
    re.DOTALL,
)
_CLASSES = re.compile(r"<!-- parameters: (.*?) -->")


class Family(NamedTuple):
    """Title of a family on the pages, and the start of a section about one of its components."""

    title: str
    heading: str = "### `kind"


TITLES = {
    "aqm": Family("Queue disciplines"),
    "congestion": Family("Congestion controls", "#### `cc.kind"),
    "window": Family("Receive windows", "#### `window.kind"),
    "link": Family("Links"),
    "scheduler": Family("Schedulers", "### `scheduler.kind"),
    "request": Family("Requests for the uplink", "### `request.kind"),
    "grant": Family("Grants", "### `grant.kind"),
    "snr": Family("SNR over time"),
    "errors": Family("Errors on links"),
    "policy": Family("Link adaptation"),
}
"""Titles of families; a family that is missing here has its name as title."""


class Group(NamedTuple):
    """A list in the index of the models: a title, then pages, families (`*NAME`) and nested lists.

    A family is replaced by the pages of its components that no other group lists. A family that is
    in no group becomes a group at the end.
    """

    title: str
    members: tuple[str | Group, ...]


INDEX = (
    Group(
        "Queue disciplines",
        (
            Group("Drop-tail and RED", ("droptail", "red", "ared", "gred", "rlc-red")),
            Group("Delay targets", ("codel", "fq-codel", "pie", "dualpi2", "l4span")),
            Group("Prices, load factors, slopes", ("clamp", "rem", "vcp-queue", "sbd")),
            "*aqm",
        ),
    ),
    Group(
        "TCP and traffic",
        (
            "tcp",
            Group("Traffic", ("traffic", "datagram-sources", "voice", "video", "requests")),
            Group("Congestion controls", ("*congestion",)),
            Group("Further controls of Linux", ("random-losses", "hybla", "high-speed", "vegas")),
            Group("Delay targets at the sender", ("ledbat", "copa", "c2tcp")),
            Group("Controls by marks and feedback", ("dctcp", "prague", "clamp-sender", "vcp")),
            Group("Receive windows", ("*window",)),
        ),
    ),
    Group("Links", ("*link",)),
    Group(
        "Medium access",
        (
            Group("Schedulers", ("*scheduler",)),
            Group("Requests for the uplink", ("*request",)),
            Group("Grants", ("*grant",)),
            "harq",
        ),
    ),
    Group(
        "Radio channel",
        (
            Group("SNR over time", ("*snr",)),
            Group("Errors on links", ("*errors",)),
            "path-loss",
        ),
    ),
    Group("Link adaptation", ("*policy",)),
    Group("Physical layer", ("error-rates", "ctc", "block-fading", "symbol-error-rates")),
    Group(
        "Analytic models",
        ("fixed-point", "network-fixed-point", "clamp-fluid", "md1k", "rtt-stages"),
    ),
)
"""The list of the models' pages, with at most nine entries in each list."""

WORDS = {
    "int": "integer",
    "float": "number",
    "str": "text",
    "bool": "`true`, `false`",
    "Framing": "[framing](SCENARIO#framing)",
    "AttemptErrors": "table, below",
    "SlotRate": "table, below",
    "RequestProcedure": "[request](SCENARIO#requests-for-the-uplink-request)",
    "GrantPolicy": "[grant](SCENARIO#grants-without-a-request-grant)",
    "Harq": "[HARQ](SCENARIO#harq-and-arq)",
    "Arq": "[ARQ](SCENARIO#harq-and-arq)",
    "ReedSolomon": "[code](SCENARIO#code-of-packets)",
    "SmallPackets": "[small packets](SCENARIO#code-of-packets)",
    "Radio": "[radio](SCENARIO#radio)",
    "MapOverhead": "`{slots = 60, per_burst = 2}`",
    "Fragmentation": "table, below",
    "Packing": "table, below",
    "InOrder": "table, below",
    "Scheduler": "[scheduler](SCENARIO#schedulers-scheduler)",
    "AdaptiveMargin": "`{target_loss = 0.001}`",
    "SnrProcess": "[SNR](SCENARIO#snr-over-time-snr)",
    "ErrorProcess": "[errors](SCENARIO#errors-errors)",
    "LinkAdaptation": "[policy](SCENARIO#link-adaptation-policy)",
    "Uniform": '`{uniform = ["0 s", "600 s"]}`',
    "RandomSize": "[drawn](SCENARIO#sizes-that-are-drawn)",
    "RandomTime": '`{exponential = "1 s"}`',
    "Pareto": "table, below",
    "Triangular": "table, below",
    **{
        name: name.lower()
        for name in (
            "Duration",
            "Rate",
            "Size",
            "Packets",
            "Segments",
            "Decibels",
            "Frequency",
            "Length",
            "Speed",
        )
    },
    "ArrivalRate": "arrivals",
}
"""Mapping from a type in a docstring to its name in a scenario file."""
WORD_LISTS: Mapping[str, Callable[[], Iterable[str]]] = {
    "congestion": lambda: map(quote, FAMILIES["congestion"].registry),
    "profiles": lambda: map(quote, profiles()),
    "series": lambda: SERIES,
    "distributions": lambda: DISTRIBUTIONS,
    "capture points": lambda: CAPTURE_POINTS,
}
"""Accepted values of keys that have a fixed list of values, as written in a scenario file."""
PAPERS = {
    "clamp-2008": "Andrew, Hanly & Mukhtar 2008",
    "qawla-2015": "Ozturk & Akar 2015",
    "sbd-2006": "Alcaraz & Cerdán 2006",
    "vcp-2008": "Yousefi'zadeh, Habibi & Furmanski 2008",
    "wimax-2009": "Park, Hu & Kim 2009",
}


def pages() -> list[Path]:
    """Return the pages that contain generated blocks."""
    single = ("scenario.md", "tcp-profiles.md")
    found = [*sorted(MODELS.glob("*.md")), *(REFERENCE / name for name in single)]
    return [page for page in found if _BLOCK.search(page.read_text("utf-8"))]


def regenerated(page: Path) -> str:
    """Return the page with blocks that match the current classes."""
    scenario = "../scenario.md" if page.parent == MODELS else ""

    def block(found: re.Match[str]) -> str:
        begin, kind, names, _, end = found.groups()
        if kind == "parameters":
            text = _table_of(names.split(", "), scenario)
        elif kind == "components":
            text = _family(names, scenario)
        elif kind == "words":
            text = ", ".join(f"`{word}`" for word in WORD_LISTS[names]())
        elif kind == "tcp":
            table, *about = names.split()
            text = getattr(tcp_texts, table)(*about)
        else:
            text = _index()
        return f"{begin}{text}{end}"

    return _BLOCK.sub(block, page.read_text("utf-8"))


def described() -> dict[str, Path]:
    """Return the page of each class, from the markers of tables."""
    return {
        name: page
        for page in sorted(MODELS.glob("*.md"))
        for names in _CLASSES.findall(page.read_text("utf-8"))
        for name in names.split(", ")
    }


# --- tables ------------------------------------------------------------------------------------


def _table_of(names: list[str], scenario: str) -> str:
    """Return the table of classes with equal parameters, and of the nested rows."""
    known = parameter_docs.models()
    tables = {_tables(known[name], scenario, sources=True) for name in names}
    if len(tables) != 1:
        raise parameter_docs.DocError(f"{', '.join(names)}: their parameters differ")
    return tables.pop()


def _tables(model: type[Model], scenario: str, *, sources: bool) -> str:
    text = _table(parameter_docs.parameters(model), scenario, sources)
    for row in parameter_docs.nested(model):
        text += f"\n{_in_markdown(parameter_docs.summary(row))}\n"
        text += _table(parameter_docs.parameters(row), scenario, sources)
    return text


def _table(rows: Iterable[Parameter], scenario: str, sources: bool) -> str:
    cells = [
        (
            f"`{row.key}`",
            _in_markdown(row.meaning).removesuffix("."),
            _type(row.type, scenario),
            _in_markdown(row.default),
            *([_in_markdown(row.source)] if sources else []),
        )
        for row in rows
    ]
    if not cells:
        return ""
    heads = ["key", "meaning and range", "type", "default", "where the default comes from"]
    width = len(cells[0])
    if sources and not any(cell[-1] for cell in cells):
        width -= 1
    lines = [heads[:width], ["---"] * width, *(cell[:width] for cell in cells)]
    return "\n" + "".join(f"| {' | '.join(line)} |\n".replace("|  |", "| |") for line in lines)


def _type(text: str, scenario: str) -> str:
    """Return a docstring's type in the terms of a scenario file."""
    text = text.removesuffix(", optional")
    if text.startswith("{"):
        return re.sub(r'"[^"]*"', r"`\g<0>`", text.strip("{}"))
    plural = {"int": "integers", "float": "numbers"}
    if text.startswith("pair of"):
        return f"pair of {plural[text.removeprefix('pair of ')]}"
    if text.startswith("list of"):
        member = text.removeprefix("list of ")
        return f"list of {plural.get(member, 'tables, below')}"
    text = re.sub(r'"[^"]*"', r"`\g<0>`", text)
    text = re.sub("[A-Za-z]+", lambda word: WORDS.get(word[0], word[0]), text)
    return text.replace("SCENARIO", scenario)


def _in_markdown(text: str) -> str:
    """Return a docstring's text for a page, without module names and with the page's citations."""
    text = re.sub(r" \(see `airpath[\w.]*`\)", "", text.replace("``", "`"))
    return text.replace("|", "\\|")


# --- families and the index --------------------------------------------------------------------


def _family(name: str, scenario: str) -> str:
    family = TITLES.get(name, Family(name.capitalize()))
    homes = described()
    text = ""
    for kind, model in FAMILIES[name].registry.items():
        about = _in_markdown(parameter_docs.summary(model))
        for short, cited in PAPERS.items():
            about = about.replace(short, cited)
        home = homes.get(model.public_name())
        link = "" if home is None else f" [The model](models/{home.name})."
        called = f" In Python `ap.{model.public_name()}`."
        text += f'\n{family.heading} = "{kind}"`\n{about}{called}{link}\n'
        text += _tables(model, scenario, sources=False)
    return text + "\n"


def _index() -> str:
    known = set(_members(INDEX))
    others = (name for name in FAMILIES if f"*{name}" not in known)
    groups = (
        Group(TITLES.get(name, Family(name.capitalize())).title, (f"*{name}",)) for name in others
    )
    listed = {member for member in known if not member.startswith("*")}
    return "\n" + _list([*INDEX, *groups], "", listed) + "\n"


def _members(groups: Iterable[str | Group]) -> Iterator[str]:
    """Yield the listed pages and families."""
    for group in groups:
        if isinstance(group, str):
            yield group
        else:
            yield from _members(group.members)


def _list(members: Iterable[str | Group], indent: str, listed: set[str]) -> str:
    """Return a nested list, without the pages of a family that are listed elsewhere."""
    text = ""
    for member in members:
        if isinstance(member, Group):
            text += f"{indent}- {member.title}\n" + _list(member.members, indent + "    ", listed)
            continue
        pages = _of_family(member[1:], listed) if member.startswith("*") else [member]
        for page in pages:
            text += f"{indent}- [{_title(MODELS / f'{page}.md')}]({page}.md)\n"
    return text


def _of_family(name: str, listed: set[str]) -> list[str]:
    homes = described()
    pages = (homes.get(model.public_name()) for model in FAMILIES[name].registry.values())
    found = [
        page for page in dict.fromkeys(home.stem for home in pages if home) if page not in listed
    ]
    listed.update(found)
    return found


def _title(page: Path) -> str:
    """Return the name in the title of a page."""
    return re.split("[,:] | [(]", page.read_text("utf-8").partition("\n")[0].removeprefix("# "))[0]


def main(notify: Callable[[str], object] = print) -> int:
    """Write every page whose blocks differ from the classes."""
    for page in pages():
        text = regenerated(page)
        if text != page.read_text("utf-8"):
            page.write_text(text, "utf-8")
            notify(f"{page.relative_to(ROOT)}: rewritten")
    return 0


if __name__ == "__main__":
    sys.exit(main())
