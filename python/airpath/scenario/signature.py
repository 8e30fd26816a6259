"""Signatures of model constructors, with keys and defaults, for `help` and editors."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from airpath.scenario.decibels import Decibels
from airpath.scenario.units import Quantity

__all__ = ["ModelType", "as_written"]

if TYPE_CHECKING:
    _Metaclass = type
else:
    _Metaclass = type(BaseModel)


class ModelType(_Metaclass):
    """Metaclass of models that replaces pydantic's signature, which is unreadable for users."""

    @property
    def __signature__(self: Any) -> Signature:
        """Signature with the keys in the order of the docstring; required keys come first."""
        parameters = [
            Parameter(
                info.alias or name,
                Parameter.KEYWORD_ONLY,
                default=Parameter.empty
                if info.is_required()
                else as_written(info.get_default(call_default_factory=True)),
            )
            for name, info in self.model_fields.items()
            if name != "kind"
        ]
        return Signature(sorted(parameters, key=lambda each: each.default is not Parameter.empty))

    @__signature__.setter
    def __signature__(self, _pydantics: object) -> None:
        """Ignore the signature that pydantic assigns."""


def as_written(value: Any) -> Any:
    """Convert a default to the form in which the user would write it."""
    if isinstance(value, (list, tuple)):
        return [as_written(each) for each in value]
    return str(value) if isinstance(value, (Decibels, Quantity)) else value
