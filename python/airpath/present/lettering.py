"""Texts of the user in figures: drawn as they are written, or with a sign that a font is missing.

A name may hold ``$``, which matplotlib takes for mathematics, and letters that the usual font has
not, for which it warns while it draws. Scripts that run from right to left are matplotlib's to
arrange (3.11 and later do).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from airpath.errors import one_line

if TYPE_CHECKING:
    from matplotlib.font_manager import FontEntry

__all__ = ["FONT", "NO_GLYPH", "letters", "literal", "missing_note"]

FONT = "DejaVu Sans"
"""Comes with matplotlib; has Latin, Greek, Cyrillic, Arabic, Hebrew and many signs."""

NO_GLYPH = "□"
"""Stands for a letter that no installed font has."""

_BROAD = ("CJK", "Noto Sans", "Droid Sans Fallback", "WenQuanYi", "Arial Unicode", "Unifont")
"""Families that are tried before the others: parts of their names."""

_WEIGHTS = ("normal", "bold")
"""Of texts and of headings."""

_NO_LETTERS = "Last Resort"
"""A font of matplotlib that draws signs in place of letters."""


class _Drawing:
    """What the texts of the figure that is being drawn need."""

    def __init__(self) -> None:
        self.depth = 0
        self.missing: set[str] = set()


_drawing = _Drawing()


@contextmanager
def letters() -> Iterator[None]:
    """Let `literal` add fonts to matplotlib's settings, which the caller restores."""
    if not _drawing.depth:
        _drawing.missing = set()
    _drawing.depth += 1
    try:
        yield
    finally:
        _drawing.depth -= 1


def literal(text: str) -> str:
    """Return a text of the user so that matplotlib draws it as it is written.

    Parameters
    ----------
    text : str
        Any. What cannot be printed is escaped; letters that no installed font has become `□`.
    """
    found = []
    for char in one_line(text):
        family = _family_with(char)
        if family is None:
            _drawing.missing.add(char)
            found.append(NO_GLYPH)
        else:
            _use(family)
            found.append(char)
    # An escaped dollar begins no mathematics.
    return "".join(found).replace("$", r"\$")


def missing_note() -> str:
    """Return the note for a figure with letters that no font has; empty without any."""
    if not _drawing.missing:
        return ""
    return f"{NO_GLYPH}: {len(_drawing.missing)} letters that no installed font has"


def _use(family: str) -> None:
    import matplotlib as mpl

    if _drawing.depth and family not in mpl.rcParams["font.family"]:
        mpl.rcParams["font.family"] = [*mpl.rcParams["font.family"], family]


@cache
def _family_with(char: str) -> str | None:
    """Return the family to take a letter from; None when no installed font has it."""
    if ord(char) in _letters_of(FONT):
        return FONT
    return next((family for family in _families() if ord(char) in _letters_of(family)), None)


@cache
def _families() -> tuple[str, ...]:
    """Return the installed families, broad ones first."""
    names = {entry.name for entry in _regular() if not entry.name.startswith(_NO_LETTERS)}
    return tuple(sorted(names, key=lambda name: (not any(b in name for b in _BROAD), name)))


def _regular() -> list[FontEntry]:
    from matplotlib import font_manager

    return [entry for entry in font_manager.fontManager.ttflist if entry.style == "normal"]


@cache
def _letters_of(family: str) -> frozenset[int]:
    """Return the code points of a family, bold ones as well; none when it cannot be read.

    Headings are bold, and a bold font may have fewer.
    """
    from matplotlib import font_manager

    found: Any = font_manager
    logger = logging.getLogger("matplotlib.font_manager")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        fonts = (found.FontProperties(family=family, weight=weight) for weight in _WEIGHTS)
        paths = {found.findfont(font, fallback_to_default=False) for font in fonts}
        return frozenset.intersection(*(frozenset(found.get_font(p).get_charmap()) for p in paths))
    except (OSError, RuntimeError, ValueError):
        return frozenset()
    finally:
        logger.setLevel(before)
