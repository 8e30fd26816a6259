"""Base classes of scenario tables: validated models, and families of components with a `kind`.

A family (queue disciplines, links, ...) is a subclass of `Component` that sets `family`. Each
subclass of a family registers itself under the value of its `kind`. A field whose type is a family
accepts every registered class, selected by `kind`. A new component therefore requires only a new
class.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Protocol,
)

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import core_schema
from typing_extensions import Self, dataclass_transform

from airpath import _airpath
from airpath.errors import MISSING, Problem, ScenarioError
from airpath.interrupts import interrupts_wait
from airpath.scenario.checking import as_json, checked
from airpath.scenario.decibels import Decibels
from airpath.scenario.engine_problems import EngineProblem, Key
from airpath.scenario.faults import (
    Path,
    as_missing,
    fault,
    faults_at,
    nearest,
    problems_of,
)
from airpath.scenario.signature import ModelType, as_written
from airpath.scenario.typed import ABSENT, ListOf, Maybe, usual
from airpath.scenario.units import Quantity, quote

__all__ = [
    "ABSENT",
    "Component",
    "Key",
    "ListOf",
    "Maybe",
    "Model",
    "Path",
    "as_missing",
    "fault",
    "faults_at",
    "nearest",
    "problems_of",
    "usual",
]

_ON_TOP = ("base", "control", "hops", "scenario", "tcp", "wires")
"""Modules whose classes are attributes of `airpath` itself, not of a namespace in `airpath`."""

FromFile = {"from_file": True}
"""Pydantic's validation context for values that were read from a TOML file."""


def is_from_file(info: ValidationInfo) -> bool:
    """Return whether the value under validation was read from a TOML file."""
    return bool(info.context and info.context.get("from_file"))


class Context(Protocol):
    """Provides the engine's names of traces and tables for the resolved forms of components."""

    def trace_key(self, file: str, field: Path) -> str:
        """Return the name under which the engine receives the trace in `file`."""
        ...

    def table_key(self, table: str, field: Path) -> str:
        """Return the name under which the engine receives an error-rate table."""
        ...

    def delay_points(self, file: str, field: Path) -> list[tuple[int, int]]:
        """Return the times and delays of a schedule in `file`, ns."""
        ...


# --- models ------------------------------------------------------------------------------------


if TYPE_CHECKING:

    class _Base:
        """Signature of pydantic's model for type checkers only.

        For type checkers, pydantic's own constructor accepts only the type of the attribute, for
        example `Duration`. At run time it also accepts convertible values, such as ``"40 ms"``.
        """

        model_config: ClassVar[ConfigDict]
        model_fields: ClassVar[dict[str, FieldInfo]]
        model_fields_set: set[str]
        __private_attributes__: ClassVar[dict[str, Any]]

        def __init__(self, /, **data: Any) -> None: ...
        @classmethod
        def __pydantic_init_subclass__(cls, **kwargs: Any) -> None: ...
        @classmethod
        def model_rebuild(cls, **options: Any) -> bool | None: ...
        @classmethod
        def model_validate(cls, obj: Any, *, context: Any = None) -> Self: ...
        def model_copy(
            self, *, update: Mapping[str, Any] | None = None, deep: bool = False
        ) -> Self: ...
else:
    _Base = BaseModel


@dataclass_transform(kw_only_default=True, field_specifiers=(Field, PrivateAttr))
class Model(_Base, metaclass=ModelType):
    """A table of the scenario. Its values are checked on construction and are immutable.

    Raises
    ------
    ScenarioError
        On construction, with all problems found.
    """

    model_config = ConfigDict(
        defer_build=True,
        extra="forbid",
        frozen=True,
        validate_default=True,
        populate_by_name=True,
        use_attribute_docstrings=False,
    )

    engine_family: ClassVar[str | None] = None
    """The engine's name of the family or table; None if the engine cannot check it separately."""
    engine_keys: ClassVar[Mapping[str, str]] = {}
    """Maps engine field names to user keys, where the name is not the key plus a unit suffix."""
    alternatives: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Groups of mutually exclusive keys; an override of one key removes the others of its group."""
    key_labels: ClassVar[Mapping[str, str]] = {}
    """Maps keys to labels in figures where the label differs from the key; inherited."""

    if TYPE_CHECKING:

        def __get__(self, owner: object, of: object) -> Self: ...
        def __set__(self, owner: object, value: Mapping[str, Any] | Model) -> None: ...

    def __new__(cls, /, *unnamed: object, **_data: Any) -> Self:
        """Reject positional arguments."""
        if unnamed:
            accepted = f"Name each value by its key: {', '.join(cls.keys(from_file=False))}"
            what = "not named"
            raise ScenarioError(
                Problem(cls.public_name(), (), value, what, accepted) for value in unnamed
            )
        return super().__new__(cls)

    def __init__(self, /, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise ScenarioError(problems_of(error, self.public_name())) from None

    def __str__(self) -> str:
        return repr(self)

    def __repr_name__(self) -> str:
        is_ours = type(self).__module__.startswith("airpath.")
        return f"ap.{self.public_name()}" if is_ours else type(self).__name__

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Yield the fields that differ from their defaults as names and values for ``repr``."""
        for name, info in type(self).model_fields.items():
            value = getattr(self, name)
            if info.is_required() or value != info.get_default(call_default_factory=True):
                yield name, as_written(value)

    # Mark this method as pydantic's own constructor, so that pydantic validates nested models in
    # one pass and keeps the full path of each problem.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @classmethod
    def model_rebuild(cls, *, _parent_namespace_depth: int = 2, **options: Any) -> bool | None:
        """Build the class at first use. Ctrl-C is delayed: pydantic would report it as an error."""
        with interrupts_wait(however_often=True):
            return super().model_rebuild(
                _parent_namespace_depth=_parent_namespace_depth + 1, **options
            )

    @model_validator(mode="wrap")
    @classmethod
    def _check_keys(
        cls, data: Any, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo
    ) -> Self:
        if isinstance(data, cls):
            return data
        return checked(cls, data, handler, is_from_file(info))

    def _check_alternatives(self) -> None:
        """Reject conflicting and missing keys; the engine checks the remaining rules."""

    def _engine_problems(self) -> list[EngineProblem]:
        """Return the problems that the engine finds in this table without its scenario."""
        if self.engine_family is None:
            return []
        return _airpath.component_problems(self.engine_family, as_json(self.engine_form))

    def _effective(self, key: str) -> Any:
        """Return the value of a key that the engine uses, either set here or derived."""
        return getattr(self, key)

    def _user_path(self, engine_path: str) -> list[str]:
        """Return the user's keys of an engine field, as a path from this table.

        Parameters
        ----------
        engine_path : str
            Dotted path in the resolved form of this table.
        """
        return engine_path.split(".")

    @classmethod
    @cache
    def _known_keys(cls) -> frozenset[str]:
        """Return all valid keys, both those of TOML files and those of Python."""
        return frozenset(cls.keys()) | frozenset(cls.model_fields)

    def __setattr__(self, name: str, value: Any) -> None:
        """Reject the assignment, because tables are immutable."""
        if name in type(self).model_fields:
            accepted = "Make another one: model_copy(update=…), or Scenario.replace"
            what = "cannot be changed afterwards"
            raise ScenarioError([Problem(self.public_name(), (name,), value, what, accepted)])
        if name not in type(self).__private_attributes__:
            keys = self.keys(from_file=False)
            what, accepted = "unknown key", nearest(name, keys)
            raise ScenarioError([Problem(self.public_name(), (name,), value, what, accepted)])
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        """Reject the deletion, because tables are immutable."""
        accepted = "Make another one: model_copy(update=…), or Scenario.replace"
        what = "cannot be taken away afterwards"
        raise ScenarioError([Problem(self.public_name(), (name,), MISSING, what, accepted)])

    @classmethod
    def ordered_fields(cls) -> list[tuple[str, FieldInfo]]:
        """Return the fields in the order in which a TOML file lists them."""
        return list(cls.model_fields.items())

    @classmethod
    def public_name(cls) -> str:
        """Return the name of the class in `airpath`: ``link.Fixed``, ``Scenario``."""
        module = cls.__module__.removeprefix("airpath.scenario.").partition(".")[0]
        on_top = module in _ON_TOP or not cls.__module__.startswith("airpath.scenario.")
        return cls.__name__ if on_top else f"{module}.{cls.__name__}"

    @classmethod
    def keys(cls, *, from_file: bool = True) -> list[str]:
        """Return the keys, either of a TOML file or of Python, in the order of the fields."""
        return [(from_file and info.alias) or name for name, info in cls.ordered_fields()]

    def document(self) -> dict[str, Any]:
        """Return the table as plain values for a TOML file; quantities become strings."""
        values = ((info.alias or name, getattr(self, name)) for name, info in self.ordered_fields())
        return {key: _as_text(value) for key, value in values if value is not None}

    def given(self) -> dict[str, Any]:
        """Return the explicitly set fields as plain values; quantities become strings."""
        fields = ((name, info.alias or name) for name, info in self.ordered_fields())
        values = [(key, getattr(self, name)) for name, key in fields if self._is_given(name)]
        return {key: _as_given(value) for key, value in values if value is not None}

    def _is_given(self, name: str) -> bool:
        return name in self.model_fields_set

    @classmethod
    def instead_of(cls, key: str) -> set[str]:
        """Return the keys that an override of `key` removes."""
        return {other for keys in cls.alternatives if key in keys for other in keys} - {key}

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with some values changed. The new values are checked.

        Parameters
        ----------
        update : mapping, optional
            Maps keys to new values.
        deep : bool
            As in pydantic. Default False.

        Raises
        ------
        ScenarioError
            If a key or value is not accepted.
        """
        named = isinstance(update, Mapping) and all(isinstance(key, str) for key in update)
        if update is not None and not named:
            what, accepted = "not keys with their values", "Use a mapping of keys to values"
            raise ScenarioError([Problem("model_copy", ("update",), update, what, accepted)])
        if not update:
            return super().model_copy(deep=deep)
        names = {info.alias: name for name, info in type(self).model_fields.items() if info.alias}
        changed = {names.get(key, key): value for key, value in update.items()}
        given_up = {other for key in changed for other in self.instead_of(key)}
        kept = {name: getattr(self, name) for name in self.model_fields_set - given_up}
        made = type(self)(**(kept | changed))
        for name in type(self).__private_attributes__:
            setattr(made, name, getattr(self, name))
        return made

    def engine_form(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form, as a table whose key is the engine's name of the component."""
        return self.resolved(context, path)

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form: all keys, with quantities as integers in base units.

        Parameters
        ----------
        context : Context
            Provides the engine's names of traces and tables.
        path : tuple of str or int
            Path of this table in the scenario, for error messages.
        """
        entries: dict[str, Any] = {}
        for name, info in self.ordered_fields():
            value = getattr(self, name)
            key = next((m.name for m in info.metadata if isinstance(m, Key)), None)
            suffix = value.key_suffix if isinstance(value, Quantity) else ""
            entries[key or name + suffix] = _plain(value, context, (*path, info.alias or name))
        return entries


def _as_text(value: Any) -> Any:
    if isinstance(value, (Quantity, Decibels)):
        return str(value)
    if isinstance(value, Model):
        return value.document()
    if isinstance(value, (list, tuple)):
        return [_as_text(item) for item in value]
    return value


def _as_given(value: Any) -> Any:
    if isinstance(value, Model):
        return value.given()
    if isinstance(value, (list, tuple)):
        return [_as_given(item) for item in value]
    return _as_text(value)


def _plain(value: Any, context: Context, path: Path) -> Any:
    if isinstance(value, Model):
        return value.resolved(context, path)
    if isinstance(value, Quantity):
        return int(value)
    if isinstance(value, (list, tuple)):
        return [_plain(item, context, (*path, index)) for index, item in enumerate(value)]
    return value


class Component(Model):
    """A selectable component. Direct subclasses are families; their subclasses are the choices."""

    family: ClassVar[str]
    """Name of the family in messages, with an article: "a queue discipline"."""
    chosen_by: ClassVar[str] = "kind"
    """Key whose value selects the class."""
    registry: ClassVar[dict[str, type[Component]]]
    """Maps values of the key `chosen_by` to the classes of the family."""
    factory: ClassVar[Any] = None
    """Creates the objects of a part in Python for the engine; None for built-in components."""
    if TYPE_CHECKING:

        def __set__(self, owner: object, value: str | Mapping[str, Any] | Model) -> None: ...

    own_keys: ClassVar[tuple[str, ...]] = ()
    """Keys whose meaning differs within the family. A change of kind drops their values."""
    compared_keys: ClassVar[tuple[str, ...]] = ()
    """Keys whose defaults differ within the family. A change of kind reports their values."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        if "family" in vars(cls):
            cls.registry = {}
            return
        field = cls.model_fields.get(cls.chosen_by)
        if field is None or not isinstance(field.default, str):
            return  # A common base class of several choices; users cannot select it.
        known = cls.registry.get(field.default)
        if known is not None and known.__qualname__ != cls.__qualname__:
            raise TypeError(
                f"{cls.public_name()}: {cls.chosen_by} {quote(field.default)} is already taken "
                f"by {known.public_name()}"
            )
        cls.registry[field.default] = cls

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        if "family" in vars(cls):
            return core_schema.with_info_plain_validator_function(cls._pick)
        return handler(source)

    @classmethod
    def _pick(cls, data: Any, info: ValidationInfo) -> Component:
        if isinstance(data, cls):
            return data
        kinds = list(cls.registry)
        blamed: Path = (cls.chosen_by,)
        if isinstance(data, str):
            data, blamed = {cls.chosen_by: data}, ()
        if not isinstance(data, Mapping):
            raise fault(
                f"not {cls.family}", f"Expected one of: {', '.join(kinds)}", quote(kinds[0])
            )
        if cls.chosen_by in data:
            kind = data[cls.chosen_by]
        else:
            kind = cls.usual_kind()
            if kind is None:
                missing = fault("missing", f"Expected one of: {', '.join(kinds)}", quote(kinds[0]))
                missing = as_missing(missing)
                raise faults_at(((cls.chosen_by,), None, missing))
        if not isinstance(kind, str) or kind not in cls.registry:
            advice = nearest(kind if isinstance(kind, str) else "", kinds)
            raise faults_at((blamed, kind, fault(f"not {cls.family}", advice)))
        return cls.registry[kind].model_validate(data, context=info.context)

    def _is_given(self, name: str) -> bool:
        return name == self.chosen_by or super()._is_given(name)

    @classmethod
    def adopted(cls, key: str, value: Any) -> Any:  # noqa: ARG003  (for those that differ)
        """Convert the value of `key` from another component of the family to the form used here."""
        return value

    @classmethod
    def ordered_fields(cls) -> list[tuple[str, FieldInfo]]:
        """Return the fields: the key that selects the class, required fields, then all others."""
        fields = super().ordered_fields()
        return sorted(fields, key=lambda f: (f[0] != cls.chosen_by, not f[1].is_required()))

    @classmethod
    def make(cls, data: Mapping[str, Any], place: str) -> Self:
        """Return the component that `data` describes.

        Raises
        ------
        ScenarioError
            If a key or value is not accepted. Each line of the message begins with `place`.
        """
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise ScenarioError(problems_of(error, place)) from None

    @classmethod
    def usual_kind(cls) -> str | None:
        """Return the default kind of the family; None if the user must set a kind."""
        return None
