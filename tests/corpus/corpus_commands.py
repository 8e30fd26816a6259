"""Invalid command lines: every option of every command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import typer
from corpus_case import Case

from airpath.cli import app

GOOD_WORDS: Mapping[str, tuple[str, ...]] = {
    "run": ("good.toml", "--reps", "1"),
    "emulate": ("good.toml",),
    "solve": ("good.toml",),
    "compare": ("good.toml", "--reps", "1", "--engines", "simulate,solve"),
    "check": ("good.toml",),
    "reproduce": ("qawla", "table2"),
    "report": ("good/paper.json",),
    "sweep run": ("good/sweep.toml", "--threads", "1"),
    "sweep status": ("good/ledger.sqlite",),
    "sweep export": ("good/ledger.sqlite", "--out", "new"),
    "sweep prune": ("good/ledger.sqlite",),
    "list": (),
    "example": ("dual-regime",),
    "phy per": ("--channel", "awgn", "--snr", "2", "--mcs", "0", "--errors", "1"),
    "phy ser": ("--snr", "2"),
    "trace info": ("good.trace",),
    "trace convert": ("good.trace", "new.csv", "--bin-width", "1 s"),
    "trace generate": ("new.trace", "--duration", "1 s"),
}
"""Valid arguments of each command."""

_TEXTS = ("", " ", "house", "\x00", "\x1b[2J", "\udcff", "x" * 5000)
_NOT_WHOLE = ("", "house", "1.5", "nan", "inf", "1e3", "0x10", "1 000", "1,000", "--json")
_NOT_COUNTS = (*_NOT_WHOLE, "-1", "0")
_NOT_SEEDS = (*_NOT_WHOLE, "-1", "18446744073709551616", "9" * 30)
_QUANTITIES = ("", "house", "5", "-1 {}", "nan {}", "1e99 {}", "5 parsecs", "1,5 {}", "{}")


def _with_unit(unit: str) -> tuple[str, ...]:
    return tuple(text.format(unit) for text in _QUANTITIES)


_SETTINGS = (
    "", "=", "duration", "duration=", "=1", ".=1", "a..b=1", "durations=1 s", "duration=1",
    "duration=0 s", "duration.x=1", "flows.9.count=1", "flows.-1.count=1", "flows.x.count=1",
    "flows=[]",
    "bottleneck.aqm=gread", "bottleneck.link.rat=5 Mbit/s", "bottleneck.link.kind=fixe",
    "flows.0.cc={kind = 3}", "flows.0.tcp.initial_windw=3", "name=1", "\x00=1",
)  # fmt: skip
WRONG_VALUES: Mapping[str, tuple[str, ...]] = {
    "--set": _SETTINGS,
    "--parts": ("", "missing.py", "good.toml", "pipe/x", "a\x00b", "x" * 300),
    "--reps": (*_NOT_COUNTS, "1000001", "9" * 30),
    "--seed": _NOT_SEEDS,
    "--threads": _NOT_COUNTS,
    "--dask": ("", "house", "missing.py", "good.toml"),
    "--confidence": ("", "house", "0", "1", "-1", "2", "nan", "inf", "99 %"),
    "--out": ("", "good.toml", "good.toml/x", "pipe", "pipe/x", "a\x00b", "x" * 300),
    "--format": ("", "house", "csv,", ",", "CSV;parquet", "xlsx"),
    "--figure-format": ("", "house", "png,", ",", "PNG;svg", "jpeg"),
    "--window": (
        "",
        "house",
        "20s",
        "20..30",
        "30s..20s",
        "20s..20s",
        "-1s..2s",
        "1e99s..2s",
        "..",
    ),
    "--capture": ("", "house", "sender,", ",", "senders"),
    "--capture-replication": (*_NOT_WHOLE, "-1", "1", "9" * 30),
    "--channel": _TEXTS,
    "--snr": (
        "",
        ",",
        "house",
        "1:2",
        "1:2:0",
        "2:1:1",
        "1:2:3:4",
        "nan",
        "inf",
        "1e3",
        "1:2:1e-9",
    ),
    "--mcs": ("", ",", "house", "99", "-1", "1.5"),
    "--mapping": _TEXTS,
    "--model": _TEXTS,
    "--engines": (*_TEXTS, "simulate", "simulate,", ",", "simulate;solve", "solve,solve"),
    "--errors": (*_NOT_WHOLE[:4], "inf", "-1", "0", "1e99"),
    "--blocks": (*_NOT_WHOLE[:4], "inf", "-1", "0", "1e99"),
    "--iterations": (*_NOT_COUNTS, "1001", "9" * 30),
    "--algorithm": _TEXTS,
    "--demapper": _TEXTS,
    "--modulation": _TEXTS,
    "--server": _TEXTS,
    "--tx": (*_NOT_COUNTS, "3", "9" * 30),
    "--rx": (*_NOT_COUNTS, "9", "9" * 30),
    "--fading": _TEXTS,
    "--k-factor-db": ("", "house", "3", "nan", "inf"),
    "--m": ("", "house", "1", "nan", "inf"),
    "--method": _TEXTS,
    "--packet": (*_with_unit("B"), "0 B"),
    "--plot": ("", "x", "x.txt", "x.jpeg", ".png/", "missing/x.png", "a\x00b.png"),
    "--bin-width": (*_with_unit("ms"), "0 ms"),
    "--to": ("", "house", "CSV"),
    "--from": ("", "house", "CSV", "iperf3"),
    "--trajectory": (*_with_unit("s"), "0 s"),
    "--max-window-packets": ("", "house", "0", "0.99", "-1", "nan", "inf"),
    "--duration": (*_with_unit("s"), "0 s", "2 h"),
    "--mean-snr": ("", "house", "5", "5 Mbit/s", "nan dB", "1e99 dB", "-51 dB", "101 dB"),
    "--bandwidth": (*_with_unit("Hz"), "0 Hz"),
    "--cap": (*_with_unit("Mbit/s"), "0 bit/s"),
    "--speed": (*_with_unit("m/s"), "1e5 m/s"),
    "--carrier": (*_with_unit("Hz"), "0 Hz"),
}
"""Values that options reject."""

_ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "scenario": ("missing.toml", "", ".", "good.trace", "good.toml/x", "pipe", "\x00", "x" * 300),
    "command": ("", "\x00", "a\x00b"),
    "paper": ("", "house", "qawl", "QAWLA", "\x00"),
    "items": ("", "house", "table99", "fig", "\x00"),
    "name": ("", "house", "dual-regim", "../dual-regime", "dual-regime.toml", "\x00"),
    "kind": ("", "house", "aqms", "AQM", "\x00"),
    "file": (
        "missing",
        "",
        ".",
        "traces:",
        "traces:missing",
        "traces:../x",
        "good.toml",
        "pipe",
        "\x00",
    ),
    "ledger": ("missing", "", ".", "good.toml", "good.toml/x", "good.trace", "pipe", "\x00"),
    "source": ("missing", "", ".", "traces:missing", "good.toml", "pipe", "\x00"),
    "target": ("", ".", "missing/new.csv", "good.trace/x.csv", "new.xlsx", "pipe", "\x00"),
}
"""Mapping from the name of a positional argument to values that it rejects."""

_WRITTEN = ("--capture", "--capture-replication", "--format", "--figure-format", "--window")
"""Options about the written files."""

CONTRADICTIONS: Mapping[str, tuple[str, ...]] = {
    "both lengths": ("reproduce", "qawla", "table2", "--quick", "--full"),
    "figures without a directory": ("run", "good.toml", "--plot"),
    "formats of figures without a directory": (
        "phy", "per", "--channel", "awgn", "--snr", "2", "--figure-format", "svg",
    ),
    "a capture without a directory": ("run", "good.toml", "--capture", "sender"),
    "a replication that is not run": (
        "run", "good.toml", "--reps", "1", "--capture", "sender", "--capture-replication", "1",
        "--out", "new",
    ),
    "the file that is read": ("trace", "convert", "good.trace", "good.trace"),
    "one mapping and another": (
        "phy", "per", "--channel", "vehicular-a/localized", "--mapping", "random", "--snr", "2",
        "--mapping", "house",
    ),
    "a mapping without subcarriers": (
        "phy", "per", "--channel", "awgn", "--mapping", "localized", "--snr", "2",
    ),
    "a trace and a table": ("trace", "info", "good.toml"),
    "a server without a client": ("emulate", "good.toml", "--server", "cat"),
    "two commands": ("emulate", "good.toml", "--shell", "--", "cat"),
    "the output of two": ("emulate", "good.toml", "--json", "--", "cat"),
    "a command many times": ("emulate", "good.toml", "--reps", "2", "--", "cat"),
    "packets without a directory": ("emulate", "good.toml", "--capture"),
}  # fmt: skip


def commands() -> dict[str, Any]:
    """Return every command by its words."""
    found = {}
    for name, part in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        inner = getattr(part, "commands", None)
        found |= {name: part} if inner is None else {f"{name} {w}": c for w, c in inner.items()}
    return found


def command_lines() -> Iterator[Case]:
    for name, command in commands().items():
        words, good = tuple(name.split()), GOOD_WORDS[name]
        for parameter in command.params:
            if parameter.param_type_name == "argument":
                yield from _argument(name, words, good, parameter)
            else:
                yield from _option(words, good, parameter)
        yield _case("an unknown option", name, (*words, *good, "--house"))
        yield _case("an unknown letter", name, (*words, *good, "-x"))
        if all(p.nargs == 1 for p in command.params if p.param_type_name == "argument"):
            yield _case("an argument too many", name, (*words, *good, "more", "and more"))
        yield _case("a command in capitals", name, (words[0].upper(), *words[1:], *good))
        yield _case("a command with a letter too many", name, (*words[:-1], f"{words[-1]}x", *good))
    for kind, line in CONTRADICTIONS.items():
        yield _case(f"contradiction: {kind}", line[0], line)
    for word in ("", " ", "\x00", "-", "--", "--set", "simulate", "--house", "--version=1"):
        yield _case("no command", repr(word), (word,))


def _case(kind: str, name: str, words: tuple[str, ...], says: str = "", advice: str = "") -> Case:
    return Case("command line", kind, name, words, says, advice)


def _option(words: tuple[str, ...], good: tuple[str, ...], option: Any) -> Iterator[Case]:
    for spelling in (*option.opts, *option.secondary_opts):
        if not spelling.startswith("--") or spelling == "--help":
            continue
        name = " ".join((*words, spelling))
        misspelt = spelling[:-1]
        yield _case("an option with a letter missing", name, (*words, *good, misspelt + "q"))
        yield _case("an option in capitals", name, (*words, *good, spelling.upper()))
        if option.is_flag:
            yield _case(
                "a value that an option does not take", name, (*words, *good, spelling + "=1")
            )
            continue
        yield _case("an option without its value", name, (*words, *good, spelling), "", spelling)
        for value in WRONG_VALUES[spelling]:
            shown = value if len(value) < 50 else f"{value[:20]}..."
            words_given = (*words, *good, f"{spelling}={value}")
            if spelling in _WRITTEN:
                words_given += ("--out", "new")
            if spelling == "--capture-replication":
                words_given += ("--capture", "sender")
            yield _case("a value that is refused", f"{name} {shown!r}", words_given)
        if option.required:
            place = good.index(spelling)
            without = (*good[:place], *good[place + 2 :])
            yield _case("an option that is missing", name, (*words, *without), "", spelling)


def _argument(
    name: str, words: tuple[str, ...], good: tuple[str, ...], argument: Any
) -> Iterator[Case]:
    arguments = [p.name for p in _params(name) if p.param_type_name == "argument"]
    place = arguments.index(argument.name)
    for value in _ARGUMENTS[argument.name]:
        given = [*good]
        given[place : place + 1] = [value]
        shown = value if len(value) < 50 else f"{value[:20]}..."
        kind = "an argument that is refused"
        yield _case(kind, f"{name} {argument.name} {shown!r}", (*words, *given))
    if argument.required:
        yield _case("an argument that is missing", name, (*words, *good[:place]))


def _params(name: str) -> list[Any]:
    found: list[Any] = commands()[name].params
    return found
