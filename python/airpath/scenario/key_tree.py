"""Tree of a scenario's keys, for the lookup and completion of dotted keys."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from airpath.scenario.base import Model

__all__ = ["KeyNode", "nodes_at"]


def nodes_at(model: type[Model], document: Any, steps: Sequence[str]) -> list[KeyNode]:
    """Return the nodes at a key; several if several components of a family have the key.

    Parameters
    ----------
    model : type of Model
        Model of the complete document.
    document : object
        The user's document, which selects the kinds of components; an empty table if unknown.
    steps : sequence of str
        The parts of the dotted key.
    """
    nodes = [KeyNode((model,), document)]
    for step in steps:
        nodes = [inner for node in nodes for inner in node.inside(step)]
    return nodes


@dataclass(frozen=True)
class KeyNode:
    """A node of the tree: a table with one or more possible models, or a list of such tables.

    Parameters
    ----------
    models : tuple of type of Model
        Possible models of the table; may include families of components.
    given : object
        Value of the node in the user's document; an empty table if the document has no such value.
    is_list : bool
        True for a list of tables. Default False.
    """

    models: tuple[Any, ...]
    given: Any
    is_list: bool = False

    def names(self) -> set[str]:
        """Return the keys of a table, or the indices and names of the tables in a list."""
        if self.is_list:
            named = {each.get("name") for each in self.given if isinstance(each, Mapping)}
            places = {str(place) for place in range(len(self.given) or 1)}
            return places | {name for name in named if isinstance(name, str)}
        return {key for model in self.choices() for key in model.keys()}  # noqa: SIM118  (not a dict)

    def ends(self, name: str) -> set[str]:
        """Return the characters that may follow a key: ``=`` for a value, ``.`` for keys inside."""
        if self.is_list:
            return {"."}
        if any(list(_models(info.annotation, True)) for info in self.fields(name)):
            return {"."}
        leaves = [leaf for info in self.fields(name) for leaf in _leaves(info.annotation)]
        tables = [leaf for leaf in leaves if _is_model(leaf)]
        # A component may be written as a string (its kind) or as a table.
        values = len(tables) < len(leaves) or any(hasattr(table, "registry") for table in tables)
        return {"="} if not tables else {"=", "."} if values else {"."}

    def inside(self, step: str) -> Iterator[KeyNode]:
        """Yield the nodes below a key or a list index."""
        if self.is_list:
            tables: dict[Any, Any] = {str(place): each for place, each in enumerate(self.given)}
            for each in self.given:
                if isinstance(each, Mapping):
                    tables.setdefault(each.get("name"), each)
            yield KeyNode(self.models, tables.get(step, {}))
            return
        value = self.given.get(step, {}) if isinstance(self.given, Mapping) else {}
        for info in self.fields(step):
            for listed in (False, True):
                models = tuple(_models(info.annotation, listed))
                if models and listed:
                    yield KeyNode(models, value if isinstance(value, list) else [], True)
                elif models:
                    yield KeyNode(models, value)

    def words(self, key: str) -> Iterator[str]:
        """Yield the strings that are accepted as values of a key."""
        for info in self.fields(key):
            if info.annotation is bool:
                yield from ("true", "false")
            for rule in info.metadata:
                yield from getattr(getattr(rule, "func", None), "words", ())
            for model in _models(info.annotation, False):
                yield from getattr(model, "registry", ())
        for model in self.choices():
            if key == getattr(model, "chosen_by", None):
                yield model.model_fields[key].default

    def fields(self, key: str) -> Iterator[Any]:
        """Yield the fields of all models that have the key."""
        for model in self.choices():
            for name, info in model.model_fields.items():
                if key == (info.alias or name):
                    yield info

    def choices(self) -> Iterator[Any]:
        """Yield the possible models; of a family, only the classes that fit the document."""
        for model in self.models:
            if "family" not in vars(model):
                yield model
                continue
            kind = self.given
            if isinstance(kind, Mapping):
                kind = kind.get(model.chosen_by, model.usual_kind())
            known = isinstance(kind, str) and kind in model.registry
            yield from [model.registry[kind]] if known else model.registry.values()


def _models(annotation: Any, in_list: bool) -> Iterator[Any]:
    """Yield the models that occur in a field's type, directly or as elements of a list."""
    if typing.get_origin(annotation) is list:
        if in_list:
            yield from _models(typing.get_args(annotation)[0], False)
    elif typing.get_origin(annotation) is not None:
        for part in typing.get_args(annotation):
            yield from _models(part, in_list)
    elif not in_list and _is_model(annotation):
        yield annotation


def _leaves(annotation: Any) -> Iterator[Any]:
    """Yield the innermost types of a field's type."""
    if not typing.get_args(annotation) or typing.get_origin(annotation) is typing.Literal:
        yield from () if annotation is type(None) else (annotation,)
    for part in typing.get_args(annotation):
        if typing.get_origin(annotation) is not typing.Literal:
            yield from _leaves(part)


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Model)
