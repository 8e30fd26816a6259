"""Figures of distributions over packets and transfers, and of the users of a cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from typing_extensions import Unpack

from airpath.arguments import check_all, error_prefix, text, word
from airpath.errors import BadValueError
from airpath.present import style
from airpath.present.cdf import Curve, draw_curve, finish_axis, is_wide, time_unit
from airpath.present.drawing import FigureOptions, drawing
from airpath.results.distributions import QUANTITIES, Distribution, owners
from airpath.results.transfers import SIZE_EDGES, SizeClass, checked_edges, size_classes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from airpath.results.result import Result

__all__ = ["DistributionPlot", "curve_of", "share_of"]

_FEWEST = 10
"""Size classes with fewer transfers than this are not plotted by default."""


def curve_of(found: Distribution) -> Curve:
    """Return the curve of a distribution, with a confidence band over the replications."""
    table = found.cdf()
    value, cdf, low, high = (
        table[name].to_numpy(dtype=float) for name in ("value", "cdf", "low", "high")
    )
    return Curve(value, cdf, low, high, found.total)


def share_of(quantity: str, *, complementary: bool) -> str:
    """Return the label of the vertical axis of a distribution."""
    over = QUANTITIES[quantity][1]
    return f"share of {over} above" if complementary else f"share of {over}"


class DistributionPlot:
    """Methods of `Plot` that plot distributions."""

    _result: Result

    if TYPE_CHECKING:

        @property
        def _name(self) -> str: ...
        def _effort(self, *, intervals: bool = True) -> str: ...

    @drawing
    def distribution(
        self,
        quantity: str,
        of: str | Sequence[str] | None = None,
        *,
        complementary: bool = False,
        **_options: Unpack[FigureOptions],
    ) -> Figure:
        """Plot the distribution of a time over packets or transfers, pooled over replications.

        Parameters
        ----------
        quantity : str
            As in `Result.distribution`.
        of : str or sequence of str, optional
            Queues, groups or size classes, one curve each, as in `Result.distribution`. Default:
            each queue or group, up to eight. If there is only one group of transfers and their
            sizes differ, each size class.
        complementary : bool
            Whether to plot the tail: the share of larger values, on a logarithmic scale. Default
            False.

        Returns
        -------
        figure : matplotlib.figure.Figure
            The figure. Bands are the confidence intervals of the curve over the replications.

        Raises
        ------
        BadValueError
            As in `Result.distribution`, or if there are more than eight curves or no values.
        """
        check_all(word("quantity", quantity, QUANTITIES))
        names: list[Any] = list(self._owners(quantity))
        if of is not None:
            names = list(of) if isinstance(of, (list, tuple)) else [of]
            check_all(*(text("of", name) for name in names))
        if len(names) > len(style.SERIES):
            raise BadValueError(
                f"{error_prefix('of', of)}: {len(names)} curves are more than the "
                f"{len(style.SERIES)} that can be distinguished. Use fewer."
            )
        found = {name: self._result.distribution(quantity, name or None) for name in names}
        curves = {name: curve_of(each) for name, each in found.items() if each.total}
        if not curves:
            raise BadValueError(
                f"{error_prefix('quantity', quantity)}: has no values. Use another quantity."
            )
        name, _, unit = QUANTITIES[quantity]
        unit, scale = time_unit(curves.values()) if unit == "s" else ("", 1.0)
        wide = is_wide(curves.values())
        with style.style():
            figure = style.new_figure(8.5, 3.9)
            axis = figure.subplots()
            for number, (owner, curve) in enumerate(curves.items()):
                label = style.literal(self._owner_title(quantity, owner)) if owner else ""
                draw_curve(axis, curve, scale, number, complementary=complementary, label=label)
            finish_axis(axis, curves.values(), complementary=complementary, wide=wide)
            axis.set_xlabel(f"{name}, {unit}" if unit else name)
            axis.set_ylabel(share_of(quantity, complementary=complementary))
            if len(curves) > 1:
                style.legend_above(axis)
            style.heading(figure, f"{self._name}: {name}", self._effort())
        return figure

    def _owners(self, quantity: str) -> Sequence[str]:
        """Return the owner of each default curve; the empty name is the sum of all owners."""
        result = self._result
        if not result.replications:
            return [""]
        found = list(owners(result.resolved, result.replications[0], quantity))
        if len(found) > len(style.SERIES):
            return [""]
        if len(found) == 1 and quantity in ("completion_time", "slowdown"):
            classes = size_classes(checked_edges(SIZE_EDGES))
            named = [f"{found[0]}.{each.name}" for each in classes]
            many = [each for each in named if self._total(quantity, each) >= _FEWEST]
            return many if len(many) > 1 else found
        return found or [""]

    def _has_completion_times(self) -> bool:
        return any(row["completed"].mean for row in self._result.intervals("transfers"))

    def _has_pages(self) -> bool:
        return any(row["pages"].mean for row in self._result.intervals("requests"))

    def _total(self, quantity: str, of: str) -> int:
        return self._result.distribution(quantity, of).total

    def _owner_title(self, quantity: str, owner: str) -> str:
        if quantity == "sojourn":
            return owner
        key, _, name = owner.partition(".")
        flows = self._result.resolved.flows
        group = flows.group_of(key)
        title = key if group is None else flows.group_title(group)
        which = SizeClass.named(name) if name else None
        return title if which is None else f"{title}, {which.title}"
