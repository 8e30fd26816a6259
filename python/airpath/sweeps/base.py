"""The base of a sweep: a file, a table, a `Scenario`, or a function of the parameters."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from airpath.arguments import display_name
from airpath.engine.inputs import Reading
from airpath.errors import (
    MISSING,
    AirpathError,
    BadValueError,
    Problem,
    ScenarioError,
    one_line,
    quoted,
    show,
)
from airpath.files import MIB, UnreadableError, read_text
from airpath.scenario import Scenario
from airpath.scenario.base import FromFile
from airpath.scenario.load import parsed, read_document
from airpath.scenario.overrides import pairs, put_over
from airpath.sweeps.assembly import Assembly
from airpath.sweeps.axes import plain

__all__ = ["Base", "base_of", "parameters_of"]

Overrides = Mapping[str, Any] | Iterable[tuple[str, Any]]

_LARGEST = 16 * MIB

_KEYS = frozenset(Scenario.keys())


class Base:
    """Base scenario from which points are made.

    Parameters
    ----------
    scenario : Scenario or callable
        The base itself, or a function that returns the scenario of a point. An axis is a parameter
        of this function, or a key of the returned scenario.
    place : str
        Prefix of each line about a value of an axis.
    lost : list of str
        One line for each key of the base that overrides removed.
    from_file : bool
        Whether the axis values were read from a file.
    """

    def __init__(
        self,
        scenario: Scenario | Callable[..., Any],
        place: str,
        lost: list[str],
        *,
        from_file: bool,
    ) -> None:
        self._scenario = scenario
        self._place = place
        self._context = FromFile if from_file else None
        self.lost = dict.fromkeys(lost)

    @property
    def name(self) -> str | None:
        """Name of the scenario or of the function."""
        if isinstance(self._scenario, Scenario):
            return self._scenario.name
        return getattr(self._scenario, "__name__", None)

    def to_toml(self) -> str:
        """Return the base as TOML; empty for a function."""
        return self._scenario.to_toml() if isinstance(self._scenario, Scenario) else ""

    def refuse_unknown(self, axes: Iterable[str], place: str) -> None:
        """Reject axes that are neither parameters of the function nor keys of a scenario.

        If the base is a scenario, every axis is a key. Unknown keys are then rejected later,
        together with their values.

        Parameters
        ----------
        axes : iterable of str
            Names of the axes.
        place : str
            Prefix of each line.

        Raises
        ------
        BadValueError
            If there are unknown axes. The message has one line per axis.
        """
        known = () if isinstance(self._scenario, Scenario) else parameters_of(self._scenario)
        if isinstance(self._scenario, Scenario) or known is None:
            return
        unknown = [a for a in axes if a not in known and a.split(".")[0] not in _KEYS]
        expected = f"Expected a key of the scenario, or one of: {', '.join(sorted(known))}."
        lines = [f"{place}: {quoted(axis)}: no axis. {expected}" for axis in unknown]
        if lines:
            raise BadValueError("\n".join(lines))

    def at(self, values: Mapping[str, Any]) -> Scenario:
        """Return the scenario of a point.

        Parameters
        ----------
        values : mapping
            Values by axis.

        Raises
        ------
        BadValueError
            If the scenario with these values is not valid.
        """
        if isinstance(self._scenario, Scenario):
            return self._put_over(self._scenario, values)
        known = parameters_of(self._scenario)
        taken = {axis: value for axis, value in values.items() if known is None or axis in known}
        found = self._call_function(taken)
        return self._put_over(found, {k: value for k, value in values.items() if k not in taken})

    def assembly(
        self, axes: Iterable[str], series: Iterable[str], reading: Reading
    ) -> Assembly | None:
        """Return the assembly of the points; None if the base is a function.

        Parameters
        ----------
        axes : iterable of str
            Names of all axes.
        series : iterable of str
            Time series that are stored.
        reading : Reading
            Files that were read for earlier points.
        """
        if not isinstance(self._scenario, Scenario):
            return None
        return Assembly(
            self._scenario,
            axes,
            place=self._place,
            context=self._context,
            series=series,
            reading=reading,
            lost=self.lost,
        )

    def _put_over(self, scenario: Scenario, values: Mapping[str, Any]) -> Scenario:
        """Return a copy of a scenario with the values of some keys replaced."""
        if not values:
            return scenario
        made, overrides = put_over(scenario, values.items(), self._place, self._context)
        self.lost.update(dict.fromkeys(overrides.lost()))
        return made

    def _call_function(self, values: Mapping[str, Any]) -> Scenario:
        """Return the scenario that the function returns."""
        assert callable(self._scenario)
        try:
            found = self._scenario(**values)
        except AirpathError:
            raise
        except Exception as error:
            what = f"the function raised {type(error).__name__}: {one_line(str(error))}"
            raise ScenarioError([Problem(self._place, (), MISSING, what)]) from None
        if not isinstance(found, Scenario):
            what = "what the function returned is no Scenario"
            raise ScenarioError([Problem(self._place, (), found, what, "Return one")])
        return found


def parameters_of(function: Callable[..., Any]) -> frozenset[str] | None:
    """Return the names of a function's parameters; None if it accepts any keyword."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(each.kind is each.VAR_KEYWORD for each in found):
        return None
    return frozenset(each.name for each in found)


def base_of(given: object, place: str, directory: Path | None, overrides: Overrides) -> Base:
    """Return the base of a sweep.

    Parameters
    ----------
    given : path, mapping, Scenario or callable
        Value of ``scenario`` in the sweep file, or of `base` in the call.
    place : str
        Prefix of each line: the sweep file or the call.
    directory : pathlib.Path or None
        Directory of the sweep file, to which paths are relative; None if there is no file.
    overrides : mapping or iterable of pairs
        Values that replace values of the base.

    Raises
    ------
    BadValueError
        If the value has another type, or is no valid scenario.
    """
    from_file = directory is not None
    if isinstance(given, Scenario):
        put = pairs(overrides, "overrides")
        if not put:
            return Base(given, place, [], from_file=from_file)
        made, losses = put_over(given, put, display_name("overrides"))
    elif isinstance(given, (str, os.PathLike)):
        path = (directory or Path()) / given
        made, losses = _read(path, overrides)
    elif isinstance(given, Mapping):
        document = plain_document(given, place)
        document.setdefault("name", Path(place).stem or "scenario")
        made, losses = read_document(document, f"{place}: scenario", directory, overrides)
    elif callable(given):
        if pairs(overrides, "overrides"):
            raise BadValueError(
                f"{display_name('overrides')}: the base is a function. Call it otherwise."
            )
        return Base(given, place, [], from_file=from_file)
    else:
        what = "neither a path nor a table"
        accepted = "Use the path of a scenario file, or [scenario] with its keys"
        if not from_file:
            what = "no path, table, Scenario or function"
            accepted = "Use one of them"
        raise ScenarioError([Problem(place, ("scenario",), given, what, accepted)])
    return Base(made, place, losses.lost(), from_file=from_file)


def plain_document(given: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return a table whose values have the types of a TOML file."""
    try:
        found: dict[str, Any] = plain(given)
    except TypeError:
        what = "holds what TOML does not have"
        raise BadValueError(f"{place}: scenario = {show(given)}: {what}.") from None
    return found


def _read(path: Path, overrides: Overrides) -> tuple[Scenario, Any]:
    place = os.fspath(path)
    try:
        text = read_text(path, _LARGEST)
    except UnreadableError as error:
        raise ScenarioError([Problem(place, (), MISSING, error.why)]) from None
    document = parsed(text, place)
    document.setdefault("name", path.stem or "scenario")
    return read_document(document, place, path.parent, overrides)
