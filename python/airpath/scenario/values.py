"""Types and validators of scenario values, with messages for values that are not accepted."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, PlainValidator
from pydantic_core import PydanticCustomError

from airpath.errors import UnitError
from airpath.scenario.faults import OF_FIELD, fault, nearest
from airpath.scenario.misspelt_units import number_meant
from airpath.scenario.units import ArrivalRate, Packets, Quantity, Size, quote

LARGEST_NUMBER = 1e9
"""Largest accepted real number; gains, factors and levels are always smaller."""

AUTOMATIC = "automatic"
"""Value of a key that lets Airpath derive the actual value."""

MOST_PACKETS = 10**9
"""Largest queue threshold, packets; that many packets do not fit into any memory."""


def _with_a_period(rate: ArrivalRate) -> ArrivalRate:
    if rate == 0:
        raise fault("not above 0", f"Use a {rate.noun} above 0", quote(rate.example))
    return rate


def whole(low: int, high: int, example: int) -> Callable[[Any], int]:
    """Return a validator for integers from `low` to `high`."""
    accepted = f"Use an integer from {low} to {high}"

    def check(value: Any) -> int:
        try:
            number = operator.index(value)
        except TypeError:
            number = None
        if number is None or isinstance(value, (bool, Quantity)):
            raise fault("not an integer", accepted, str(example))
        if number < low:
            raise fault(f"below {low}", accepted, str(example))
        if number > high:
            raise fault(f"above {high}", accepted, str(example))
        return number

    return check


def integer_of(bits: int) -> Callable[[Any], int]:
    """Return a validator for unsigned integers of `bits` bits; the engine checks the range."""
    check_bits = whole(0, 2**bits - 1, 0)

    def check(value: Any) -> int:
        try:
            return check_bits(value)
        except PydanticCustomError as error:
            context = error.context or {}
            what = context["what"]
            accepted = "Use an integer" if what == "not an integer" else "Use an integer from 0"
            raise fault(what, accepted, OF_FIELD) from None

    return check


def _seed(value: Any) -> int:
    try:
        return whole(0, 2**64 - 1, 1)(value)
    except PydanticCustomError:
        raise fault("not accepted", "Use an integer from 0 to 2^64 - 1") from None


def real(value: Any) -> float:
    """Validate a finite real number; the engine checks the range."""
    accepted, example = "Use a number", OF_FIELD
    if isinstance(value, (bool, Quantity)) or not isinstance(value, (int, float)):
        meant = number_meant(value) if isinstance(value, str) else None
        accepted = accepted if meant is None else f"Did you mean {meant:g}? {accepted}"
        raise fault("not a number", accepted, example)
    try:
        number = float(value)
    except OverflowError:  # an integer with hundreds of digits
        number = math.inf
    if math.isnan(number):
        raise fault("not a number", accepted, example)
    if abs(number) > LARGEST_NUMBER:
        raise fault("not a number that can be used", accepted, example)
    return number


def packet_count(low: int, example: int) -> Callable[[Any], int]:
    """Return a validator for numbers of packets of at least `low`."""
    check_number = whole(low, MOST_PACKETS, example)

    def check(value: Any) -> int:
        if isinstance(value, str):
            # "30 packets" is equivalent to 30.
            number, _, unit = value.strip().partition(" ")
            if unit.strip() in Packets.units and number.isascii() and number.isdecimal():
                value = Packets.parse(value) if len(number) < 20 else MOST_PACKETS + 1
        return check_number(int(value) if isinstance(value, Packets) else value)

    return check


def counted_or_bytes(value: Any, counted: type[Quantity], noun: str) -> Quantity:
    """Convert a quantity in units of `counted` or bytes; `noun` is its name in messages."""
    if isinstance(value, (counted, Size)):
        return value
    accepted = f"{counted.accepted()}, {', '.join(list(Size.units)[:-1])} or {list(Size.units)[-1]}"
    example = quote(counted.example)
    if isinstance(value, str):
        unit = value.strip().lstrip("0123456789.+-eE ")
        kind = counted if unit in counted.units else Size
        try:
            return kind.parse(value)
        except UnitError as error:
            what = f"not a {noun}" if error.what == f"not a {kind.noun}" else error.what
            raise fault(what, accepted, example) from None
    is_number = isinstance(value, (int, float)) and not isinstance(value, (bool, Quantity))
    raise fault("no unit" if is_number else f"not a {noun}", accepted, example)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise fault("not a text", "Use a text in double quotes")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise fault("has characters that UTF-8 does not have", "Leave them out") from None
    return value


def choice(*words: str) -> PlainValidator:
    """Return a validator for a fixed set of strings."""

    def check(value: Any) -> str:
        if not isinstance(value, str) or value not in words:
            advice = nearest(value if isinstance(value, str) else "", words)
            raise fault("not one of the accepted words", advice)
        return value

    check.words = words  # type: ignore[attr-defined]  # read by the shell completion
    return PlainValidator(check)


class OrWord:
    """Metadata of a field that accepts a number or one fixed string."""

    word: ClassVar[str]

    @staticmethod
    def of(metadata: Iterable[object]) -> str | None:
        """Return the string that a field accepts besides numbers; None if it accepts no string."""
        return next((entry.word for entry in metadata if isinstance(entry, OrWord)), None)


class _OrAutomatic(PlainValidator, OrWord):
    """Validator of a value that may be "automatic"."""

    word = AUTOMATIC


def _or_automatic(check: Callable[[Any], Any]) -> PlainValidator:
    """Return a validator that accepts "automatic" or a value that `check` accepts."""

    def checked(value: Any) -> Any:
        if isinstance(value, str) and value == AUTOMATIC:
            return value
        try:
            return check(value)
        except PydanticCustomError as error:
            context = error.context or {}
            accepted = f"{context['accepted']}, or {quote(AUTOMATIC)}"
            raise fault(context["what"], accepted, context["example"]) from None

    return _OrAutomatic(checked)


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise fault("not a truth value", "Use true or false")
    return value


def _mcs(value: Any) -> str | int:
    is_number = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**32
    if not is_number and not (isinstance(value, str) and value and value.isprintable()):
        raise fault("not an MCS", "Use its name in the table, or its index there from 0", '"mcs3"')
    return value  # type: ignore[no-any-return]


def _names_a_table(table: str) -> str:
    if not table.removeprefix("airpath:"):
        raise fault(
            "names no table",
            "Use a path from the scenario file, or airpath: and a name",
            '"airpath:802.16-ctc-vehicular-a"',
        )
    return table


PositiveArrivalRate = Annotated[ArrivalRate, AfterValidator(_with_a_period)]
if TYPE_CHECKING:
    from airpath.scenario.typed import Takes

    QueueLimit = Takes[str | Packets | Size, Packets | Size]
    PacketCount = Takes[int | str, int]
    AutomaticPacketCount = Takes[int | str, int | Literal["automatic"]]
else:
    QueueLimit = Annotated[
        Packets | Size,
        PlainValidator(lambda value: counted_or_bytes(value, Packets, "limit")),
    ]
    PacketCount = Annotated[int, PlainValidator(packet_count(0, 30))]
    AutomaticPacketCount = Annotated[int | Literal["automatic"], _or_automatic(packet_count(0, 30))]

Real = Annotated[float, PlainValidator(real)]
AutomaticReal = Annotated[float | Literal["automatic"], _or_automatic(real)]
Number = Annotated[int, PlainValidator(integer_of(32))]
Seed = Annotated[int, PlainValidator(_seed)]
Mcs = Annotated[str | int, PlainValidator(_mcs)]
Text = Annotated[str, PlainValidator(_text)]
TableName = Annotated[Text, AfterValidator(_names_a_table)]
Truth = Annotated[bool, PlainValidator(_truth)]


def _retries(value: Any) -> Any:
    """Validate the number of unanswered retransmissions after which a connection is aborted."""
    if value is None or (isinstance(value, str) and value == "unlimited"):
        return value
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**32:
        accepted = 'Use an integer from 0, or "unlimited"'
        raise fault("not a number of retransmissions", accepted, "15")
    return value


Retries = Annotated[int | Literal["unlimited"] | None, PlainValidator(_retries)]
