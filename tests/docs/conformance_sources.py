"""The packet scripts and the published formulas in the sources of the tests."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_TEST = re.compile(
    r"(?P<doc>(?:^ *///.*\n)*)(?P<attributes>(?:^ *#\[.*\]\n)+)^ *fn (?P<name>\w+)\(\)",
    re.MULTILINE,
)
_HARNESS = re.compile(
    r"^use (?:crate::script::(?!Peer;)|airpath_conformance::Script;)", re.MULTILINE
)
_RFC = re.compile(r"RFC \d+(?:(?:,? (?:and )?)§[\d.]*\d)*")
_LAW = re.compile(
    r'\bLaw(?: \{|\()\s*area[:=] ?"([^"]*)",\s*source[:=]\s*"((?:[^"\\]|\\.|\\\n)*)"', re.DOTALL
)
_SECTION = re.compile(r"(?:(?:rfc(\d+)_|s)(\d+(?:_\d+)*)_)?(\w+)")
_ACRONYMS = ["ack", "cwr", "dsack", "ece", "ecn", "ect", "prr", "rto", "rtt", "sack", "syn"]
_WORDS = {**{word: word.upper() for word in _ACRONYMS}, "acks": "ACKs", "ns3": "ns-3"}


@dataclass(frozen=True)
class Script:
    """A packet script: its name as a sentence, and the sources in its name and comment."""

    name: str
    sentence: str
    sources: str


@dataclass(frozen=True)
class ScriptFile:
    """A file of packet scripts: its title, and its tests in order."""

    name: str
    title: str
    scripts: list[Script]


def script(name: str, doc: str) -> Script:
    """Return the script of a test. The RFC sections come from the start of the test's name, or
    from its comment."""
    rfc, section, rest = _SECTION.fullmatch(name).groups()
    place = "§" + section.replace("_", ".") if section else ""
    named = [f"RFC {rfc} {place}" if rfc else place] if place else []
    words = " ".join(_WORDS.get(word, word) for word in rest.split("_"))
    words = re.sub(r"\brfc(?=\d)", "RFC ", words)
    sources = ", ".join(dict.fromkeys([*named, *_RFC.findall(doc)]))
    return Script(name, words[:1].upper() + words[1:], sources)


def script_files(root: Path) -> list[ScriptFile]:
    """Return the files of scripts, in the order of their names.

    These are the files that drive a sender or a receiver by hand, and those that record runs as
    scripts. Property tests have arguments, so they are not counted.
    """
    found = []
    directories = [root / "crates" / crate / "tests" for crate in ("tcp", "sim")]
    files = [file for directory in directories for file in directory.glob("*.rs")]
    for file in sorted(files, key=lambda file: file.name):
        text = file.read_text("utf-8")
        if not _HARNESS.search(text):
            continue
        scripts = [
            script(m["name"], _line(m["doc"]))
            for m in _TEST.finditer(text)
            if "#[test]" in m["attributes"]
        ]
        found.append(ScriptFile(file.stem, _title(text), scripts))
    return found


def _line(comment: str) -> str:
    return " ".join(line.strip().removeprefix("///").strip() for line in comment.splitlines())


def _title(text: str) -> str:
    lines = []
    for line in text.splitlines():
        if not line.startswith("//! "):
            break
        lines.append(line.removeprefix("//! "))
    return " ".join(lines)


def law_sources(root: Path) -> dict[str, str]:
    """Return the published formulas that the tests check; each citation maps to its area."""
    found: dict[str, str] = {}
    rust = [*(root / "crates").glob("*/src/**/*.rs"), *(root / "crates").glob("*/tests/**/*.rs")]
    for file in sorted(rust):
        text = file.read_text("utf-8")
        if "crates/conformance/" in file.as_posix() or "use airpath_conformance::" not in text:
            continue
        for area, source in _LAW.findall(text):
            found[re.sub(r"\\\n\s*", "", source)] = area
    for file in sorted((root / "tests").rglob("test_*.py")):
        text = file.read_text("utf-8")
        if "from conformance import" in text:
            found |= {source: area for area, source in _LAW.findall(text)}
    return found


def position(root: Path, file: str, test: str) -> int:
    """Return the position of a test in its file, for the order on a page."""
    name = re.split(r"::", test)[-1].split("[")[0]
    found = re.search(
        rf"^ *(?:fn|def) {re.escape(name)}\(", (root / file).read_text(), re.MULTILINE
    )
    return found.start() if found else 0
