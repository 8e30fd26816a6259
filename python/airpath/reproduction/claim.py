"""One claim of a paper: outcome, strength of the outcome, and cause if it does not hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, get_args

if TYPE_CHECKING:
    from airpath.reproduction.session import Session
    from airpath.reproduction.sweeps import SweepPoint

__all__ = [
    "CAUSES",
    "Cause",
    "Cell",
    "Claim",
    "ClaimCheck",
    "Finding",
    "Outcome",
    "Strength",
]

Cell: TypeAlias = "SweepPoint"
"""Simulated point of one of the paper's sweeps."""

Outcome = Literal["holds", "undecided", "does not hold"]

Cause = Literal["airpath", "reading", "paper", "differs"]
"""Cause if a claim does not hold."""

CAUSES: Final[Mapping[Cause, str]] = {
    "airpath": "check or scenario at fault",
    "reading": "reading left open",
    "paper": "paper contradicts itself",
    "differs": "result differs",
}
"""Description of each cause."""

assert tuple(CAUSES) == get_args(Cause)

FIRM: Final = 0.95
"""A verdict is decided when at least this share of the resamples agree with one outcome."""


@dataclass(frozen=True)
class Strength:
    """Number of resamples of the runs in which a claim holds.

    Parameters
    ----------
    held : int
        Number of resamples in which the claim holds, from 0 to `draws`.
    draws : int
        Number of resamples, from 1.
    """

    held: int
    draws: int

    @property
    def share(self) -> float:
        """Share of the resamples in which the claim holds, in [0, 1]."""
        return self.held / self.draws

    @property
    def is_firm(self) -> bool:
        """Whether at least 95 % of the resamples have the same outcome."""
        return max(self.share, 1 - self.share) >= FIRM

    def to_dict(self) -> dict[str, int]:
        """Return the strength as a JSON object."""
        return {"held": self.held, "draws": self.draws}


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, checked on simulated or computed numbers.

    Parameters
    ----------
    key : str
        Short name.
    text : str
        Meaning of the sentence, with its section.
    criterion : str
        Measured quantity, and condition for the claim to hold.
    holds : bool
        Result of the criterion on all runs.
    measured : sequence of str
        The numbers behind the result, as text.
    values : mapping
        The same numbers, for programs.
    of_paper : bool
        False for a measure that the paper does not claim; verdicts do not count it. Default True.
    later : str
        Date of the criterion, if it was written after the numbers of an earlier criterion were
        known. Default: empty; the criterion was committed before any number.
    revises : str
        Key of the earlier criterion for the same sentence. Default: empty.
    cause : str
        Cause if the claim does not hold: a key of `CAUSES`. Default: empty.
    why : str
        One sentence about the cause, or the reason why the paper does not claim it. Default: empty.
    strength : Strength or None
        Number of resamples in which the claim holds. None without resampling: no random numbers, or
        only one run.
    """

    key: str
    text: str
    criterion: str
    holds: bool
    measured: Sequence[str]
    values: Mapping[str, Any]
    of_paper: bool = True
    later: str = ""
    revises: str = ""
    cause: Cause | Literal[""] = ""
    why: str = ""
    strength: Strength | None = None

    @property
    def outcome(self) -> Outcome:
        """The verdict; `undecided` if it differs between resamples."""
        if self.strength is not None and not self.strength.is_firm:
            return "undecided"
        return "holds" if self.holds else "does not hold"

    def about(self) -> list[str]:
        """Return the share of resamples, the date of the criterion and the cause, as sentences."""
        lines = []
        if self.strength is not None:
            lines.append(f"Holds in {self.strength.share:.0%} of the resamples.")
        if self.later:
            revised = f"; it revises {self.revises}" if self.revises else ""
            lines.append(f"Criterion of {self.later}, after earlier numbers were known{revised}.")
        if self.cause and self.outcome == "does not hold":
            lines.append(f"Cause: {CAUSES.get(self.cause, self.cause)}. {self.why}")
        elif self.why and not self.of_paper:
            lines.append(f"Not a claim of the paper: {self.why}")
        return lines

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Claim:
        """Return the claim that `to_dict` wrote; a claim from an archive has no values."""
        named = {name: document[name] for name in _SAME}
        strength = document["strength"]
        return cls(
            document["claim"],
            values=document.get("values", {}),
            strength=None if strength is None else Strength(**strength),
            **named,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the claim as a JSON object."""
        return {
            "claim": self.key,
            "text": self.text,
            "criterion": self.criterion,
            "holds": self.holds,
            "outcome": self.outcome,
            "strength": None if self.strength is None else self.strength.to_dict(),
            "of_paper": self.of_paper,
            "later": self.later,
            "revises": self.revises,
            "cause": self.cause,
            "why": self.why,
            "measured": list(self.measured),
            "values": dict(self.values),
        }


_SAME: Final = tuple(
    field.name for field in fields(Claim) if field.name not in ("key", "values", "strength")
)
"""Entries with the same name in the JSON object."""


class Finding(NamedTuple):
    """Result of a check: whether the claim holds, the numbers as text, the numbers as values."""

    holds: bool
    measured: Sequence[str]
    values: Mapping[str, Any]


@dataclass(frozen=True)
class ClaimCheck:
    """A claim before it is checked.

    Parameters
    ----------
    key : str
        Short name.
    cells : sequence of Cell
        Cells that are simulated for the claim.
    check : callable
        Checks the claim on a session.
    is_random : bool
        Whether the check depends on random numbers, so that its strength can be measured. Default
        False.
    """

    key: str
    cells: Sequence[Cell]
    check: Callable[[Session], Claim]
    is_random: bool = False
