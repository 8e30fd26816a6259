"""Declared checks of claims: formulas over the measures of a paper's points.

```toml
[order]
items = ["table2"]
text = "blind-BI gives most, adapt-BI nearly as much, UNI least (§5.3)."
criterion = "In each row blind-BI >= adapt-BI > UNI; blind-BI at most {ahead:.0%} above adapt-BI."
ahead = 0.08
check.points = "table2"                  # a set of the paper's points, or a list of sets
check.each = ["base_rtt_ms"]             # checked for each value of these axes, and holds for all
check.measures.blind = ['goodput(policy="blind-bi")', ".3f"]
check.measures.adapt = ['goodput(policy="adapt-bi")', ".3f"]
check.measures.uni = ['goodput(policy="uni")', ".3f"]
check.holds = ["blind >= adapt > uni", "blind / adapt - 1 <= ahead"]
```

`goodput` is a measure that the paper defines. Named arguments select points by their axis values; a
tuple matches any of its values. Other arguments are passed to the measure. A formula may contain
measures, the numbers of the criterion, earlier `measures` of the claim, arithmetic, comparisons
(also chained), `and`, `or`, `not`, and the functions of `vocabulary`. It is evaluated for each
point and each run. A claim holds if every formula of `holds` is true at every point.

Each entry of `measures` has a formula and the format of its printed values (default ``.4g``).
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np

from airpath.reproduction.claim import Cell, Finding
from airpath.reproduction.session import Session
from airpath.reproduction.values import Place, Values, combined, constant, is_at
from airpath.reproduction.vocabulary import FUNCTIONS, OutsideRangeError

__all__ = ["Criterion", "Measure", "Point", "of_point", "of_replication", "of_run"]


class Point(NamedTuple):
    """Point of a paper: its axis values, and its cell or an object from which it is computed."""

    place: Place
    cell: Any


Points = Sequence[Point]


@dataclass(frozen=True)
class Measure:
    """Measure that formulas can use: a number at each point.

    Parameters
    ----------
    values : callable
        Function of the session, the cell of a point and the arguments of the measure. Returns the
        mean over the runs, and the list of the values of the runs. The list is None if the point
        has no runs.
    is_simulated : bool
        Whether the measure needs the simulated runs of the cells.
    is_random : bool
        Whether the measure depends on random numbers.
    """

    values: Callable[..., tuple[float, Sequence[float] | None]]
    is_simulated: bool = True
    is_random: bool = True


def of_replication(measure: Callable[..., Any], *, has_arguments: bool = False) -> Measure:
    """Return a measure that extracts a number from the statistics of each run.

    Parameters
    ----------
    measure : callable
        Function that extracts the number from the statistics of a run. With `has_arguments`: a
        function that takes the arguments and returns such a function.
    has_arguments : bool
        Whether the measure has arguments. Default False.
    """

    def of(cell: Cell, *arguments: Any) -> Callable[[Session, int], float]:
        taken = measure(*arguments) if has_arguments else measure
        return lambda runs, run: float(taken(runs.replications(cell)[run]))

    return _by_run(f"{measure.__module__}.{measure.__qualname__}", of)


def of_run(measure: Callable[..., float]) -> Measure:
    """Return a measure that computes a number of each run from all data of the run.

    Parameters
    ----------
    measure : callable
        Function of the session, the index of the run (from 0), the cell and the arguments.
    """

    def of(cell: Cell, *arguments: Any) -> Callable[[Session, int], float]:
        return lambda runs, run: float(measure(runs, run, cell, *arguments))

    return _by_run(f"{measure.__module__}.{measure.__qualname__}", of)


def _by_run(name: str, of: Callable[..., Callable[[Session, int], float]]) -> Measure:
    key = f"{name} {id(of)}"

    def values(session: Session, cell: Cell, *arguments: Any) -> tuple[float, Sequence[float]]:
        found = session.per_run(cell, f"{key} {arguments}", of(cell, *arguments))
        if not found:
            raise ValueError("a claim is checked only when all its cells were simulated")
        return session.interval(found).mean, found

    return Measure(values)


def of_point(
    compute: Callable[..., float], *, is_simulated: bool = False, is_random: bool = False
) -> Measure:
    """Return a measure with one number per point, for example from a model or printed in the paper.

    Parameters
    ----------
    compute : callable
        Function of the session, the cell and the arguments.
    is_simulated : bool
        Whether the measure needs all simulated runs of the point. Default False.
    is_random : bool
        Whether the measure depends on random numbers other than those of the runs. Default False.
    """

    def values(session: Session, cell: Cell, *arguments: Any) -> tuple[float, None]:
        return float(compute(session, cell, *arguments)), None

    return Measure(values, is_simulated, is_random or is_simulated)


# --- a criterion -------------------------------------------------------------------------------

_OPERATIONS: Final[Mapping[type, Callable[..., Any]]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.true_divide,
    ast.Pow: np.power,
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
    ast.And: np.logical_and,
    ast.Or: np.logical_or,
    ast.USub: np.negative,
    ast.Not: np.logical_not,
}

_LAST: Final = 12
"""Largest number of points whose values are printed separately. For more: only the range."""


@dataclass(frozen=True)
class Criterion:
    """The formulas of a claim.

    Parameters
    ----------
    points : sequence of Point
        Points that the claim selects.
    each : sequence of str
        Axes; the criterion is checked separately for each combination of their values.
    measures : mapping of str to tuple
        Maps the name of each printed number to its formula and format.
    holds : sequence of str
        Formulas that must all be true for the claim to hold.
    numbers : mapping
        Numbers of the criterion.
    known : mapping of str to Measure
        The paper's measures.

    Raises
    ------
    ValueError
        If a formula is invalid, has an unknown name, or selects no point.
    """

    points: Points
    each: Sequence[str]
    measures: Mapping[str, tuple[str, str]]
    holds: Sequence[str]
    numbers: Mapping[str, Any]
    known: Mapping[str, Measure]
    _trees: dict[str, ast.expr] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for text in [*(formula for formula, _ in self.measures.values()), *self.holds]:
            try:
                self._trees[text] = ast.parse(text, mode="eval").body
            except SyntaxError as error:
                raise ValueError(f"{text!r}: not a formula: {error.msg}") from None
            self._check_names(text)

    def _check_names(self, text: str) -> None:
        names = {*FUNCTIONS, *self.known, *self.numbers, *self.measures, "axis"}
        twice = [name for name in self.measures if name in (*self.numbers, *self.known)]
        if twice:
            raise ValueError(f"measures.{twice[0]}: the name is in use")
        for node in ast.walk(self._trees[text]):
            if isinstance(node, ast.Name) and node.id not in names:
                raise ValueError(f"{text!r}: unknown name {node.id!r}")

    def cells(self) -> list[Cell]:
        """Return the cells that the formulas need for measures of simulated runs.

        Raises
        ------
        ValueError
            If a formula selects no point.
        """
        found = [
            point.cell
            for group in self._groups()
            for measure, call in self._used()
            if measure.is_simulated
            for point in self._select(call, group)
        ]
        return list(dict.fromkeys(found))

    @property
    def is_random(self) -> bool:
        """Whether a measure in the formulas depends on random numbers."""
        return any(measure.is_random for measure, _ in self._used())

    def _used(self) -> Iterator[tuple[Measure, ast.Call | None]]:
        """Yield the measures in the formulas, each with its call node if it has arguments."""
        for tree in self._trees.values():
            nodes = list(ast.walk(tree))
            calls = {node.func: node for node in nodes if isinstance(node, ast.Call)}
            for node in nodes:
                if isinstance(node, ast.Name) and (found := self._measure_of(node)) is not None:
                    yield found, calls.get(node)

    def _measure_of(self, node: ast.Name) -> Measure | None:
        return None if node.id in (*self.measures, *self.numbers) else self.known.get(node.id)

    def _select(self, call: ast.Call | None, group: Place) -> Points:
        wanted = {**group, **self._place(call)}
        found = [point for point in self.points if is_at(point.place, wanted)]
        if not found:
            raise ValueError(f"no point has {_label(wanted)}")
        return found

    def _place(self, call: ast.Call | None) -> Place:
        """Return the axis values in the named arguments of a call."""
        keywords = [] if call is None else call.keywords
        return {str(each.arg): self._value(each.value) for each in keywords}

    def _value(self, node: ast.expr) -> Any:
        """Return the value of a constant expression: a number, a text or a list."""
        match node:
            case ast.Constant():
                return node.value
            case ast.Name() if node.id in self.numbers:
                return self.numbers[node.id]
            case ast.Tuple() | ast.List():
                return [self._value(each) for each in node.elts]
            case ast.Subscript():
                return self._value(node.value)[self._value(node.slice)]
            case ast.UnaryOp(op=ast.USub()):
                return -self._value(node.operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _PLAIN:
                return _PLAIN[type(op)](self._value(left), self._value(right))
        raise ValueError(f"{ast.unparse(node)!r}: not a number of the criterion")

    def _groups(self) -> list[Place]:
        """Return the distinct values of the axes `each`, in the order of the points."""
        found = [{axis: point.place.get(axis) for axis in self.each} for point in self.points]
        places = (tuple(place.items()) for place in found if None not in place.values())
        return [dict(each) for each in dict.fromkeys(places)]

    def find(self, session: Session) -> Finding:
        """Evaluate the formulas and return the finding."""
        groups = self._groups()
        try:
            found = {_label(group): self._find_at(session, group) for group in groups}
        except OutsideRangeError as error:
            return Finding(False, [f"not evaluated: {error}"], {})
        holds = all(each.holds for each in found.values())
        lines = [line for each in found.values() for line in each.measured]
        values = {name: each.values for name, each in found.items()}
        return Finding(holds, lines, values if self.each else found[""].values)

    def _find_at(self, session: Session, group: Place) -> Finding:
        reader = _Reader(self, session, group)
        for name, (text, _) in self.measures.items():
            reader.named[name] = reader.read(self._trees[text])
        truths = [reader.read(self._trees[text]) for text in self.holds]
        holds = all(len(truth) > 0 and bool(np.all(truth.means)) for truth in truths)
        shown = "; ".join(
            f"{name.replace('_', ' ')} {_shown(reader.named[name], form)}"
            for name, (_, form) in self.measures.items()
        )
        values = {name: _listed(found) for name, found in reader.named.items()}
        return Finding(holds, [f"{_label(group)}: {shown}" if group else shown], values)


_PLAIN: Final[Mapping[type, Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class _Reader:
    """Evaluates formulas for a group of points with the same values of `each`."""

    def __init__(self, criterion: Criterion, session: Session, group: Place) -> None:
        self.criterion, self.session, self.group = criterion, session, group
        self.named: dict[str, Values] = {}

    def read(self, node: ast.expr) -> Values:
        """Evaluate an expression."""
        match node:
            case ast.Call(func=ast.Name(id=name)):
                return self._called(name, node)
            case ast.Name(id=name) if name in self.named:
                return self.named[name]
            case ast.Name(id=name) if self.criterion._measure_of(node) is not None:
                return self._measured(name, None)
            case ast.BinOp(left=left, op=op, right=right):
                return combined(_operation(op), self.read(left), self.read(right))
            case ast.UnaryOp(op=op, operand=operand):
                return combined(_operation(op), self.read(operand))
            case ast.BoolOp(op=op, values=values):
                return self._reduced(_operation(op), map(self.read, values))
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self._compared(ops, [self.read(each) for each in (left, *others)])
        return self._constants(node)

    def _constants(self, node: ast.expr) -> Values:
        found = self.criterion._value(node)
        if isinstance(found, list | tuple):
            return Values([{}] * len(found), np.array(found, dtype=float))
        return constant(found)

    def _compared(self, ops: Sequence[ast.cmpop], operands: Sequence[Values]) -> Values:
        pairs = zip(ops, operands, operands[1:], strict=False)
        truths = (combined(_operation(op), first, second) for op, first, second in pairs)
        return self._reduced(np.logical_and, truths)

    @staticmethod
    def _reduced(operation: Callable[..., Any], values: Iterable[Values]) -> Values:
        first, *others = values
        for other in others:
            first = combined(operation, first, other)
        return first

    def _called(self, name: str, call: ast.Call) -> Values:
        if name in self.named:
            found = self.named[name].at(self.criterion._place(call))
            if not len(found):
                raise ValueError(f"{ast.unparse(call)}: no such point")
            return found
        if name == "axis":
            return self._axis(call)
        if name in FUNCTIONS:
            return FUNCTIONS[name](self.session, *map(self.read, call.args))
        return self._measured(name, call)

    def _axis(self, call: ast.Call) -> Values:
        name = self.criterion._value(call.args[0])
        points = self.criterion._select(call, self.group)
        places = [point.place for point in points if name in point.place]
        return Values(places, np.array([float(place[name]) for place in places]))

    def _measured(self, name: str, call: ast.Call | None) -> Values:
        measure, points = self.criterion.known[name], self.criterion._select(call, self.group)
        arguments = [] if call is None else [self.criterion._value(each) for each in call.args]
        found = [measure.values(self.session, point.cell, *arguments) for point in points]
        means = np.array([mean for mean, _ in found])
        places = [point.place for point in points]
        runs = [np.asarray(runs, dtype=float) for _, runs in found if runs is not None]
        return Values(places, means, (lambda: runs) if runs else None)


def _operation(kind: Any) -> Callable[..., Any]:
    try:
        return _OPERATIONS[type(kind)]
    except KeyError:
        raise ValueError(f"{type(kind).__name__} is no operation of formulas") from None


# --- output of numbers -------------------------------------------------------------------------


def _label(place: Place) -> str:
    return ", ".join(f"{axis}={value}" for axis, value in place.items())


def _varying(values: Values) -> list[str]:
    """Return the labels of the points; a label contains only axes in which the points differ."""
    axes = [
        axis
        for axis in (values.places[0] if len(values) else {})
        if len({str(place.get(axis)) for place in values.places}) > 1
    ]
    return [", ".join(f"{place.get(axis)}" for axis in axes) for place in values.places]


def _shown(values: Values, form: str) -> str:
    texts = [format(each, form) if math.isfinite(each) else "none" for each in values]
    if len(texts) == 1:
        return texts[0]
    if len(texts) > _LAST:
        ends = (format(np.min(values.means), form), format(np.max(values.means), form))
        return f"{ends[0]} to {ends[1]} at {len(texts)} points"
    names = _varying(values)
    pairs = zip(names, texts, strict=True)
    return ", ".join(f"{text} ({name})" if name else text for name, text in pairs)


def _listed(values: Values) -> Any:
    numbers = [float(each) if math.isfinite(each) else None for each in values]
    if len(numbers) == 1:
        return numbers[0]
    names = _varying(values)
    if len({*names}) == len(names):
        return dict(zip(names, numbers, strict=True))
    return numbers
