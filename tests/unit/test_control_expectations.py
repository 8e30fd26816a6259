"""Expected behaviour of congestion controls, end to end.

The bounds come from the source that each test names, not from Airpath's own results. All runs have
fixed seeds. The pages of the models show the measured values.
"""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

import airpath as ap
from airpath import _airpath

REGISTRY: dict[str, list[tuple[str, str]]] = json.loads(_airpath.registry())
OF_A_QUEUE = ("clamp", "vcp")
"""Controls that require a queue of the same kind."""
CONTROLS = [kind for kind, _ in REGISTRY["congestion"] if kind not in OF_A_QUEUE]
DISCIPLINES = [kind for kind, _ in REGISTRY["aqm"] if kind not in OF_A_QUEUE]
SAMPLE = ("droptail", "codel")
"""Disciplines of the short test."""


def simulated(
    cc: str, rate: str, rtt: str, *, count: int = 1, aqm: Any = "droptail", loss: float = 0.0,
    seconds: int = 60, **tcp: Any,
) -> ap.Result:  # fmt: skip
    tcp = {"receive_window": "8 MB", **tcp}
    scenario = ap.Scenario(
        flows=ap.flows(count, cc=cc, base_rtt=rtt, profile="linux", tcp=tcp),
        bottleneck=ap.Bottleneck(aqm=aqm, link=ap.link.Fixed(rate=rate, loss=loss)),
        duration=f"{seconds} s",
        warmup=f"{seconds // 3} s",
    )
    return ap.simulate(scenario, reps=1, seed=1)


@pytest.mark.parametrize(
    ("rate", "rtt"),
    [("10 Mbit/s", "40 ms"), ("20 Mbit/s", "80 ms"), ("50 Mbit/s", "100 ms")],
)
def test_vegas_queues_alpha_to_beta_packets(rate: str, rtt: str) -> None:
    """Brakmo & Peterson 1995: α = 2 to β = 4 packets of one flow are queued. Linux truncates Diff,
    which adds up to one packet, and the packet in transmission also counts as queued.
    """
    result = simulated("vegas", rate, rtt, delayed_ack_segments=1)
    assert 2 <= float(result.table("queues")["mean_packets"].iloc[0]) <= 4 + 2
    assert float(result.table("links")["utilisation"].iloc[0]) > 0.99


@pytest.mark.parametrize("p", [0.001, 0.01])
def test_westwood_and_veno_exceed_the_window_of_reno_at_random_losses(p: float) -> None:
    """Mathis et al. 1997: the mean window of Reno at random losses is 1.22/√p segments."""
    windows = {}
    for cc in ("reno", "veno", "westwood"):
        result = simulated(cc, "100 Mbit/s", "80 ms", loss=p, seconds=300)
        windows[cc] = float(result.table("flows")["goodput_bps"].mean()) * 0.080 / 8 / 1448
    oracle = 1.22 / math.sqrt(p)
    assert windows["reno"] == pytest.approx(oracle, rel=0.15)
    assert windows["veno"] > 1.2 * oracle
    assert windows["westwood"] > 1.2 * oracle


@pytest.mark.parametrize(
    "aqm",
    [aqm if aqm in SAMPLE else pytest.param(aqm, marks=pytest.mark.long) for aqm in DISCIPLINES],
)
@pytest.mark.parametrize("cc", CONTROLS)
def test_every_control_fills_half_of_the_link_through_every_discipline(cc: str, aqm: str) -> None:
    """No flow stops, and four flows use at least half of the link."""
    description = {"kind": aqm}
    result = simulated(cc, "5 Mbit/s", "60 ms", count=4, aqm=description, seconds=30)
    assert float(result.table("flows")["delivered_bytes"].min()) > 0
    assert float(result.table("links")["utilisation"].iloc[0]) > 0.5
