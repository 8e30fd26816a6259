"""What a paper's text says: the claims of its ``claims.toml``, and how they are checked.

The file has a table for each claim, in the order in which they are printed: `items`, the items
that it belongs to; `text`, what the paper says, in our words, with its place; `criterion`, what is
measured and when the claim holds; and the numbers of the criterion, which stands for them in
braces. A criterion is committed before its first number and never changed. What may be added later:

* `of_paper = false`: the paper does not claim it; `why` gives the reason.
* `later = "2026-11-24"`: the criterion was written after the numbers of an earlier one were known;
  `revises` names that one, if both check the same sentence.
* `cause`: why the claim does not hold, a key of `claim.CAUSES`; `why` is a sentence.

```toml
[buffer-size]
items = ["fig1"]
text = "A larger buffer benefits the goodput (§2, Fig. 1)."
criterion = "Buffers of {sizes} SDUs: the goodput with the largest is above {share:.0%} of ..."
sizes = [10, 20, 40]
share = 0.95
```

How a claim is checked is declared in the file too, as formulas over measures of the points of a
sweep (`formulas`, `sweeps`):

```toml
check.points = "fig1"
check.each = ["flows"]
check.measures.goodput_kbps = ["goodput", ".0f"]
check.holds = ["last(goodput_kbps) > share * first(goodput_kbps)"]
```

```python
CLAIMS = Claims(Path(__file__).parent, SWEEPS, MEASURES)
```

Where no formula fits, the paper has a function, which gets the session, the numbers and the cells
that it requires:

```python

@CLAIMS.check("buffer-size", lambda spec: SWEEPS.cells("buffers", numbers=spec.numbers))
def _buffer_size(session: Session, spec: ClaimSpec, points: list[SweepPoint]) -> Finding:
    found = means(session, points, goodput_kbps)
    return Finding(found[-1] > spec["share"] * found[0], [f"{listed(found)} kbit/s"], {...})
```
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from airpath.errors import BadValueError
from airpath.reproduction.claim import CAUSES, Cell, Claim, ClaimCheck, Finding
from airpath.reproduction.entries import TABLE, TEXT_OR_TEXTS, TEXTS, Kind, refuse_wrong
from airpath.reproduction.files import read_toml, refuse_unknown
from airpath.reproduction.formulas import Criterion, Measure, Point
from airpath.reproduction.session import Session
from airpath.results.intervals import Interval

if TYPE_CHECKING:
    from airpath.reproduction.sweeps import Sweeps

__all__ = [
    "ClaimSpec",
    "Claims",
    "Finding",
    "Value",
    "caption",
    "gathered",
    "joined",
    "known",
    "means",
]

Value = Callable[[Mapping[str, Any]], float]
"""Takes a number out of a replication."""


# --- claims and their checks ---------------------------------------------------------------


class _Listed(list[Any]):
    """Numbers of a criterion: joined by commas, or one of them by its place."""

    def __format__(self, spec: str) -> str:
        return ", ".join(format(each, spec) for each in self)

    def __getitem__(self, place: Any) -> Any:
        return super().__getitem__(int(place) if isinstance(place, str) else place)


@dataclass(frozen=True)
class ClaimSpec:
    """A claim as its file has it.

    Parameters
    ----------
    key : str
        Short name.
    items : sequence of str
        Keys of the items that it belongs to.
    text, criterion : str
        As `Claim` has them.
    of_paper : bool
        False for a measure that the paper does not have.
    about : mapping
        Further entries of `Claim`: `later`, `revises`, `cause`, `why`.
    numbers : mapping
        Those of the criterion; ``spec["share"]`` is one of them.
    declared : mapping
        How it is checked: the entries `points`, `each`, `measures` and `holds`, if it has any.
    """

    key: str
    items: Sequence[str]
    text: str
    criterion: str
    of_paper: bool
    about: Mapping[str, Any]
    numbers: Mapping[str, Any]
    declared: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.numbers[name]

    def claim(self, found: Finding) -> Claim:
        """Return the claim with what its check found."""
        about = (self.key, self.text, self.criterion)
        return Claim(*about, *found, of_paper=self.of_paper, **self.about)


Check = Callable[[Session, ClaimSpec, Any], Finding]
"""Receives the session, the entry of the file, and the cells in the requested form."""


class Claims:
    """The claims of a paper's ``claims.toml`` with their checks.

    Parameters
    ----------
    directory : Path
        Of the paper.
    sweeps : Sweeps, optional
        Of the paper: claims name points by them. Default: none.
    measures : mapping of str to Measure
        What formulas know of a point, by name.

    Raises
    ------
    BadValueError
        If a claim has a formula that is not one, or names what the paper does not have.
    """

    def __init__(
        self,
        directory: Path,
        sweeps: Sweeps | None = None,
        measures: Mapping[str, Measure] = MappingProxyType({}),
    ) -> None:
        self._sweeps = sweeps
        self.specs = {key: _spec(key, found) for key, found in read_toml(directory, _FILE).items()}
        self._checks: dict[str, ClaimCheck] = {}
        self._criteria: dict[str, Criterion] = {}
        for key, spec in self.specs.items():
            try:
                _check_about(spec.about, self.specs)
                if spec.declared:
                    self._declare(spec, measures)
            except ValueError as error:
                place = f"{directory.name}/{_FILE}: {key}"
                lines = (f"{place}: {line}" for line in str(error).splitlines())
                raise BadValueError("\n".join(lines)) from None

    def _declare(self, spec: ClaimSpec, measures: Mapping[str, Measure]) -> None:
        """Add the check of a claim whose formulas the file has."""
        criterion = self._criteria[spec.key] = _criterion(spec, self._points_of, measures)

        def checked(session: Session) -> Claim:
            return spec.claim(criterion.find(session))

        self._checks[spec.key] = ClaimCheck(
            spec.key, criterion.cells(), checked, criterion.is_random
        )

    def _points_of(self, name: str, spec: ClaimSpec) -> Sequence[Point]:
        if self._sweeps is None:
            raise ValueError("check.points: there are no sweeps")
        refuse_unknown("check.points", [name], self._sweeps.names(), "no sweep")
        return self._sweeps.points(name, spec.numbers)

    def check(
        self,
        key: str,
        cells: Callable[[ClaimSpec], Any] = lambda _spec: (),
    ) -> Callable[[Check], Check]:
        """Return the decorator that makes a function the check of a claim.

        Parameters
        ----------
        key : str
            A table of the file.
        cells : callable
            Gives the cells that the check needs, in sequences or mappings of any depth; it gets
            them in the same form. Default: none.

        Raises
        ------
        KeyError
            If the file has no such claim.
        """
        spec = self.specs[key]
        needed = cells(spec)

        def made(check: Check) -> Check:
            def checked(session: Session) -> Claim:
                return spec.claim(check(session, spec, needed))

            named = list(dict.fromkeys(_cells(needed)))
            self._checks[key] = ClaimCheck(key, named, checked, bool(named))
            return check

        return made

    def checks(self) -> tuple[ClaimCheck, ...]:
        """Return the claims in the order of the file.

        Raises
        ------
        KeyError
            If one of them has no check.
        """
        return tuple(self._checks[key] for key in self.specs)

    def criterion(self, key: str) -> Criterion:
        """Return the formulas of a claim that has some."""
        return self._criteria[key]

    def of(self, item: str) -> tuple[str, ...]:
        """Return the keys of the claims that belong to an item."""
        return tuple(key for key, spec in self.specs.items() if item in spec.items)


_FILE: Final = "claims.toml"

_ABOUT: Final = ("later", "revises", "cause", "why")

_CHECK: Final[Mapping[str, Kind]] = {
    "points": TEXT_OR_TEXTS,
    "measures": TABLE,
    "holds": TEXTS,
    "each": TEXTS,
}
"""What a declared check has; `each` may be missing."""


def _spec(key: str, found: Mapping[str, Any]) -> ClaimSpec:
    about = {name: found[name] for name in _ABOUT if name in found}
    named = {"items", "text", "criterion", "of_paper", "check", *_ABOUT}
    numbers = {name: value for name, value in found.items() if name not in named}
    shown = {
        name: _Listed(value) if isinstance(value, list) else value
        for name, value in numbers.items()
    }
    criterion = found["criterion"].format(**shown)
    of_paper = found.get("of_paper", True)
    said = (key, found["items"], found["text"], criterion)
    return ClaimSpec(*said, of_paper, about, numbers, found.get("check", {}))


def _criterion(
    spec: ClaimSpec,
    points_of: Callable[[str, ClaimSpec], Sequence[Point]],
    measures: Mapping[str, Measure],
) -> Criterion:
    declared = spec.declared
    refuse_wrong("check", declared, _CHECK, ("points", "measures", "holds"))
    names = declared["points"] if isinstance(declared["points"], list) else [declared["points"]]
    chosen = [
        Point({**point.place, "points": name}, point.cell) if len(names) > 1 else point
        for name in names
        for point in points_of(name, spec)
    ]
    shown = {
        name: tuple(found) if isinstance(found, list) else (found, ".4g")
        for name, found in declared["measures"].items()
    }
    each, holds = declared.get("each", []), declared["holds"]
    if not holds:
        raise ValueError("check.holds: empty")
    absent = [axis for axis in each if all(axis not in point.place for point in chosen)]
    if absent:
        raise ValueError(f"check.each = {absent[0]!r}: no point has this axis")
    return Criterion(chosen, each, shown, holds, spec.numbers, measures)


def _check_about(about: Mapping[str, Any], known: Mapping[str, ClaimSpec]) -> None:
    revises, cause = about.get("revises"), about.get("cause")
    if revises is not None and (revises not in known or "later" not in about):
        raise ValueError(f"revises = {revises!r}: must name a claim; set later")
    if cause is not None and (cause not in CAUSES or "why" not in about):
        causes = ", ".join(CAUSES)
        raise ValueError(f"cause = {cause!r}: must be one of {causes}; set why")


def _cells(found: Any) -> Iterator[Any]:
    """Yield the cells, which are tuples, of sequences and mappings."""
    if isinstance(found, tuple) and found:
        yield found
        return
    for each in found.values() if isinstance(found, Mapping) else found:
        yield from _cells(each)


def caption(session: Session, item: str) -> str:
    """Return how many of the paper's claims about an item hold, of those that were checked."""
    here = session.paper.claims_of([item])
    checked = [each.check(session) for each in here if session.complete(each.cells)]
    found = [each.holds for each in checked if each.of_paper]
    return f"Of the paper's {len(found)} claims about it {sum(found)} hold." if found else ""


def gathered(name: str, cases: Mapping[Any, Any], look: Callable[[Any, Any], Finding]) -> Finding:
    """Return the finding over several cases: it holds if it holds in all.

    Parameters
    ----------
    name : str
        What the keys of `cases` are: ``bearer``. Values are named by it: ``bearer=384``.
    cases : mapping
        What is looked at, one after the other.
    look : callable
        Gets key and value of each.
    """
    found = {key: look(key, case) for key, case in cases.items()}
    return Finding(
        all(each.holds for each in found.values()),
        [line for each in found.values() for line in each.measured],
        {f"{name}={key}" if name else str(key): each.values for key, each in found.items()},
    )


# --- means -------------------------------------------------------------------------------------


def known(session: Session, cell: Cell, value: Value) -> Interval:
    """Return the mean of a number over the runs of a cell.

    Raises
    ------
    ValueError
        If the cell was not simulated: a claim names every cell that its check reads.
    """
    estimate = session.estimate(cell, value)
    if estimate is None:
        raise ValueError("a claim is checked only when all its cells were simulated")
    return estimate


def means(session: Session, cells: Sequence[Cell], value: Value) -> list[float]:
    """Return the mean of a number in each of some cells."""
    return [known(session, cell, value).mean for cell in cells]


def joined(values: Sequence[object], spec: str = "") -> str:
    """Return values with commas between them: ``0.62, 0.46``; `spec` is that of `format`."""
    return ", ".join(format(each, spec) for each in values)
