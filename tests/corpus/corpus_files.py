"""Invalid files: a scenario, a trace, a table of error rates with one change."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from corpus_case import Case
from corpus_tables import GOOD, Literal, toml

# --- scenarios as bytes --------------------------------------------------------------------------

SCENARIO = toml(GOOD)


def scenarios() -> Iterator[Case]:
    for kind, content in {**_encodings(), **_broken_toml()}.items():
        for command in ("check", "run", "solve"):
            yield Case(
                "file", kind, command, (command, "bad.toml"), "bad.toml: ", "",
                {"bad.toml": content},
            )  # fmt: skip
    # A truncated file, at every position where the rest is no valid scenario.
    for end in range(1, len(SCENARIO) - 1, 3):
        text = SCENARIO[:end]
        yield Case(
            "file", "the file ends too early", f"after {end} characters", ("check", "bad.toml"),
            "bad.toml: ", "", {"bad.toml": text.encode()},
        )  # fmt: skip


def _encodings() -> dict[str, bytes]:
    return {
        "an empty file": b"",
        "only a comment": b"# nothing\n",
        "UTF-16": SCENARIO.encode("utf-16"),
        "UTF-32": SCENARIO.encode("utf-32"),
        "Latin-1": b'name = "stra\xdfe"\n' + SCENARIO.encode(),
        "half a character": SCENARIO.encode() + b"# \xe2\x82",
        "a lone surrogate": b'name = "\xed\xa0\x80"\n' + SCENARIO.encode(),
        "an overlong character": b'name = "\xc0\xaf"\n' + SCENARIO.encode(),
        "a zero byte": SCENARIO.encode() + b"\x00",
        "a control character": b'name = "\x07"\n' + SCENARIO.encode(),
        "a picture": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
        "compressed": b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03" + bytes(range(200)),
        "old Macintosh line ends": SCENARIO.replace("\n", "\r").encode(),
    }


def _broken_toml() -> dict[str, bytes]:
    lines = {
        "null": "warmup = null",
        "a bare word": "name = house",
        "Python's True": "record = {ss = True}",
        "no value": "warmup =",
        "no equals sign": "warmup",
        "a colon for the equals sign": "warmup: 1",
        "two values": 'warmup = "1 s" "2 s"',
        "two keys in a line": 'warmup = "1 s", name = "x"',
        "an open text": 'name = "house',
        "an open list": "control = [",
        "an open table": "record = {",
        "an open heading": "[record",
        "a closed list too many": "control = []]",
        "a text in wrong quotes": "name = “house”",
        "an unknown escape": '''name = "\\q"''',
        "half an escape": '''name = "\\u12"''',
        "a surrogate as escape": '''name = "\\ud800"''',
        "a key given twice": 'name = "a"\nname = "b"',
        "a key given twice with dots": "record.ss = true\nrecord.ss = false",
        "a table given twice": "[record]\n[record]",
        "a table that is a value already": '[duration]\nx = 1\n',
        "a list of tables that is a list already": '[[flows]]\ncount = 1\n',
        "a key below a text": 'duration.x = "1 s"',
        "an empty key": "= 1",
        "an empty quoted key": '"" = 1',
        "a key with spaces": 'two words = 1',
        "a leading zero": "seed = 007",
        "a unit without quotes": "warmup = 1 s",
        "a date that is none": "warmup = 2024-13-45",
        "an open date": "warmup = 2024-",
        "thousands of brackets": "control = " + "[" * 5000,
        "thousands of tables": "record = " + "{a = " * 3000,
        "thousands of dotted keys": ".".join(["a"] * 5000) + " = 1",
        "a table inside a text": 'bottleneck = "{aqm = gred}"',
        "JSON": '{"duration": "4 s"}',
        "YAML": "duration: 4 s\nflows:\n  - count: 1",
        "XML": "<scenario/>",
    }  # fmt: skip
    return {kind: (SCENARIO + line + "\n").encode() for kind, line in lines.items()}


# --- traces --------------------------------------------------------------------------------------

_ODD_TIMES = {
    "a word": "house", "a number below 0": "-1", "a decimal number": "1.5", "an exponent": "1e3",
    "a hexadecimal number": "0x10", "digits of another script": "٣", "two numbers": "4 5",
    "a comma": "4,5", "an empty line": "", "blanks": "   ", "a unit": "4 ms", "a plus sign": "+4",
    "no number": "nan", "infinity": "inf", "more than 64 bits": "99999999999999999999999",
    "far too late": "9999999999999", "a comment": "# note", "an underscore": "1_000",
    "a zero byte": "\x004", "a control character": "\x1b[2J", "a very long line": "4" * 100_000,
    "a quoted number": '"4"', "a time before the last": "0",
}  # fmt: skip
_ODD_TIMES_AT_THE_START = {"a time before the last"}
_ODD_CELLS = {
    key: value for key, value in _ODD_TIMES.items()
    if key not in ("a decimal number", "an exponent", "a comma", "an empty line", "a comment",
                   "a time before the last", "a plus sign", "two numbers", "a quoted number")
} | {"an empty cell": "", "a decimal comma": "0,5,7"}  # fmt: skip


def traces() -> Iterator[Case]:
    times = ["1", "2", "3", "4", "5"]
    for kind, line in _ODD_TIMES.items():
        for place in (0, 2, 4):
            if kind in _ODD_TIMES_AT_THE_START and place == 0:
                continue
            yield from _trace(kind, f"line {place + 1}", "bad.trace", _joined(times, place, line))
    rows = ["time_s,rate_bps", "0,1000000", "1,2000000", "2,1000000", "3,0"]
    for kind, cell in _ODD_CELLS.items():
        for place, column in ((1, 0), (3, 0), (1, 1), (4, 1)):
            cells = rows[place].split(",")
            cells[column] = cell
            name = f"line {place + 1}, column {column + 1}"
            yield from _trace(kind, name, "bad.csv", _joined(rows, place, ",".join(cells)))
    for kind, content in _WHOLE_TRACES.items():
        yield from _trace(kind, "Mahimahi", "bad.trace", content)
    for kind, content in _WHOLE_CSVS.items():
        yield from _trace(kind, "CSV", "bad.csv", content)


def _joined(lines: list[str], place: int, line: str) -> bytes:
    return "".join(f"{x}\n" for x in (*lines[:place], line, *lines[place + 1 :])).encode()


def _trace(kind: str, name: str, file: str, content: bytes) -> Iterator[Case]:
    files = {file: content}
    commands: dict[str, tuple[str, ...]] = {
        "info": ("trace", "info", file),
        "convert": ("trace", "convert", file, "new.csv", "--bin-width", "1 s"),
        "run": ("run", "good.toml", "--set", f"bottleneck.link={_link(file)}", "--reps", "1"),
    }
    for command, words in commands.items():
        says = "" if command == "run" else f"{file}:"
        yield Case("trace", kind, f"{command} {file} {name}", words, says, file, files)


def _link(file: str) -> str:
    return f'{{kind = "{"rate-trace" if file.endswith("csv") else "trace"}", file = "{file}"}}'


_WHOLE_TRACES = {
    "an empty file": b"",
    "only an empty line": b"\n",
    "all at time 0": b"0\n0\n",
    "UTF-16": "1\n2\n".encode("utf-16"),
    "not UTF-8": b"1\n\xff\n",
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
    "a CSV under another name": b"time_s,rate_bps\n0,1\n1,1\n",
    "old Macintosh line ends": b"1\r2\r3\r",
}
_WHOLE_CSVS = {
    "an empty file": b"",
    "only a header": b"time_s,rate_bps\n",
    "one row": b"time_s,rate_bps\n0,1\n",
    "no header": b"0,1000000\n1,1000000\n",
    "another header": b"time,rate\n0,1\n1,1\n",
    "columns changed": b"rate_bps,time_s\n1,0\n1,1\n",
    "three columns": b"time_s,rate_bps\n0,1,2\n1,1,2\n",
    "one column": b"time_s,rate_bps\n0\n1\n",
    "semicolons": b"time_s;rate_bps\n0;1\n1;1\n",
    "a time before the last": b"time_s,rate_bps\n0,1\n2,1\n1,1\n",
    "a time twice": b"time_s,rate_bps\n0,1\n1,1\n1,2\n2,1\n",
    "all rates 0": b"time_s,rate_bps\n0,0\n1,0\n",
    "a rate below 0": b"time_s,rate_bps\n0,-1\n1,1\n",
    "a rate above every link": b"time_s,rate_bps\n0,1e30\n1,1\n",
    "a Mahimahi trace under another name": b"1\n2\n3\n",
    "UTF-16": "time_s,rate_bps\n0,1\n1,1\n".encode("utf-16"),
    "not UTF-8": b"time_s,rate_bps\n0,\xff\n1,1\n",
}

# --- tables of error rates -----------------------------------------------------------------------

_MCS = {
    "name": "a", "label": "qpsk-1/2", "bits_per_symbol": 2, "code_rate": 0.5, "block_bytes": 60,
    "rate_bps": 1e6,
}  # fmt: skip
TABLE: dict[str, Any] = {
    "channel": "awgn",
    "snr_range_db": [0.0, 10.0],
    "curves": [
        {
            "mcs": _MCS,
            "points": [
                {"snr_db": 0.0, "errors": 90, "blocks": 100},
                {"snr_db": 5.0, "errors": 9, "blocks": 1000},
                {"snr_db": 10.0, "errors": 0, "blocks": 1000},
            ],
        }
    ],
}

_ODD_JSON: dict[str, tuple[Any, type | tuple[type, ...]]] = {
    "null": (None, ()),
    "a truth value": (True, bool),
    "a text": ("house", str),
    "a number as text": ("7", str),
    "a list": ([], ()),
    "a list in a list": ([[1]], ()),
    "a table": ({}, ()),
    "a number below 0": (-7, (float,)),
    "a decimal number": (2.5, (float,)),
    "far above its range": (1e300, ()),
    "more than 64 bits": (10**30, ()),
    "no number": (Literal("NaN"), ()),
    "infinity": (Literal("Infinity"), ()),
    "1e400": (Literal("1e400"), ()),
}


_GOOD_AFTER_ALL = [
    (("snr_range_db", 0), "a number below 0"),
    (("snr_range_db", 1), "far above its range"),
    (("snr_range_db", 1), "more than 64 bits"),
    (("curves", 0, "points", 0, "snr_db"), "a number below 0"),
]


def error_rates() -> Iterator[Case]:
    for path, good in _leaves(TABLE, ()):
        if path[-1] in ("label",):
            continue
        for kind, (value, good_for) in _ODD_JSON.items():
            # The SNR range of a table may extend beyond all of its points.
            if not isinstance(good, good_for) and (path, kind) not in _GOOD_AFTER_ALL:
                yield from _table(kind, path, _json(_with(path, value)))
        if not isinstance(path[-1], int) and path[-1] not in ("snr_range_db",):
            yield from _table("a key that is missing", path, _json(_without(path)))
    for kind, content in _WHOLE_TABLES.items():
        yield from _table(kind, (), content)


def _leaves(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if path:
        yield path, value
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in inner:
        yield from _leaves(item, (*path, key))


def _with(path: tuple[Any, ...], value: Any) -> Any:
    document = copy.deepcopy(TABLE)
    table: Any = document
    for step in path[:-1]:
        table = table[step]
    table[path[-1]] = value
    return document


def _without(path: tuple[Any, ...]) -> Any:
    document = _with(path, 0)
    table: Any = document
    for step in path[:-1]:
        table = table[step]
    del table[path[-1]]
    return document


def _json(document: Any) -> bytes:
    """Return JSON with a `Literal` verbatim."""
    if isinstance(document, Literal):
        return str(document).encode()
    if isinstance(document, dict):
        pairs = (json.dumps(key).encode() + b": " + _json(v) for key, v in document.items())
        return b"{" + b", ".join(pairs) + b"}"
    if isinstance(document, list):
        return b"[" + b", ".join(map(_json, document)) + b"]"
    return json.dumps(document).encode()


_GOOD = _json(TABLE)
_WHOLE_TABLES = {
    "an empty file": b"",
    "a list in place of the table": b"[]",
    "a number": b"7",
    "an empty table": b"{}",
    "two documents": _GOOD + _GOOD,
    "the file ends too early": _GOOD[: len(_GOOD) // 2],
    "UTF-16": _GOOD.decode().encode("utf-16"),
    "not UTF-8": _GOOD.replace(b"awgn", b"\xff"),
    "TOML": b'channel = "awgn"\n',
    "thousands of brackets": b"[" * 100_000,
    "no curve": _json({**TABLE, "curves": []}),
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
}


def _table(kind: str, path: tuple[Any, ...], content: bytes) -> Iterator[Case]:
    link = '{kind = "adaptive", table = "bad.json", snr_db = 5, policy = {kind = "fixed", mcs = 0}}'
    words = ("check", "good.toml", "--set", f"bottleneck.link={link}")
    name = ".".join(map(str, path)) or "whole"
    yield Case("table", kind, name, words, "", "bad.json", {"bad.json": content})
