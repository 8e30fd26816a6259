"""Facts that affect the answer of an engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["EVERYTHING", "Fact"]

EVERYTHING = ("*",)
"""Quantities of a fact that affects all quantities of an engine."""


@dataclass(frozen=True)
class Fact:
    """A reported fact about an engine or its run.

    Parameters
    ----------
    code : str
        Code of the fact, for programs: ``loss-probes``.
    engine : str
        Engine whose answer the fact affects.
    text : str
        One sentence with numbers.
    affects : sequence of str
        Last parts of the names of the affected quantities, ``retransmissions``; `EVERYTHING` for
        all. Empty for a fact that is reported but affects no quantity.
    sizes : mapping of str to float
        Size of the effect on the engine's answer, by full name of the quantity, in its unit.
        Default: unknown.
    most : mapping of str to float
        Largest change of the answer in either direction, by last part of a quantity's name.
        Default: unknown.
    settles : sequence of str
        Options whose effect is in `sizes`; other facts about them are not reported.
    """

    code: str
    engine: str
    text: str
    affects: Sequence[str] = ()
    sizes: Mapping[str, float] = field(default_factory=dict)
    most: Mapping[str, float] = field(default_factory=dict)
    settles: Sequence[str] = ()

    def is_about(self, name: str) -> bool:
        """Return whether the fact affects a quantity, given by its full name."""
        last = name.rpartition(".")[2]
        return self.affects == EVERYTHING or last in self.affects or name in self.sizes

    def to_dict(self) -> dict[str, Any]:
        """Return the fact as a JSON object."""
        return {
            "code": self.code,
            "engine": self.engine,
            "text": self.text,
            "affects": list(self.affects),
            "sizes": dict(self.sizes),
            "most": dict(self.most),
        }
