"""Quantities with units, such as durations, rates and sizes: ``"26.88 Mbit/s"``.

Each quantity is an integer in its base unit (ns, bit/s, bytes, packets, 10⁻⁹/s). Each kind of
quantity has a separate type, so that type checkers find mistakes such as a duration instead of a
size. Conversion uses exact decimal arithmetic; a float is converted through its shortest decimal
form. Only the result is rounded to the nearest integer, ties to even.

A string requires a unit. In Python, an `int` or `float` without a unit is in SI units (seconds,
bit/s, bytes). In a TOML file, a number without a unit is an error.
"""

from __future__ import annotations

import math
import numbers
import operator
import re
from collections.abc import Mapping
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any, ClassVar, cast

from pydantic import GetCoreSchemaHandler, ValidationInfo
from pydantic_core import PydanticCustomError, core_schema
from typing_extensions import Self

from airpath.errors import UnitError
from airpath.scenario import misspelt_units

__all__ = [
    "LARGEST",
    "ArrivalRate",
    "Duration",
    "Frequency",
    "Length",
    "Packets",
    "Quantity",
    "Rate",
    "Segments",
    "Size",
    "Speed",
]

LARGEST = 10**18
"""Largest value in base units. Eight times this value (bytes in bits) fits 64 bits."""

NUMBER_AND_UNIT = re.compile(
    r"\s*(?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?)\s*(?P<unit>\S.*?)?\s*"
)
LONGEST_TEXT = 200
# Digits for exact multiplication of the longest accepted text.
_EXACT = Context(prec=2 * LONGEST_TEXT)


class Quantity(int):
    """An integer in a base unit, which can be converted from and to text with a unit.

    Subclasses such as `Duration`, `Rate` and `Size` define the units. Arithmetic returns plain
    `int`.
    """

    units: ClassVar[Mapping[str, int]]
    """Maps accepted units (case-sensitive) to their sizes in base units."""
    written: ClassVar[tuple[str, ...]]
    """The units that `str()` chooses from, largest first."""
    misspelt: ClassVar[Mapping[str, str]] = {}
    """Maps spellings from other programs, in lower case, to the accepted unit."""
    largest: ClassVar[int] = LARGEST
    """Largest accepted value, in base units."""
    whole: ClassVar[bool] = False
    """True if the base unit is indivisible, such as a packet."""
    zero: ClassVar[str]
    """Text for the value 0."""
    noun: ClassVar[str]
    example: ClassVar[str]
    si_factor: ClassVar[int | None]
    """Base units per SI unit; None if numbers without unit are not accepted in Python."""
    key_suffix: ClassVar[str]
    """Names of fields of this type end with this suffix in the resolved scenario."""

    if TYPE_CHECKING:
        # Declares for type checkers that a field of this type has the quantity as its value, but
        # accepts any convertible value.
        def __get__(self, owner: object, of: object) -> Self: ...

    def __new__(cls, value: int = 0) -> Self:
        """Create the quantity from an integer of the base unit."""
        try:
            return super().__new__(cls, operator.index(value))
        except TypeError:
            example = f"{cls.__name__}.of({quote(cls.example)})"
            accepted = "Use an integer, or a string with parse"
            raise UnitError(value, "not a number of the base unit", accepted, example) from None

    @classmethod
    def accepted(cls) -> str:
        """Return advice on accepted texts, without a full stop."""
        shown = [unit for unit in cls.units if unit.isascii()]
        listed = f"{', '.join(shown[:-1])} or {shown[-1]}" if len(shown) > 1 else shown[0]
        return f"Use a number with {listed}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Convert a string, a number with a unit, to the quantity.

        Parameters
        ----------
        text : str
            For example ``"40 ms"``. The space is optional, the unit is case-sensitive.

        Returns
        -------
        quantity : Quantity
            The quantity, rounded to an integer in base units.

        Raises
        ------
        UnitError
            If the text is not a number with an accepted unit, is below 0, or is above `largest`.
        """
        if not isinstance(text, str):
            raise cls._error(text, f"not a {cls.noun}")
        match = NUMBER_AND_UNIT.fullmatch(text) if len(text) <= LONGEST_TEXT else None
        if match is None:
            raise cls._error(text, f"not a {cls.noun}")
        if match["unit"] is None:
            raise cls._error(text, "no unit")
        factor = cls.units.get(match["unit"])
        if factor is None:
            raise cls._unknown_unit(text, match["number"], match["unit"])
        return cls._from_decimal(Decimal(match["number"]), factor, text)

    @classmethod
    def from_si(cls, number: float) -> Self:
        """Convert a number in SI units (seconds, bit/s, bytes) to the quantity.

        Parameters
        ----------
        number : float or int
            Any finite value of at least 0.

        Raises
        ------
        UnitError
            If the number is not finite, is below 0, or is above `largest` base units.
        """
        if isinstance(number, bool) or not isinstance(number, numbers.Real):
            raise cls._error(number, f"not a {cls.noun}")
        if cls.si_factor is None:
            raise cls._error(number, "no unit")
        if isinstance(number, numbers.Integral):
            whole = int(number)
            if abs(whole) > cls.largest:
                raise cls._out_of_range(number, whole > 0)
            return cls._from_decimal(Decimal(whole), cls.si_factor, number)
        if not math.isfinite(number):
            raise cls._error(number, "not a finite number")
        return cls._from_decimal(Decimal(repr(float(number))), cls.si_factor, number)

    @classmethod
    def of(cls, value: object, *, bare_numbers: bool = True) -> Self:
        """Convert a quantity of this type, a string, or a number in SI units to the quantity.

        Parameters
        ----------
        value : object
            Value to convert.
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
        if isinstance(value, str):
            return cls.parse(value)
        if isinstance(value, (Quantity, bool)):
            raise cls._error(
                str(value) if isinstance(value, Quantity) else value, f"not a {cls.noun}"
            )
        if isinstance(value, numbers.Real):
            if not bare_numbers:
                raise cls._error(value, "no unit")
            return cls.from_si(cast(float, value))
        raise cls._error(value, f"not a {cls.noun}")

    def __str__(self) -> str:
        """Return the quantity as text in its largest suitable unit; `parse` is the inverse."""
        if self == 0:
            return self.zero
        for unit in self.written:
            factor = self.units[unit]
            if self >= factor:
                break
        digits = format(_EXACT.divide(Decimal(int(self)), Decimal(factor)), "f")
        return f"{digits} {unit}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}.parse({str(self)!r})"

    def __format__(self, spec: str) -> str:
        return (
            format(str(self), spec) if not spec or spec[-1] in "s<>^" else format(int(self), spec)
        )

    @classmethod
    def _from_decimal(cls, number: Decimal, factor: int, given: object) -> Self:
        if number < 0:
            raise cls._below_zero(given)
        # Compare the magnitude first: a number such as 1e999999999 must not be expanded into
        # digits.
        if number.adjusted() > 20 and number != 0:
            raise cls._out_of_range(given, True)
        if number.adjusted() < -40 and not cls.whole:
            return cls(0)
        scaled = _EXACT.multiply(number, Decimal(factor))
        if cls.whole and scaled != scaled.to_integral_value():
            accepted = f"Use an integer {cls.noun}"
            raise UnitError(given, "not an integer", accepted, quote(cls.example))
        if scaled > cls.largest:
            raise cls._out_of_range(given, True)
        return cls(int(scaled.to_integral_value()))

    @classmethod
    def _out_of_range(cls, given: object, above: bool) -> UnitError:
        if not above:
            return cls._below_zero(given)
        largest = f"Use at most {quote(str(cls(cls.largest)))}"
        return UnitError(given, "too large to be counted", largest, quote(cls.example))

    @classmethod
    def _below_zero(cls, given: object) -> UnitError:
        return UnitError(given, "below 0", f"Use a {cls.noun} from 0 on", quote(cls.example))

    @classmethod
    def _unknown_unit(cls, text: str, number: str, unit: str) -> UnitError:
        meant = misspelt_units.unit_meant(unit, cls.units, cls.misspelt)
        ask = f"Did you mean {quote(f'{number} {meant}')}? " if meant else ""
        return UnitError(text, f"not a {cls.noun}", ask + cls.accepted(), quote(cls.example))

    @classmethod
    def _error(cls, given: object, what: str) -> UnitError:
        return UnitError(given, what, cls.accepted(), quote(cls.example))

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.with_info_plain_validator_function(cls._validate)

    @classmethod
    def _validate(cls, value: object, info: ValidationInfo) -> Self:
        from_file = bool(info.context and info.context.get("from_file"))
        try:
            return cls.of(value, bare_numbers=not from_file)
        except UnitError as error:
            raise as_fault(error) from None


class Duration(Quantity):
    """A span of time, in nanoseconds."""

    if TYPE_CHECKING:

        def __set__(self, owner: object, value: str | float | Duration) -> None: ...

    units = {
        "ns": 1,
        "us": 10**3,
        "µs": 10**3,
        "μs": 10**3,
        "ms": 10**6,
        "s": 10**9,
        "min": 60 * 10**9,
        "h": 3600 * 10**9,
    }
    written = ("s", "ms", "us", "ns")
    misspelt = misspelt_units.DURATIONS
    # A timeout of this value with the largest back-off factor, 64, still fits 64 bits.
    largest = 10**17
    zero = "0 s"
    noun = "duration"
    example = "40 ms"
    si_factor = 10**9
    key_suffix = "_ns"


class Frequency(Quantity):
    """A frequency, in microhertz."""

    if TYPE_CHECKING:

        def __set__(self, owner: object, value: str | float | Frequency) -> None: ...

    units = {"Hz": 10**6, "kHz": 10**9, "MHz": 10**12, "GHz": 10**15}
    written = ("GHz", "MHz", "kHz", "Hz")
    zero = "0 Hz"
    noun = "frequency"
    example = "10 Hz"
    si_factor = 10**6
    key_suffix = "_micro_hz"

    def si(self) -> float:
        """Return the frequency in Hz."""
        return int(self) / 1e6


class Speed(Quantity):
    """A speed, in millimetres per hour, so that 1 m/s and 1 km/h are integers."""

    if TYPE_CHECKING:

        def __set__(self, owner: object, value: str | float | Speed) -> None: ...

    units = {"m/s": 3_600_000, "km/h": 1_000_000}
    misspelt = misspelt_units.SPEEDS
    written = ("m/s", "km/h")
    zero = "0 m/s"
    noun = "speed"
    example = "10 m/s"
    si_factor = 3_600_000
    key_suffix = "_mm_per_h"

    def __str__(self) -> str:
        """Return the speed in m/s if this is a finite decimal number, else in km/h."""
        unit = "km/h" if self % 9 else "m/s"
        digits = format(_EXACT.divide(Decimal(int(self)), Decimal(self.units[unit])), "f")
        return f"{digits} {unit}"

    def si(self) -> float:
        """Return the speed in m/s."""
        return int(self) / 3.6e6


class Length(Quantity):
    """A length, in millimetres."""

    if TYPE_CHECKING:

        def __set__(self, owner: object, value: str | float | Length) -> None: ...

    units = {"m": 10**3, "km": 10**6}
    written = ("km", "m")
    zero = "0 m"
    noun = "length"
    example = "50 m"
    si_factor = 10**3
    key_suffix = "_mm"

    def si(self) -> float:
        """Return the length in m."""
        return int(self) / 1e3


class Rate(Quantity):
    """A bit rate, in bit/s. The key defines the counted bits (of payload, packets or frames)."""

    if TYPE_CHECKING:

        def __set__(self, owner: object, value: str | float | Rate) -> None: ...

    units = {"bit/s": 1, "kbit/s": 10**3, "Mbit/s": 10**6, "Gbit/s": 10**9}
    written = ("Gbit/s", "Mbit/s", "kbit/s", "bit/s")
    misspelt = misspelt_units.RATES
    zero = "0 bit/s"
    noun = "rate"
    example = "5 Mbit/s"
    si_factor = 1
    key_suffix = "_bps"


class Size(Quantity):
    """An amount of data, in bytes. ``kB`` is 1000 bytes and ``KiB`` is 1024 bytes."""

    if TYPE_CHECKING:

        def __set__(self, owner: object, value: str | float | Size) -> None: ...

    units = {
        "B": 1,
        "kB": 10**3,
        "MB": 10**6,
        "GB": 10**9,
        "KiB": 2**10,
        "MiB": 2**20,
        "GiB": 2**30,
    }
    written = ("GB", "MB", "kB", "B")
    misspelt = misspelt_units.SIZES
    zero = "0 B"
    noun = "size"
    example = "1500 B"
    si_factor = 1
    key_suffix = "_bytes"

    def __str__(self) -> str:
        """Return the size in the largest unit that divides it; decimal units are preferred."""
        for unit in ("GB", "MB", "kB", "GiB", "MiB", "KiB"):
            if self and self % self.units[unit] == 0:
                return f"{self // self.units[unit]} {unit}"
        return f"{int(self)} B"


class Packets(Quantity):
    """A number of packets."""

    if TYPE_CHECKING:

        def __set__(self, owner: object, value: str | Packets) -> None: ...

    units = {"packets": 1, "packet": 1}
    written = ("packets",)
    misspelt = misspelt_units.PACKETS
    zero = "0 packets"
    noun = "number of packets"
    example = "100 packets"
    si_factor = None
    key_suffix = ""
    whole = True

    def __new__(cls, value: int = 0) -> Self:
        """Create the quantity from an integer of the base unit."""
        try:
            return super().__new__(cls, operator.index(value))
        except TypeError:
            example = f"{cls.__name__}.of({quote(cls.example)})"
            accepted = "Use an integer, or a string with parse"
            raise UnitError(value, "not a number of the base unit", accepted, example) from None

    @classmethod
    def accepted(cls) -> str:
        """Return advice on accepted texts, without a full stop."""
        return "Use a number with the unit packets"


class Segments(Quantity):
    """A number of full-sized TCP segments, `mss` bytes each."""

    units = {"segments": 1, "segment": 1}
    written = ("segments",)
    largest = 10**9
    zero = "0 segments"
    noun = "number of segments"
    example = "10 segments"
    si_factor = None
    key_suffix = ""
    whole = True

    def __new__(cls, value: int = 0) -> Self:
        """Create the quantity from an integer of the base unit."""
        try:
            return super().__new__(cls, operator.index(value))
        except TypeError:
            example = f"{cls.__name__}.of({quote(cls.example)})"
            accepted = "Use an integer, or a string with parse"
            raise UnitError(value, "not a number of the base unit", accepted, example) from None

    @classmethod
    def accepted(cls) -> str:
        """Return advice on accepted texts, without a full stop."""
        return "Use a number with the unit segments"


class ArrivalRate(Quantity):
    """Arrivals per time, in billionths of an arrival per second."""

    if TYPE_CHECKING:

        def __set__(self, owner: object, value: str | float | ArrivalRate) -> None: ...

    units = {"/s": 10**9, "/ms": 10**12}
    written = ("/s",)
    zero = "0 /s"
    noun = "rate of arrivals"
    example = "10 /s"
    si_factor = 10**9
    key_suffix = "_nano_per_s"


def quote(text: str) -> str:
    """Return `text` in the double quotes of a TOML string."""
    return f'"{text}"'


def as_fault(error: UnitError) -> PydanticCustomError:
    """Convert a unit error to the error that a validator raises."""
    return PydanticCustomError(
        "airpath",
        "{what}",
        {"what": error.what, "accepted": error.accepted, "example": error.example},
    )
