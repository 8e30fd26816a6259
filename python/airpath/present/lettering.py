"""Prepares the user's texts so that matplotlib draws them literally in figures.

A text may contain ``$``, which starts mathematics in matplotlib. It may also contain letters that
the default font lacks, about which matplotlib warns. Letters that no installed font has are
replaced by a sign. Right-to-left scripts are not handled here; matplotlib supports them from 3.11
on.
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
"""Default font of matplotlib. It has Latin, Greek, Cyrillic, Arabic, Hebrew and many symbols."""

NO_GLYPH = "□"
"""Sign that replaces letters that no installed font has."""

_BROAD = ("CJK", "Noto Sans", "Droid Sans Fallback", "WenQuanYi", "Arial Unicode", "Unifont")
"""Parts of the names of font families that are tried first."""

_WEIGHTS = ("normal", "bold")
"""Font weights of normal texts and of headings."""

_NO_LETTERS = "Last Resort"
"""Fallback font of matplotlib, which has placeholder signs instead of letters."""


class _Drawing:
    """State of the current figure: nesting depth of `letters`, and letters without a glyph."""

    def __init__(self) -> None:
        self.depth = 0
        self.missing: set[str] = set()


_drawing = _Drawing()


@contextmanager
def letters() -> Iterator[None]:
    """Allow `literal` to add fonts to matplotlib's settings, which the caller restores."""
    if not _drawing.depth:
        _drawing.missing = set()
    _drawing.depth += 1
    try:
        yield
    finally:
        _drawing.depth -= 1


def literal(text: str) -> str:
    """Convert a text of the user to a form that matplotlib draws literally.

    Parameters
    ----------
    text : str
        Any text. Unprintable characters are escaped; letters without a glyph become `□`.
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
    # An escaped dollar sign does not start mathematics.
    return "".join(found).replace("$", r"\$")


def missing_note() -> str:
    """Return a note on the missing glyphs of the current figure; empty if none is missing."""
    if not _drawing.missing:
        return ""
    return f"{NO_GLYPH}: {len(_drawing.missing)} letters that no installed font has"


def _use(family: str) -> None:
    import matplotlib as mpl

    if _drawing.depth and family not in mpl.rcParams["font.family"]:
        mpl.rcParams["font.family"] = [*mpl.rcParams["font.family"], family]


@cache
def _family_with(char: str) -> str | None:
    """Return a font family that has a letter; None if no installed font has it."""
    if ord(char) in _letters_of(FONT):
        return FONT
    return next((family for family in _families() if ord(char) in _letters_of(family)), None)


@cache
def _families() -> tuple[str, ...]:
    """Return the installed font families; families with many scripts come first."""
    names = {entry.name for entry in _regular() if not entry.name.startswith(_NO_LETTERS)}
    return tuple(sorted(names, key=lambda name: (not any(b in name for b in _BROAD), name)))


def _regular() -> list[FontEntry]:
    from matplotlib import font_manager

    return [entry for entry in font_manager.fontManager.ttflist if entry.style == "normal"]


@cache
def _letters_of(family: str) -> frozenset[int]:
    """Return the code points in both weights of a family; empty if it cannot be read.

    Headings are bold, and a bold font may have fewer glyphs.
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
