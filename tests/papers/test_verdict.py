"""The verdict of a reproduction: numbers within their tolerance, marked numbers, the brief output.

Regression tests: a delay in Table 3 of sbd-2006 that was 44 % too long was not marked, and the
number of reproduced values had to be counted by hand.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from one_by_one import OneByOne
from rich.console import Console

from airpath.report.paper import report_of_paper
from airpath.reproduction import Claim, ItemResult, Paper, Report, Row, Tolerance, load, reproduce
from airpath.reproduction.base import Effort, Table
from airpath.reproduction.claim import Strength
from airpath.reproduction.page import page
from airpath.reproduction.plugins import paper_directory
from airpath.reproduction.render import print_report
from airpath.reproduction.tolerance import marked
from airpath.reproduction.verdict import verdict_of

FIVE = Tolerance("5 % (README)", relative=0.05)


def row(computed: float | None, tolerance: Tolerance | None = FIVE, **changes: Any) -> Row:
    given: dict[str, Any] = {
        "row": {"bearer": 64},
        "quantity": "delay",
        "unit": "kbit/s",
        "published": 100.0,
        "computed": computed,
        "tolerance": tolerance,
    }
    return Row(**(given | changes))


# --- one number --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tolerance", "computed", "within"),
    [
        (FIVE, 95.0, True),
        (FIVE, 105.0, True),
        (FIVE, 105.01, False),
        (FIVE, math.nan, False),
        (Tolerance("8 points", absolute=8.0), 92.0, True),
        (Tolerance("8 points", absolute=8.0), 91.9, False),
        (Tolerance("a factor 2", factor=2.0), 199.0, True),
        (Tolerance("a factor 2", factor=2.0), 51.0, True),
        (Tolerance("a factor 2", factor=2.0), 49.0, False),
        (Tolerance("a test", passed=False), 100.0, False),
        (Tolerance("a test", passed=True), 0.0, True),
        (Tolerance("as printed"), 100.0, True),
        (None, 100.0, None),
    ],
)
def test_number_is_within_tolerance(
    tolerance: Tolerance | None, computed: float, within: bool | None
) -> None:
    assert row(computed, tolerance).within is within


def test_intervals_widen_a_tolerance_and_never_narrow_it() -> None:
    both = Tolerance("5 % or the intervals", relative=0.05, intervals=True)
    wide: dict[str, Any] = {"published_ci": 6.0, "low": 80.0, "high": 96.0}
    assert row(90.0, both, **wide).within
    assert row(90.0, both, **wide).tolerated == (90.0, 110.0)
    assert not row(89.9, both, **wide).within
    # A single replication has no interval.
    assert row(95.0, both, low=math.nan, high=math.nan).tolerated == (95.0, 105.0)


def test_number_without_counterpart_has_no_verdict() -> None:
    assert row(None).within is None
    assert row(1.0, published=None).within is None
    assert row(1.0, published=None).to_dict()["tolerance"] == {
        "from": None,
        "to": None,
        "source": "5 % (README)",
    }


def test_json_contains_tolerance_and_reason() -> None:
    found = json.loads(json.dumps(row(144.0).to_dict(), allow_nan=False))
    assert found["within"] is False
    assert found["tolerance"] == {"from": 95.0, "to": 105.0, "source": "5 % (README)"}
    assert (row(1.0, None).to_dict()["within"], row(1.0, None).to_dict()["tolerance"]) == (
        None,
        None,
    )


def test_number_outside_tolerance_is_marked() -> None:
    assert marked("+44.3", row(144.3).within) == "! +44.3"
    assert [marked("+4.0", within) for within in (True, None)] == ["+4.0", "+4.0"]


# --- complete reports --------------------------------------------------------------------------


def claim(key: str, holds: bool) -> Claim:
    return Claim(key, f"Text of {key}.", f"Criterion of {key}.", holds, ["3 against 4"], {})


def report(rows: Sequence[Row], claims: Sequence[Claim] = ()) -> Report:
    lines = [[str(each.row["bearer"]), marked(f"{each.computed}", each.within)] for each in rows]
    table = Table("The table", [("", "bearer"), ("", "computed")], lines)
    paper = Paper("toy", "A toy", "Author (2000).", {}, (), lambda *_: None, lambda _: None)
    about = {"mode": "quick", "seed": 1, "command": "airpath", "version": "1", "commit": "c"}
    about |= {"replications": 2, "duration_s": 3.0, "warmup_s": 0.0, "confidence": 0.9, "note": ""}
    items = [ItemResult("table3", "T", rows, [table]), ItemResult("fig1", "F", rows[:1])]
    return Report(paper, about, items, claims, (), False, Effort(2, 3.0, 0.0))


def printed(found: Report, **options: Any) -> str:
    text = io.StringIO()
    print_report(found, Console(file=text, width=200), **options)
    return text.getvalue()


BAD = [row(100.0), row(144.3, row={"bearer": 128}), row(3.0, None, row={"bearer": 256})]
MISSING = row(None, row={"bearer": 384})


@pytest.fixture
def bad() -> Report:
    return report([*BAD, MISSING], [claim("good", True), claim("alpha", False)])


def test_additional_measure_is_no_claim_of_the_paper() -> None:
    measures = [
        replace(claim(f"measure {holds}", holds), of_paper=False) for holds in (True, False)
    ]
    verdict = verdict_of([], [claim("good", True), *measures])
    assert ([each.key for each in verdict.committed.claims], verdict.open) == (["good"], [])
    assert [each.to_dict()["of_paper"] for each in measures] == [False, False]


def test_verdict_counts_each_number_once(bad: Report) -> None:
    verdict = bad.verdict
    assert (verdict.numbers, verdict.within, verdict.not_judged, verdict.missing) == (2, 1, 1, 1)
    assert verdict.describe() == (
        "1 of 2 published numbers are within tolerance; 1 more have no tolerance; "
        "1 more were not computed; 1 of 2 claims hold."
    )
    assert [each.describe() for each in verdict.outside] == [
        "table3, delay, bearer 128: paper 100 kbit/s, Airpath 144.3 kbit/s (+44.3 %); "
        "tolerated: 95 to 105, 5 % (README)"
    ]
    assert verdict_of([], []).describe() == "nothing published to compare with."


def test_later_criterion_is_counted_separately_and_replaces_revised_one() -> None:
    old = claim("old", False)
    new = replace(claim("new", True), later="2026-11-24", revises="old")
    level = replace(claim("level", True), strength=Strength(60, 100))
    verdict = verdict_of([], [old, level, new])
    assert verdict.describe() == (
        "0 of 2 claims hold, 1 is undecided; "
        "with later criteria 1 of 2 claims hold, 1 is undecided."
    )
    assert [each.key for each in verdict.open] == ["old", "level"]
    document = verdict.to_dict()
    assert (document["do_not_hold"], document["undecided"]) == (["old"], ["level"])
    assert document["with_later"] == {
        "claims": 2,
        "hold": 1,
        "undecided": ["level"],
        "do_not_hold": [],
    }
    assert verdict_of([], [old]).to_dict()["with_later"] is None


def test_failed_later_criterion_is_counted_with_successor() -> None:
    old = claim("old", False)
    new = replace(claim("new", False), later="2026-11-24", revises="old")
    newest = replace(claim("newest", True), later="2026-11-25", revises="new")
    verdict = verdict_of([], [old, new, newest])
    assert verdict.describe() == ("0 of 1 claim holds; with later criteria 1 of 2 claims hold.")
    assert [each.key for each in verdict.open] == ["old", "new"]


def test_strength_cause_and_date_are_listed_with_claim(bad: Report) -> None:
    found = replace(
        claim("beta", False),
        strength=Strength(3, 100),
        later="2026-11-24",
        revises="alpha",
        cause="paper",
        why="Table 2 excludes it.",
    )
    lines = (
        "Holds in 3% of the resamples.",
        "Criterion of 2026-11-24, after earlier numbers were known; it revises alpha.",
        "Cause: paper contradicts itself. Table 2 excludes it.",
    )
    shown = replace(bad, claims=[*bad.claims, found])
    document = json.loads(json.dumps(shown.to_dict(), allow_nan=False))
    document["provenance"]["paper"] = "A paper."
    for text in (printed(shown), page(document), report_of_paper(document)):
        assert all(line in text for line in lines)
    assert Claim.of(document["claims"][-1]) == found
    # A claim that holds has no cause. A claim that is not a sentence of the paper has a reason.
    assert "Cause" not in " ".join(replace(found, holds=True, strength=None).about())
    assert replace(found, of_paper=False, cause="").about()[-1] == (
        "Not a claim of the paper: Table 2 excludes it."
    )


@pytest.mark.parametrize(
    ("held", "outcome"),
    [(100, "holds"), (95, "holds"), (94, "undecided"), (6, "undecided"), (5, "does not hold")],
)
def test_verdict_is_decided_from_95_per_cent(held: int, outcome: str) -> None:
    found = replace(claim("a", held > 50), strength=Strength(held, 100))
    assert found.outcome == outcome


def test_verdict_precedes_every_table(bad: Report) -> None:
    text = printed(bad)
    assert text.index("1 of 2 published numbers") < text.index("The table")
    assert text.index("! table3, delay, bearer 128") < text.index("The table")
    assert text.index("do not hold: alpha") < text.index("The table")
    assert "! 144.3" in text
    assert "!: outside its tolerance. delay: 5 % (README)." in text


def test_brief_output_contains_verdict_and_failures(bad: Report) -> None:
    text = printed(bad, brief=True)
    assert "1 of 2 published numbers" in text
    assert "! table3, delay, bearer 128" in text
    assert "DOES NOT HOLD: Text of alpha." in text
    assert "The table" not in text
    assert "Text of good" not in text
    document = json.loads(json.dumps(bad.to_dict(brief=True), allow_nan=False))
    assert "items" not in document
    assert document["verdict"]["within"] == 1
    assert [each["claim"] for each in document["claims"]] == ["alpha"]
    [outside] = document["verdict"]["outside"]
    assert (outside["item"], outside["row"], outside["within"]) == (
        "table3",
        {"bearer": 128},
        False,
    )


def test_page_starts_with_verdict_and_marks_numbers_outside_tolerance(bad: Report) -> None:
    text = page(json.loads(json.dumps(bad.to_dict(), allow_nan=False)))
    assert text.index("**1 of 2 published numbers are within tolerance") < text.index("## table3")
    assert "* Does not hold: alpha." in text
    assert "| 128 | 100.0000 | 144.3000 | **!** +44.30 % |" in text
    assert "| 64 | 100.0000 | 100.0000 | +0.00 % |" in text
    assert "`!` is outside its tolerance: delay 5 % (README)." in text


def test_additional_measures_are_listed_separately(bad: Report) -> None:
    """Regression test: additional measures were listed among the claims of the paper."""
    computed = replace(claim("computed", False), of_paper=False)
    both = replace(bad, claims=[computed, *bad.claims])
    text = printed(both)
    heading = "Further measures"
    assert text.index("Text of alpha.") < text.index(heading) < text.index("Text of computed.")
    assert "Text of computed." not in printed(both, brief=True)
    made = page(json.loads(json.dumps(both.to_dict(), allow_nan=False)))
    assert made.index("Text of alpha.") < made.index(heading) < made.index("Text of computed.")
    assert heading not in page(json.loads(json.dumps(bad.to_dict(), allow_nan=False)))


# --- the papers --------------------------------------------------------------------------------


def test_every_published_number_of_qawla_has_a_tolerance() -> None:
    effort = Effort(1, 40.0, 10.0, resamples=0)
    found = reproduce("qawla", ["table2", "table6"], effort=effort)
    verdict = found.verdict
    assert verdict.not_judged == 0
    # 36 rates and 36 error rates, 20 entries and 2 thresholds.
    assert verdict.numbers == 94
    text = printed(found)
    marks = sum(line.count("! ") for line in text.split("Table 2:", 1)[1].splitlines())
    assert marks == len(verdict.outside)


class Slow(OneByOne):
    """An engine whose delays are 44 % above the printed ones for 64 kbit/s, Table 3."""

    def simulate_one(self, scenario: Any, **options: Any) -> Any:
        from airpath.reproduction.engine import Simulated

        flow = {
            "goodput_bps": 50_400.0,
            "mean_delay_s": 1.12 * 1.44,
            "mean_rtt_s": 1.2,
            "delivered_packets": 100,
            "start_s": 0.0,
            "completed_at_s": None,
        }
        queue = {"name": "bottleneck", "drops": {"overflow": 2}}
        delays = {"p50_delay_s": 1.0, "p95_delay_s": 2.0}
        run = {"simulated_s": 60.0, "flows": [flow], "queues": [queue], "together": {"all": delays}}
        return Simulated([run] * options["replications"])


def test_delay_44_per_cent_too_long_is_marked() -> None:
    engine = Slow()
    tables = [f"table{number}" for number in (2, 3, 4, 5, 6)]
    effort = Effort(replications=2, duration_s=10.0, warmup_s=0.0, resamples=0)
    found = engine.reproduce("sbd", tables, effort=effort)
    assert found.verdict.not_judged == 0
    # Goodput and delay of 16 settings and of 8 drop-tail points, and 32 improvements.
    assert found.verdict.numbers == 2 * 16 + 2 * 8 + 32
    [slow] = [
        outside
        for outside in found.verdict.outside
        if outside.item == "table3"
        and outside.row.quantity == "delay"
        and outside.row.row["bearer"] == 64
    ]
    assert "paper 1.12 s, Airpath 1.613 s (+44.0 %)" in slow.describe()
    [line] = [line for line in printed(found).splitlines() if "2500" in line and "±" in line]
    assert "! +44.0" in line
    assert "! +0.0" not in line


def test_every_tolerance_of_a_paper_is_explained_in_its_readme() -> None:
    for key in ("qawla", "sbd"):
        readme = (paper_directory(key) / "README.md").read_text("utf-8")
        assert "\n## Tolerances\n" in readme, load(key).title
