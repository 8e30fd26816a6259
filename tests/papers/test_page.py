"""The page that a reproduction becomes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from airpath.errors import BadValueError
from airpath.papers.kit.page import page
from airpath.papers.page import main

ROOT = Path(__file__).parents[2]


def test_every_published_number_stands_beside_ours() -> None:
    common = {
        "row": {"idx": 3, "B": 10},
        "unit": "Mbit/s",
        "low": None,
        "high": None,
        "within": None,
        "tolerance": None,
    }
    rows = [
        {
            **common,
            "quantity": "throughput_simulation",
            "published": 18.5577,
            "published_ci": 0.0686,
            "ours": 18.0,
            "low": 17.9,
            "high": 18.1,
            "relative_difference": -0.0300522,
        },
        {
            **common,
            "quantity": "queue_analysis",
            "published": 10.0,
            "published_ci": None,
            "ours": 10.0,
            "relative_difference": 0.0,
            "domain_published": "B",
            "domain_ours": "R1",
        },
        {**common, "quantity": "extra", "published": None, "ours": 1.0},
    ]
    rare = {
        **common,
        "row": {"mcs": 4, "snr_db": 30},
        "quantity": "per",
        "unit": "1",
        "published": 2.24e-5,
        "published_ci": None,
        "ours": 2.0e-5,
        "low": 1e-5,
        "high": 5e-5,
        "relative_difference": -0.107143,
    }
    mean = {
        **common,
        "row": {"policy": "P", "channel": "awgn"},
        "quantity": "mean",
        "unit": "1",
        "published": 0.99,
        "published_ci": None,
        "ours": 0.987,
        "relative_difference": -0.003,
        "difference": -0.003,
    }
    statement = {
        "text": "It is so.",
        "criterion": "As measured.",
        "holds": False,
        "of_paper": True,
        "measured": ["3 is less than 4"],
    }
    document = {
        "paper": "qawla",
        "provenance": {
            "command": "airpath",
            "version": "1",
            "commit": "c",
            "seed": 1,
            "replications": 2,
            "duration_s": 3.0,
            "warmup_s": 1.0,
            "confidence": 0.99,
            "note": "In a hurry.",
        },
        "verdict": {"text": "2 of 2 are fine.", "outside_text": [], "do_not_hold": []},
        "items": [
            {"item": "table3", "title": "T", "rows": rows},
            {"item": "table2", "title": "R", "rows": [rare]},
            {"item": "table6", "title": "M", "rows": [mean]},
        ],
        "statements": [statement],
        "conclusions": [{"title": "All", "lines": ["2 of 2 rows"]}],
        "headings": {"queue_analysis": "x*"},
        "decimals": {"queue_analysis": 1, "mean": 3},
    }
    text = page(document)
    row = next(line for line in text.splitlines() if line.startswith("| 3 |"))
    assert row == (
        "| 3 | 10 | 18.5577 ± 0.0686 | 18.0000 ± 0.1000 | -3.01 % "
        "| 10.0 | 10.0 | +0.00 % | B | R1 |"
    )
    assert "| 4 | 30 | 2.24e-05 | 2.00e-05 ± 2.0e-05 | -10.71 % |" in text
    # Where the difference counts, and not how large it is beside the number.
    assert "| P | awgn | 0.990 | 0.987 | -0.003 |" in text
    assert "extra" not in text
    assert "| throughput_simulation, Mbit/s: paper | ours | difference | x*: paper |" in text
    assert "3 s, the first 1 s not counted; ± are 99 % intervals. In a hurry. Every" in text
    assert "* All: 2 of 2 rows." in text
    assert "It does **not** hold.\n  * 3 is less than 4" in text


def test_the_committed_page_has_all_54_cells() -> None:
    text = (ROOT / "docs/reference/papers/qawla.md").read_text(encoding="utf-8")
    for boundary in (10, 20, 30):
        for idx in range(1, 19):
            assert f"\n| {idx} | {boundary} | " in text


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"{}", "not a reproduction. Give what airpath reproduce --out wrote."),
        (b"[]", "not a reproduction. Give what airpath reproduce --out wrote."),
        (b"house", "not JSON. Give what airpath reproduce --out wrote."),
        (b"\xff", "not a text in UTF-8 (byte 1)."),
        (None, "cannot be read: is a pipe, not a regular file."),
    ],
)
def test_a_file_that_is_no_reproduction(content: bytes | None, line: str, tmp_path: Path) -> None:
    """A pipe was waited for, all else ended in an error from the depths."""
    source, target = tmp_path / "x.json", tmp_path / "x.md"
    if content is None:
        os.mkfifo(source)
    else:
        source.write_bytes(content)
    with pytest.raises(BadValueError) as error:
        main([str(source), str(target)])
    assert (str(error.value), target.exists()) == (f"{source}: {line}", False)
