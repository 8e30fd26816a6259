"""What every reproduced paper is made of: items, rows, checked claims, and a report.

```
  Paper --items--> Item --evaluate(session)--> ItemResult: rows, tables, figures
    |                                              |
    claims, summaries  ---------------------> Report --to_dict()--> the document of --json
```

A *cell* is what is simulated: a point of one of the paper's sweeps (`sweeps`). Items name the cells
that they need; each cell is simulated once, however many use it.
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
"""How much is simulated: `quick` to look, `full` as the paper did, `default` between them."""


@dataclass(frozen=True)
class Effort:
    """How long and how often each cell is simulated.

    Parameters
    ----------
    replications : int
        Independent runs of each cell, from 1; intervals need 2.
    duration_s : float
        Simulated time of each run, s, above `warmup_s`.
    warmup_s : float
        Time at its beginning that is not counted, s, from 0.
    note : str
        What to remember when reading the numbers; printed with them. Empty when there is nothing.
    grid_step : int
        Of grids of parameters, every how many values are simulated, from 1: all of them.
    resamples : int
        Resamples on which each claim is checked for its strength, from 0. Default 100.
    most : int, optional
        Largest number of replications of each point, from 1. Default: no limit.
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
        """Return the effort in a few words, for tables and figures."""
        runs = "1 run" if self.replications == 1 else f"{self.replications} runs"
        whole = f"{runs} of {self.duration_s:g} s"
        return f"{whole}, first {self.warmup_s:g} s not counted" if self.warmup_s else whole

    def limited_to(self, reps: int) -> Effort:
        """Return the effort with at most `reps` replications of each point.

        Points that set their own number are limited too. Of n replications there are at most n^n
        different resamples, so that there are no more.
        """
        note = f"At most {reps} {'run' if reps == 1 else 'runs'} of each point."
        if self.note:
            note += f" Without this limit: {self.note}"
        return replace(
            self,
            replications=min(reps, self.replications),
            note=note,
            # 5^5 is above the number of resamples of any mode.
            resamples=min(self.resamples, min(reps, 5) ** min(reps, 5)),
            most=reps,
        )

    def limited(self, reps: int) -> int:
        """Return `reps` replications, or `most` if that is less."""
        return reps if self.most is None else min(reps, self.most)


@dataclass(frozen=True)
class Row:
    """One published number and Airpath's.

    Parameters
    ----------
    row : mapping of str to int, float or str
        Which number: ``{"idx": 1, "B": 10}``.
    quantity : str
        What it is, for example ``throughput_simulation``.
    unit : str
        Its unit; ``1`` for a pure number.
    published : float or None
        The printed value, in `unit`. None where the paper shows no number.
    computed : float or None
        Airpath's value, in `unit`.
    published_ci : float or None
        Printed half-width of the confidence interval, in `unit`.
    low, high : float or None
        Our confidence interval, in `unit`. None for a value without one.
    tolerance : Tolerance or None
        How far `computed` may be from `published`. None where the paper's definition has none.
    extra : mapping
        More about the row; these keys follow the others in the JSON object.
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
        """(computed - published) / published; None when either is missing or published is 0."""
        if self.computed is None or not self.published:
            return None
        return (self.computed - self.published) / self.published

    @property
    def tolerated(self) -> tuple[float, float] | None:
        """The smallest and the largest value within the tolerance; None where there is none."""
        if self.tolerance is None or self.published is None:
            return None
        return self.tolerance.around(self.published, self.published_ci, self.low, self.high)

    @property
    def within(self) -> bool | None:
        """Whether `computed` is within its tolerance; None where one of them is missing."""
        if self.computed is None or self.published is None or self.tolerance is None:
            return None
        ends = self.tolerated
        if ends is None:
            return self.tolerance.passed
        # A difference that is exactly what is tolerated is; the last bit must not decide.
        slack = 1e-12 * max(map(abs, ends))
        return ends[0] - slack <= self.computed <= ends[1] + slack

    def with_computed(self, estimate: Interval, **more: Any) -> Row:
        """Return the row with Airpath's mean, its interval and other given entries."""
        row = replace(self, computed=estimate.mean, low=estimate.low, high=estimate.high)
        return replace(row, **more)

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Row:
        """Return the row that `to_dict` wrote; its tolerance keeps the outcome only."""
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
    """A few numbers over many rows, as sentences and as values."""

    key: str
    title: str
    lines: Sequence[str]
    values: Mapping[str, Any]


@dataclass(frozen=True)
class ItemResult:
    """One table or figure of the paper, reproduced.

    Parameters
    ----------
    item : str
        The item's key: ``table3``.
    title : str
        What it shows.
    rows : sequence of Row
        One for each published number that we have a value for.
    tables : sequence of Table
        What to print.
    figures : sequence of Path
        Files that were written.
    complete : bool
        False when the run was interrupted before all of the item's cells were simulated.
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
    """A table or figure that can be reproduced.

    Parameters
    ----------
    key : str
        What the user types: ``table3``.
    title : str
        One line about it.
    cells : sequence of Cell, or callable
        What it needs simulated; a function of the session where it depends on the effort or on
        what the session computes.
    evaluate : callable
        Makes the result from the session's solutions and finished simulations. The path is the
        directory for its files; None when none are wanted.
    claims : sequence of str
        Keys of the claims that belong to it; their cells are simulated with it.
    """

    key: str
    title: str
    cells: Sequence[Cell] | Callable[[Session], Sequence[Cell]]
    evaluate: Callable[[Session, Path | None], ItemResult]
    claims: Sequence[str] = ()

    def cells_of(self, session: Session) -> Sequence[Cell]:
        """Return the cells that it requires."""
        return self.cells(session) if callable(self.cells) else self.cells


@dataclass(frozen=True)
class Paper:
    """A paper: what it published and how to make it again.

    Parameters
    ----------
    key : str
        Name of its directory.
    title, citation : str
        The paper.
    modes : mapping of str to Effort
        The effort of ``quick``, ``default`` and ``full``.
    items : sequence of Item
        Its tables and figures, in the paper's order.
    sweeps : Sweeps
        Its points: their scenarios, and how long and how often they are simulated.
    claims : sequence of ClaimCheck
        What its text says about the results.
    summarise : callable
        Makes summaries of the finished items.
    confidence : float
        Of every interval, in (0, 1): what the paper prints. Default 0.99.
    headings : mapping of str to str
        What a page calls a quantity. Default: its name and its unit.
    decimals : mapping of str to int
        How many decimals a page prints of a quantity. Default: 4.
    published_runs : int, optional
        Runs behind each printed interval. Default: not printed; half-widths are not compared.
    description : str
        One line, for lists. Default: empty.
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
        """Return the claims that belong to some items, named by their keys."""
        named = set(items)
        keys = {key for each in self.items if each.key in named for key in each.claims}
        return [each for each in self.claims if each.key in keys]


@dataclass(frozen=True)
class Report:
    """Everything that one call of `airpath.reproduction.reproduce` found.

    Parameters
    ----------
    paper : Paper
        Which paper.
    provenance : mapping
        What made the numbers: version, commit, command, mode, effort, seed, scenarios.
    items : sequence of ItemResult
        In the requested order.
    claims : sequence of Claim
        Those whose cells were all simulated.
    summaries : sequence of Summary
        Over all items.
    interrupted : bool
        True when Ctrl-C ended the simulations early; `items` hold what was finished.
    effort : Effort
        What each cell was given.
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
        """How many published numbers are within their tolerance and how many claims hold."""
        return verdict_of(self.items, self.claims)

    def to_dict(self, *, brief: bool = False) -> dict[str, Any]:
        """Return the document of ``reproduce --json``; it holds no NaN and no infinity.

        Parameters
        ----------
        brief : bool
            Only the verdict and the claims that do not hold or are undecided. Default False.
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
