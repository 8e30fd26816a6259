"""A small reproduction as a document, with a figure, for tests of reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from airpath.present.figure_files import save
from airpath.present.style import new_figure, style
from airpath.reproduction.claim import Claim
from airpath.reproduction.verdict import Tally

__all__ = ["HOSTILE", "document", "row", "write_paper"]

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&"
"""A script that would run if it were not escaped."""


def row(
    place: dict[str, Any], published: float | None, computed: float, **more: Any
) -> dict[str, Any]:
    """Return a row. The tolerance is 5 %; a row without a published number has no verdict."""
    within = None if published is None else abs(computed - published) <= 0.05 * published
    given: dict[str, Any] = {
        "row": place,
        "quantity": "goodput",
        "unit": "kbit/s",
        "published": published,
        "published_ci": None,
        "computed": computed,
        "low": computed - 1,
        "high": computed + 1,
        "within": within,
        "tolerance": None if published is None else {"source": "5 % (README)"},
    }
    return {**given, **more}


def document(**more: Any) -> dict[str, Any]:
    """Return a reproduction: one of three numbers is outside, one of two claims fails."""
    criterion, measured = "At every point.", ["12, 11, 10"]
    claims = [
        Claim("rises", "It rises (§2).", criterion, True, measured, {}),
        Claim("falls", "It falls (§3).", criterion, False, measured, {}),
    ]
    return {
        "paper": "small",
        "complete": True,
        "provenance": {
            "version": "0.1.0",
            "commit": "0123456789ab",
            "command": "airpath reproduce small --out out",
            "paper": "Doe, A small paper (2001).",
            "mode": "quick",
            "replications": 4,
            "duration_s": 60.0,
            "warmup_s": 10.0,
            "note": "",
            "seed": 1,
            "confidence": 0.99,
            "scenarios": {},
        },
        "verdict": {
            "numbers": 3,
            "text": "2 of 3 published numbers are within tolerance; 1 of 2 claims holds.",
            "outside_text": ["table1, goodput, aqm red: paper 200 kbit/s, computed 150 kbit/s"],
            **Tally(claims).to_dict(),
            "with_later": None,
        },
        "items": [
            {
                "item": "table1",
                "title": "Goodput",
                "rows": [
                    row({"aqm": "sbd"}, 300.0, 301.5),
                    row({"aqm": "red"}, 200.0, 150.0),
                    row({"aqm": "droptail"}, 99.0, 98.5),
                ],
                "figures": [],
            },
            {
                "item": "fig2",
                "title": "Goodput over the buffer",
                "rows": [row({"buffer": each}, None, 100.0 + each) for each in (5, 10, 40)],
                "figures": ["elsewhere/small-fig2.png", "elsewhere/small-fig2.svg"],
            },
        ],
        "claims": [claim.to_dict() for claim in claims],
        "conclusions": [{"title": "Goodput", "lines": ["2 of 3 rows"]}],
        "headings": {"goodput": "goodput, kbit/s"},
        "decimals": {"goodput": 1},
        **more,
    }


def write_paper(directory: Path, **more: Any) -> Path:
    """Write a reproduction with its figure. Return the path of its document."""
    with style():
        figure = new_figure(6, 3)
        axis = figure.subplots()
        axis.plot([5, 10, 40], [105, 110, 140], "o-", label="computed")
        save(figure, directory, "small-fig2", "Goodput", "a source", ["png", "svg"])
    path = directory / "small.json"
    path.write_text(json.dumps(document(**more)))
    return path
