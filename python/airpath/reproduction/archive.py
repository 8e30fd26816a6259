"""Archives: small files with the published and the computed numbers of a reproduction.

The document of ``airpath reproduce --out`` also contains all scenarios and has several megabytes.
An archive contains only the data that the pages need: all published and computed numbers with nine
significant digits, and the measurements of the claims. Each row and each claim is one line of JSON,
so that `diff` can compare archives. The limits of tolerances are omitted, because they can be
computed from the published number and its tolerance.

```
  document --packed()--> archive --text()--> file --json--> archive --unpacked()--> document
```
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

__all__ = ["packed", "text", "unpacked"]

_NUMBERS: Final = ("published", "published_ci", "computed", "low", "high", "within")
"""Numbers of a row, in the order of the archive. In the archive they follow the row's name."""

_DERIVED: Final = ("relative_difference",)
"""Entries of a row that are computed from other entries."""

_DIGITS: Final = 9
"""Number of significant digits of the stored numbers."""

_OMITTED: Final = ("scenarios",)
"""Entries of the provenance that are omitted; the files of the paper contain them."""


def packed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the archive of a reproduction.

    Parameters
    ----------
    document : mapping
        Output of ``airpath reproduce PAPER --json``. An archive is returned unchanged.

    Returns
    -------
    archive : dict
        The rows that have a published number, the table `kinds` of the properties that rows share,
        and the other entries.
    """
    if "kinds" in document:
        return dict(document)
    kinds: dict[str, int] = {}
    items = []
    for item in document["items"]:
        published = [row for row in item["rows"] if row["published"] is not None]
        rows = [_packed_row(row, kinds) for row in published]
        items.append({"item": item["item"], "title": item["title"], "rows": rows})
    made = document["provenance"]
    return {
        "paper": document["paper"],
        "conclusions": document["conclusions"],
        "headings": document["headings"],
        "decimals": document["decimals"],
        "provenance": {name: made[name] for name in made if name not in _OMITTED},
        "verdict": {name: each for name, each in document["verdict"].items() if name != "outside"},
        "kinds": [json.loads(kind) for kind in kinds],
        "items": items,
        "claims": [
            {name: each for name, each in claim.items() if name != "values"}
            for claim in document["claims"]
        ],
    }


def unpacked(archive: Mapping[str, Any]) -> dict[str, Any]:
    """Restore from an archive the part of the document that `page` uses.

    Parameters
    ----------
    archive : mapping
        Result of `packed`. A document is returned unchanged.
    """
    if "kinds" not in archive:
        return dict(archive)
    kinds = archive["kinds"]
    items = [
        {**item, "rows": [_unpacked_row(kinds[number], row) for number, *row in item["rows"]]}
        for item in archive["items"]
    ]
    return {**{name: archive[name] for name in archive if name != "kinds"}, "items": items}


def text(archive: Mapping[str, Any]) -> str:
    """Return the archive as JSON, with one line for each row, claim, kind and other entry."""
    lines = []
    for name, value in archive.items():
        if name == "items":
            made = ",\n".join(_item(item) for item in value)
            lines.append(f'"items": [\n{made}\n]')
        elif isinstance(value, list):
            made = ",\n".join(_one_line(each) for each in value)
            lines.append(f"{_one_line(name)}: [\n{made}\n]")
        else:
            lines.append(f"{_one_line(name)}: {_one_line(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _item(item: Mapping[str, Any]) -> str:
    front = _one_line({name: item[name] for name in ("item", "title")})
    rows = ",\n".join(_one_line(row) for row in item["rows"])
    return f'{front[:-1]}, "rows": [\n{rows}\n]}}' if rows else f'{front[:-1]}, "rows": []}}'


def _one_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _packed_row(row: Mapping[str, Any], kinds: dict[str, int]) -> list[Any]:
    """Return a list: the index of the row's kind in `kinds`, then the row's values."""
    known = {"row", "quantity", "unit", "tolerance", *_NUMBERS, *_DERIVED}
    more = [name for name in row if name not in known]
    tolerance = row["tolerance"]
    kind = {
        "quantity": row["quantity"],
        "unit": row["unit"],
        "names": list(row["row"]),
        "tolerance": None if tolerance is None else tolerance["source"],
        "more": more,
    }
    number = kinds.setdefault(json.dumps(kind), len(kinds))
    values = [*row["row"].values(), *(row[name] for name in (*_NUMBERS, *more))]
    return [number, *map(_rounded, values)]


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    return [_rounded(each) for each in value] if isinstance(value, list) else value


def _unpacked_row(kind: Mapping[str, Any], values: list[Any]) -> dict[str, Any]:
    rest = iter(values)
    place = {name: next(rest) for name in kind["names"]}
    found = {name: next(rest) for name in _NUMBERS}
    source = kind["tolerance"]
    return {
        "row": place,
        "quantity": kind["quantity"],
        "unit": kind["unit"],
        **found,
        "tolerance": None if source is None else {"source": source},
        **dict(zip(kind["more"], rest, strict=True)),
    }
