"""Conversion of tables to LaTeX: booktabs, numbers in math mode, units in the header."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from airpath.arguments import check_all, text

if TYPE_CHECKING:
    from airpath.present.tables import Table

__all__ = ["latex"]

_UNITS = (
    *("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "B", "kB", "MB", "s", "ms", "µs", "dB", "Hz", "%"),
    *("packets", "points"),
)
_NUMBER = r"[-−+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
_ENDS = rf"(?: ± (?P<half>{_NUMBER})| \((?P<low>{_NUMBER}) … (?P<high>{_NUMBER})\))"
_VALUE = re.compile(rf"(?P<mean>{_NUMBER}){_ENDS}?(?: (?P<unit>{'|'.join(_UNITS)}))?")
"""Pattern of a number, the half-width or both ends of its interval, and its unit."""

_WITHIN = re.compile(rf"(?P<mean>{_NUMBER}){_ENDS}")
"""Pattern of a number with its interval inside an entry: ``0.6 (0.0 … 3.4) early``."""

_MISSING = ("", "–")

_ESCAPED = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "µ": r"\textmu{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "→": r"$\to$",
    "−": "$-$",
    "…": r"\ldots{}",
    "–": "--",
    "·": r"\textperiodcentered{}",
}


def latex(table: Table, *, caption: str | None = None, label: str | None = None) -> str:
    r"""Return a table as LaTeX source, for the packages booktabs and (below LaTeX 2020) textcomp.

    Parameters
    ----------
    table : Table
        The table. Its notes become comments at the end of the source.
    caption, label : str, optional
        If one of them is set, the ``tabular`` is placed in a ``table`` environment with
        ``\caption`` and ``\label``. Special characters of the caption are escaped.

    Raises
    ------
    BadValueError
        If `caption` or `label` is not a text.
    """
    check_all(
        None if caption is None else text("caption", caption),
        None if label is None else text("label", label),
    )
    units = [_common_unit(column) for column in zip(*table.texts, strict=True)]
    units = units or [""] * len(table.columns)
    numeric = [_is_numeric(column) for column in zip(*table.texts, strict=True)]
    sides = "".join("r" if each else "l" for each in numeric) or "l" * len(table.columns)
    names = [_name(name, unit) for (_, name), unit in zip(table.headings, units, strict=True)]
    lines = [
        rf"\begin{{tabular}}{{@{{}}{sides}@{{}}}}",
        r"\toprule",
        *_group_heads(table),
        _row(names),
        r"\midrule",
        *(
            _row(_entry(cell, unit) for cell, unit in zip(row, units, strict=True))
            for row in table.texts
        ),
        r"\bottomrule",
        r"\end{tabular}",
        *(f"% {note}" for note in table.notes),
    ]
    if caption is not None or label is not None:
        head = [] if caption is None else [rf"\caption{{{_escaped(caption)}}}"]
        head += [] if label is None else [rf"\label{{{label}}}"]
        lines = [r"\begin{table}", r"\centering", *head, *lines, r"\end{table}"]
    return "\n".join(lines) + "\n"


def _escaped(words: str) -> str:
    return "".join(_ESCAPED.get(sign, sign) for sign in " ".join(words.split()))


def _row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _name(name: str, unit: str) -> str:
    return _escaped(f"{name}, {unit}" if unit else name)


def _group_heads(table: Table) -> Iterator[str]:
    """Yield the row of group headings, and the rules below them."""
    if not table.groups:
        return
    cells, rules, first = [], [], 1
    for group, span in table.groups:
        cells.append(rf"\multicolumn{{{span}}}{{c}}{{{_escaped(group)}}}" if group else "")
        cells += [""] * (0 if group else span - 1)
        if group:
            rules.append(rf"\cmidrule(lr){{{first}-{first + span - 1}}}")
        first += span
    yield _row(cells)
    yield " ".join(rules)


def _values(column: Sequence[str]) -> list[re.Match[str]] | None:
    """Return the non-empty entries of a column if all of these are numbers, else None."""
    found = [_VALUE.fullmatch(cell) for cell in column if cell not in _MISSING]
    values = [value for value in found if value is not None]
    return values if values and len(values) == len(found) else None


def _is_numeric(column: Sequence[str]) -> bool:
    return _values(column) is not None


def _common_unit(column: Sequence[str]) -> str:
    """Return the common unit of the numbers in a column; empty if the units differ."""
    units = {value["unit"] for value in _values(column) or ()}
    return (units.pop() or "") if len(units) == 1 else ""


def _entry(cell: str, unit: str) -> str:
    """Return an entry as LaTeX, without the unit that is in the header."""
    value = _VALUE.fullmatch(cell)
    if value is None:
        return _text_entry(cell)
    own = value["unit"] or ""
    return _with_ends(value) + (f"~{_escaped(own)}" if own and own != unit else "")


def _text_entry(cell: str) -> str:
    """Return a text entry as LaTeX; its numbers with intervals are in math mode."""
    parts, end = [], 0
    for found in _WITHIN.finditer(cell):
        parts += [_with_blanks(cell[end : found.start()]), _with_ends(found)]
        end = found.end()
    return "".join([*parts, _with_blanks(cell[end:])])


def _with_blanks(words: str) -> str:
    """Return a part of an entry as LaTeX; spaces at its ends are kept."""
    inner = _escaped(words)
    before = " " if words[:1] == " " and inner else ""
    after = " " if words[-1:] == " " and inner else ""
    return f"{before}{inner}{after}"


def _with_ends(value: re.Match[str]) -> str:
    """Return a number and its interval in math mode."""
    shown = _in_math(value["mean"])
    if value["half"] is not None:
        shown += rf" \pm {_in_math(value['half'])}"
    elif value["low"] is not None:
        shown += rf"~[{_in_math(value['low'])},\,{_in_math(value['high'])}]"
    return f"${shown}$"


def _in_math(number: str) -> str:
    mantissa, _, exponent = number.replace("−", "-").partition("e")
    return rf"{mantissa} \times 10^{{{int(exponent)}}}" if exponent else mantissa
