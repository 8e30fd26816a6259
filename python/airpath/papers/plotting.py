"""One look for the papers' figures: readable sizes, a colour-blind-safe palette, PNG and SVG.

Figures are drawn on the Agg backend without touching the user's matplotlib settings.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from airpath.papers.files import write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "new_figure", "save", "style"]

COLOURS = {
    "blue": "#0072B2",
    "orange": "#E69F00",
    "green": "#009E73",
    "red": "#D55E00",
    "black": "#000000",
    "grey": "#5F6A72",
}
"""From the palette of Okabe and Ito (2008), which people with any colour vision can tell apart."""

_SETTINGS: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.labelsize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#DDE1E4",
    "grid.linewidth": 0.8,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "figure.titlesize": 12.5,
    "figure.titleweight": "bold",
    # The same figure gives the same file.
    "svg.hashsalt": "airpath",
}


@contextmanager
def style() -> Iterator[None]:
    """Draw in the papers' style; the settings from before come back afterwards."""
    import matplotlib as mpl

    with mpl.rc_context(cast(Any, _SETTINGS)):
        yield


def new_figure(width_in: float, height_in: float) -> Figure:
    """Return an empty figure on the Agg canvas, its size in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width_in, height_in), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save(figure: Figure, folder: Path, stem: str, title: str, source: str) -> list[Path]:
    """Write a figure as PNG and SVG.

    Parameters
    ----------
    figure : Figure
        What to write.
    folder : Path
        Where to; it exists.
    stem : str
        File name without its ending.
    title, source : str
        What the file says about itself.

    Returns
    -------
    paths : list of Path
        The two files.
    """
    paths = []
    for kind, about in (
        ("png", {"Title": title, "Source": source}),
        ("svg", {"Title": title, "Source": source, "Date": None}),
    ):
        data = io.BytesIO()
        figure.savefig(data, format=kind, dpi=160, metadata=about)
        path = folder / f"{stem}.{kind}"
        write_file(path, data.getvalue())
        paths.append(path)
    return paths
