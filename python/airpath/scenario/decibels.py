"""The quantity type for levels in decibels."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast

from pydantic import GetCoreSchemaHandler, ValidationInfo
from pydantic_core import core_schema
from typing_extensions import Self

from airpath.errors import UnitError
from airpath.scenario.misspelt_units import LEVELS, unit_meant
from airpath.scenario.units import LONGEST_TEXT, NUMBER_AND_UNIT, Quantity, as_fault, quote

__all__ = ["Decibels"]


class Decibels(float):
    """A finite level in decibels. As a string, it is a number with the unit ``dB``."""

    units: ClassVar[Mapping[str, int]] = {"dB": 1}
    noun = "level"
    example = "15 dB"

    if TYPE_CHECKING:

        def __get__(self, owner: object, of: object) -> Self: ...
        def __set__(self, owner: object, value: str | float | Decibels) -> None: ...

    @classmethod
    def parse(cls, text: str) -> Self:
        """Convert a string, a number with the unit ``dB``, to a level. The space is optional.

        Raises
        ------
        UnitError
            If the string is not a number with the unit ``dB``.
        """
        accepted, example = "Use a number with dB", quote(cls.example)
        is_text = isinstance(text, str) and len(text) <= LONGEST_TEXT
        match = NUMBER_AND_UNIT.fullmatch(text) if is_text else None
        unit = match["unit"] if match is not None else None
        if match is None or unit not in (None, *cls.units):
            meant = unit_meant(unit or "", cls.units, LEVELS)
            if match is not None and meant is not None:
                text_meant = quote(f"{match['number']} {meant}")
                accepted = f"Did you mean {text_meant}? {accepted}"
            raise UnitError(text, f"not a {cls.noun}", accepted, example)
        if unit is None:
            raise UnitError(text, "no unit", accepted, example)
        number = float(match["number"])
        if not math.isfinite(number):
            raise UnitError(text, "too large to be counted", accepted, example)
        return cls(number)

    def __str__(self) -> str:
        """Return the level with its unit; `parse` converts it back to the same number."""
        return f"{float(self)!r} dB".replace(".0 dB", " dB")

    def __repr__(self) -> str:
        return f"Decibels.parse({str(self)!r})"

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.with_info_plain_validator_function(cls._validate)

    @classmethod
    def _validate(cls, value: object, info: ValidationInfo) -> Self:
        try:
            return cls.of(value, bare_numbers=not (info.context and info.context.get("from_file")))
        except UnitError as error:
            raise as_fault(error) from None

    @classmethod
    def of(cls, value: object, *, bare_numbers: bool = True) -> Self:
        """Convert a level, a string, or a number of dB to a level.

        Parameters
        ----------
        value : object
            The value that the user set.
        bare_numbers : bool
            True if a number without a unit is accepted. Use True for values from Python and False
            for values from a file.

        Raises
        ------
        UnitError
            If the value cannot be converted.
        """
        if isinstance(value, cls):
            return value
        is_number = isinstance(value, numbers.Real) and not isinstance(value, (bool, Quantity))
        if is_number and bare_numbers and _is_finite(cast(float, value)):
            return cls(cast(float, value))
        if is_number:
            fault = "not a finite number of dB" if bare_numbers else "no unit"
            raise UnitError(value, fault, "Use a number with dB", quote(cls.example))
        return cls.parse(cast(str, value))


def _is_finite(number: float) -> bool:
    """Return whether a float, or an integer of any size, can be represented as a finite double."""
    try:
        return math.isfinite(float(number))
    except OverflowError:
        return False
