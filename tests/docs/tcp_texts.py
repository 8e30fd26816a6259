"""Write the class of TCP parameters from their table, and create tables of the reference.

`make generate-docs` runs this script first, because the other scripts import the class. Therefore
this script imports nothing from the package: it can replace a class that cannot be imported.
"""

from __future__ import annotations

import re
import runpy
import sys
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DIRECTORY = ROOT / "python" / "airpath" / "scenario" / "tcp"
CLASS = DIRECTORY / "config.py"
_TABLE = runpy.run_path(str(DIRECTORY / "table.py"))
parameters, model_groups = _TABLE["parameters"], _TABLE["model_groups"]
_WIDTH = 100

_TYPES = {
    "size": ("Size", "Maybe[Size]", "ABSENT"),
    "size-or-segments": ("Size or Segments", "InitialWindow", "ABSENT"),
    "size-or-unlimited": ('Size or "unlimited"', "SizeOrUnlimited", "None"),
    "time": ("Duration", "Maybe[Duration]", "ABSENT"),
    "time-from-0": ("Duration", "Maybe[Duration]", "ABSENT"),
    "count": ("int", "Number | None", "None"),
    "count-from-0": ("int", "Number | None", "None"),
    "count-or-unlimited": ('int or "unlimited"', "Retries", "None"),
    "fraction": ("float", "Real | None", "None"),
    "bool": ("bool", "Truth | None", "None"),
    "choice": ("", "str | None", "None"),
}
"""Types of the table: in the docstring, as an annotation, and the default."""
_HOMES = {
    "pydantic": ("Field",),
    "airpath.scenario.base": ("ABSENT", "Key", "Maybe"),
    "airpath.scenario.tcp.values": ("InitialWindow", "SizeOrUnlimited", "TcpParameters"),
    "airpath.scenario.units": ("Duration", "Size"),
    "airpath.scenario.values": (*("Number", "Real", "Retries", "Truth", "choice"),),
}
_HEAD = '''"""TCP parameters. `make generate-docs` writes this file from `tcp_options.toml`.

A class in a file, not one made at import: editors and type checkers read it.
"""

from __future__ import annotations

from typing import Annotated

'''
_SUMMARY = '''class TcpConfig(TcpParameters):
    """Parameters of a TCP sender and receiver; the profile has those that are not given.

    Parameters
    ----------
'''


def class_text() -> str:
    """Return the text of the module with the class."""
    entries = "".join(map(_entry, parameters().values()))
    fields = "".join(map(_field, parameters().values()))
    body = f'{_SUMMARY}{entries}    """\n\n{fields}'
    words = set(re.findall(r"\w+", fields)) | {"TcpParameters"}
    imports = [
        _import(module, [name for name in names if name in words])
        for module, names in _HOMES.items()
        if words & set(names)
    ]
    third, own = imports[:1], imports[1:]
    if not words & set(_HOMES["pydantic"]):
        third, own = [], imports
    groups = ["\n".join(group) for group in (third, own) if group]
    return _HEAD + "\n\n".join([*groups, '__all__ = ["TcpConfig"]']) + "\n\n\n" + body


def _import(module: str, names: Iterable[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= _WIDTH:
        return line
    return f"from {module} import (\n" + "".join(f"    {name},\n" for name in names) + ")"


def _entry(row: Any) -> str:
    """Return the entry of a parameter in the docstring."""
    words = ", ".join(f'"{word}"' for word in row.values)
    kind = f"{{{words}}}" if words else _TYPES[row.type][0]
    text = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", meaning(row)) + "."
    # Code is not split over lines.
    text = re.sub("`[^`]+`", lambda code: code[0].replace(" ", "\0"), text)
    lines = textwrap.wrap(text, _WIDTH - 8, break_long_words=False, break_on_hyphens=False)
    body = "".join(f"        {line}\n" for line in lines).replace("\0", " ")
    return f"    {row.name} : {kind}\n{body}"


def _field(row: Any) -> str:
    """Return the field of a parameter, with the line breaks of ruff."""
    _, kind, default = _TYPES[row.type]
    metadata = [_call("choice", row.values, 8)] if row.values else []
    if row.type.startswith("size") and row.resolved == row.name:
        metadata.append(f'Key("{row.name}")')
    if row.example:
        default = f"Field(default={default}, examples=[{row.example!r}])"
    if not metadata:
        return f"    {row.name}: {kind} = {default}\n"
    line = f"    {row.name}: Annotated[{', '.join([kind, *metadata])}] = {default}\n"
    if len(line) <= _WIDTH + 1 and "\n" not in line[:-1]:
        return line
    inner = "".join(f"        {item},\n" for item in (kind, *metadata))
    return f"    {row.name}: Annotated[\n{inner}    ] = {default}\n"


def _call(name: str, words: Iterable[str], indent: int) -> str:
    quoted = [f'"{word}"' for word in words]
    line = f"{name}({', '.join(quoted)})"
    if len(line) + indent < _WIDTH:
        return line
    space = " " * indent
    return f"{name}(\n" + "".join(f"{space}    {word},\n" for word in quoted) + f"{space})"


def meaning(row: Any) -> str:
    """Return the meaning of a parameter, in Markdown, without the final full stop."""
    words = "; ".join(f'`"{word}"` {text}' for word, text in row.values.items())
    first = f"{row.meaning}: {words}" if words else row.meaning
    return ". ".join(text for text in (first, row.note) if text)


# --- tables of the reference ------------------------------------------------------------------


def meanings() -> str:
    """Return the table of all parameters and their meanings."""
    rows = (
        (f"`{row.name}`", ". ".join(text for text in (meaning(row), row.page) if text))
        for row in parameters().values()
    )
    return _markdown(("parameter", "meaning"), rows)


def profile(name: str) -> str:
    """Return the table of a profile."""
    values = ((row.name, row.profiles[name]) for row in parameters().values())
    rows = ((f"`{key}`", f"`{_in_a_file(option.value)}`", option.source) for key, option in values)
    return _markdown(("parameter", "value", "source"), rows)


def kernel() -> str:
    """Return the table of the kernel's behaviour for each parameter in an emulation."""
    heads = ("parameter", "kernel setting", "fixed behaviour of the kernel", "fully applied values")
    rows = (
        (f"`{row.name}`", _setting(row.kernel), _does(row.kernel), _same(row.kernel))
        for row in parameters().values()
    )
    return _markdown(heads, rows)


def _setting(does: Any) -> str:
    found = [f"`{name}`" for name in does.sysctls] + ([does.setting] if does.setting else [])
    if number := does.number:
        found.append(f"`{number['sysctl']}`, {number['least']} to {number['most']}")
    if does.without:
        found.append(f"without the setting {does.without}")
    if found and does.once:
        found.append("once for all connections")
    if refuses := does.refuses:
        found.append(f"values outside {refuses['below']} to {refuses['above']} are rejected")
    return "; ".join(found)


def _does(does: Any) -> str:
    conditions = [
        f"{word} `{name}` is {' or '.join(f'`{_in_a_file(value)}`' for value in values)}"
        for word, condition in (("if", does.when), ("unless", does.unless))
        for name, values in condition.items()
    ]
    return ", ".join([does.does, *conditions])


def _same(does: Any) -> str:
    if does.same_from is not None:
        return f"`{does.same_from}` and more"
    return ", ".join(f"`{_in_a_file(value)}`" for value in does.same)


def model(name: str) -> str:
    """Return the table of the parameters that an analytic model covers."""
    rows = []
    for group, (names, covered, rejected) in model_groups(name).items():
        keys = ", ".join(f"`flows.tcp.{key}`" for key in names)
        rows.append(("all others of `flows.tcp`" if group == "rest" else keys, covered, rejected))
    return _markdown(("key", "covered", "rejected"), rows)


def _in_a_file(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else f"{value:.15g}"


def _markdown(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [tuple(heads), *map(tuple, rows)]
    lines.insert(1, ("---",) * len(lines[0]))
    return "\n" + "".join(
        re.sub(r"\|  (?=\|)", "| ", f"| {' | '.join(line)} |\n") for line in lines
    )


def main(notify: Callable[[str], object] = print) -> int:
    """Write the class if it differs from the table."""
    text = class_text()
    if not CLASS.is_file() or CLASS.read_text("utf-8") != text:
        CLASS.write_text(text, "utf-8")
        notify(f"{CLASS.relative_to(ROOT)}: rewritten")
    return 0


if __name__ == "__main__":
    sys.exit(main())
