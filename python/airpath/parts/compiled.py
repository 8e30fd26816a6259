"""Compilation of the methods of a congestion control with numba."""

from __future__ import annotations

import ast
import inspect
import math
import operator
import textwrap
from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from airpath import _airpath
from airpath.scenario.units import Quantity

__all__ = ["CompiledMethods", "compile_methods"]

_VERSION = 1
_NONE = 2**63 - 1
"""Value of a number of bytes or nanoseconds that is not available."""
_TYPES = {"u32": "u4", "u64": "u8", "i64": "i8", "f64": "f8"}
_NUMBERS = {bool: "?", int: "i8", float: "f8"}
_EVERY_ACK, _SCALABLE = 1, 2
_EVENTS: Mapping[str, str] = {
    "on_ack": "Ack",
    "on_loss": "Loss",
    "on_rto": "Loss",
    "on_ecn": "Loss",
    "on_recovered": "Recovered",
    "on_undo": "Undo",
    "on_idle": "Idle",
    "on_lost_syn": "LostSyn",
}
"""Maps each method that can be compiled to the record of its event."""
_FLAGS: Mapping[str, tuple[str, ...]] = {
    "Ack": ("duplicate", "echo", "app_limited"),
    "Loss": ("keeps_ssthresh",),
}
"""Maps each event to its flags, from the lowest bit."""
_OPTIONAL = {("Ack", "growth"), ("Ack", "rtt_ns"), ("Undo", "ssthresh")}
"""Fields that can have no value."""


class CompiledMethods:
    """Table of the compiled methods of a part, and the record of its state.

    Parameters
    ----------
    name : str
        Name of the class, for messages.
    record : numpy.dtype
        The state of an object.
    functions : mapping of str to object
        Maps each method to numba's C function.
    flags : int
        Properties of the part.
    known : iterable of str
        Attributes that are not part of the state.
    """

    def __init__(
        self,
        name: str,
        record: np.dtype[Any],
        functions: Mapping[str, Any],
        flags: int,
        known: Iterable[str],
    ) -> None:
        self._name, self._record, self._known = name, record, frozenset(known)
        self._functions = functions
        layout = _records()["CongestionTable"]
        self._table = np.zeros(1, layout)
        values = {
            "size": layout.itemsize,
            "version": _VERSION,
            "flags": flags,
            "state_size": record.itemsize,
            "state_align": 8,
        }
        for field, value in values.items():
            self._table[field] = value
        for method, function in functions.items():
            self._table[method] = function.address

    @property
    def address(self) -> int:
        """Address of the table."""
        return int(self._table.ctypes.data)

    def state(self, made: Any) -> bytes:
        """Return the state of an object after its start.

        Parameters
        ----------
        made : object
            The object.

        Raises
        ------
        TypeError
            If an attribute is not part of the state, or has another type than in the class.
        """
        fields = [field for field in self._record.names or () if field not in ("size", "version")]
        for name in vars(made):
            if name not in fields and name not in self._known:
                advice = f"Give it a first value in the class, for example {name} = 0.0"
                raise TypeError(f"{self._name}.{name}: not part of the compiled state. {advice}.")
        state = np.zeros(1, self._record)
        state["size"], state["version"] = _records()["Control"].itemsize, _VERSION
        for name in fields:
            state[name] = self._number(name, getattr(made, name))
        return state.tobytes()

    def _number(self, name: str, value: Any) -> Any:
        """Return a value in the type of its field."""
        kind = self._record[name].kind
        if name in ("ssthresh", "pacing_rate") and value is None:
            return math.inf
        try:
            if kind == "f":
                return float(value)
            number = operator.index(value)
        except TypeError:
            wanted = "a number" if kind == "f" else "an integer, as in the class"
            raise TypeError(f"{self._name}.{name} = {value!r}: not {wanted}.") from None
        if kind == "b":
            return bool(number)
        if not -_NONE <= number <= _NONE:
            raise TypeError(f"{self._name}.{name} = {value!r}: not an integer of 64 bits.")
        return number


def _records() -> dict[str, np.dtype[Any]]:
    """Return the records of the contract of compiled parts."""
    found = {}
    for name, size, fields in _airpath.part_records():
        formats = [_TYPES.get(kind, "u8") for _, kind, _ in fields]
        layout = {
            "names": [field for field, _, _ in fields],
            "formats": formats,
            "offsets": [offset for _, _, offset in fields],
            "itemsize": size,
        }
        found[name] = np.dtype(layout, align=True)  # type: ignore[call-overload]
    return found


def compile_methods(
    cls: type, defaults: type, methods: Iterable[str], parameters: Mapping[str, Any]
) -> CompiledMethods:
    """Compile the methods of a congestion control.

    Parameters
    ----------
    cls : type
        The user's class.
    defaults : type
        Class with the default methods.
    methods : iterable of str
        Names of the methods that the class has.
    parameters : mapping of str to type
        Maps the parameters of the class to their annotations.

    Raises
    ------
    ImportError
        If numba is not installed.
    TypeError
        If a method cannot be compiled, or the class needs something that compiled parts do not
        have.
    """
    try:
        import numba
    except ImportError:
        install = 'Install it: pip install "airpath[numba]"'
        raise ImportError(
            f"compiled=True: requires numba, which is not installed. {install}."
        ) from None
    for option in ("rate_samples", "sets_window_in_recovery"):
        if getattr(cls, option, False):
            raise TypeError(f"{cls.__name__}.{option} = True: not available with compiled=True.")
    record = _state_record(cls, defaults, parameters)
    compiled = {}
    for method in sorted(methods):
        function = inspect.getattr_static(cls, method)
        if method == "start" or function is inspect.getattr_static(defaults, method, None):
            continue
        if method not in _EVENTS or not inspect.isfunction(function):
            raise TypeError(f"{cls.__name__}.{method}: not available with compiled=True.")
        _check_attributes(cls, function, record.names or ())
        try:
            compiled[method] = _compiled(numba, function, record, _EVENTS[method])
        except Exception as error:
            text = f"{cls.__name__}.{method}: cannot be compiled: {error}"
            raise TypeError(text) from error
    flags = getattr(cls, "every_ack", False) * _EVERY_ACK
    flags += getattr(cls, "scalable", False) * _SCALABLE
    return CompiledMethods(cls.__name__, record, compiled, flags, parameters)


def _state_record(cls: type, defaults: type, parameters: Mapping[str, Any]) -> np.dtype[Any]:
    """Return the record of an object: window, parameters, attributes with a number in the class."""
    control = _records()["Control"]
    assert control.fields is not None
    fields = {name: (layout[0], layout[1]) for name, layout in control.fields.items()}
    offset = control.itemsize
    for name, kind in {**_parameter_types(parameters), **_attributes(cls, defaults)}.items():
        if name not in fields:
            fields[name] = (np.dtype(kind), offset)
            offset += 8
    layout = {
        "names": list(fields),
        "formats": [kind for kind, _ in fields.values()],
        "offsets": [place for _, place in fields.values()],
        "itemsize": offset,
    }
    return np.dtype(layout, align=True)  # type: ignore[call-overload,no-any-return]


def _parameter_types(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return the types of the parameters that are numbers."""
    found = {}
    for name, annotation in parameters.items():
        if annotation in _NUMBERS:
            found[name] = _NUMBERS[annotation]
        elif isinstance(annotation, type) and issubclass(annotation, Quantity):
            found[name] = "i8"
    return found


def _attributes(cls: type, defaults: type) -> dict[str, str]:
    """Return the types of the attributes to which the class assigns a number."""
    found = {}
    for base in reversed(cls.__mro__):
        if base in defaults.__mro__:
            continue
        for name, value in vars(base).items():
            if type(value) in _NUMBERS and not hasattr(defaults, name):
                found[name] = _NUMBERS[type(value)]
    return found


def _check_attributes(cls: type, function: Callable[..., Any], fields: Iterable[str]) -> None:
    """Reject attributes of the object that are not part of its state."""
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return
    [place, *_] = inspect.signature(function).parameters
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            continue
        if node.value.id != place or node.attr in fields:
            continue
        where = f"{function.__code__.co_filename}, line {first + node.lineno - 1}"
        if callable(getattr(cls, node.attr, None)) or node.attr.startswith("on_"):
            advice = "A compiled method calls functions of the module with numba.njit"
        else:
            advice = f"Give it a first value in the class, for example {node.attr} = 0.0"
        what = f"{cls.__name__}.{node.attr}: not part of the compiled state ({where})"
        raise TypeError(f"{what}. {advice}.")


def _compiled(numba: Any, function: Any, record: np.dtype[Any], event: str) -> Any:
    """Return numba's C function for a method."""
    layout = _records()[event]
    options = {"error_model": "numpy", "forceinline": True}
    method = numba.njit(function, **options)
    carray, okay = numba.carray, np.int32(1)
    # The functions are compiled with the values of these variables.
    has_fields = event != "LostSyn"
    convert = numba.njit(_conversion(numba, event, layout, options), **options)

    def call_with_event(state: Any, given: Any) -> Any:
        method(carray(state, 1)[0], convert(carray(given, 1)[0]))
        return okay

    def call(state: Any, _given: Any) -> Any:
        method(carray(state, 1)[0])
        return okay

    pointers = [numba.types.CPointer(numba.from_dtype(each)) for each in (record, layout)]
    return numba.cfunc(numba.types.int32(*pointers), error_model="numpy")(
        call_with_event if has_fields else call
    )


def _conversion(
    numba: Any, event: str, layout: np.dtype[Any], options: Mapping[str, Any]
) -> Callable[..., Any]:
    """Return a function that converts the record of an event to the object of a method."""
    if event == "Recovered":
        return lambda given: given.cwnd

    def value(number: Any) -> Any:
        return None if number == _NONE else number

    def seconds(number: Any) -> Any:
        return None if number == _NONE else number / 1e9

    attributes = {}
    for name in layout.names or ():
        if name in ("size", "version", "flags"):
            continue
        is_optional = (event, name) in _OPTIONAL
        attributes[name] = f"value(given.{name})" if is_optional else f"given.{name}"
        if name.endswith("_ns"):
            in_seconds = f"seconds(given.{name})" if is_optional else f"given.{name} / 1e9"
            attributes[name.removesuffix("_ns")] = in_seconds
    for bit, name in enumerate(_FLAGS.get(event, ())):
        attributes[name] = f"(given.flags & bit{bit}) != 0"
    names: dict[str, Any] = {f"bit{bit}": np.uint64(1 << bit) for bit in range(3)}
    names["value"] = numba.njit(value, **options)
    names["seconds"] = numba.njit(seconds, **options)
    names[event] = namedtuple(event, attributes)
    exec(f"def convert(given): return {event}({', '.join(attributes.values())})", names)
    return names["convert"]  # type: ignore[no-any-return]
