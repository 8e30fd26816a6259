"""Conversion of a user's class to a component of the scenario and to a factory for the engine."""

from __future__ import annotations

import inspect
import json
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from types import MappingProxyType, NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
)

from pydantic import PlainValidator

from airpath import _airpath
from airpath.engine.compiled_failures import take_exception
from airpath.scenario import part_files
from airpath.scenario.base import Component
from airpath.scenario.faults import nearest
from airpath.scenario.units import Quantity
from airpath.scenario.values import Real, Text, Truth, choice, whole

if TYPE_CHECKING:
    from airpath.parts.compiled import CompiledMethods

__all__ = ["Compiler", "PartFactory", "make_component"]

ComponentT = TypeVar("ComponentT", bound=Component)

Compiler = Callable[[type, type, frozenset[str], Mapping[str, Any]], "CompiledMethods"]
"""Compiles the methods of a class: class, default methods, names of methods, parameters."""

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_LARGEST = 2**53
_TYPES: Mapping[Any, Any] = {
    float: Real,
    int: Annotated[int, PlainValidator(whole(-_LARGEST, _LARGEST, 1))],
    bool: Truth,
    str: Text,
}
"""Maps types of parameters to those of the scenario's values."""


@dataclass(frozen=True)
class PartFactory:
    """Creates the objects of a part; the engine calls `create` once per object.

    Parameters
    ----------
    component : type
        Class of the scenario for the part.
    implementation : type
        The user's class, with the default methods of its family.
    methods : frozenset of str
        Names of the methods that the user's class defines, without defaults of the family.
    compiled : CompiledMethods, optional
        The compiled methods. Default: none.
    """

    component: type[Component]
    implementation: type
    methods: frozenset[str]
    compiled: CompiledMethods | None = None

    @property
    def table_address(self) -> int | None:
        """Address of the table of compiled methods; None if the methods are not compiled."""
        return None if self.compiled is None else self.compiled.address

    def take_exception(self) -> BaseException | None:
        """Return the exception that a compiled method has just raised on this thread."""
        return take_exception()

    def create(self, parameters: str, setup: Any) -> Any:
        """Return a new object after its start, or its state if the methods are compiled.

        Parameters
        ----------
        parameters : str
            Parameters in the resolved form, as JSON.
        setup : object
            The family's setup object.
        """
        values = self._values(json.loads(parameters))
        made: Any
        if is_dataclass(self.implementation):
            made = self.implementation(**values)
        else:
            made = self.implementation()
            for name, value in values.items():
                setattr(made, name, value)
        made._begin(setup)
        return made if self.compiled is None else self.compiled.state(made)

    def _values(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Convert the resolved form of the parameters to the types of the class."""
        found = {}
        of_family = cast(type[Component], self.component.__base__).model_fields
        for name, info in self.component.ordered_fields():
            if name == self.component.chosen_by or name in of_family:
                continue
            quantity = _quantity(info.annotation)
            if quantity is None:
                found[name] = parameters[name]
            elif parameters.get(name + quantity.key_suffix) is None:
                found[name] = None
            else:
                found[name] = quantity(parameters[name + quantity.key_suffix])
        return found


def _quantity(annotation: Any) -> type[Quantity] | None:
    """Return the quantity of an annotation, if it has one."""
    for kind in (annotation, *get_args(annotation)):
        if isinstance(kind, type) and issubclass(kind, Quantity):
            return kind
    return None


def make_component(
    family: type[ComponentT],
    defaults: type,
    signatures: Mapping[str, tuple[str, ...]],
    kind: str,
    cls: type,
    required: Sequence[str],
    options: Mapping[str, Any] = MappingProxyType({}),
    compile_with: Compiler | None = None,
) -> type[ComponentT]:
    """Return the component of a user's class, and register the part.

    Parameters
    ----------
    family : type
        Family of the scenario.
    defaults : type
        Class with the default methods of the family.
    signatures : mapping of str to tuple of str
        Maps the methods that the engine calls to the names of their arguments.
    kind : str
        Name of the part.
    cls : type
        The user's class.
    required : sequence of str
        Methods that the class must define.
    options : mapping
        Class attributes of the component. Default: none.
    compile_with : callable, optional
        Compiles the methods. Default: the methods are not compiled.

    Raises
    ------
    TypeError
        If the name, a method or a parameter is not accepted.
    """
    _check_name(family, kind)
    missing = [method for method in required if not callable(getattr(cls, method, None))]
    if missing:
        raise TypeError(f"{cls.__name__}: no method {missing[0]}. Define it.")
    methods = frozenset(
        name
        for name in _checked_methods(cls, signatures)
        if getattr(cls, name) is not getattr(defaults, name, None)
    )
    annotations: dict[str, Any] = {"kind": Literal[kind]}
    namespace: dict[str, Any] = {"kind": kind}
    parameters = _parameters(cls, defaults)
    for name, annotation, default in parameters:
        annotations[name] = _converted(annotation, f"{cls.__name__}.{name}")
        if default is not inspect.Parameter.empty:
            namespace[name] = default
    described = {
        "__annotations__": annotations,
        "__doc__": inspect.getdoc(cls) or f"The part {kind!r}.",
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
    }
    members = {**namespace, **options, **described}
    compiled = None
    if compile_with is not None:
        types = {name: annotation for name, annotation, _ in parameters}
        compiled = compile_with(cls, defaults, methods, types)
    component = cast(Any, type(family))(cls.__name__, (family,), members)
    names = {"__module__": cls.__module__, "__qualname__": cls.__qualname__}
    implementation = type(cls)(cls.__name__, (cls, defaults), names)
    component.factory = PartFactory(component, implementation, methods, compiled)
    part_files.register(component, kind, cls)
    return cast(type[ComponentT], component)


def _check_name(family: type[Component], kind: object) -> None:
    if not isinstance(kind, str) or _NAME.fullmatch(kind) is None:
        accepted = 'Use lower-case letters, digits and hyphens, such as "my-aimd"'
        raise TypeError(f"name {kind!r}: not accepted. {accepted}.")
    built_in = json.loads(_airpath.registry()).get(family.engine_family, [])
    if kind in [name for name, _ in built_in]:
        raise TypeError(f"name {kind!r}: a built-in {family.family.partition(' ')[2]}.")


def _checked_methods(cls: type, signatures: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    """Return the names of the methods that the engine calls, after a check of their arguments."""
    found = set()
    for name in dir(cls):
        if name.startswith("on_") and name not in signatures:
            raise TypeError(
                f"{cls.__name__}.{name}: not a method of this family. {nearest(name, signatures)}."
            )
        method = getattr(cls, name)
        if name not in signatures:
            continue
        arguments = signatures[name]
        _check_signature(f"{cls.__name__}.{name}", method, arguments)
        found.add(name)
    return frozenset(found)


def _check_signature(name: str, method: Callable[..., Any], arguments: tuple[str, ...]) -> None:
    wanted = f"def {name.rpartition('.')[2]}({', '.join(('self', *arguments))})"
    if not callable(method):
        raise TypeError(f"{name}: not a method. Define it as {wanted}.")
    if inspect.iscoroutinefunction(method) or inspect.isgeneratorfunction(method):
        raise TypeError(f"{name}: neither a coroutine nor a generator is accepted. Use {wanted}.")
    try:
        inspect.signature(method).bind(None, *arguments)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: wrong arguments. Define it as {wanted}.") from None


def _parameters(cls: type, inherited: type) -> list[tuple[str, Any, Any]]:
    """Return name, annotation and default of each parameter of a class."""
    no_parameters = typing.get_type_hints(inherited)
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except NameError as error:
        raise TypeError(f"{cls.__name__}: {error} in an annotation.") from None
    found = []
    defaults = {each.name: each.default for each in fields(cls)} if is_dataclass(cls) else {}
    for name, annotation in hints.items():
        if get_origin(annotation) is ClassVar or annotation is ClassVar or name.startswith("_"):
            continue
        if name in no_parameters:
            continue
        default = defaults.get(name, getattr(cls, name, inspect.Parameter.empty))
        if default is MISSING:
            default = inspect.Parameter.empty
        found.append((name, annotation, default))
    return found


def _converted(annotation: Any, name: str) -> Any:
    """Return the scenario's type for the annotation of a parameter."""
    if annotation in _TYPES:
        return _TYPES[annotation]
    if isinstance(annotation, type) and issubclass(annotation, Quantity):
        return annotation
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return Annotated[(_converted(arguments[0], name), *arguments[1:])]
    if origin is Literal and all(isinstance(word, str) for word in arguments):
        return Annotated[str, choice(*arguments)]
    if origin in (Union, UnionType) and NoneType in arguments and len(arguments) == 2:
        (inner,) = (each for each in arguments if each is not NoneType)
        return typing.Optional[_converted(inner, name)]  # noqa: UP045  (the type is a value)
    accepted = "float, int, bool, str, a Literal of texts, or a quantity such as Duration"
    raise TypeError(f"{name}: type {annotation!r} is not accepted. Use {accepted}.")
