"""The page of a reproduction."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from airpath.errors import BadValueError
from airpath.reproduction import Effort, installed_papers, load
from airpath.reproduction.__main__ import main
from airpath.reproduction.archive import packed, text, unpacked
from airpath.reproduction.claim import Claim, Strength
from airpath.reproduction.files import read_text
from airpath.reproduction.overview import RESULTS, Overview, overview_of, page_of_overview
from airpath.reproduction.page import page, summary
from airpath.reproduction.plugins import paper_directory
from airpath.reproduction.verdict import Tally

PAGES = Path(__file__).parents[2] / "docs" / "reference" / "papers"


def test_every_published_number_is_next_to_the_simulated_one() -> None:
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
            "computed": 18.0,
            "low": 17.9,
            "high": 18.1,
            "relative_difference": -0.0300522,
        },
        {
            **common,
            "quantity": "queue_analysis",
            "published": 10.0,
            "published_ci": None,
            "computed": 10.0,
            "relative_difference": 0.0,
            "domain_published": "B",
            "domain_ours": "R1",
        },
        {**common, "quantity": "extra", "published": None, "computed": 1.0},
    ]
    rare = {
        **common,
        "row": {"mcs": 4, "snr_db": 30},
        "quantity": "per",
        "unit": "1",
        "published": 2.24e-5,
        "published_ci": None,
        "computed": 2.0e-5,
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
        "computed": 0.987,
        "relative_difference": -0.003,
        "difference": -0.003,
    }
    claim = {
        **Claim("so", "It is so.", "As measured.", False, [], {}).to_dict(),
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
        "verdict": {
            "text": "2 of 2 are fine.",
            "outside_text": [],
            **Tally([]).to_dict(),
            "with_later": None,
        },
        "items": [
            {"item": "table3", "title": "T", "rows": rows},
            {"item": "table2", "title": "R", "rows": [rare]},
            {"item": "table6", "title": "M", "rows": [mean]},
        ],
        "claims": [claim],
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
    # The absolute difference is shown, not the relative difference.
    assert "| P | awgn | 0.990 | 0.987 | -0.003 |" in text
    assert "extra" not in text
    assert "| throughput_simulation, Mbit/s: paper | Airpath | difference | x*: paper |" in text
    assert "3 s, the first 1 s not counted; ± are 99 % intervals. In a hurry. Every" in text
    assert "* All: 2 of 2 rows." in text
    assert "It does **not** hold.\n    * 3 is less than 4" in text


def test_kept_results_have_all_54_cells_of_qawla() -> None:
    text = page(unpacked(json.loads(read_text(paper_directory("qawla"), RESULTS))))
    for boundary in (10, 20, 30):
        for idx in range(1, 19):
            assert f"\n| {idx} | {boundary} | " in text


# --- kept results and the summary --------------------------------------------------------------


@pytest.fixture
def report(fake_engine: Any) -> dict[str, Any]:
    """Return the document of a reproduction of two tables, with intervals, tolerances and a
    claim.
    """
    effort = Effort(replications=3, duration_s=40.0, warmup_s=10.0, resamples=1)
    provenance = {"command": "airpath"}
    items = ["table2", "table3", "table6"]
    found = fake_engine.reproduce("qawla", items, effort=effort, provenance=provenance)
    document: dict[str, Any] = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    return document


def test_page_of_kept_results_equals_page_of_document(report: dict[str, Any]) -> None:
    kept = json.loads(text(packed(report)))
    assert page(unpacked(kept)) == page(report)
    assert summary(unpacked(kept)) == summary(report)
    # Packing a kept document again changes nothing.
    assert packed(kept) == kept
    assert unpacked(report) == report


def test_kept_results_have_each_published_number_next_to_the_simulated_one(
    report: dict[str, Any],
) -> None:
    published = [
        row for item in report["items"] for row in item["rows"] if row["published"] is not None
    ]
    lines = text(packed(report)).splitlines()
    rows = [json.loads(line.rstrip(",")) for line in lines if line.startswith("[")]
    assert len(rows) == len(published) > 100
    restored = [row for item in unpacked(packed(report))["items"] for row in item["rows"]]
    for row, found in zip(published, restored, strict=True):
        for name in ("row", "quantity", "unit", "published", "published_ci", "within"):
            assert found[name] == row[name]
        for name in ("computed", "low", "high"):
            assert found[name] == (row[name] and pytest.approx(row[name], rel=1e-8))


def test_summary_contains_failures_and_counts(report: dict[str, Any]) -> None:
    for claim in report["claims"]:
        claim["holds"] = claim["claim"] != "order"
        claim["strength"] = None
    report["items"][1]["rows"][0]["within"] = False
    found = summary(report)
    numbers = [row["published"] for row in report["items"][1]["rows"]].count(None)
    count = len(report["items"][1]["rows"]) - numbers
    assert "| table3 | Aggregate TCP throughput for B = 10 | " in found
    assert f"for B = 10 | {count} | " in found
    [order] = [each for each in report["claims"] if each["claim"] == "order"]
    assert f"* {order['text']} {order['criterion']} It does **not** hold." in found
    assert found.count("It does **not** hold.") == 1
    assert "It holds." not in found
    assert "| 3 | 10 |" in page(report)
    assert "| 3 | 10 |" not in found


@pytest.mark.parametrize("paper", installed_papers())
def test_committed_page_is_summary_of_kept_results(paper: str) -> None:
    kept = json.loads(read_text(paper_directory(paper), RESULTS))
    committed = (PAGES / f"{paper}.md").read_text("utf-8")
    assert committed == summary(unpacked(kept)), f"{paper}.md: run make generate-docs"
    assert read_text(paper_directory(paper), RESULTS) == text(kept)


def test_committed_overview_matches_papers(tmp_path: Path) -> None:
    made = tmp_path / "index.md"
    main(["--overview", str(made)])
    assert (PAGES / "index.md").read_text("utf-8") == made.read_text("utf-8"), (
        "run make generate-docs"
    )


def test_overview_contains_outcomes_causes_and_missing_items() -> None:
    def found(key: str, holds: bool, **more: Any) -> Claim:
        return Claim(key, f"Text of {key}.", "", holds, [], {}, **more)

    claims = [
        found("a", True),
        found("b", False, later="2026-11-24", cause="paper", why="Its Table 2."),
        found("c", True, strength=Strength(60, 100)),
    ]
    counted = {"within": 3, "numbers": 4, "outside_text": ["fig1, far"]}
    overview = Overview("p", "A and B.", counted, Tally(claims), ["Fig. 9: a drawing."])
    made = page_of_overview([overview])
    assert "| p | 3 | 4 | 1 | 1 | 1 | 0 | 0 | 1 | 0 | 0 | 1 |" in made
    for line in (
        "* p, fig1, far.",
        "* p, b: Text of b. Cause: paper contradicts itself. Its Table 2.",
        "* p, c: Text of c. Undecided: holds in 60% of the resamples.",
        "* p, Fig. 9: a drawing.",
    ):
        assert f"\n{line}\n" in made
    document = overview.to_dict()
    assert (document["hold"], document["undecided"]) == (1, ["c"])
    assert document["not_reproduced"] == ["Fig. 9: a drawing."]


@pytest.mark.parametrize("paper", installed_papers())
def test_every_claim_that_does_not_hold_has_a_cause(paper: str) -> None:
    assert "" not in overview_of(paper).causes()


@pytest.mark.parametrize("paper", installed_papers())
def test_kept_results_cover_the_whole_paper(paper: str) -> None:
    """Results of a run of only some items must not replace the stored results of the paper."""
    kept = json.loads(read_text(paper_directory(paper), RESULTS))
    found = load(paper)
    assert [item["item"] for item in kept["items"]] == [item.key for item in found.items]
    checked = [each["claim"] for each in kept["claims"]]
    assert checked == [spec.key for spec in found.claims]
    assert kept["provenance"]["mode"] == "full"
    command = f"airpath reproduce {paper} --full --out out/{paper}-full"
    assert kept["provenance"]["command"].removesuffix(" --accept-version") == command


def test_page_command_accepts_its_options(report: dict[str, Any], tmp_path: Path) -> None:
    source, kept, made = tmp_path / "x.json", tmp_path / "kept.json", tmp_path / "x.md"
    source.write_text(json.dumps(report))
    main(["--archive", str(source), str(kept)])
    assert kept.read_text("utf-8") == text(packed(report))
    for option, expected in ([], page(report)), (["--summary"], summary(report)):
        main([*option, str(kept), str(made)])
        assert made.read_text("utf-8") == expected
    with pytest.raises(BadValueError) as error:
        main(["--short", str(kept), str(made)])
    assert str(error.value) == (
        "airpath.reproduction: not two files. Use [--archive | --summary] SOURCE.json TARGET, "
        "or --overview TARGET."
    )


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"{}", "not a reproduction. Use what airpath reproduce --out wrote."),
        (b"[]", "not a reproduction. Use what airpath reproduce --out wrote."),
        (b"house", "not JSON. Use what airpath reproduce --out wrote."),
        (b"\xff", "not a text in UTF-8 (byte 1)."),
        (None, "cannot be read: is a pipe, not a regular file."),
    ],
)
def test_file_without_reproduction_is_rejected(
    content: bytes | None, line: str, tmp_path: Path
) -> None:
    """Regression test: a pipe blocked, and other invalid files ended in an internal error."""
    source, target = tmp_path / "x.json", tmp_path / "x.md"
    if content is None:
        os.mkfifo(source)
    else:
        source.write_bytes(content)
    with pytest.raises(BadValueError) as error:
        main([str(source), str(target)])
    assert (str(error.value), target.exists()) == (f"{source}: {line}", False)
