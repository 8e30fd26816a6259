"""Export of figures to PNG, PDF and SVG files, with title and provenance as metadata."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airpath.arguments import error_prefix
from airpath.errors import BadValueError
from airpath.files import write_file
from airpath.present.svg_values import with_values
from airpath.scenario.base import nearest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "FORMATS",
    "checked_formats",
    "figure_bytes",
    "file_name",
    "format_of",
    "rendered",
    "save",
]

FORMATS = ("png", "svg", "pdf")
"""Supported formats of figure files."""


def checked_formats(formats: str | Sequence[str]) -> list[str]:
    """Return the formats without duplicates, in the order of `FORMATS`.

    Parameters
    ----------
    formats : str or sequence of str
        Names of formats. A single string may have several names, separated by commas: ``png,pdf``.

    Raises
    ------
    BadValueError
        If a format is unknown, or no format is given.
    """
    names: list[Any] = [formats]
    if isinstance(formats, str):
        names = formats.split(",")
    elif isinstance(formats, Iterable):
        names = list(formats)
    bad = [name for name in names if not isinstance(name, str) or name not in FORMATS]
    if bad or not names:
        raise BadValueError(
            "\n".join(
                f"{error_prefix('figure_formats', name)}: not a format of figures. "
                f"{nearest(name if isinstance(name, str) else '', FORMATS)}."
                for name in bad or [""]
            )
        )
    return [kind for kind in FORMATS if kind in names]


def format_of(path: Path) -> str:
    """Return the format of a figure file according to its suffix.

    Raises
    ------
    BadValueError
        If the suffix is not a format of figures.
    """
    kind = path.suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        endings = [f".{each}" for each in FORMATS]
        raise BadValueError(
            f"{path}: not a figure. Use a name in {', '.join(endings[:-1])} or {endings[-1]}."
        )
    return kind


def file_name(name: str, kind: str) -> str:
    """Return the file name of a figure.

    Parameters
    ----------
    name : str
        Name of the figure. In the file name, slashes become hyphens, and all characters except
        letters, digits and ``-._`` become underscores.
    kind : str
        The format.
    """
    stem = re.sub(r"[^\w.-]", "_", name.replace("/", "-"))
    return f"{stem}.{kind}"


def figure_bytes(figure: Figure, kind: str, title: str, source: str) -> bytes:
    """Render a figure as the content of a file.

    Parameters
    ----------
    figure : Figure
        Figure to render.
    kind : {"png", "svg", "pdf"}
        The format.
    title, source : str
        Metadata of the file.
    """
    import matplotlib as mpl

    about: dict[str, Any] = {"Title": title}
    if kind == "pdf":
        about |= {"Subject": source, "CreationDate": None}
    else:
        about |= {"Source": source}
    if kind == "svg":
        about["Date"] = None
    data = io.BytesIO()
    # With a fixed salt, equal figures give equal files.
    with mpl.rc_context({"svg.hashsalt": "airpath"}):
        figure.savefig(data, format=kind, dpi=160, metadata=about)
    return with_values(data.getvalue(), figure) if kind == "svg" else data.getvalue()


def rendered(figure: Figure, title: str, source: str, kinds: Sequence[str]) -> dict[str, bytes]:
    """Render a figure in several formats; the layout is computed for the first format.

    Parameters
    ----------
    figure : Figure
        Figure to render.
    title, source : str
        Metadata of the files.
    kinds : sequence of str
        Formats from `FORMATS`.

    Returns
    -------
    files : dict of str to bytes
        Maps each format to the content of its file.
    """
    layout = figure.get_layout_engine()
    found = {}
    try:
        for kind in kinds:
            found[kind] = figure_bytes(figure, kind, title, source)
            # Computing the layout again would take as long as drawing.
            figure.set_layout_engine("none")
    finally:
        figure.set_layout_engine(layout)
    return found


def save(
    figure: Figure,
    directory: Path,
    stem: str,
    title: str,
    source: str,
    kinds: Sequence[str],
) -> list[Path]:
    """Write a figure in several formats; the layout is computed for the first format.

    Parameters
    ----------
    figure : Figure
        Figure to write.
    directory : Path
        Existing directory.
    stem : str
        Name of the figure; see `file_name`.
    title, source : str
        Metadata of the files.
    kinds : sequence of str
        Formats from `FORMATS`.

    Returns
    -------
    paths : list of Path
        Paths of the written files.
    """
    files = rendered(figure, title, source, kinds)
    paths = [directory / file_name(stem, kind) for kind in files]
    for path, data in zip(paths, files.values(), strict=True):
        write_file(path, data)
    return paths
