"""What a reproduction comes to: how many numbers and statements of the paper are met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from airpath.papers.kit.base import ItemResult, Row, Statement

__all__ = ["Outside", "Verdict", "tolerances", "verdict_of"]


class Outside(NamedTuple):
    """A number outside its tolerance."""

    item: str
    row: Row

    def describe(self) -> str:
        """Return it in one line: where it stands, both numbers, what was tolerated."""
        row = self.row
        place = ", ".join(f"{name} {value}" for name, value in row.row.items())
        unit = "" if row.unit == "1" else f" {row.unit}"
        text = f"{self.item}, {row.quantity}, {place}: paper {row.published:.6g}{unit}, "
        text += f"ours {row.ours:.4g}{unit}"
        if row.unit == "%" and row.ours is not None and row.published is not None:
            text += f" ({row.ours - row.published:+.1f} points)"
        elif row.relative_difference is not None:
            text += f" ({100 * row.relative_difference:+.1f} %)"
        if row.tolerance is None:
            return text
        ends = row.tolerated
        tolerated = "" if ends is None else f"{ends[0]:.4g} to {ends[1]:.4g}, "
        return f"{text}; tolerated: {tolerated}{row.tolerance.source}"


@dataclass(frozen=True)
class Verdict:
    """The counts, and what fails.

    Parameters
    ----------
    numbers : int
        Published numbers that have a value of ours and a tolerance; one that stands in two items
        counts once.
    outside : sequence of Outside
        Those outside their tolerance.
    not_judged : int
        Published numbers with a value of ours but no tolerance.
    missing : int
        Published numbers without a value of ours.
    statements : int
        Checked statements.
    failed : sequence of Statement
        Those that do not hold.
    """

    numbers: int
    outside: Sequence[Outside]
    not_judged: int
    missing: int
    statements: int
    failed: Sequence[Statement]

    @property
    def within(self) -> int:
        """Numbers within their tolerance."""
        return self.numbers - len(self.outside)

    def describe(self) -> str:
        """Return the counts as one sentence."""
        parts = []
        if self.numbers:
            verb = "is" if self.numbers == 1 else "are"
            parts.append(
                f"{self.within} of {_count(self.numbers, 'published number')} {verb} within "
                "tolerance"
            )
        if self.not_judged:
            parts.append(f"{self.not_judged} more have no tolerance")
        if self.missing:
            parts.append(f"{self.missing} more were not computed")
        if self.statements:
            hold = self.statements - len(self.failed)
            verb = "holds" if self.statements == 1 else "hold"
            parts.append(f"{hold} of {_count(self.statements, 'statement')} {verb}")
        return ("; ".join(parts) or "nothing published to compare with") + "."

    def to_dict(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "numbers": self.numbers,
            "within": self.within,
            "outside": [{"item": item, **row.to_dict()} for item, row in self.outside],
            "not_judged": self.not_judged,
            "missing": self.missing,
            "statements": self.statements,
            "hold": self.statements - len(self.failed),
            "do_not_hold": [statement.key for statement in self.failed],
            "text": self.describe(),
            "outside_text": [outside.describe() for outside in self.outside],
        }


def verdict_of(items: Sequence[ItemResult], statements: Sequence[Statement]) -> Verdict:
    """Return what items and statements come to.

    Parameters
    ----------
    items : sequence of ItemResult
        With their rows.
    statements : sequence of Statement
        Those that were checked; measures that are not the paper's are left out.
    """
    # A number that two items show is one number.
    found: dict[tuple[Any, ...], Outside] = {}
    for item in items:
        for row in item.rows:
            if row.published is not None:
                name = (tuple(row.row.items()), row.quantity, row.published)
                found.setdefault(name, Outside(item.item, row))
    rows = list(found.values())
    judged = [each for each in rows if each.row.within is not None]
    checked = [statement for statement in statements if statement.of_paper]
    computed = sum(each.row.ours is not None for each in rows)
    return Verdict(
        numbers=len(judged),
        outside=[each for each in judged if not each.row.within],
        not_judged=computed - len(judged),
        missing=len(rows) - computed,
        statements=len(checked),
        failed=[statement for statement in checked if not statement.holds],
    )


def tolerances(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Return the quantities of some rows with the tolerances of their published numbers."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.published is not None and row.tolerance is not None:
            sources = found.setdefault(row.quantity, [])
            if row.tolerance.source not in sources:
                sources.append(row.tolerance.source)
    return [(quantity, " or ".join(sources)) for quantity, sources in found.items()]


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
