"""Adds titles with name and values, which browsers show on hover, to the marks in an SVG.

Marks are identified by their coordinates in the file, so that drawing functions require no extra
code.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

__all__ = ["with_values"]

_MARK = re.compile(r'<use xlink:href="#m[0-9a-f]+" x="(-?[\d.]+)" y="(-?[\d.]+)"[^>]*/>')
_NUMBER = re.compile(r"[-−+\d.]*(?:e[-−+\d]+)?|.*\\mathdefault.*")
_MOST = 3000
"""Largest number of marks that get titles; more would double the file size."""

_STEPS_PER_POINT = 50
"""Resolution of coordinates, steps per point; closer marks are indistinguishable."""

Place = tuple[int, int]


def with_values(svg: bytes, figure: Figure) -> bytes:
    """Add titles with name, x and y to the marks of a figure's curves in its SVG.

    If a curve of the figure has an identifier (gid), the SVG is not changed.

    Parameters
    ----------
    svg : bytes
        SVG from matplotlib.
    figure : Figure
        Figure of this SVG.
    """
    curves = [(axis, line) for axis in figure.axes for line in axis.get_lines()]
    if any(line.get_gid() for _, line in curves):
        return svg
    titles: dict[Place, str] = {}
    for axis, line in curves:
        if _has_marks(axis, line):
            for place, text in _line_values(figure, axis, line):
                titles.setdefault(place, text)
    if not 0 < len(titles) <= _MOST:
        return svg

    def titled(mark: re.Match[str]) -> str:
        places = _near(float(mark[1]), float(mark[2]))
        text = next((titles[place] for place in places if place in titles), None)
        if text is None:
            return mark[0]
        return f"{mark[0][:-2]}><title>{escape(text, quote=False)}</title></use>"

    return _MARK.sub(titled, svg.decode()).encode()


def _has_marks(axis: Axes, line: Line2D) -> bool:
    # Exclude the caps of error bars, and lines without markers.
    is_mark = line.get_marker() not in ("", " ", "None", "none", None, "_", "|")
    return is_mark and line.get_transform() == axis.transData


def _line_values(figure: Figure, axis: Axes, line: Line2D) -> Iterator[tuple[Place, str]]:
    scale = 72.0 / figure.dpi
    height = figure.get_figheight() * 72.0
    name = _name(axis, line)
    names = _label(figure, axis, "x") or "x", _label(figure, axis, "y") or "y"
    ticks = _ticks(axis, "x"), _ticks(axis, "y")
    data: Any = line.get_xydata()
    for values, (left, up) in zip(data, axis.transData.transform(data), strict=True):
        if not (math.isfinite(left) and math.isfinite(up)):
            continue
        lines = [name] if name else []
        for label, known, value in zip(names, ticks, map(float, values), strict=True):
            lines.append(f"{label}: {known.get(value) or f'{value:.4g}'}")
        yield _place(left * scale, height - up * scale), "\n".join(lines)


def _place(x: float, y: float) -> Place:
    return round(x * _STEPS_PER_POINT), round(y * _STEPS_PER_POINT)


def _near(x: float, y: float) -> Iterator[Place]:
    """Yield the rounded coordinates of a mark and adjacent ones: the last digit may differ."""
    across, down = _place(x, y)
    yield across, down
    yield from ((across + i, down + j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)


def _name(axis: Axes, line: Line2D) -> str:
    """Return the legend label of a curve; with error bars, the container has the label."""
    label = str(line.get_label())
    for container in axis.containers:
        if label.startswith("_") and line in container.get_children():
            label = str(container.get_label())
    return "" if label.startswith("_") else _plain(label)


def _label(figure: Figure, axis: Axes, side: str) -> str:
    """Return the label of an axis; inner panels use the label of other panels, or their title."""
    own = getattr(axis, f"get_{side}label")()
    if not own and side == "y":
        own = axis.get_title(loc="left") or axis.get_title()
    others = (getattr(other, f"get_{side}label")() for other in figure.axes)
    return _plain(own or next((label for label in others if label), ""))


def _ticks(axis: Axes, side: str) -> Mapping[float, str]:
    """Map coordinates to the tick labels of an axis that are words."""
    places = getattr(axis, f"get_{side}ticks")()
    texts = (_plain(tick.get_text()) for tick in getattr(axis, f"get_{side}ticklabels")())
    pairs = zip(map(float, places), texts, strict=False)
    return {place: text for place, text in pairs if not _NUMBER.fullmatch(text)}


def _plain(text: str) -> str:
    """Return a text without matplotlib's math markup."""
    return " ".join(re.sub(r"(?<!\\)\$", "", text).replace("\\$", "$").split())
