"""What the checks of the statements share."""

from __future__ import annotations

from typing import Final

from airpath.papers.kit.statements import Statements

__all__ = ["SAYS"]

SAYS: Final = Statements("clamp")
