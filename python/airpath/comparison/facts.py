"""Defines `Fact`, a reported fact that can affect the answer of an engine."""

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
        Machine-readable code of the fact, for example ``loss-probes``.
    engine : str
        Engine whose answer the fact affects.
    text : str
        One sentence with numbers.
    affects : sequence of str
        Last parts of the names of the affected quantities, for example ``retransmissions``;
        `EVERYTHING` for all quantities. Empty for a fact that is reported but affects no quantity.
    sizes : mapping of str to float
        Maps the full name of a quantity to the change of the engine's answer, in the quantity's
        unit. Default: unknown.
    most : mapping of str to float
        Maps the last part of a quantity's name to an upper limit of the absolute change of the
        answer. Default: unknown.
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
