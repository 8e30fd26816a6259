"""What is measured, and how: every value checked, all that is wrong told at once."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from airpath import _airpath
from airpath.arguments import error_prefix
from airpath.errors import MISSING, BadValueError, Problem, one_line, show

__all__ = [
    "LARGEST_SEED",
    "Components",
    "MeasurementSettings",
    "checked_seed",
    "checked_snrs_db",
    "checked_threads",
    "components",
]

LARGEST_SEED = 2**64 - 1
_MOST = 10**15
_LOWEST_DB, _HIGHEST_DB = -50.0, 100.0
_MOST_SNRS = 1000
_MOST_ITERATIONS = 1000
_MOST_THREADS = 1024
_DIGITS = 9

T = TypeVar("T")


@dataclass(frozen=True)
class Components:
    """What the engine can measure.

    Parameters
    ----------
    mcss : sequence of mapping
        Each scheme as tables have it: `name`, `label`, `bits_per_symbol`, `code_rate`,
        `block_bytes`, `rate_bps`.
    channels : mapping of str to str
        One line about each channel; ``NS`` in a name stands for a delay spread in ns.
    mappings, algorithms, demappers : sequence of str
        Names; the first is the default.
    """

    mcss: Sequence[Mapping[str, Any]]
    channels: Mapping[str, str]
    mappings: Sequence[str]
    algorithms: Sequence[str]
    demappers: Sequence[str]


@cache
def components() -> Components:
    """Return what the engine can measure."""
    found = json.loads(_airpath.phy_components())
    mcss = [{key: mcs[key] for key in _MCS_KEYS} for mcs in found["mcss"]]
    return Components(**{**found, "mcss": mcss, "channels": dict(found["channels"])})


_MCS_KEYS = ("name", "label", "bits_per_symbol", "code_rate", "block_bytes", "rate_bps")


@dataclass(frozen=True)
class MeasurementSettings:
    """All that the counts of a table depend on.

    Parameters
    ----------
    channel : str
        Full name, with the mapping of subcarriers if it is not the reference.
    mcss : tuple of str
        Names, in their order.
    snrs_db : tuple of float
        Ascending, dB.
    errors, blocks : int
        A point ends with as many errors, or as many blocks.
    iterations : int
        Most of the decoder.
    algorithm, demapper : str
        Of the decoder, and of what comes before it.
    skip_rule : bool
        Whether blocks whose channel has capacity to spare count as right.
    stop_at_zero_errors : bool
        Whether a curve ends with the first point without an error.
    seed : int
        Of all random streams.
    """

    channel: str
    mcss: tuple[str, ...]
    snrs_db: tuple[float, ...]
    errors: int
    blocks: int
    iterations: int
    algorithm: str
    demapper: str
    skip_rule: bool
    stop_at_zero_errors: bool
    seed: int

    @classmethod
    def checked(cls, given: Mapping[str, Any]) -> MeasurementSettings:
        """Return the settings that a user asks for.

        Parameters
        ----------
        given : mapping
            Arguments of `airpath.phy.measure` by name.

        Raises
        ------
        BadValueError
            With a line for each value that is not accepted.
        """
        problems: list[str] = []

        def take(read: Callable[..., T], *keys: str) -> T | None:
            try:
                return read(*(given[key] for key in keys))
            except _RefusedError as refused:
                value = given[keys[0]]
                problems.append(refused.line(keys[0], value))
                return None

        take(_mapping, "mapping")
        values = {
            "channel": take(_channel, "channel", "mapping"),
            "mcss": take(_mcss, "mcs"),
            "snrs_db": take(_snrs_db, "snr_db"),
            "errors": take(_count, "errors"),
            "blocks": take(_count, "blocks"),
            "iterations": take(_iterations, "iterations"),
            "algorithm": take(_algorithm, "algorithm"),
            "demapper": take(_demapper, "demapper"),
            "skip_rule": take(_skip, "skip_rule", "channel", "mapping", "iterations"),
            "stop_at_zero_errors": bool(given["stop_at_zero_errors"]),
            "seed": take(_seed, "seed"),
        }
        if problems:
            raise BadValueError("\n".join(problems))
        return cls(**values)  # type: ignore[arg-type]

    @property
    def count(self) -> int:
        """Points, if no curve ends early."""
        return len(self.mcss) * len(self.snrs_db)

    def to_dict(self) -> dict[str, Any]:
        """Return them as a table's file has them, without channel and seed."""
        unusual: dict[str, Any] = {}
        if self.demapper != components().demappers[0]:
            unusual["demapper"] = self.demapper
        if self.skip_rule:
            unusual["skip_rule"] = True
        return {
            "mcs": list(self.mcss),
            "snr_db": list(self.snrs_db),
            "errors": self.errors,
            "blocks": self.blocks,
            "iterations": self.iterations,
            "algorithm": self.algorithm,
            "stop_at_zero_errors": self.stop_at_zero_errors,
            **unusual,
        }

    def command(self) -> str:
        """Return the command that measures the same."""
        channel, slash, mapping = self.channel.partition("/")
        every = [mcs["name"] for mcs in components().mcss]
        words = ["airpath", "phy", "per", "--channel", channel]
        words += ["--mapping", mapping] if slash else []
        words += ["--mcs", "all" if list(self.mcss) == every else ",".join(self.mcss)]
        grid = _grid(self.snrs_db)
        words += [f"--snr={grid}"] if grid.startswith("-") else ["--snr", grid]
        words += ["--errors", str(self.errors), "--blocks", str(self.blocks)]
        words += ["--iterations", str(self.iterations), "--algorithm", self.algorithm]
        is_usual = self.demapper == components().demappers[0]
        words += [] if is_usual else ["--demapper", self.demapper]
        words += ["--skip-rule"] if self.skip_rule else []
        words += ["--stop-at-zero-errors"] if self.stop_at_zero_errors else []
        return shlex.join([*words, "--seed", str(self.seed)])


def checked_threads(given: Any) -> int:
    """Return a number of worker threads.

    Parameters
    ----------
    given : int
        What the user asks for.

    Raises
    ------
    BadValueError
        If it is not an integer from 1 to 1024.
    """
    try:
        return _whole(given, 1, _MOST_THREADS)
    except _RefusedError as refused:
        raise BadValueError(refused.line("threads", given)) from None


def checked_snrs_db(given: Any, low: float, high: float) -> tuple[float, ...]:
    """Return SNRs, ascending, each once.

    Parameters
    ----------
    given : str or iterable of float
        What the user asks for: values and ranges ``FIRST:LAST:STEP`` with commas between, dB.
    low, high : float
        The range in which they are to be, dB.

    Raises
    ------
    BadValueError
        If they are not numbers in that range.
    """
    try:
        return _snrs_db(given, low, high)
    except _RefusedError as refused:
        raise BadValueError(refused.line("snr_db", given)) from None


def checked_seed(given: Any) -> int:
    """Return a master seed.

    Parameters
    ----------
    given : int
        What the user asks for.

    Raises
    ------
    BadValueError
        If it is not an integer from 0 to 2^64 - 1.
    """
    try:
        return _seed(given)
    except _RefusedError as refused:
        raise BadValueError(refused.line("seed", given)) from None


# --- one value ---------------------------------------------------------------------------------


class _RefusedError(Exception):
    """What is wrong, what to write instead, an example."""

    def line(self, argument: str, value: Any) -> str:
        """Return the line about a value of an argument."""
        return str(Problem(error_prefix(argument, value), (), MISSING, *self.args))


def _mapping(given: Any) -> str:
    if not isinstance(given, str) or given not in components().mappings:
        raise _RefusedError("not a mapping", f"Accepted are {', '.join(components().mappings)}")
    return str(given)


def _channel(channel: Any, mapping: Any) -> str:
    known = _known(channel)
    if known is None:
        listed = ", ".join(components().channels)
        accepted = f"Accepted are {listed}; NS is a delay spread in ns"
        raise _RefusedError("not a channel", accepted, "tdl-a-300")
    if not (isinstance(mapping, str) and mapping in components().mappings[1:]):
        return known[0]
    mapped = _known(f"{channel}/{mapping}")
    if mapped is None and "/" in channel:
        named = channel.partition("/")[2]
        raise _RefusedError(f"has the mapping {named} already", "Write one of the two")
    if mapped is None:
        raise _RefusedError(
            f"has no subcarriers to be mapped as {mapping}", "Leave the mapping out"
        )
    return mapped[0]


def _known(channel: Any) -> tuple[str, int | None] | None:
    # A name of the command line may hold bytes that are no text.
    is_text = isinstance(channel, str) and channel.isprintable()
    return _airpath.phy_channel(channel) if is_text else None


def _skip(skip_rule: Any, channel: Any, mapping: Any, iterations: Any) -> bool:
    is_other = isinstance(mapping, str) and mapping in components().mappings[1:]
    known = _known(f"{channel}/{mapping}" if is_other else channel)
    if not skip_rule or known is None:
        return bool(skip_rule)
    full, fewest = known
    if fewest is None:
        raise _RefusedError(f"has no thresholds for {full}", "Leave it out, or measure vehicular-a")
    if isinstance(iterations, int) and 1 <= iterations < fewest:
        raise _RefusedError(
            f"has no thresholds for fewer than {fewest} iterations",
            f"Leave it out, or decode with {fewest} iterations or more",
        )
    return True


def _mcss(given: Any) -> tuple[str, ...]:
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
        raise _RefusedError(
            f"no such scheme: {unknown}" if unknown else "no scheme",
            f"Accepted are all, numbers, and {listed}",
            '"0,3,7"',
        )
    return tuple(chosen)


def _snrs_db(given: Any, low: float = _LOWEST_DB, high: float = _HIGHEST_DB) -> tuple[float, ...]:
    if isinstance(given, str):
        found = [snr_db for item in given.split(",") for snr_db in _items(item.strip())]
    else:
        items = given if isinstance(given, Iterable) else [given]
        found = [_finite(item) for item in items]
    if not found:
        raise _RefusedError("empty", "Write at least one value in dB", _SNR_EXAMPLE)
    if len(found) > _MOST_SNRS:
        raise _RefusedError(f"{len(found)} values", f"Write at most {_MOST_SNRS}", _SNR_EXAMPLE)
    if min(found) < low or max(found) > high:
        accepted = f"Write dB from {low:g} to {high:g}"
        raise _RefusedError("out of range", accepted, _SNR_EXAMPLE)
    return tuple(sorted(set(found)))


_SNR_EXAMPLE = '"14:40:2" or "10,12.5"'


def _items(item: str) -> list[float]:
    if not item:
        raise _RefusedError("empty", "Write numbers of dB, or FIRST:LAST:STEP", _SNR_EXAMPLE)
    if ":" not in item:
        return [_finite(item)]
    numbers = [_finite(number) for number in item.split(":")]
    if len(numbers) != 3:
        raise _RefusedError("not FIRST:LAST:STEP", "Write three numbers", _SNR_EXAMPLE)
    first, last, step = numbers
    if step <= 0 or last < first:
        wrong = "a step that is not above 0" if step <= 0 else "the last is below the first"
        raise _RefusedError(wrong, "Write FIRST:LAST:STEP that rises", _SNR_EXAMPLE)
    steps = (last - first) / step
    if steps > _MOST_SNRS:
        raise _RefusedError("too many values", f"Write at most {_MOST_SNRS}", _SNR_EXAMPLE)
    count = math.floor(steps + 1e-6) + 1
    return [_plain(first + place * step) for place in range(count)]


def _finite(given: Any) -> float:
    if isinstance(given, bool):  # True is an int
        raise _RefusedError("not a number of dB", "Write numbers", _SNR_EXAMPLE)
    try:
        number = float(given)
    except (TypeError, ValueError, OverflowError):
        raise _RefusedError("not a number of dB", "Write numbers", _SNR_EXAMPLE) from None
    if not math.isfinite(number):
        raise _RefusedError("not finite", "Write numbers of dB", _SNR_EXAMPLE)
    return _plain(number)


def _plain(number: float) -> float:
    """Return it without the dirt of binary fractions; −0 becomes 0."""
    return round(number, _DIGITS) + 0.0


def _count(given: Any) -> int:
    try:
        number = float(given)
        whole = int(given) if isinstance(given, int) else int(number)
    except (TypeError, ValueError, OverflowError):
        whole, number = 0, math.nan
    if isinstance(given, bool) or whole != number or not 1 <= whole <= _MOST:
        raise _RefusedError("not an integer from 1 on", "Write one", "400 or 1e7")
    return whole


def _iterations(given: Any) -> int:
    return _whole(given, 1, _MOST_ITERATIONS)


def _whole(given: Any, least: int, most: int) -> int:
    # True is an int.
    if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= most:
        raise _RefusedError("not accepted", f"Write an integer from {least} to {most}", "10")
    return given


def _algorithm(given: Any) -> str:
    if not isinstance(given, str) or given not in components().algorithms:
        raise _RefusedError(
            "not an algorithm", f"Accepted are {', '.join(components().algorithms)}"
        )
    return str(given)


def _demapper(given: Any) -> str:
    if not isinstance(given, str) or given not in components().demappers:
        raise _RefusedError("not a demapper", f"Accepted are {', '.join(components().demappers)}")
    return str(given)


def _seed(given: Any) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= LARGEST_SEED:
        raise _RefusedError("not accepted", "Write an integer from 0 to 2^64 - 1")
    return given


def _grid(snrs_db: Sequence[float]) -> str:
    """Return values as the user would write them: as a range if they are one."""
    first, last = snrs_db[0], snrs_db[-1]
    if len(snrs_db) > 2:
        step = _plain(snrs_db[1] - first)
        text = f"{first:.12g}:{last:.12g}:{step:.12g}"
        has_as_many = round((last - first) / step) == len(snrs_db) - 1
        if has_as_many and _snrs_db(text) == tuple(snrs_db):
            return text
    return ",".join(f"{snr_db:.12g}" for snr_db in snrs_db)
