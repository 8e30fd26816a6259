"""Main classes: a paper, its items, rows and claims, and the report of a reproduction.

```
  Paper --items--> Item --evaluate(session)--> ItemResult: rows, tables, figures
    |                                              |
    claims, summaries  ---------------------> Report --to_dict()--> the document of --json
```

A *cell* is a simulated point of one of the paper's sweeps (`sweeps`). Each item lists the cells
that it needs. A cell is simulated once, even if several items use it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from airpath.present.tables import Table
from airpath.reproduction.claim import Cell, Claim, ClaimCheck
from airpath.reproduction.tolerance import Tolerance
from airpath.reproduction.verdict import Verdict, verdict_of
from airpath.results.intervals import Interval
from airpath.results.labels import effort_text

if TYPE_CHECKING:
    from airpath.reproduction.session import Session
    from airpath.reproduction.sweeps import Sweeps

__all__ = [
    "Cell",
    "Claim",
    "ClaimCheck",
    "Effort",
    "Item",
    "ItemResult",
    "Mode",
    "Paper",
    "Report",
    "Row",
    "Summary",
    "Table",
    "Tolerance",
    "Verdict",
]

Mode = Literal["quick", "default", "full"]
"""Amount of simulation. `quick`: for a first look; `full`: as in the paper; `default`: between."""


@dataclass(frozen=True)
class Effort:
    """Number and length of the simulation runs of each cell.

    Parameters
    ----------
    replications : int
        Number of independent runs of each cell, at least 1. Confidence intervals need at least 2.
    duration_s : float
        Simulated time of each run, s, above `warmup_s`.
    warmup_s : float
        Length of the warm-up at the beginning of each run, at least 0, s. The warm-up is not
        measured.
    note : str
        Note that is printed with the results. Empty: no note.
    grid_step : int
        Only every `grid_step`-th value of each parameter grid is simulated. At least 1.
    resamples : int
        Number of bootstrap resamples for the strength of each claim, at least 0. Default 100.
    most : int, optional
        Upper limit of the number of replications of each point, at least 1. Default: no limit.
    """

    replications: int
    duration_s: float
    warmup_s: float
    note: str = ""
    grid_step: int = 1
    resamples: int = 100
    most: int | None = None

    def __post_init__(self) -> None:
        if self.grid_step < 1 or self.resamples < 0:
            raise ValueError(f"{self}: grid_step must be at least 1 and resamples at least 0")
        if self.replications < 1 or not 0 <= self.warmup_s < self.duration_s:
            raise ValueError(
                f"{self}: replications must be at least 1 and warmup_s from 0 to below duration_s"
            )

    def describe(self) -> str:
        """Return a short description of the effort, for tables and figures."""
        return effort_text(self.replications, self.duration_s, self.warmup_s)

    def limited_to(self, reps: int) -> Effort:
        """Return the effort with at most `reps` replications of each point.

        The limit also applies to points that set their own number of replications. The number of
        resamples is at most n^n for n replications, the number of ordered resamples.
        """
        note = f"At most {reps} {'run' if reps == 1 else 'runs'} of each point."
        if self.note:
            note += f" Without this limit: {self.note}"
        return replace(
            self,
            replications=min(reps, self.replications),
            note=note,
            # 5^5 exceeds the number of resamples of every mode.
            resamples=min(self.resamples, min(reps, 5) ** min(reps, 5)),
            most=reps,
        )

    def limited(self, reps: int) -> int:
        """Return the smaller of `reps` and `most`."""
        return reps if self.most is None else min(reps, self.most)


@dataclass(frozen=True)
class Row:
    """One published number and the corresponding number of Airpath.

    Parameters
    ----------
    row : mapping of str to int, float or str
        Entries that identify the row in the paper, for example ``{"idx": 1, "B": 10}``.
    quantity : str
        Name of the quantity, for example ``throughput_simulation``.
    unit : str
        Unit of the quantity; ``1`` for a dimensionless number.
    published : float or None
        The value printed in the paper, in `unit`. None if the paper prints no number.
    computed : float or None
        Airpath's value, in `unit`. None if it was not computed.
    published_ci : float or None
        Half-width of the confidence interval printed in the paper, in `unit`.
    low, high : float or None
        Limits of Airpath's confidence interval, in `unit`. None for a value without an interval.
    tolerance : Tolerance or None
        Tolerated difference between `computed` and `published`. None if the paper's files define
        no tolerance.
    extra : mapping
        Further entries; in the JSON object, they follow the other entries.
    """

    row: Mapping[str, int | float | str]
    quantity: str
    unit: str
    published: float | None
    computed: float | None
    published_ci: float | None = None
    low: float | None = None
    high: float | None = None
    tolerance: Tolerance | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def relative_difference(self) -> float | None:
        """(computed - published) / published; None if a value is missing or `published` is 0."""
        if self.computed is None or not self.published:
            return None
        return (self.computed - self.published) / self.published

    @property
    def tolerated(self) -> tuple[float, float] | None:
        """The smallest and the largest value within the tolerance; None without a tolerance."""
        if self.tolerance is None or self.published is None:
            return None
        return self.tolerance.around(self.published, self.published_ci, self.low, self.high)

    @property
    def within(self) -> bool | None:
        """Whether `computed` is within the tolerance; None if one of the values is missing."""
        if self.computed is None or self.published is None or self.tolerance is None:
            return None
        ends = self.tolerated
        if ends is None:
            return self.tolerance.passed
        # Rounding errors must not reject a difference that equals the tolerance.
        slack = 1e-12 * max(map(abs, ends))
        return ends[0] - slack <= self.computed <= ends[1] + slack

    def with_computed(self, estimate: Interval, **more: Any) -> Row:
        """Return a copy with Airpath's mean and interval, and with the fields in `more`."""
        row = replace(self, computed=estimate.mean, low=estimate.low, high=estimate.high)
        return replace(row, **more)

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Row:
        """Return the row from the output of `to_dict`; its tolerance has only the outcome."""
        named = {field.name for field in fields(cls)} | {"relative_difference", "within"}
        tolerance = document["tolerance"]
        return cls(
            document["row"],
            document["quantity"],
            document["unit"],
            document["published"],
            document["computed"],
            document["published_ci"],
            document["low"],
            document["high"],
            None
            if tolerance is None
            else Tolerance(tolerance["source"], passed=document["within"]),
            {name: value for name, value in document.items() if name not in named},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the row as the JSON object of ``reproduce --json``."""
        return {
            "row": dict(self.row),
            "quantity": self.quantity,
            "unit": self.unit,
            "published": _finite(self.published),
            "published_ci": _finite(self.published_ci),
            "computed": _finite(self.computed),
            "low": _finite(self.low),
            "high": _finite(self.high),
            "relative_difference": _finite(self.relative_difference),
            "within": self.within,
            "tolerance": None if self.tolerance is None else self.tolerance.to_dict(self.tolerated),
            **self.extra,
        }


@dataclass(frozen=True)
class Summary:
    """Summary of many rows, as sentences and as values."""

    key: str
    title: str
    lines: Sequence[str]
    values: Mapping[str, Any]


@dataclass(frozen=True)
class ItemResult:
    """Reproduction of one table or figure of the paper.

    Parameters
    ----------
    item : str
        Key of the item: ``table3``.
    title : str
        Title of the item.
    rows : sequence of Row
        One row for each published number for which Airpath has a value.
    tables : sequence of Table
        Tables to print.
    figures : sequence of Path
        Written figure files.
    complete : bool
        False if the run was interrupted before all cells of the item were simulated.
    """

    item: str
    title: str
    rows: Sequence[Row]
    tables: Sequence[Table] = ()
    figures: Sequence[Path] = ()
    complete: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return the item as a JSON object."""
        return {
            "item": self.item,
            "title": self.title,
            "complete": self.complete,
            "rows": [row.to_dict() for row in self.rows],
            "figures": [str(path) for path in self.figures],
        }


@dataclass(frozen=True)
class Item:
    """Table or figure that can be reproduced.

    Parameters
    ----------
    key : str
        Name of the item on the command line, for example ``table3``.
    title : str
        Description of the item in one line.
    cells : sequence of Cell, or callable
        Cells to simulate. If they depend on the effort or on values that the session computes: a
        function that takes the session and returns the cells.
    evaluate : callable
        Function of the session and a directory. Returns the result, and writes figures to the
        directory; if the directory is None, writes no files.
    claims : sequence of str
        Keys of the claims that belong to the item. Their cells are simulated together with the
        item's cells.
    """

    key: str
    title: str
    cells: Sequence[Cell] | Callable[[Session], Sequence[Cell]]
    evaluate: Callable[[Session, Path | None], ItemResult]
    claims: Sequence[str] = ()

    def cells_of(self, session: Session) -> Sequence[Cell]:
        """Return the cells that the item requires."""
        return self.cells(session) if callable(self.cells) else self.cells


@dataclass(frozen=True)
class Paper:
    """A paper: published numbers and claims, and how to reproduce them.

    Parameters
    ----------
    key : str
        Name of the paper's directory.
    title, citation : str
        Title and citation of the paper.
    modes : mapping of str to Effort
        The effort of ``quick``, ``default`` and ``full``.
    items : sequence of Item
        Tables and figures, in the paper's order.
    sweeps : Sweeps
        Points of the paper: their scenarios, and the number and length of their runs.
    claims : sequence of ClaimCheck
        Claims of the paper's text about the results.
    summarise : callable
        Computes summaries of the finished items.
    confidence : float
        Confidence level of all intervals, in (0, 1), as stated in the paper. Default 0.99.
    headings : mapping of str to str
        Maps the name of a quantity to its heading on pages. Default: name and unit.
    decimals : mapping of str to int
        Maps the name of a quantity to its number of decimals on pages. Default: 4.
    published_runs : int, optional
        Number of runs from which the paper computed each printed interval. Default: the paper does
        not state it, and half-widths are not compared.
    description : str
        Description of the paper in one line, for lists. Default: empty.
    """

    key: str
    title: str
    citation: str
    modes: Mapping[Mode, Effort]
    items: Sequence[Item]
    sweeps: Sweeps
    claims: Sequence[ClaimCheck] = ()
    summarise: Callable[[Sequence[ItemResult]], Sequence[Summary]] = lambda _results: ()
    confidence: float = 0.99
    headings: Mapping[str, str] = field(default_factory=dict)
    decimals: Mapping[str, int] = field(default_factory=dict)
    published_runs: int | None = None
    description: str = ""

    def claims_of(self, items: Iterable[str]) -> list[ClaimCheck]:
        """Return the claims that belong to the items with these keys."""
        named = set(items)
        keys = {key for each in self.items if each.key in named for key in each.claims}
        return [each for each in self.claims if each.key in keys]


@dataclass(frozen=True)
class Report:
    """Result of one call of `airpath.reproduction.reproduce`.

    Parameters
    ----------
    paper : Paper
        The reproduced paper.
    provenance : mapping
        Provenance of the results: version, commit, command, mode, effort, seed, scenarios.
    items : sequence of ItemResult
        Results of the items, in the requested order.
    claims : sequence of Claim
        Claims whose cells were all simulated.
    summaries : sequence of Summary
        Summaries over all items.
    interrupted : bool
        True if Ctrl-C ended the simulations early; `items` then contains the finished results.
    effort : Effort
        Effort of the mode.
    """

    paper: Paper
    provenance: Mapping[str, Any]
    items: Sequence[ItemResult]
    claims: Sequence[Claim]
    summaries: Sequence[Summary]
    interrupted: bool
    effort: Effort

    @property
    def verdict(self) -> Verdict:
        """Counts of published numbers within their tolerance and of claims that hold."""
        return verdict_of(self.items, self.claims)

    def to_dict(self, *, brief: bool = False) -> dict[str, Any]:
        """Return the document of ``reproduce --json``; it contains no NaN and no infinity.

        Parameters
        ----------
        brief : bool
            True to include only the verdict and the claims that do not hold or are undecided.
            Default False.
        """
        front = {
            "provenance": dict(self.provenance),
            "paper": self.paper.key,
            "complete": not self.interrupted,
            "verdict": self.verdict.to_dict(),
        }
        if brief:
            return {**front, "claims": [found.to_dict() for found in self.verdict.open]}
        return {
            **front,
            "items": [item.to_dict() for item in self.items],
            "claims": [claim.to_dict() for claim in self.claims],
            "summary": {summary.key: dict(summary.values) for summary in self.summaries},
            "conclusions": [
                {"title": summary.title, "lines": list(summary.lines)} for summary in self.summaries
            ],
            "headings": dict(self.paper.headings),
            "decimals": dict(self.paper.decimals),
        }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
