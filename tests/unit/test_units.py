"""Reading and writing quantities."""

from __future__ import annotations

import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airpath.errors import AirpathError, UnitError
from airpath.scenario.decibels import Decibels
from airpath.scenario.units import (
    ArrivalRate,
    Duration,
    Length,
    Packets,
    Quantity,
    Rate,
    Size,
    Speed,
)

KINDS = [ArrivalRate, Duration, Length, Rate, Size, Packets]
DURATIONS = "Use a number with ns, us, ms, s, min or h"
SIZES = "Use a number with B, kB, MB, GB, KiB, MiB or GiB"
RATES = "Use a number with bit/s, kbit/s, Mbit/s or Gbit/s"


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Duration, "40 ms", 40_000_000),
        (Duration, "40ms", 40_000_000),
        (Duration, " 2.5 us ", 2_500),
        (Duration, "2.5 µs", 2_500),
        (Duration, "1.5 min", 90 * 10**9),
        (Duration, "1 h", 3600 * 10**9),
        (Duration, "7 ns", 7),
        (Duration, "4e-2 s", 40_000_000),
        (Duration, "0.5 ns", 0),
        (Duration, "1.5 ns", 2),
        (Duration, "1e-999999999 s", 0),
        (Duration, "-0 s", 0),
        (Length, "50 m", 50_000),
        (Length, "1.2 km", 1_200_000),
        (Rate, "26.88 Mbit/s", 26_880_000),
        (Rate, ".5 kbit/s", 500),
        (Rate, "1 Gbit/s", 10**9),
        (Size, "64 kB", 64_000),
        (Size, "64 KiB", 65_536),
        (Size, "1 GiB", 2**30),
        (Packets, "1 packet", 1),
        (Packets, "1e3 packets", 1000),
        (ArrivalRate, "0.5 /s", 5 * 10**8),
        (ArrivalRate, "2/ms", 2 * 10**12),
    ],
)
def test_text_is_read(kind: type[Quantity], text: str, value: int) -> None:
    quantity = kind.parse(text)
    assert int(quantity) == value
    assert type(quantity) is kind


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (Duration, 0, "0 s"),
        (Duration, 40_000_000, "40 ms"),
        (Duration, 2_500_000, "2.5 ms"),
        (Duration, 300 * 10**9, "300 s"),
        (Duration, 1_000_000_001, "1.000000001 s"),
        (Rate, 0, "0 bit/s"),
        (Rate, 26_880_000, "26.88 Mbit/s"),
        (Rate, 128_000, "128 kbit/s"),
        (Size, 0, "0 B"),
        (Size, 1500, "1500 B"),
        (Size, 64_000, "64 kB"),
        (Size, 65_536, "64 KiB"),
        (Packets, 100, "100 packets"),
    ],
)
def test_value_is_written_in_a_suitable_unit(kind: type[Quantity], value: int, text: str) -> None:
    assert str(kind(value)) == text
    assert f"{kind(value)}" == text


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_written_values_are_read_back(kind: type[Quantity], data: st.DataObject) -> None:
    quantity = kind(data.draw(st.integers(0, kind.largest)))
    assert kind.parse(str(quantity)) == quantity
    assert eval(repr(quantity)) == quantity
    assert pickle.loads(pickle.dumps(quantity)) == quantity


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_every_unit_has_its_number_of_base_units(kind: type[Quantity], data: st.DataObject) -> None:
    unit = data.draw(st.sampled_from(sorted(kind.units)))
    number = data.draw(st.integers(0, kind.largest // kind.units[unit]))
    assert kind.parse(f"{number} {unit}") == number * kind.units[unit]


@given(st.integers(0, 10**15))
def test_float_in_seconds_is_exact_where_doubles_are(nanos: int) -> None:
    assert Duration.from_si(nanos / 10**9) == nanos


@pytest.mark.parametrize("kind", KINDS)
@given(text=st.text())
def test_any_text_is_read_or_rejected(kind: type[Quantity], text: str) -> None:
    try:
        assert 0 <= kind.parse(text) <= kind.largest
    except UnitError as error:
        assert len(str(error).splitlines()) == 1


@given(
    number=st.from_regex(r"[+-]?[0-9]{1,30}(\.[0-9]{0,30})?([eE][+-]?[0-9]{1,9})?", fullmatch=True),
    unit=st.sampled_from(sorted(Duration.units)),
)
def test_any_number_is_read_or_rejected_immediately(number: str, unit: str) -> None:
    try:
        assert 0 <= Duration.parse(number + unit) <= Duration.largest
    except UnitError as error:
        assert error.what in ("below 0", "too large to be counted")


@pytest.mark.parametrize(
    ("kind", "value", "line"),
    [
        (Rate, "5 Mb", f'"5 Mb": not a rate. {RATES}, for example "5 Mbit/s".'),
        (
            Rate,
            "5 mbit/s",
            f'"5 mbit/s": not a rate. Did you mean "5 Mbit/s"? {RATES}, for example "5 Mbit/s".',
        ),
        (
            Rate,
            "20Mbps",
            f'"20Mbps": not a rate. Did you mean "20 Mbit/s"? {RATES}, for example "5 Mbit/s".',
        ),
        (
            Rate,
            "20 Mb/s",
            f'"20 Mb/s": not a rate. Did you mean "20 Mbit/s"? {RATES}, for example "5 Mbit/s".',
        ),
        (Rate, "20 MB/s", f'"20 MB/s": not a rate. {RATES}, for example "5 Mbit/s".'),
        (
            Rate,
            "20 MBit",
            f'"20 MBit": not a rate. Did you mean "20 Mbit/s"? {RATES}, for example "5 Mbit/s".',
        ),
        (
            Rate,
            "20M",
            f'"20M": not a rate. Did you mean "20 Mbit/s"? {RATES}, for example "5 Mbit/s".',
        ),
        (
            Speed,
            "3 kmh",
            '"3 kmh": not a speed. Did you mean "3 km/h"? Use a number with m/s or km/h, '
            'for example "10 m/s".',
        ),
        (
            Decibels,
            "15 db",
            '"15 db": not a level. Did you mean "15 dB"? Use a number with dB, '
            'for example "15 dB".',
        ),
        (Decibels, "15 dBm", '"15 dBm": not a level. Use a number with dB, for example "15 dB".'),
        (Rate, "20 MBps", f'"20 MBps": not a rate. {RATES}, for example "5 Mbit/s".'),
        (
            Duration,
            "3 seconds",
            f'"3 seconds": not a duration. Did you mean "3 s"? {DURATIONS}, for example "40 ms".',
        ),
        (Rate, "5", f'"5": no unit. {RATES}, for example "5 Mbit/s".'),
        (
            Duration,
            "40 MS",
            f'"40 MS": not a duration. Did you mean "40 ms"? {DURATIONS}, for example "40 ms".',
        ),
        (Duration, "soon", f'"soon": not a duration. {DURATIONS}, for example "40 ms".'),
        (Duration, "", f'"": not a duration. {DURATIONS}, for example "40 ms".'),
        (
            Duration,
            "4\n0 ms",
            f'"4\\n0 ms": not a duration. {DURATIONS}, for example "40 ms".',
        ),
        (Size, "1 kb", f'"1 kb": not a size. {SIZES}, for example "1500 B".'),
        (Size, "1 KB", f'"1 KB": not a size. Did you mean "1 kB"? {SIZES}, for example "1500 B".'),
        (
            Packets,
            "3 B",
            '"3 B": not a number of packets. '
            'Use a number with the unit packets, for example "100 packets".',
        ),
        (
            Duration,
            "-1 s",
            '"-1 s": below 0. Use a duration from 0 on, for example "40 ms".',
        ),
        (
            Duration,
            "1e999999999 s",
            '"1e999999999 s": too large to be counted. Use at most "100000000 s", '
            'for example "40 ms".',
        ),
        (
            Duration,
            "100000001 s",
            '"100000001 s": too large to be counted. Use at most "100000000 s", '
            'for example "40 ms".',
        ),
    ],
)
def test_invalid_text_is_reported(kind: type[Quantity | Decibels], value: str, line: str) -> None:
    with pytest.raises(UnitError) as caught:
        kind.of(value)
    assert str(caught.value) == line


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (math.nan, f'nan: not a finite number. {DURATIONS}, for example "40 ms".'),
        (math.inf, f'inf: not a finite number. {DURATIONS}, for example "40 ms".'),
        (-1.0, '-1.0: below 0. Use a duration from 0 on, for example "40 ms".'),
        (True, f'true: not a duration. {DURATIONS}, for example "40 ms".'),
        (None, f'None: not a duration. {DURATIONS}, for example "40 ms".'),
        (Size(3), f'"3 B": not a duration. {DURATIONS}, for example "40 ms".'),
        (
            10**9,
            '1000000000: too large to be counted. Use at most "100000000 s", for example "40 ms".',
        ),
    ],
)
def test_invalid_python_value_is_reported(value: object, line: str) -> None:
    with pytest.raises(UnitError) as caught:
        Duration.of(value)
    assert str(caught.value) == line


def test_python_numbers_are_in_si_units() -> None:
    assert Duration.of(0.04) == 40_000_000
    assert Duration.of(3) == 3 * 10**9
    assert Rate.of(5e6) == 5_000_000
    assert Size.of(1500) == 1500
    assert Duration.of(Duration(7)) == 7


def test_number_of_packets_requires_its_unit() -> None:
    with pytest.raises(UnitError, match="no unit"):
        Packets.of(100)


def test_very_long_integer_is_rejected_in_one_line() -> None:
    # Python refuses to print integers of more than about 4300 digits.
    with pytest.raises(UnitError) as caught:
        Duration.of(10**5000)
    assert len(str(caught.value)) < 200


def test_unit_errors_are_value_errors_and_survive_pickling() -> None:
    with pytest.raises(ValueError, match="not a rate") as caught:
        Rate.parse("5 Mb")
    assert isinstance(caught.value, AirpathError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
