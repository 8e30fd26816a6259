"""A claim of a paper: its outcome, the strength of the outcome, and the cause of a failure."""

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
"""Cause of a claim that does not hold."""

CAUSES: Final[Mapping[Cause, str]] = {
    "airpath": "check or scenario at fault",
    "reading": "reading left open",
    "paper": "paper contradicts itself",
    "differs": "result differs",
}
"""Description of each cause."""

assert tuple(CAUSES) == get_args(Cause)

FIRM: Final = 0.95
"""An outcome is decided if at least this share of the resamples has the same outcome."""


@dataclass(frozen=True)
class Strength:
    """Number of bootstrap resamples of the runs in which a claim holds.

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
        Short name of the claim.
    text : str
        Claim of the paper in Airpath's words, with the section of the paper.
    criterion : str
        Measured quantity, and condition for the claim to hold.
    holds : bool
        True if the criterion is met by the results of all runs.
    measured : sequence of str
        The measured values as text.
    values : mapping
        The measured values in machine-readable form.
    of_paper : bool
        False for a measure that the paper does not claim; the verdict does not count such measures.
        Default True.
    later : str
        Date of the criterion, if it was written when results for an earlier criterion were already
        known. Default: empty (the criterion was committed before the first result).
    revises : str
        Key of the earlier criterion for the same sentence of the paper. Default: empty.
    cause : str
        Cause if the claim does not hold: a key of `CAUSES`. Default: empty.
    why : str
        One sentence that explains the cause. If `of_paper` is False, the reason why this is not a
        claim of the paper. Default: empty.
    strength : Strength or None
        Number of resamples in which the claim holds. None if nothing was resampled, because the
        claim has no random numbers or only one run.
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
        """The outcome; `undecided` if fewer than 95 % of the resamples have the same outcome."""
        if self.strength is not None and not self.strength.is_firm:
            return "undecided"
        return "holds" if self.holds else "does not hold"

    def about(self) -> list[str]:
        """Return sentences: share of resamples, date of the criterion, cause of a failure."""
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
        """Return the claim from the output of `to_dict`; a claim from an archive has no values."""
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
"""Fields that have the same name in the JSON object."""


class Finding(NamedTuple):
    """Result of a check: whether the claim holds; the measured values as text and as values."""

    holds: bool
    measured: Sequence[str]
    values: Mapping[str, Any]


@dataclass(frozen=True)
class ClaimCheck:
    """A claim with its check, before the check is run.

    Parameters
    ----------
    key : str
        Short name of the claim.
    cells : sequence of Cell
        Cells that the check needs.
    check : callable
        Function that takes the session and checks the claim.
    is_random : bool
        Whether the check depends on random numbers, so that its strength can be measured. Default
        False.
    """

    key: str
    cells: Sequence[Cell]
    check: Callable[[Session], Claim]
    is_random: bool = False
