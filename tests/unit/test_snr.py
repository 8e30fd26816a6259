"""SNR over time: error messages, the resolved form, and results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import airpath as ap
from airpath.errors import OverrideWarning
from airpath.scenario import FAMILIES, loads

GOOD = """\
duration = "10 s"
[bottleneck]
aqm = "droptail"
[bottleneck.link]
kind = "adaptive"
table = "airpath:802.16-ctc-awgn"
policy = {kind = "tagla", th_per = 0.01}
snr_db = 15
[[flows]]
base_rtt = "40 ms"
"""
KINDS = ", ".join(FAMILIES["snr"].registry)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("5", f' = 5: not an SNR process. Expected one of: {KINDS}, for example "constant".'),
        (
            '{kind = "rice"}',
            f'.kind = "rice": not an SNR process. The nearest is trace; expected one of: {KINDS}.',
        ),
        ('{kind = "constant"}', '.mean: missing. Set mean = "15 dB".'),
        (
            '{kind = "constant", mean = 15}',
            '.mean = 15: no unit. Use a number with dB, for example "15 dB".',
        ),
        (
            '{kind = "constant", mean = "15 dBm"}',
            '.mean = "15 dBm": not a level. Use a number with dB, for example "15 dB".',
        ),
        (
            '{kind = "constant", mean = "300 dB"}',
            '.mean = "300 dB": above 200 dB. Use a level from "-200 dB" to "200 dB", for '
            'example "15 dB".',
        ),
        (
            '{kind = "rayleigh", mean = "15 dB"}',
            '.speed: missing. Set doppler = "10 Hz", or speed and carrier.',
        ),
        (
            '{kind = "rayleigh", mean = "15 dB", speed = "1 m/s"}',
            '.carrier: missing. Set doppler = "10 Hz", or speed and carrier.',
        ),
        (
            '{kind = "rayleigh", mean = "15 dB", doppler = "1 Hz", speed = "1 m/s"}',
            '.speed = "1 m/s": doppler is given too. Set doppler, or speed and carrier.',
        ),
        (
            '{kind = "rayleigh", mean = "15 dB", doppler = "1 MHz"}',
            '.doppler = "1 MHz": above 100 kHz. Use a frequency from 0 to "100 kHz", for '
            'example "10 Hz".',
        ),
        (
            '{kind = "jakes", mean = "15 dB", doppler = "1 Hz", index = "print"}',
            '.index = "print": not one of the accepted words. The nearest is printed; '
            "expected one of: centred, printed.",
        ),
        ('{kind = "rician", mean = "15 dB", doppler = "1 Hz"}', '.k: missing. Set k = "6 dB".'),
        (
            '{kind = "rician", mean = "15 dB", doppler = "1 Hz", k = 4}',
            '.k = 4: no unit. Use a number with dB, for example "15 dB".',
        ),
        (
            '{kind = "rician", mean = "15 dB", doppler = "1 Hz", k = "6 dB", angle_deg = 270}',
            ".angle_deg = 270: above 180. Use a number from 0 to 180, for example 45.",
        ),
        (
            '{kind = "tapped-delay-line", mean = "15 dB", doppler = "1 Hz", profile = "vehicular"}',
            '.profile = "vehicular": not one of the accepted words. The nearest is vehicular-b; '
            "expected one of: pedestrian-a, pedestrian-b, vehicular-a, vehicular-b, epa, eva, etu.",
        ),
        (
            '{kind = "beamforming", mean = "15 dB", doppler = "1 Hz"}',
            '.period: missing. Set period = "300 ms".',
        ),
        (
            '{kind = "beamforming", mean = "15 dB", doppler = "1 Hz", period = "0 s"}',
            '.period = "0 s": not above 0. Use a duration above 0, for example "300 ms".',
        ),
        (
            '{kind = "block", mean = "15 dB"}',
            '.coherence: missing, the link has no slots. Set coherence = "5 ms".',
        ),
        (
            '{kind = "block", mean = "15 dB", coherence = "0 ms"}',
            '.coherence = "0 ms": not above 0. Use a duration above 0, for example "5 ms".',
        ),
        (
            '{kind = "shadowed", deviation = "8 dB", inner = {kind = "constant", mean = "1 dB"}}',
            '.correlation_distance: missing. Set correlation_distance = "50 m" and speed, or '
            "correlation_time.",
        ),
        (
            '{kind = "shadowed", deviation = "8 dB", correlation_distance = "50 m", '
            'inner = {kind = "constant", mean = "1 dB"}}',
            '.speed: missing. Set correlation_distance = "50 m" and speed, or correlation_time.',
        ),
        (
            '{kind = "shadowed", deviation = "8 dB", correlation_time = "1 s", speed = "1 m/s", '
            'inner = {kind = "constant", mean = "1 dB"}}',
            '.correlation_time = "1 s": speed is given too. Set correlation_time, or '
            "correlation_distance and speed.",
        ),
        (
            '{kind = "shadowed", deviation = "8 dB", correlation_time = "1 s"}',
            '.inner: missing. Set inner = {kind = "constant", mean = "15 dB"}.',
        ),
        (
            '{kind = "shadowed", deviation = "31 dB", correlation_time = "1 s", '
            'inner = {kind = "constant", mean = "1 dB"}}',
            '.deviation = "31 dB": above 30 dB. Use a level from 0 dB to "30 dB", for example '
            '"8 dB".',
        ),
        (
            '{kind = "shadowed", deviation = "8 dB", correlation_distance = "50 mm", '
            'speed = "1 m/s", inner = {kind = "constant", mean = "1 dB"}}',
            '.correlation_distance = "50 mm": not a length. Use a number with m or km, '
            'for example "50 m".',
        ),
        (
            '{kind = "shadowed", deviation = "8 dB", correlation_distance = "0 m", '
            'speed = "1 m/s", inner = {kind = "constant", mean = "1 dB"}}',
            '.correlation_distance = "0 m": not above 0. Use a length above 0, for example "50 m".',
        ),
        (
            '{kind = "shadowed", deviation = "8 dB", correlation_time = "1 s", '
            'inner = {kind = "shadowed", deviation = "8 dB", correlation_time = "1 s", '
            'inner = {kind = "constant", mean = "1 dB"}}}',
            '.inner.kind = "shadowed": a shadowed process inside another. Use another process '
            "inside.",
        ),
        (
            '{kind = "shadowed", deviation = "8 dB", correlation_time = "1 s", '
            'inner = {kind = "block", mean = "1 dB"}}',
            '.inner.coherence: missing, the link has no slots. Set coherence = "5 ms".',
        ),
        (
            '{kind = "rayleigh", mean = "15 dB", speed = "1 knot", carrier = "1 GHz"}',
            '.speed = "1 knot": not a speed. Use a number with m/s or km/h, for example "10 m/s".',
        ),
    ],
)
def test_invalid_snr_is_reported(value: str, problem: str) -> None:
    with pytest.raises(ap.errors.ScenarioError) as caught:
        loads(GOOD, overrides=[("bottleneck.link.snr", value)])
    assert str(caught.value) == f"overrides: bottleneck.link.snr{problem}"


def link(**keys: Any) -> ap.link.Adaptive:
    policy = ap.policy.Tagla(th_per=0.01)
    return ap.link.Adaptive(table="airpath:802.16-ctc-awgn", policy=policy, **keys)


def snr_of(link: ap.link.Adaptive) -> dict[str, Any]:
    text, _ = path(link).resolve()
    return json.loads(text)["bottleneck"]["link"]["snr"]  # type: ignore[no-any-return]


def path(link: ap.link.Adaptive, duration: str = "10 s") -> ap.Scenario:
    return ap.Scenario(
        flows=ap.flows(base_rtt="40 ms"),
        bottleneck=ap.Bottleneck(aqm="droptail", link=link),
        duration=duration,
    )


def test_link_has_one_snr() -> None:
    with pytest.raises(ap.errors.ScenarioError) as caught:
        link()
    assert str(caught.value) == "link.Adaptive: snr_db: missing. Set snr_db = 22."
    with pytest.raises(ap.errors.ScenarioError) as caught:
        link(snr_db=3, snr=ap.snr.Constant(mean="3 dB"))
    assert str(caught.value) == "link.Adaptive: snr_db = 3.0: snr is given too. Use one of the two."


def test_constant_snr_has_one_resolved_form() -> None:
    assert snr_of(link(snr_db=15)) == snr_of(link(snr={"kind": "constant", "mean": "15 dB"}))
    assert snr_of(link(snr_db=15)) == {"kind": "constant", "mean_db": 15.0}
    moving = ap.snr.Rayleigh(mean="-3.5 dB", speed="3.6 km/h", carrier="2.99792458 GHz")
    expected = {"kind": "rayleigh", "mean_db": -3.5, "doppler_hz": pytest.approx(10, rel=1e-12)}
    assert snr_of(link(snr=moving)) == expected
    assert snr_of(link(snr=ap.snr.Rayleigh(mean=-3.5, doppler=10.0))) == expected


def test_resolved_fading_has_its_doppler_shift_and_block_fading_its_block_length() -> None:
    jakes = ap.snr.Jakes(mean="6 dB", speed="3.6 km/h", carrier="2.99792458 GHz", index="printed")
    shift = pytest.approx(10, rel=1e-12)
    expected = {"kind": "jakes", "index": "printed", "mean_db": 6.0, "doppler_hz": shift}
    assert snr_of(link(snr=jakes)) == expected
    rician = ap.snr.Rician(mean="6 dB", k="-3 dB", speed="3.6 km/h", carrier="2.99792458 GHz")
    expected = {"kind": "rician", "k_db": -3.0, "angle_deg": 45.0, "mean_db": 6.0}
    assert snr_of(link(snr=rician)) == {**expected, "doppler_hz": shift}
    taps = ap.snr.TappedDelayLine(mean="6 dB", profile="eva", doppler="3 Hz")
    expected = {"kind": "tapped-delay-line", "profile": "eva", "mean_db": 6.0, "doppler_hz": 3.0}
    assert snr_of(link(snr=taps)) == expected
    beams = ap.snr.Beamforming(mean="6 dB", period="300 ms", doppler="3 Hz")
    expected = {"kind": "beamforming", "period_ns": 300_000_000, "mean_db": 6.0, "doppler_hz": 3.0}
    assert snr_of(link(snr=beams)) == expected
    blocks = ap.snr.Block(mean="6 dB", coherence="5 ms")
    expected = {"kind": "block", "mean_db": 6.0, "coherence_ns": 5_000_000}
    assert snr_of(link(snr=blocks)) == expected


def test_written_file_is_read_again() -> None:
    snr = ap.snr.Rayleigh(mean="7.5 dB", speed="50 km/h", carrier="900 MHz")
    scenario = path(link(snr=snr))
    again = loads(scenario.to_toml())
    assert again.document() == scenario.document()
    assert str(snr.mean) == "7.5 dB"
    assert str(snr.speed) == "50 km/h"


def test_override_of_one_snr_key_replaces_the_other() -> None:
    fading = '{kind = "rayleigh", mean = "15 dB", doppler = "5 Hz"}'
    with pytest.warns(OverrideWarning, match="drops bottleneck.link.snr_db = 15"):
        scenario = loads(GOOD, overrides=[("bottleneck.link.snr", fading)])
    changed = scenario.bottleneck.link
    assert isinstance(changed, ap.link.Adaptive)
    assert changed.snr == ap.snr.Rayleigh(mean="15 dB", doppler="5 Hz")
    assert changed.snr_db is None


def test_fading_reduces_goodput_and_policies_see_the_same_fading() -> None:
    steady = ap.simulate(path(link(snr_db=15), "60 s"), reps=2, seed=1)
    fading = {"kind": "rayleigh", "mean": "15 dB", "doppler": "2 Hz"}
    faded = ap.simulate(path(link(snr=fading), "60 s"), reps=2, seed=1)
    used = [name for name, count in faded.table("links").iloc[0].items()
            if str(name).startswith("mcs") and count]  # fmt: skip
    assert len(used) > 3
    assert faded.table("flows")["goodput_bps"].mean() < steady.table("flows")["goodput_bps"].mean()
    again = ap.simulate(path(link(snr=fading), "60 s"), reps=2, seed=1)
    assert again.table("links").equals(faded.table("links"))


def test_recorded_snr_is_read_and_errors_name_the_line(tmp_path: Path) -> None:
    file = tmp_path / "snr.csv"
    file.write_text("time_s,snr_db\n0,10\n5,25\n10,25\n")
    scenario = tmp_path / "path.toml"
    scenario.write_text(GOOD.replace("snr_db = 15", 'snr = {kind = "trace", file = "snr.csv"}'))
    counts = ap.simulate(scenario, reps=1).table("links").iloc[0]
    used = [name for name in counts.index if str(name).startswith("mcs") and counts[name] > 0]
    assert len(used) == 2
    file.write_text("time_s,snr_db\n0,10\n5,12 dB\n")
    with pytest.raises(ap.errors.BadValueError) as caught:
        ap.check(scenario)
    assert str(caught.value).endswith(
        'snr.csv:3: "12 dB" is not an SNR. Use dB from -200 to 200, for example 18.5.'
    )
    assert len(str(caught.value).splitlines()) == 1


def test_solve_rejects_a_varying_snr() -> None:
    with pytest.raises(ap.errors.BadValueError) as caught:
        ap.solve(path(link(snr=ap.snr.Rayleigh(mean="15 dB", doppler="2 Hz"))))
    assert 'bottleneck.link.snr.kind = "rayleigh": ' in str(caught.value)
    assert "an SNR that is constant" in str(caught.value)


def test_shadowing_wraps_its_process(tmp_path: Path) -> None:
    moving = ap.snr.Shadowed(
        deviation="8 dB",
        correlation_distance="50 m",
        speed="36 km/h",
        inner=ap.snr.Rayleigh(mean="12 dB", doppler="20 Hz"),
    )
    assert snr_of(link(snr=moving)) == {
        "kind": "shadowed",
        "deviation_db": 8.0,
        "correlation_m": 50.0,
        "speed_mps": 10.0,
        "inner": {"kind": "rayleigh", "mean_db": 12.0, "doppler_hz": 20.0},
    }
    steps = tmp_path / "snr.csv"
    steps.write_text("time_s,snr_db\n0,12\n1,20\n2,20\n")
    recorded = ap.snr.Shadowed(
        deviation="8 dB", correlation_time="2 s", inner=ap.snr.Trace(file=str(steps))
    )
    result = ap.simulate(path(link(snr=recorded), "5 s"), reps=1)
    assert result.table("flows")["delivered_bytes"].sum() > 0
