"""Traces in Python: reading, description, conversion, generation."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import airpath as ap
from airpath.cli import main
from airpath.scenario.examples import shipped_examples

EXAMPLES = shipped_examples()
SHIPPED = ["pedestrian", "vehicular"]


def test_info_describes_a_trace() -> None:
    info = ap.Trace.parse("0\n5\n5\n12\n").info()
    assert (info.kind, info.opportunities) == ("opportunities", 4)
    assert info.duration_s == pytest.approx(0.012)
    assert info.mean_bps == pytest.approx(4 * 1504 * 8 / 0.012)
    assert (info.longest_outage_s, info.longest_outage_start_s) == pytest.approx((0.007, 0.005))


def test_rates_in_bins_keep_every_bit() -> None:
    rates = ap.Trace.load(EXAMPLES / "traces" / "pedestrian.trace").rates("50 ms")
    assert list(rates.columns) == ["time_s", "rate_bps"]
    assert rates["rate_bps"].sum() * 0.05 == pytest.approx(25556 * 1504 * 8)
    assert np.diff(rates["time_s"]) == pytest.approx(np.full(len(rates) - 1, 0.05))


def test_csv_round_trip_gives_the_same_trace() -> None:
    trace = ap.Trace.load(EXAMPLES / "traces" / "vehicular.trace")
    csv = trace.to_csv("1 ms", "made here")
    assert csv.startswith("# made here\n")
    assert ap.Trace.parse(csv, format="csv").to_mahimahi() == trace.to_mahimahi()


@pytest.mark.parametrize(
    ("length", "message"),
    [
        ("0 s", 'bin = "0 s": not above 0. Use a duration above 0.'),
        (
            "3",
            'bin = "3": no unit. Use a number with ns, us, ms, s, min or h, for example "40 ms".',
        ),
    ],
)
def test_invalid_bin_length_is_rejected(length: str, message: str) -> None:
    with pytest.raises(ap.errors.BadValueError) as error:
        ap.Trace.parse("1\n").to_csv(length)
    assert str(error.value) == message


LINK: dict[str, Any] = {
    "mean_snr": "10 dB",
    "bandwidth": "5 MHz",
    "cap": "20 Mbit/s",
    "speed": "1 m/s",
    "carrier": "2 GHz",
}


def test_generated_traces_depend_on_their_seed_only() -> None:
    def make(seed: int) -> str:
        return ap.Trace.generate("2 s", **LINK, seed=seed).to_mahimahi()

    assert make(1) == make(1) != make(2)


def test_generator_setting_out_of_range_is_named() -> None:
    with pytest.raises(ap.errors.BadValueError, match="speed"):
        ap.Trace.generate("2 s", **{**LINK, "speed": -1.0})
    with pytest.raises(ap.errors.BadValueError, match="seed = -1: not accepted"):
        ap.Trace.generate("2 s", **LINK, seed=-1)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_traces_are_reproduced_by_their_command(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = EXAMPLES / "traces" / f"{name}.trace"
    provenance = shipped.with_name(f"{name}.trace.provenance.txt").read_text()
    command = next(line for line in provenance.splitlines() if line.startswith("command: "))
    words = shlex.split(command.removeprefix("command: "))
    assert words[:3] == ["airpath", "trace", "generate"]
    (tmp_path / "traces").mkdir()
    monkeypatch.chdir(tmp_path)
    assert main(words[1:]) == 0
    assert (tmp_path / words[3]).read_bytes() == shipped.read_bytes()


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_traces_are_small(name: str) -> None:
    trace = ap.Trace.load(EXAMPLES / "traces" / f"{name}.trace")
    assert trace.duration_s == 60
    assert (EXAMPLES / "traces" / f"{name}.trace").stat().st_size < 200_000
    assert repr(trace).endswith("Mbit/s>")
