"""Figure class that notebooks can display without pyplot."""

from __future__ import annotations

import io
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

__all__ = ["AirpathFigure"]

_DPI = 100
"""Dots per inch in a notebook, for which a figure is as wide as the text."""


class AirpathFigure(Figure):
    """Figure on the Agg canvas, with a PNG representation for notebooks.

    It also works with ``%matplotlib inline``.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        FigureCanvasAgg(self)

    def savefig(self, *arguments: Any, **options: Any) -> None:
        """Write the figure; PDF and PostScript files embed TrueType fonts instead of Type 3."""
        # Publishers reject Type 3 fonts.
        with mpl.rc_context({"pdf.fonttype": 42, "ps.fonttype": 42}):
            super().savefig(*arguments, **options)

    def _repr_png_(self) -> bytes:
        data = io.BytesIO()
        self.savefig(data, format="png", dpi=_DPI)
        return data.getvalue()
