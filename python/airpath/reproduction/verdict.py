"""Verdict of a reproduction: number of rows within tolerance, number of claims that hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from airpath.reproduction.base import ItemResult, Row
    from airpath.reproduction.claim import Claim, Outcome

__all__ = ["Outside", "Tally", "Verdict", "current", "numbers_once", "tolerances", "verdict_of"]


class Outside(NamedTuple):
    """A number outside its tolerance."""

    item: str
    row: Row

    def describe(self) -> str:
        """Return one line: row, published number, computed number, tolerance."""
        row = self.row
        place = ", ".join(f"{name} {value}" for name, value in row.row.items())
        unit = "" if row.unit == "1" else f" {row.unit}"
        text = f"{self.item}, {row.quantity}, {place}: paper {row.published:.6g}{unit}, "
        text += f"Airpath {row.computed:.4g}{unit}"
        if row.unit == "%" and row.computed is not None and row.published is not None:
            text += f" ({row.computed - row.published:+.1f} points)"
        elif row.relative_difference is not None:
            text += f" ({100 * row.relative_difference:+.1f} %)"
        if row.tolerance is None:
            return text
        ends = row.tolerated
        tolerated = "" if ends is None else f"{ends[0]:.4g} to {ends[1]:.4g}, "
        return f"{text}; tolerated: {tolerated}{row.tolerance.source}"


@dataclass(frozen=True)
class Tally:
    """Claims of the paper, counted by outcome.

    Parameters
    ----------
    claims : sequence of Claim
        Claims in the order of the file.
    """

    claims: Sequence[Claim]

    def of(self, outcome: Outcome) -> list[Claim]:
        """Return the claims with an outcome."""
        return [each for each in self.claims if each.outcome == outcome]

    @property
    def open(self) -> list[Claim]:
        """Claims that do not hold or are undecided."""
        return [each for each in self.claims if each.outcome != "holds"]

    def describe(self) -> str:
        """Return the counts: ``14 of 19 claims hold, 2 are undecided``."""
        hold, total = len(self.of("holds")), len(self.claims)
        text = f"{hold} of {_count(total, 'claim')} {'holds' if total == 1 else 'hold'}"
        undecided = len(self.of("undecided"))
        verb = "is" if undecided == 1 else "are"
        return f"{text}, {undecided} {verb} undecided" if undecided else text

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as a JSON object."""
        return {
            "claims": len(self.claims),
            "hold": len(self.of("holds")),
            "undecided": [each.key for each in self.of("undecided")],
            "do_not_hold": [each.key for each in self.of("does not hold")],
        }


@dataclass(frozen=True)
class Verdict:
    """Counts of published numbers and claims, and the numbers and claims that fail.

    Parameters
    ----------
    numbers : int
        Count of published numbers with a computed value and a tolerance. A number that two items
        show is counted once.
    outside : sequence of Outside
        Numbers outside their tolerance.
    not_judged : int
        Count of published numbers with a computed value but no tolerance.
    missing : int
        Count of published numbers without a computed value.
    committed : Tally
        Claims whose criterion was committed before the first result.
    current : Tally
        All claims with their latest criteria. A first criterion that a later criterion revises is
        omitted.
    """

    numbers: int
    outside: Sequence[Outside]
    not_judged: int
    missing: int
    committed: Tally
    current: Tally

    @property
    def has_later(self) -> bool:
        """Whether a criterion was written when results for an earlier criterion were known."""
        return any(each.later for each in self.current.claims)

    @property
    def is_clean(self) -> bool:
        """Whether every number is within its tolerance and every claim holds."""
        return not (self.outside or self.committed.open or self.current.open)

    @property
    def open(self) -> list[Claim]:
        """Claims in `committed` or `current` that do not hold or are undecided."""
        found = {each.key: each for each in (*self.committed.open, *self.current.open)}
        return list(found.values())

    @property
    def within(self) -> int:
        """Count of numbers within their tolerance."""
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
        if self.committed.claims or self.current.claims:
            parts.append(self.committed.describe())
        if self.has_later:
            parts.append(f"with later criteria {self.current.describe()}")
        return ("; ".join(parts) or "nothing published to compare with") + "."

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as a JSON object."""
        return {
            "numbers": self.numbers,
            "within": self.within,
            "outside": [{"item": item, **row.to_dict()} for item, row in self.outside],
            "not_judged": self.not_judged,
            "missing": self.missing,
            **self.committed.to_dict(),
            "with_later": self.current.to_dict() if self.has_later else None,
            "text": self.describe(),
            "outside_text": [outside.describe() for outside in self.outside],
        }


def verdict_of(items: Sequence[ItemResult], claims: Sequence[Claim]) -> Verdict:
    """Return the verdict on items and claims.

    Parameters
    ----------
    items : sequence of ItemResult
        Items with their rows.
    claims : sequence of Claim
        Claims after their check. Entries that are no claims of the paper are ignored.
    """
    rows = numbers_once(items)
    judged = [each for each in rows if each.row.within is not None]
    computed = sum(each.row.computed is not None for each in rows)
    checked = [claim for claim in claims if claim.of_paper]
    return Verdict(
        numbers=len(judged),
        outside=[each for each in judged if not each.row.within],
        not_judged=computed - len(judged),
        missing=len(rows) - computed,
        committed=Tally([claim for claim in checked if not claim.later]),
        current=Tally(current(checked)),
    )


def numbers_once(items: Sequence[ItemResult]) -> list[Outside]:
    """Return the published numbers with their item; return a number in two items only once."""
    found: dict[tuple[Any, ...], Outside] = {}
    for item in items:
        for row in item.rows:
            if row.published is not None:
                name = (tuple(row.row.items()), row.quantity, row.published)
                found.setdefault(name, Outside(item.item, row))
    return list(found.values())


def current(claims: Sequence[Claim]) -> list[Claim]:
    """Return the claims, except first criteria that later criteria revise.

    A later criterion is kept even if another criterion revises it, so that its failure is still
    counted.
    """
    revised = {claim.revises for claim in claims}
    return [each for each in claims if each.later or each.key not in revised]


def tolerances(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Return pairs: a quantity of the rows, and the descriptions of its tolerances."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.published is not None and row.tolerance is not None:
            sources = found.setdefault(row.quantity, [])
            if row.tolerance.source not in sources:
                sources.append(row.tolerance.source)
    return [(quantity, " or ".join(sources)) for quantity, sources in found.items()]


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
