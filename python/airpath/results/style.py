"""One look for all figures: readable sizes, a colour-blind-safe palette, PNG and SVG.

Figures are drawn without touching the user's matplotlib settings, and without a display.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from airpath.files import write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "figure_bytes", "heading", "new_figure", "save", "style"]

COLOURS = {
    "blue": "#0072B2",
    "orange": "#E69F00",
    "green": "#009E73",
    "red": "#D55E00",
    "sky": "#56B4E9",
    "purple": "#CC79A7",
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
    """Draw in this style; the settings from before come back afterwards."""
    import matplotlib as mpl

    with mpl.rc_context(cast(Any, _SETTINGS)):
        yield


def new_figure(width_in: float, height_in: float, *, shown: bool = False) -> Figure:
    """Return an empty figure.

    Parameters
    ----------
    width_in, height_in : float
        Its size, inches.
    shown : bool
        Whether somebody may want to see it: it then belongs to pyplot, for ``plt.show()`` and
        notebooks, if the caller has imported pyplot. Default False: it is drawn on the Agg
        canvas, for a file, and needs no display.
    """
    size: dict[str, Any] = {"figsize": (width_in, height_in), "layout": "constrained"}
    if shown and "matplotlib.pyplot" in sys.modules:
        import matplotlib.pyplot as plt

        return plt.figure(**size)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(**size)
    FigureCanvasAgg(figure)
    return figure


def heading(figure: Figure, title: str, subtitle: str) -> None:
    """Put a title and a smaller line under it at the top left of a figure."""
    figure.suptitle(f"{title}\n\n", x=0.01, ha="left")
    figure.text(
        0.01,
        1 - 0.36 / figure.get_figheight(),
        subtitle,
        ha="left",
        va="top",
        color=COLOURS["grey"],
        fontsize=9.5,
    )


def figure_bytes(figure: Figure, kind: str, title: str, source: str) -> bytes:
    """Return a figure as a file's content.

    Parameters
    ----------
    figure : Figure
        What to draw.
    kind : {"png", "svg", "pdf"}
        The format.
    title, source : str
        What the file says about itself.
    """
    about: dict[str, Any] = {"Title": title}
    if kind == "pdf":
        about |= {"Subject": source, "CreationDate": None}
    else:
        about |= {"Source": source}
    if kind == "svg":
        about["Date"] = None
    data = io.BytesIO()
    figure.savefig(data, format=kind, dpi=160, metadata=about)
    return data.getvalue()


def save(
    figure: Figure,
    folder: Path,
    stem: str,
    title: str,
    source: str,
    kinds: Sequence[str] = ("png", "svg"),
) -> list[Path]:
    """Write a figure, as PNG and SVG if not said otherwise.

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
    kinds : sequence of str
        The formats.

    Returns
    -------
    paths : list of Path
        The files.
    """
    paths = [folder / f"{stem}.{kind}" for kind in kinds]
    for path, kind in zip(paths, kinds, strict=True):
        write_file(path, figure_bytes(figure, kind, title, source))
    return paths
