"""Drawing on axes that the user passes, instead of in a new figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from airpath.errors import BadValueError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["OnAxes", "obey_settings"]


def obey_settings(panel: Axes) -> None:
    """Apply matplotlib's current settings to the texts and lines of existing axes."""
    import matplotlib as mpl

    settings: Any = mpl.rcParams
    family = settings["font.family"]
    titles = (panel.title, panel._left_title, panel._right_title)  # type: ignore[attr-defined]
    for text, size in (
        (panel.xaxis.label, "axes.labelsize"),
        (panel.yaxis.label, "axes.labelsize"),
        *((title, "axes.titlesize") for title in titles),
    ):
        text.set(fontfamily=family, fontsize=settings[size])
    ways: tuple[Literal["x", "y"], ...] = ("x", "y")
    for way in ways:
        size, width = settings[f"{way}tick.labelsize"], settings[f"{way}tick.major.width"]
        panel.tick_params(axis=way, labelsize=size, width=width)
    for axis in (panel.xaxis, panel.yaxis):
        for tick in axis.get_major_ticks():
            tick.label1.set_fontfamily(family)
    for spine in panel.spines.values():
        spine.set_linewidth(settings["axes.linewidth"])


class OnAxes:
    """Replacement for `Figure` in drawing functions; its panels are the axes of the user.

    The user's figure keeps its size, layout and title. A legend is drawn above the last panel.

    Parameters
    ----------
    axes : sequence of Axes
        Axes of the user, one for each panel; at least one.
    """

    def __init__(self, axes: Sequence[Axes]) -> None:
        self._panels = list(axes)
        self.root: Any = axes[0].figure

    def __getattr__(self, name: str) -> Any:
        return getattr(self.root, name)

    def get_figwidth(self) -> float:
        """Return the width of the first panel, inches."""
        return float(self._panels[0].bbox.width / self.root.dpi)

    def subplots(
        self, rows: int = 1, columns: int = 1, *, squeeze: bool = True, **options: Any
    ) -> Any:
        """Return the user's axes as the panels of a grid.

        Raises
        ------
        BadValueError
            If the number of axes differs from the number of panels.
        """
        count = rows * columns
        if len(self._panels) != count:
            raise BadValueError(
                f"ax: the figure has {count} panels, not {len(self._panels)}. Use an Axes for each "
                "panel, or draw fewer panels."
            )
        first = self._panels[0]
        for axis in self._panels[1:]:
            if options.get("sharex") and axis not in axis.get_shared_x_axes().get_siblings(first):
                axis.sharex(first)
            if options.get("sharey") and axis not in axis.get_shared_y_axes().get_siblings(first):
                axis.sharey(first)
        grid = np.empty((rows, columns), dtype=object)
        grid.flat[:] = self._panels
        if not squeeze:
            return grid
        return grid[0, 0] if count == 1 else grid.squeeze()

    def legend(self, *handles: Any, **options: Any) -> Any:
        """Draw a legend above the last panel."""
        place: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1, 1)}
        return self._panels[-1].legend(*handles, **{**options, **place})

    def supxlabel(self, text: str, **_options: Any) -> None:
        """Set the x-axis label of the last panel."""
        self._panels[-1].set_xlabel(text)

    def title(self, text: str) -> None:
        """Set the title of the first panel."""
        self._panels[0].set_title(text)

    def set_layout_engine(self, *_arguments: Any, **_options: Any) -> None:
        """Do nothing: the user's figure keeps its layout."""

    def align_ylabels(self) -> None:
        """Do nothing: the user's figure keeps its layout."""
