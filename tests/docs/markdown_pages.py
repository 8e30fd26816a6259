"""Parser of Markdown pages for the documentation tests: fenced blocks, links, headings."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_FENCE = re.compile(r"(?P<indent> *)(?P<ticks>`{3,})(?P<language>[^`]*)")
_COMMENT = re.compile(r"\s*<!--\s*(.*?)\s*-->\s*")
_LINK = re.compile(r"!?\[[^\]]*\]\(([^()\s]+(?:\([^()\s]*\))?)(?:\s+\"[^\"]*\")?\)")
_HEADING = re.compile(r"#{1,6} +(.*?) *#* *")


@dataclass
class Block:
    """A fenced block.

    `line` is the number of its first line of content; `comments` are the HTML comments in the
    lines directly above it.
    """

    language: str
    line: int
    text: str
    comments: list[str] = field(default_factory=list)

    def comment(self, prefix: str) -> str | None:
        """Return the text after `prefix` in a comment above the block, or None."""
        found = (c.removeprefix(prefix).strip() for c in self.comments if c.startswith(prefix))
        return next(found, None)


def blocks(page: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page in order."""
    lines = page.splitlines()
    comments: list[str] = []
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        fence = _FENCE.fullmatch(line)
        if fence is None:
            comment = _COMMENT.fullmatch(line)
            if comment:
                comments.append(comment[1])
            elif line.strip():
                comments = []
            continue
        start = number
        while number < len(lines) and lines[number].strip() != fence["ticks"]:
            number += 1
        text = textwrap.dedent("\n".join(lines[start:number]) + "\n")
        yield Block(fence["language"].strip(), start + 1, text, comments)
        comments = []
        number += 1


@dataclass
class Check:
    """An expression whose text the paragraph above it must contain: ``<!-- check: ... -->``.

    `line` is the number of its first line.
    """

    line: int
    expression: str
    paragraph: str


_CHECK = re.compile(r"<!-- check: (.*?) -->", re.DOTALL)


def checks(page: str) -> Iterator[Check]:
    """Yield the checks of a page in order."""
    for found in _CHECK.finditer(page):
        above = re.sub(r"<!--.*?-->", "", page[: found.start()], flags=re.DOTALL).rstrip()
        line = page.count("\n", 0, found.start()) + 1
        yield Check(line, found[1].strip(), re.split(r"\n\s*\n", above)[-1])


def unchecked(page: str) -> list[str]:
    """Return the paragraphs that contain a quantity without a check and without an exemption.

    A quantity that also occurs in a block of the page needs no check, because it is an input or is
    compared with the output. The comment ``<!-- no result: why -->`` below a paragraph exempts it.
    """
    text = _without_code(page)
    known = {quantity for block in blocks(page) for quantity in _QUANTITY.findall(block.text)}
    found = []
    for place in re.finditer(r"(?:^|\n\n)((?:(?!\n\n).)*)", text, flags=re.DOTALL):
        paragraph = re.sub(r"<!--.*?-->", "", place[1], flags=re.DOTALL)
        paragraph = re.sub(r"\]\([^)]*\)", "]", paragraph)
        if set(_QUANTITY.findall(paragraph)) - known:
            below = text[place.end() :].lstrip("\n").partition("\n\n")[0]
            if not re.search(r"<!-- (check|no result): \S", place[1] + below):
                found.append(paragraph.strip())
    return found


_QUANTITY = re.compile(r"[\d.]*\d\s?(?:%|[kMG]?bit/s|[munµ]?s\b|dB\b|times\b|packets\b)")


def _without_code(page: str) -> str:
    """Return the page without its fenced blocks, headings and tables."""
    kept: list[str] = []
    ticks = ""
    for line in page.splitlines():
        fence = _FENCE.fullmatch(line)
        if ticks:
            ticks = "" if line.strip() == ticks else ticks
        elif fence:
            ticks = fence["ticks"]
            kept.append("")
        elif line.startswith(("#", "|")):
            kept.append("")
        else:
            kept.append(line)
    return "\n".join(kept)


def prose(page: str) -> str:
    """Return the page without its fenced blocks and inline code."""
    return re.sub(r"`[^`\n]*`", "", _without_blocks(page))


def code_spans(page: str) -> list[str]:
    """Return the texts of inline code."""
    return re.findall(r"`([^`\n]*)`", _without_blocks(page))


def _without_blocks(page: str) -> str:
    """Return the page without its fenced blocks."""
    kept: list[str] = []
    ticks = ""
    for line in page.splitlines():
        fence = _FENCE.fullmatch(line)
        if ticks:
            ticks = "" if line.strip() == ticks else ticks
        elif fence:
            ticks = fence["ticks"]
        else:
            kept.append(line)
    return "\n".join(kept)


def links(page: str) -> list[str]:
    """Return the targets of all links and pictures."""
    return _LINK.findall(prose(page))


def anchors(page: str) -> set[str]:
    """Return the anchors of the page's headings, by the rule of GitHub."""
    found: set[str] = set()
    in_block = ""
    for line in page.splitlines():
        fence = _FENCE.fullmatch(line)
        if in_block:
            in_block = "" if line.strip() == in_block else in_block
        elif fence:
            in_block = fence["ticks"]
        elif heading := _HEADING.fullmatch(line):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
            slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
            number = 0
            unique = slug
            while unique in found:
                number += 1
                unique = f"{slug}-{number}"
            found.add(unique)
    return found


def pages(root: Path) -> list[Path]:
    """Return all pages of the documentation: in the root directory, in `.github`, and in `docs`.

    Generated pages that are not committed are excluded: all numbers of a paper, and all
    comparisons.
    """
    plugins = root / "crates" / "airpath" / "plugins" / "README.md"
    names = ("README.md", ".github/CONTRIBUTING.md", ".github/SECURITY.md")
    top = [*(root / name for name in names), plugins]
    papers = sorted((root / "papers").rglob("README.md"))
    guide = sorted((root / "docs").rglob("*.md"))
    committed = [page for page in guide if not page.match("*-full.md")]
    return [*top, *committed, *papers]
