"""Fits the texts of a figure to its size: wraps and rotates texts, and removes tick labels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from airpath.present.style import wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

__all__ = ["fit", "has_long_names", "shown_ticks", "wrap_names"]

_ROUNDS = 3
_SPACE = 0.25
"""Smallest space between adjacent tick labels, in letter heights."""
_FEWEST = 3
"""Smallest number of intervals between the tick labels of an axis."""


def fit(figure: Figure) -> None:
    """Change the texts of a figure so that none leaves the figure and no tick labels overlap.

    Parameters
    ----------
    figure : Figure
        Figure with all its texts and a constrained layout.
    """
    for _ in range(_ROUNDS):
        figure.draw_without_rendering()
        # A list instead of a generator, so that `any` does not stop at the first changed text.
        if not any([*_wrap_texts(figure), *_fit_ticks(figure), *_move_notes(figure)]):
            return


def wrap_names(axes: Axes) -> None:
    """Wrap title and axis labels of a visible panel, according to its size before layout."""
    if not axes.get_visible():
        return
    for text, length, most in _names(axes):
        _wrap(text, length, most)


def has_long_names(figure: Figure) -> bool:
    """Return whether the title or an axis label is longer than its panel before layout."""
    return any(
        length > most
        for axes in figure.axes
        if axes.get_visible()
        for _, length, most in _names(axes)
    )


def _names(axes: Axes) -> Iterator[tuple[Text, float, float]]:
    """Yield title and axis labels of a panel, each with its length and the panel's, dots."""
    for text in (axes.xaxis.label, axes.title, axes._left_title):  # type: ignore[attr-defined]
        yield text, text.get_window_extent().width, axes.bbox.width
    name = axes.yaxis.label
    yield name, name.get_window_extent().height, axes.bbox.height


def _on_one_line(text: Text) -> str:
    return text.get_text().replace("\n", " ")


def shown_ticks(axis: Axis) -> list[Text]:
    """Return the visible tick labels, in their order along the axis."""
    low, high = sorted(axis.get_view_interval())
    slack = 1e-9 * (high - low)
    shown = [
        tick.label1
        for tick in axis.get_major_ticks()
        if tick.label1.get_visible()
        and tick.label1.get_text()
        and low - slack <= tick.get_loc() <= high + slack
    ]
    is_x = axis.axis_name == "x"  # type: ignore[attr-defined]
    return sorted(shown, key=lambda text: text.get_window_extent().x0 if is_x else _middle(text))


def _middle(text: Text) -> float:
    box = text.get_window_extent()
    return float(box.y0 + box.y1) / 2


# --- texts -------------------------------------------------------------------------------------


def _wrap_texts(figure: Figure) -> Iterator[bool]:
    panels = [axis for axis in figure.axes if axis.get_visible()]
    for axis in panels:
        end = min(
            (other.bbox.x0 for other in panels if _is_right_of(other, axis)),
            default=figure.bbox.x1,
        )
        for title in (axis.title, axis._left_title):  # type: ignore[attr-defined]
            most = end - axis.bbox.x0 - _letter(title)
            yield _wrap(title, title.get_window_extent().width, most)
        name = axis.yaxis.label
        yield _wrap(name, name.get_window_extent().height, _height_around(axis, panels))
        name = axis.xaxis.label
        yield _wrap(name, name.get_window_extent().width, _width_around(axis, panels, figure))
    label: Any = getattr(figure, "_supxlabel", None)
    if label is not None:
        yield _wrap(label, label.get_window_extent().width, figure.bbox.width)


def _is_right_of(other: Axes, axis: Axes) -> bool:
    return bool(other.bbox.x0 > axis.bbox.x1 and _overlap(other.bbox, axis.bbox))


def _overlap(one: Bbox, other: Bbox) -> bool:
    return bool(one.y0 < other.y1 and other.y0 < one.y1)


def _height_around(axis: Axes, panels: Sequence[Axes]) -> float:
    """Return the space for the label of a vertical axis, up to the middle between panels."""
    below = [other.bbox.y1 for other in panels if other.bbox.y1 <= axis.bbox.y0]
    above = [other.bbox.y0 for other in panels if other.bbox.y0 >= axis.bbox.y1]
    room = [axis.bbox.y0 - max(below, default=0.0)]
    room.append(min(above, default=axis.figure.bbox.y1) - axis.bbox.y1)
    return float(axis.bbox.height + min(room))


def _width_around(axis: Axes, panels: Sequence[Axes], figure: Figure) -> float:
    """Return the space for the label of a horizontal axis, up to the middle between panels."""
    neighbours = [
        other for other in panels if _overlap(other.bbox, axis.bbox) and other is not axis
    ]
    left = max((o.bbox.x1 for o in neighbours if o.bbox.x1 <= axis.bbox.x0), default=None)
    right = min((o.bbox.x0 for o in neighbours if o.bbox.x0 >= axis.bbox.x1), default=None)
    middle = (axis.bbox.x0 + axis.bbox.x1) / 2
    ends = [
        middle - (0.0 if left is None else (left + axis.bbox.x0) / 2),
        (figure.bbox.x1 if right is None else (right + axis.bbox.x1) / 2) - middle,
    ]
    return float(2 * min(ends))


def _wrap(text: Text, length: float, most: float) -> bool:
    """Wrap a text onto more lines; return whether the text changed."""
    shown = text.get_text()
    if not shown or length <= most:
        return False
    line = max(map(len, shown.split("\n")))
    made = wrapped(_on_one_line(text), int(line * most / length))
    if made == shown:
        return False
    text.set_text(made)
    return True


# --- ticks -------------------------------------------------------------------------------------


def _fit_ticks(figure: Figure) -> Iterator[bool]:
    for panel in figure.axes:
        if not panel.get_visible():
            continue
        for axis in (panel.xaxis, panel.yaxis):
            labels = shown_ticks(axis)
            if _is_crowded(axis, labels):
                yield _thin(axis) or _turn(axis, labels)


def _is_crowded(axis: Axis, labels: Sequence[Text]) -> bool:
    boxes = [label.get_window_extent() for label in labels]
    pairs = list(pairwise(boxes))
    if axis.axis_name == "y":  # type: ignore[attr-defined]
        return any(above.y0 < below.y1 for below, above in pairs)
    slope = math.sin(math.radians(labels[0].get_rotation())) if labels else 0.0
    if 0 < slope < 1:
        # Slanted labels overlap if the distance between their lines is too small.
        height = 1.1 * _letter(labels[0]) / slope
        return any(right.x1 - left.x1 < height for left, right in pairs)
    space = _SPACE * _letter(labels[0]) if labels else 0.0
    return any(right.x0 < left.x1 + space for left, right in pairs)


def _letter(text: Text) -> float:
    """Return the height of a letter, dots."""
    figure: Any = text.figure
    return float(text.get_fontsize()) * float(figure.dpi) / 72


def _thin(axis: Axis) -> bool:
    """Reduce the number of tick labels of a numeric axis; return whether it changed."""
    from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator

    before = len(axis.get_majorticklocs())
    locator = axis.get_major_locator()
    if isinstance(locator, FixedLocator):
        # Tick labels that are words cannot be omitted.
        return False
    if axis.get_scale() == "log":
        few = isinstance(locator, LogLocator) and locator._subs is not None  # type: ignore[attr-defined]
        if few and len(locator._subs) > 1:  # type: ignore[attr-defined]
            axis.set_major_locator(LogLocator(subs=(1, 3), numticks=20))
            if len(axis.get_majorticklocs()) >= before:
                axis.set_major_locator(LogLocator(subs=(1,), numticks=20))
        else:
            axis.set_major_locator(LogLocator(subs=(1,), numticks=max(2, before // 2)))
    else:
        axis.set_major_locator(MaxNLocator(max(_FEWEST, before // 2), min_n_ticks=2))
    return len(axis.get_majorticklocs()) < before


def _turn(axis: Axis, labels: Sequence[Text]) -> bool:
    """Rotate the tick labels of a horizontal axis by 90°; return whether they changed."""
    if axis.axis_name != "x" or not labels or labels[0].get_rotation() == 90:  # type: ignore[attr-defined]
        return False
    for panel in axis.axes.get_shared_x_axes().get_siblings(axis.axes):
        panel.tick_params(axis="x", rotation=90)
        for label in panel.get_xticklabels():
            label.set_horizontalalignment("center")
    return True


# --- notes in panels ---------------------------------------------------------------------------


def _move_notes(figure: Figure) -> Iterator[bool]:
    """Right-align the notes in panels that would extend beyond the figure."""
    for panel in figure.axes:
        for text in panel.texts:
            box = text.get_window_extent()
            is_left = text.get_horizontalalignment() == "left"
            if text.get_visible() and is_left and box.x1 > figure.bbox.x1 + 1:
                text.set_horizontalalignment("right")
                yield True
