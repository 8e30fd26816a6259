"""Types and defaults of the settings of an error-rate measurement."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, PlainValidator, ValidationError
from pydantic_core import PydanticCustomError

from airpath import _airpath
from airpath.arguments import problem_line
from airpath.errors import BadValueError, one_line, show
from airpath.scenario.base import Model, fault, problems_of
from airpath.scenario.checking import as_json
from airpath.scenario.values import Number, Seed, choice, integer_of

if TYPE_CHECKING:
    from airpath.scenario.engine_problems import EngineProblem

__all__ = ["SNR_EXAMPLE", "Components", "MeasurementSettings", "components", "snrs_db_of"]

_MOST_STEPS = 10**5
"""Largest number of values in a range FIRST:LAST:STEP of SNRs."""
_DIGITS = 9


@dataclass(frozen=True)
class Components:
    """Modulation and coding schemes, channels and algorithms that the engine can measure.

    Parameters
    ----------
    mcss : sequence of mapping
        MCSs with the keys of tables: `name`, `label`, `bits_per_symbol`, `code_rate`,
        `block_bytes`, `rate_bps`.
    channels : mapping of str to str
        Maps the name of each channel to a one-line description. ``NS`` in a name is a placeholder
        for a delay spread in ns.
    mappings, algorithms, demappers : sequence of str
        Available names; the first name is the default.
    """

    mcss: Sequence[Mapping[str, Any]]
    channels: Mapping[str, str]
    mappings: Sequence[str]
    algorithms: Sequence[str]
    demappers: Sequence[str]


@cache
def components() -> Components:
    """Return the components that the engine can measure."""
    found = json.loads(_airpath.phy_components())
    mcss = [{key: mcs[key] for key in _MCS_KEYS} for mcs in found["mcss"]]
    return Components(**{**found, "mcss": mcss, "channels": dict(found["channels"])})


_MCS_KEYS = ("name", "label", "bits_per_symbol", "code_rate", "block_bytes", "rate_bps")


# --- types -------------------------------------------------------------------------------------


def _channel(value: Any) -> str:
    # A name on the command line may contain bytes that are not valid text.
    is_text = isinstance(value, str) and value.isprintable()
    if not is_text or _airpath.phy_channel(value) is None:
        listed = ", ".join(components().channels)
        accepted = f"Expected one of: {listed}; NS is a delay spread in ns"
        raise fault("not a channel", accepted, "tdl-a-300")
    return str(value)


def _mcs(given: Any) -> tuple[str, ...]:
    if isinstance(given, str) and given.strip() == "all":
        return tuple(mcs["name"] for mcs in components().mcss)
    items = given.split(",") if isinstance(given, str) else given
    items = items if isinstance(items, Iterable) else [items]
    wanted = {
        (str(item) if isinstance(item, (str, int)) else show(item)).strip().lower()
        for item in items
    }
    chosen = []
    for number, mcs in enumerate(components().mcss):
        names = {str(number), mcs["name"], mcs["label"]}
        if wanted & names:
            chosen.append(mcs["name"])
            wanted -= names
    if wanted or not chosen:
        listed = ", ".join(f"{mcs['name']} ({mcs['label']})" for mcs in components().mcss)
        unknown = ", ".join(sorted(one_line(word) for word in wanted if word))
        raise fault(
            f"no such scheme: {unknown}" if unknown else "no scheme",
            f"Expected one of: all, numbers, and {listed}",
            '"0,3,7"',
        )
    return tuple(chosen)


SNR_EXAMPLE = '"14:40:2" or "10,12.5"'


def _snrs_db(given: Any) -> tuple[float, ...]:
    if isinstance(given, str):
        found = [snr_db for item in given.split(",") for snr_db in _items(item.strip())]
    else:
        items = given if isinstance(given, Iterable) else [given]
        found = [_finite(item) for item in items]
    return tuple(sorted(set(found)))


def _items(item: str) -> list[float]:
    if not item:
        raise fault("empty", "Use numbers of dB, or FIRST:LAST:STEP", SNR_EXAMPLE)
    if ":" not in item:
        return [_finite(item)]
    numbers = [_finite(number) for number in item.split(":")]
    if len(numbers) != 3:
        raise fault("not FIRST:LAST:STEP", "Use three numbers", SNR_EXAMPLE)
    first, last, step = numbers
    if step <= 0 or last < first:
        wrong = "a step that is not above 0" if step <= 0 else "the last is below the first"
        raise fault(wrong, "Use FIRST:LAST:STEP that rises", SNR_EXAMPLE)
    steps = (last - first) / step
    if steps > _MOST_STEPS:
        raise fault("too many values", "Use a larger step", SNR_EXAMPLE)
    count = math.floor(steps + 1e-6) + 1
    return [_plain(first + place * step) for place in range(count)]


def _finite(given: Any) -> float:
    if isinstance(given, bool):  # True is an int
        raise fault("not a number of dB", "Use numbers", SNR_EXAMPLE)
    try:
        number = float(given)
    except (TypeError, ValueError, OverflowError):
        raise fault("not a number of dB", "Use numbers", SNR_EXAMPLE) from None
    if not math.isfinite(number):
        raise fault("not finite", "Use numbers of dB", SNR_EXAMPLE)
    return _plain(number)


def _plain(number: float) -> float:
    """Remove rounding errors of binary fractions; −0 becomes 0."""
    return round(number, _DIGITS) + 0.0


def _count(value: Any) -> int:
    """Convert an integer, which may be a float such as ``1e7``."""
    if isinstance(value, (str, float)):
        try:
            number = float(value)
            value = int(number) if number.is_integer() else value
        except ValueError:
            pass
    return _INTEGER(value)


_INTEGER = integer_of(64)
Count = Annotated[int, PlainValidator(_count)]


def snrs_db_of(argument: str, given: Any) -> tuple[float, ...]:
    """Return the SNRs of an argument in ascending order, without duplicates.

    Parameters
    ----------
    argument : str
        Name of the argument, for messages.
    given : str or iterable of float
        Values and ranges ``FIRST:LAST:STEP`` separated by commas, dB, as the user wrote them.

    Raises
    ------
    BadValueError
        If a value is not a number.
    """
    try:
        return _snrs_db(given)
    except PydanticCustomError as error:
        line = problem_line(argument, given, *(error.context or {}).values())
        raise BadValueError(line) from None


# --- settings ----------------------------------------------------------------------------------


class MeasurementSettings(Model):
    """All settings on which the counts of a table depend. The engine checks their ranges.

    Parameters
    ----------
    channel : str
        Name of the channel. The name may include a mapping of symbols to subcarriers.
    mapping : str
        Mapping of symbols to subcarriers. Default ``"random"``.
    mcs : sequence of str
        Names, indices or labels of MCSs, or ``"all"``. The attribute has the names, in ascending
        index.
    snr_db : str or iterable of float
        Mean Es/N0, dB: 1 to 1000 values from -50 to 100. The attribute has the values in ascending
        order.
    errors, blocks : int
        The measurement of a point ends at this number of errors or of blocks, from 1 to 1e15.
        Defaults 400 and 1e7.
    iterations : int
        Largest number of decoder iterations, from 1 to 1000. Default 10.
    algorithm, demapper : str
        Algorithms of the decoder and of the demapper. Defaults ``"max-log"``.
    skip_rule : bool
        True: blocks for which the channel has excess capacity count as correct. Requires a channel
        with known capacity thresholds. Default False.
    stop_at_zero_errors : bool
        True: a curve ends with the first point without errors. Default False.
    seed : int
        Seed of all random streams, from 0 to 2^64 - 1. Default 1.
    """

    channel: Annotated[str, PlainValidator(_channel)] = Field(examples=['"awgn"'])
    mapping: Annotated[str, choice(*components().mappings)] = components().mappings[0]
    mcs: Annotated[tuple[str, ...], PlainValidator(_mcs)] = Field(examples=['"all"'])
    snr_db: Annotated[tuple[float, ...], PlainValidator(_snrs_db)] = Field(examples=['"10,12.5"'])
    errors: Count = 400
    blocks: Count = Field(default=10_000_000, examples=["1e7"])
    iterations: Number = 10
    algorithm: Annotated[str, choice(*components().algorithms)] = components().algorithms[0]
    demapper: Annotated[str, choice(*components().demappers)] = components().demappers[0]
    skip_rule: Annotated[bool, PlainValidator(bool)] = False
    stop_at_zero_errors: Annotated[bool, PlainValidator(bool)] = False
    seed: Seed = 1

    @classmethod
    def checked(cls, given: Mapping[str, Any]) -> MeasurementSettings:
        """Create settings from the arguments of `airpath.phy.measure`.

        Parameters
        ----------
        given : mapping
            Maps names of arguments to values.

        Raises
        ------
        BadValueError
            If values are not accepted. The message has a line for each such value.
        """
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            found = problems_of(error, None)
        lines = [
            problem_line(key, given[key], problem.what, problem.accepted, problem.example)
            for problem in found
            for key in [str(problem.field[0])]
        ]
        raise BadValueError("\n".join(lines))

    def _engine_problems(self) -> list[EngineProblem]:
        return _airpath.phy_problems(self.description)

    @property
    def description(self) -> str:
        """The settings as JSON for the engine."""
        return as_json(self.resolved)

    @property
    def full_channel(self) -> str:
        """Name of the channel, including the mapping if it is not the default mapping."""
        is_reference = self.mapping == components().mappings[0]
        name = self.channel if is_reference else f"{self.channel}/{self.mapping}"
        return str(_airpath.phy_channel(name))

    @property
    def count(self) -> int:
        """Number of points if no curve ends early."""
        return len(self.mcs) * len(self.snr_db)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings in the form of a table's file, without channel and seed."""
        unusual: dict[str, Any] = {}
        if self.demapper != components().demappers[0]:
            unusual["demapper"] = self.demapper
        if self.skip_rule:
            unusual["skip_rule"] = True
        return {
            "mcs": list(self.mcs),
            "snr_db": list(self.snr_db),
            "errors": self.errors,
            "blocks": self.blocks,
            "iterations": self.iterations,
            "algorithm": self.algorithm,
            "stop_at_zero_errors": self.stop_at_zero_errors,
            **unusual,
        }

    def command(self) -> str:
        """Return the command that repeats the measurement."""
        channel, slash, mapping = self.full_channel.partition("/")
        every = [mcs["name"] for mcs in components().mcss]
        words = ["airpath", "phy", "per", "--channel", channel]
        words += ["--mapping", mapping] if slash else []
        words += ["--mcs", "all" if list(self.mcs) == every else ",".join(self.mcs)]
        grid = _grid(self.snr_db)
        words += [f"--snr={grid}"] if grid.startswith("-") else ["--snr", grid]
        words += ["--errors", str(self.errors), "--blocks", str(self.blocks)]
        words += ["--iterations", str(self.iterations), "--algorithm", self.algorithm]
        is_usual = self.demapper == components().demappers[0]
        words += [] if is_usual else ["--demapper", self.demapper]
        words += ["--skip-rule"] if self.skip_rule else []
        words += ["--stop-at-zero-errors"] if self.stop_at_zero_errors else []
        return shlex.join([*words, "--seed", str(self.seed)])


def _grid(snrs_db: Sequence[float]) -> str:
    """Return SNRs in the user's notation, as FIRST:LAST:STEP if they are equidistant."""
    first, last = snrs_db[0], snrs_db[-1]
    if len(snrs_db) > 2:
        step = _plain(snrs_db[1] - first)
        text = f"{first:.12g}:{last:.12g}:{step:.12g}"
        has_as_many = round((last - first) / step) == len(snrs_db) - 1
        if has_as_many and _snrs_db(text) == tuple(snrs_db):
            return text
    return ",".join(f"{snr_db:.12g}" for snr_db in snrs_db)
