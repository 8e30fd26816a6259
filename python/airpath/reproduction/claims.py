"""Claims of a paper's text in ``claims.toml``, and their checks.

The file has a table for each claim; claims are printed in the order of the file. Entries:

* `items`: the items to which the claim belongs.
* `text`: the claim in Airpath's words, with the section of the paper.
* `criterion`: the measured quantity, and the condition for the claim to hold.
* Further entries are the numbers of the criterion. The text of the criterion refers to them in
  braces.

A criterion is committed before its first result and never changed. These entries may be added
later:

* `of_paper = false`: not a claim of the paper; `why` has the reason.
* `later = "2026-11-24"`: the criterion was written when results for an earlier criterion were
  already known. If both check the same sentence, `revises` is the key of the earlier claim.
* `cause`: cause of a claim that does not hold, a key of `claim.CAUSES`; `why` explains it.

```toml
[buffer-size]
items = ["fig1"]
text = "A larger buffer benefits the goodput (§2, Fig. 1)."
criterion = "Buffers of {sizes} SDUs: the goodput with the largest is above {share:.0%} of ..."
sizes = [10, 20, 40]
share = 0.95
```

The file also declares the check of a claim: formulas over measures of the points of a sweep (see
`formulas` and `sweeps`):

```toml
check.points = "fig1"
check.each = ["flows"]
check.measures.goodput_kbps = ["goodput", ".0f"]
check.holds = ["last(goodput_kbps) > share * first(goodput_kbps)"]
```

```python
CLAIMS = Claims(Path(__file__).parent, SWEEPS, MEASURES)
```

If formulas are not sufficient, the check is a function in the paper's code. It receives the
session, the entry of the claim, and the required cells:

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
"""Function that extracts a number from the statistics of a replication."""


# --- claims and their checks ---------------------------------------------------------------


class _Listed(list[Any]):
    """List of numbers of a criterion. Formatted with commas; its indices may be strings."""

    def __format__(self, spec: str) -> str:
        return ", ".join(format(each, spec) for each in self)

    def __getitem__(self, place: Any) -> Any:
        return super().__getitem__(int(place) if isinstance(place, str) else place)


@dataclass(frozen=True)
class ClaimSpec:
    """The table of a claim in ``claims.toml``.

    Parameters
    ----------
    key : str
        Short name of the claim.
    items : sequence of str
        Keys of the items to which the claim belongs.
    text, criterion : str
        As in `Claim`.
    of_paper : bool
        False for a measure that the paper does not claim.
    about : mapping
        Further entries of `Claim`: `later`, `revises`, `cause`, `why`.
    numbers : mapping
        Numbers of the criterion, by name. ``spec["share"]`` is ``spec.numbers["share"]``.
    declared : mapping
        Declared check, with the entries `points`, `each`, `measures` and `holds`; empty if the
        check is a Python function.
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
        """Return the claim with the result of its check."""
        about = (self.key, self.text, self.criterion)
        return Claim(*about, *found, of_paper=self.of_paper, **self.about)


Check = Callable[[Session, ClaimSpec, Any], Finding]
"""Function that checks a claim. Receives the session, the claim's entry, and its cells."""


class Claims:
    """The claims of a paper's ``claims.toml`` with their checks.

    Parameters
    ----------
    directory : Path
        Directory of the paper.
    sweeps : Sweeps, optional
        Sweeps of the paper, to which claims refer. Default: none.
    measures : mapping of str to Measure
        Maps names in formulas to measures of a point.

    Raises
    ------
    BadValueError
        If a claim has an invalid formula, or an unknown name.
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
        """Register the check of a claim whose formulas are in the file."""
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
        """Return a decorator that registers a function as the check of a claim.

        Parameters
        ----------
        key : str
            Name of the claim's table in the file.
        cells : callable
            Function that takes the claim's entry and returns the cells that the check needs, as
            nested sequences or mappings. The check receives the same structure. Default: no cells.

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
            If a claim has no check.
        """
        return tuple(self._checks[key] for key in self.specs)

    def criterion(self, key: str) -> Criterion:
        """Return the formulas of a claim with a declared check."""
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
"""Accepted kinds of the entries of a declared check. The entry `each` is optional."""


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
    entries = (key, found["items"], found["text"], criterion)
    return ClaimSpec(*entries, of_paper, about, numbers, found.get("check", {}))


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
    """Yield the cells in nested sequences and mappings; a cell is a non-empty tuple."""
    if isinstance(found, tuple) and found:
        yield found
        return
    for each in found.values() if isinstance(found, Mapping) else found:
        yield from _cells(each)


def caption(session: Session, item: str) -> str:
    """Return a sentence with two counts: the checked claims of an item, and those that hold."""
    here = session.paper.claims_of([item])
    checked = [each.check(session) for each in here if session.complete(each.cells)]
    found = [each.holds for each in checked if each.of_paper]
    return f"Of the paper's {len(found)} claims about it {sum(found)} hold." if found else ""


def gathered(name: str, cases: Mapping[Any, Any], look: Callable[[Any, Any], Finding]) -> Finding:
    """Check several cases; return a finding that holds if all cases hold.

    Parameters
    ----------
    name : str
        Axis whose values are the keys of `cases`, for example ``bearer``. Labels of the cases are
        then ``bearer=384``.
    cases : mapping
        Maps a key to the data of a case.
    look : callable
        Function of a key and the data of a case. Returns the finding for the case.
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
        If the cell was not simulated. A claim must name every cell that its check reads.
    """
    estimate = session.estimate(cell, value)
    if estimate is None:
        raise ValueError("a claim is checked only when all its cells were simulated")
    return estimate


def means(session: Session, cells: Sequence[Cell], value: Value) -> list[float]:
    """Return, for each cell, the mean of a number over its runs."""
    return [known(session, cell, value).mean for cell in cells]


def joined(values: Sequence[object], spec: str = "") -> str:
    """Return values separated by commas: ``0.62, 0.46``; `spec` is a format specification."""
    return ", ".join(format(each, spec) for each in values)
