"""Common arguments of figures: ``style``, ``ax``, ``figsize``, ``title``, ``labels``, ``legend``.

Methods that return a figure have the decorator `drawing`. The decorator checks these arguments and
stores them. Functions of `present.style`, which the methods call, apply the stored arguments.
Therefore the methods do not have to pass the arguments on.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ParamSpec, TypedDict, TypeVar, cast

from airpath.arguments import error_prefix
from airpath.errors import BadValueError, one_line
from airpath.scenario.base import nearest

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLUMN", "Drawing", "FigureOptions", "current", "drawing"]

P = ParamSpec("P")
F = TypeVar("F", bound="Callable[..., Figure]")

COLUMN = "column"
"""Name of the style for figures in one column of a two-column paper."""
_COLUMN_IN = 3.4
_COLUMN_RC: Mapping[str, Any] = {
    "font.family": ["serif"],
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.labelsize": 8.0,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5,
    "legend.title_fontsize": 8.0,
    "figure.titlesize": 9.0,
    "axes.linewidth": 0.6,
    "grid.linewidth": 0.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
}
_SMALLEST_IN, _LARGEST_IN = 1.0, 100.0


class FigureOptions(TypedDict, total=False):
    """Common arguments of all methods that draw a figure."""

    style: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]] | None
    ax: Axes | Sequence[Axes] | None
    figsize: tuple[float, float] | None
    title: str | None
    labels: Mapping[str, str] | None
    legend: bool


@dataclass
class Drawing:
    """Options of the figure that is being drawn.

    Parameters
    ----------
    rc : mapping of str to object
        rcParams of matplotlib.
    size_in : tuple of float or None
        Width and height, inches. If the height is None, it is computed from the width. None: the
        default size.
    axes : sequence of Axes
        Axes of the user to draw on. Empty: a new figure is created.
    others : sequence of Axes
        Other axes in the user's figure.
    title : str or None
        Title of the user. None: the default title if `has_usual_title`, else no title.
    has_usual_title : bool
        Whether the figure has its default title.
    labels : mapping of str to str
        Maps a text of the figure, or the key of an axis or metric, to the text that replaces it.
    has_legend : bool
        Whether the figure has its legends.
    """

    rc: Mapping[str, Any] = field(default_factory=dict)
    size_in: tuple[float, float | None] | None = None
    axes: Sequence[Axes] = ()
    others: Sequence[Axes] = ()
    title: str | None = None
    has_usual_title: bool = True
    labels: Mapping[str, str] = field(default_factory=dict)
    has_legend: bool = True
    _used: set[str] = field(default_factory=set)

    def called(self, *names: str) -> str:
        """Return the user's label for the first of `names` that has a label, else the last name."""
        found = next((name for name in names if name in self.labels), None)
        if found is None:
            return names[-1]
        self._used.add(found)
        return self.labels[found]

    def figure_size(self, width_in: float, height_in: float) -> tuple[float, float]:
        """Return the size of a new figure, inches; the arguments are its default size."""
        if self.size_in is None:
            return width_in, height_in
        width, height = self.size_in
        # In narrow figures, texts are smaller and require less height.
        return width, height or height_in * min(1.0, max(0.6, math.sqrt(width / width_in)))

    def panels_of(self, figure: Figure) -> Sequence[Axes]:
        """Return the panels of the plot, without other axes in the user's figure."""
        return [axes for axes in figure.axes if axes not in self.others]

    def remove_legends(self, figure: Figure) -> None:
        """Remove the legends of the plot's panels; in a new figure, also those of the figure."""
        found = [axes.get_legend() for axes in self.panels_of(figure)]
        for legend in [*found, *([] if self.axes else figure.legends)]:
            if legend is not None:
                legend.remove()

    def rename(self, figure: Figure) -> None:
        """Replace the texts of a figure for which `labels` has a replacement.

        Raises
        ------
        BadValueError
            If a key of `labels` matches no text of the figure.
        """
        if not self.labels:
            return
        texts = _Texts(self.panels_of(figure), () if self.axes else (figure,))
        for name, label in self.labels.items():
            if texts.replace(name, label):
                self._used.add(name)
        unknown = [name for name in self.labels if name not in self._used]
        if unknown:
            known = sorted(texts.all - set(self.labels.values()))
            raise BadValueError(
                "\n".join(
                    f"{error_prefix('labels', name)}: not a text of this figure. "
                    f"{nearest(name, known)}."
                    for name in unknown
                )
            )


class _Texts:
    """Replaceable texts of a figure: axis labels, legends, titles, and tick labels with words.

    Parameters
    ----------
    panels : sequence of Axes
        Panels of the figure.
    whole : sequence of Figure
        The figure, if all its texts belong to the plot; otherwise empty.
    """

    def __init__(self, panels: Sequence[Axes], whole: Sequence[Figure]) -> None:
        from matplotlib.text import Text
        from matplotlib.ticker import FixedLocator

        ways = [way for axes in panels for way in (axes.xaxis, axes.yaxis)]
        self._ways = [way for way in ways if isinstance(way.get_major_locator(), FixedLocator)]
        found = [each for of in whole or panels for each in of.findobj(Text)]
        self._texts = [each for each in found if each.get_text()]
        self.all = {_plain(each.get_text()) for each in self._texts}

    def replace(self, text: str, label: str) -> bool:
        """Replace all occurrences of a text; return whether the text exists."""
        from airpath.present.lettering import literal

        found = [each for each in self._texts if _plain(each.get_text()) == text]
        for each in found:
            each.set_text(literal(label))
        for way in self._ways:
            # matplotlib regenerates tick labels when it draws, so also set them as fixed labels.
            words = [each.get_text() for each in way.get_majorticklabels()]
            if any(_plain(word) in (text, label) for word in words):
                way.set_ticklabels([literal(label) if _plain(w) == text else w for w in words])
        return bool(found)


def _plain(text: str) -> str:
    return text.replace(r"\$", "$").replace("\n", " ")


_USUAL = Drawing()
_CURRENT: ContextVar[Drawing | None] = ContextVar("drawing", default=None)


def current() -> Drawing:
    """Return the options of the figure that is being drawn."""
    return _CURRENT.get() or _USUAL


def drawing(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Decorate a function that returns a figure: add the arguments of `FigureOptions`.

    Raises
    ------
    BadValueError
        Raised by the decorated function if an option is not accepted.
    """

    @functools.wraps(draw)
    def drawn(*arguments: P.args, **named: P.kwargs) -> Figure:
        options = {name: named.pop(name) for name in _OPTIONS if name in named}
        if _CURRENT.get() is not None and not options:
            # Another decorated method calls this one and has already handled the options.
            return draw(*arguments, **named)
        with _obeying(_checked(cast(FigureOptions, options))) as obeyed:
            return _finished(draw(*arguments, **named), obeyed)

    signature = inspect.signature(draw)
    own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
    drawn.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*own, *(_parameter(name) for name in _OPTIONS)]
    )
    return drawn


_OPTIONS = tuple(FigureOptions.__annotations__)


def _parameter(name: str) -> inspect.Parameter:
    # The default is `...`, because None means no title.
    default = {"title": ..., "legend": True}.get(name)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)


@contextmanager
def _obeying(options: Drawing) -> Iterator[Drawing]:
    before = _CURRENT.set(options)
    try:
        yield options
    finally:
        _CURRENT.reset(before)


def _finished(figure: Figure, options: Drawing) -> Figure:
    from airpath.present import style
    from airpath.present.fitting import fit, has_long_names, wrap_names
    from airpath.present.on_axes import obey_settings

    figure = style.own_figure(figure)
    with style.style():
        for axes in options.panels_of(figure):
            # Create the ticks now, while the rcParams apply.
            for way in (axes.xaxis, axes.yaxis):
                way.get_major_ticks(1)
        options.rename(figure)
        if not options.has_legend:
            options.remove_legends(figure)
        for axes in options.axes if options.rc else ():
            obey_settings(axes)
        if options.axes and figure.get_layout_engine() is not None:
            # Update the sizes of the panels, which depend on the legends.
            figure.draw_without_rendering()
        panels = options.panels_of(figure)
        if options.axes or (options.size_in is None and len(panels) == 1):
            for axes in panels:
                wrap_names(axes)
        elif options.size_in is not None or has_long_names(figure):
            # Fit only if necessary: it takes as long as two layouts.
            fit(figure)
    return figure


# --- checks of options -------------------------------------------------------------------------


def _checked(given: FigureOptions) -> Drawing:
    settings, is_column = _settings(given.get("style"))
    size: tuple[float, float | None] | None = _size(given.get("figsize"))
    if size is None and is_column:
        size = (_COLUMN_IN, None)
    title = given.get("title", ...)
    if title is not ... and title is not None and not isinstance(title, str):
        raise BadValueError(
            f"{error_prefix('title', title)}: not a text. Use a text, or None for no title."
        )
    axes = _axes(given.get("ax"))
    return Drawing(
        rc=settings,
        size_in=size,
        axes=axes,
        others=[each for each in axes[0].figure.axes if each not in axes] if axes else [],
        title=one_line(title) if isinstance(title, str) else None,
        # In a paper, the caption replaces the title; axes of the user belong to the user's figure.
        has_usual_title=title is ... and not is_column and not axes,
        labels=_labels(given.get("labels")),
        has_legend=_legend(given.get("legend", True)),
    )


def _settings(given: object) -> tuple[dict[str, Any], bool]:
    """Return rcParams for the argument `style`, and whether they contain the style ``column``."""
    several: Iterable[object] = given if isinstance(given, (list, tuple)) else [given]
    found: dict[str, Any] = {}
    is_column = False
    for each in several:
        if isinstance(each, str) and each == COLUMN:
            is_column = True
            found |= _COLUMN_RC
        elif each is not None:
            found |= _of_matplotlib(each)
    return found, is_column


def _of_matplotlib(given: object) -> dict[str, Any]:
    import matplotlib as mpl
    import matplotlib.style as styles

    settings: Any = mpl.rcParams
    if isinstance(given, str):
        library: Mapping[str, Any] = styles.library
        if given in library:
            return {**library[given]}
        known = (COLUMN, *styles.available)
        advice = nearest(given, known)
        raise BadValueError(f"{error_prefix('style', given)}: not a style of matplotlib. {advice}.")
    if not isinstance(given, Mapping):
        raise BadValueError(
            f"{error_prefix('style', given)}: not a style. Use the name of a style of matplotlib, "
            f'"{COLUMN}", or a mapping of rcParams, for example {{"font.family": "serif"}}.'
        )
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name not in settings:
            near = difflib.get_close_matches(str(name), list(settings), 1)
            hint = f"The nearest is {near[0]}. " if near else ""
            raise BadValueError(
                f"{error_prefix('style', name)}: not an rcParam. {hint}"
                "Use names of matplotlib.rcParams."
            )
        try:
            with mpl.rc_context(cast(Any, {name: value})):
                found[name] = value
        except (ValueError, TypeError):
            raise BadValueError(
                f"{error_prefix(f'style.{name}', value)}: not accepted by matplotlib. "
                "Use a value that rcParams takes."
            ) from None
    return found


def _size(given: object) -> tuple[float, float] | None:
    if given is None:
        return None
    try:
        width, height = map(float, given)  # type: ignore[call-overload]
        is_size = not isinstance(given, str) and all(
            _SMALLEST_IN <= each <= _LARGEST_IN for each in (width, height)
        )
    except (TypeError, ValueError, OverflowError):
        is_size = False
    if not is_size:
        raise BadValueError(
            f"{error_prefix('figsize', given)}: not a size. Use width and height from "
            f"{_SMALLEST_IN:g} to {_LARGEST_IN:g} inches, for example (3.4, 2.4)."
        )
    return width, height


def _axes(given: object) -> list[Axes]:
    from matplotlib.axes import Axes

    if given is None:
        return []
    several: Any = [given] if isinstance(given, Axes) else getattr(given, "flat", given)
    try:
        found: list[Axes] = list(several)
    except TypeError:
        found = []
    if not found or not all(isinstance(each, Axes) for each in found):
        raise BadValueError(
            f"{error_prefix('ax', given)}: not an Axes of matplotlib. Use one, or a list with one "
            "for each panel."
        )
    return found


def _legend(given: object) -> bool:
    if not isinstance(given, bool):
        raise BadValueError(
            f"{error_prefix('legend', given)}: neither true nor false. Use False for no legend."
        )
    return given


def _labels(given: object) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(
        isinstance(text, str) for pair in given.items() for text in pair
    ):
        raise BadValueError(
            f"{error_prefix('labels', given)}: not a mapping of texts. Use the text or the key "
            'and its label, for example {"flows.0.cc": "CC", "newreno": "NewReno"}.'
        )
    return dict(given)
