"""The figure that shows itself in a notebook, without pyplot."""

from __future__ import annotations

import io
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

__all__ = ["AirpathFigure"]

_DPI = 100
"""Dots per inch in a notebook: a figure is as wide as its column of text."""


class AirpathFigure(Figure):
    """A figure on the Agg canvas: a picture of it is a picture in a notebook, too.

    A notebook that shows figures itself (``%matplotlib inline``) does so with these, too.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        FigureCanvasAgg(self)

    def savefig(self, *arguments: Any, **options: Any) -> None:
        """Write the figure; PDF and PostScript embed TrueType fonts, not Type 3."""
        # Publishers reject Type 3 fonts.
        with mpl.rc_context({"pdf.fonttype": 42, "ps.fonttype": 42}):
            super().savefig(*arguments, **options)

    def _repr_png_(self) -> bytes:
        data = io.BytesIO()
        self.savefig(data, format="png", dpi=_DPI)
        return data.getvalue()
