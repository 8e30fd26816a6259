"""Comparison of engines, including the real kernel."""

from __future__ import annotations

import pytest

import airpath as ap
from emulator import cannot_emulate, has_control, judged

pytestmark = pytest.mark.realtime


def test_kernel_is_compared_with_simulation_and_model() -> None:
    if reason := cannot_emulate():
        pytest.skip(reason)
    scenario = ap.Scenario(
        flows=ap.flows(1, cc="newreno", base_rtt="30 ms"),
        bottleneck=ap.Bottleneck(
            aqm=ap.aqm.DropTail(limit="30 packets"), link=ap.link.Fixed(rate="4 Mbit/s", loss=0.001)
        ),
        duration="4 s",
        warmup="1 s",
    )

    def emulated_in(found: ap.Comparison) -> ap.Result:
        result = found.answers["emulate"].result
        assert result is not None
        return result

    found = judged(lambda: ap.compare(scenario, reps=2), lambda found: emulated_in(found).invalid)
    assert found.engines == ("simulate", "emulate", "solve")
    emulated = emulated_in(found)
    table = found.table().set_index(["quantity", "engine"])
    measured = emulated.intervals("flows")[-1]["goodput_bps"].mean
    assert table.loc[("goodput_bps", "emulate"), "mean"] == measured
    assert table.loc[("goodput_bps", "emulate"), "method"] == "Welch"
    assert 0.5 * 4e6 < measured < 4e6
    codes = [fact.code for fact in found.facts]
    assert "lateness" in codes
    assert "not-applied:tcp.window_growth" in codes
    assert "as-the-kernel-does" in codes


def test_bbr1_and_a_call_are_compared_with_the_kernels_bbr() -> None:
    if reason := cannot_emulate():
        pytest.skip(reason)
    if not has_control("bbr"):
        pytest.skip("this kernel has no bbr")
    scenario = ap.Scenario(
        flows=ap.flows(cc="bbr1", profile="linux", base_rtt="40 ms")
        + ap.flows(name="call", source="voice", base_rtt="40 ms"),
        bottleneck=ap.Bottleneck(
            aqm=ap.aqm.DropTail(limit="33 packets"), link=ap.link.Fixed(rate="10 Mbit/s")
        ),
        duration="6 s",
        warmup="2 s",
    )

    def run() -> ap.Comparison:
        return ap.compare(scenario, engines="simulate,emulate", reps=2)

    def reasons(found: ap.Comparison) -> list[str]:
        result = found.answers["emulate"].result
        assert result is not None
        return list(result.invalid)

    found = judged(run, reasons)
    emulated = found.answers["emulate"].result
    assert emulated is not None
    assert set(emulated.kernel["congestion"].values()) == {"bbr"}
    table = found.table().set_index(["quantity", "engine"])
    for engine in ("simulate", "emulate"):
        assert 8e6 < table.loc[("flows.0.goodput_bps", engine), "mean"] < 10e6
        assert 3.5 < table.loc[("voice.call.mos", engine), "mean"] <= 4.5
        assert table.loc[("voice.call.loss_ratio", engine), "mean"] < 0.2
