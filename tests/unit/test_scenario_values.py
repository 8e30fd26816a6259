"""Values with several meanings: windows in segments, whole packets, keys with two names."""

from __future__ import annotations

import json
from typing import Any

import pytest
from scenario_errors import GOOD, lines

import airpath as ap
from airpath.scenario import loads

WINDOW = (
    "Use a number with the unit segments, B, kB, MB, GB, KiB, MiB or GiB, "
    'for example "10 segments".'
)


def initial_window(value: Any, **options: Any) -> int:
    """Return the resolved initial window of a flow, bytes."""
    tcp = {"initial_window": value, **options}
    group = ap.flows(base_rtt="40 ms", tcp=tcp)
    bottleneck = ap.Bottleneck(aqm="gred", link=ap.link.Fixed(rate="5 Mbit/s"))
    scenario = ap.Scenario(flows=group, bottleneck=bottleneck, duration="1 s")
    for same in (scenario, loads(scenario.to_toml())):
        flow = json.loads(same.resolve()[0])["flows"][0]
        found: int = flow["source"]["options"]["initial_window"]
    return found


def test_initial_window_is_in_segments_or_in_bytes() -> None:
    # Regression: 10, which users mean as segments, was 10 bytes.
    assert initial_window("10 segments") == 14_600
    assert initial_window("10 segments", mss="536 B") == 5_360
    assert initial_window("1 segment") == initial_window("1460 B") == 1_460
    assert initial_window(ap.units.Segments(3)) == initial_window(ap.units.Size(4_380)) == 4_380
    text = GOOD + 'tcp = {initial_window = "2 segments"}\n'
    assert str(loads(text).flows[0].tcp.initial_window) == "2 segments"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("value", "shown", "what"),
    [
        (10, "10", f"no unit. {WINDOW}"),
        (10.0, "10.0", f"no unit. {WINDOW}"),
        ("10", '"10"', f"no unit. {WINDOW}"),
        ("1.5 segments", '"1.5 segments"', f"not an integer. {WINDOW}"),
        ("10 packets", '"10 packets"', f"not a window. {WINDOW}"),
        (True, "true", f"not a window. {WINDOW}"),
        (ap.units.Packets(3), "3 packets", f"not a window. {WINDOW}"),
        (
            "0 segments",
            '"0 segments"',
            'not above 0. Use a size above 0, for example "1500 B".',
        ),
        ("2e9 segments", '"2e9 segments"', f"too large to be counted. {WINDOW}"),
    ],
)
def test_invalid_initial_window_is_reported(value: Any, shown: str, what: str) -> None:
    with pytest.raises(ap.errors.ScenarioError) as caught:
        ap.flows(base_rtt="40 ms", tcp={"initial_window": value})
    assert str(caught.value) == f"flows: tcp.initial_window = {shown}: {what}"


@pytest.mark.parametrize("limit", ["1.5 packets", "1.5packets", "1e-9 packets", "1e-50 packets"])
def test_fractional_number_of_packets_is_rejected(limit: str) -> None:
    # Regression: "1.5 packets" was rounded to two packets.
    with pytest.raises(ap.errors.ScenarioError, match="not an integer"):
        ap.aqm.DropTail(limit=limit)
    with pytest.raises(ap.errors.UnitError, match=r"not an integer\. Use an integer number of"):
        ap.units.Packets.parse(limit)
    assert ap.aqm.DropTail(limit="1.5e2 packets").limit == 150


@pytest.mark.parametrize(
    "read",
    [
        lambda: ap.units.Duration.parse(5),  # type: ignore[arg-type]
        lambda: ap.units.Rate.parse(None),  # type: ignore[arg-type]
        lambda: ap.units.Duration.from_si("5"),  # type: ignore[arg-type]
        lambda: ap.units.Duration.from_si(None),  # type: ignore[arg-type]
        lambda: ap.units.Size.from_si(True),
    ],
)
def test_quantity_of_another_type_is_rejected(read: Any) -> None:
    with pytest.raises(ap.errors.UnitError, match=r"not a (duration|rate|size)"):
        read()


def test_return_wire_is_named_as_it_is_written() -> None:
    # Regression: errors named `return`, which is no valid name in Python.
    for keys, line in (
        ({}, 'flows: base_rtt: missing. Set base_rtt = "40 ms", or the wires access, egress, '
         "return_wire."),
        ({"base_rtt": "40 ms", "return_wire": {"delay": "1 ms"}},
         'flows: base_rtt = "40 ms": given together with return_wire.delay. Set either base_rtt '
         "or the delays of the wires."),
        ({"base_rtt": "40 ms", "return_wir": {}},
         "flows: return_wir = {}: unknown key. The nearest is return_wire; expected one of: "
         "source, name, count, access, egress, ack_access, return_wire, base_rtt, start, stop, "
         "arrivals, direction, origin, destination, user, cc, profile, tcp, window, size, on_off, "
         "video, requests."),
    ):  # fmt: skip
        with pytest.raises(ap.errors.ScenarioError) as caught:
            ap.flows(**keys)  # type: ignore[arg-type]
        assert str(caught.value) == line
    (line,) = lines(GOOD + 'return = {delay = "1 ms"}\n')
    assert "given together with return.delay" in line


def test_positional_arguments_are_rejected() -> None:
    with pytest.raises(ap.errors.ScenarioError) as caught:
        ap.frame_errors.Burst(0.1, "x", slot="10 ms")  # type: ignore[misc]
    keys = "Name each value by its key: kind, frame_error_rate, doppler, slot."
    assert str(caught.value).splitlines() == [
        f"frame_errors.Burst: 0.1: not named. {keys}",
        f'frame_errors.Burst: "x": not named. {keys}',
    ]
