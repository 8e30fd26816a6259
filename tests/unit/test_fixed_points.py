"""Batch of fixed points: same results as single calls, in the order of links and flows."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from airpath import _airpath, api
from airpath.engine.flows import Flows
from airpath_papers.qawla.scenarios import path

GRED = (30.0, 90.0, 0.1)
TCP = (65536 / 1500, 1.0, 2.0)
Link = tuple[Sequence[float], Sequence[tuple[float, float]]]


def batch(
    links: Sequence[Link], base_rtts_s: Sequence[Sequence[float]], threads: int = 1
) -> NDArray[np.float64]:
    found = _airpath.fixed_points(links, base_rtts_s, GRED, TCP, 1500, threads)
    return np.frombuffer(found, "<f8").reshape(len(links), len(base_rtts_s))


@pytest.mark.filterwarnings("ignore::airpath.errors.ModelWarning")
@pytest.mark.parametrize("boundary", [10, 20, 30])
@pytest.mark.parametrize("idx", range(1, 19))
def test_batch_agrees_with_solve(idx: int, boundary: int) -> None:
    scenario = path(idx, boundary, idealised=True)
    resolved = json.loads(scenario.resolve()[0])
    hop = resolved["bottleneck"]
    link = hop["link"]
    regimes = [(regime["rate_bps"], regime["per"]) for regime in link["regimes"]]
    wires = ("access", "egress", "return_wire")
    rtts_s = [
        sum(getattr(flow, wire).delay_ns * 1e-9 for wire in wires) + hop["delay_ns"] * 1e-9
        for flow in Flows(resolved["flows"])
    ]
    [[throughput_bps]] = batch([(link["thresholds"], regimes)], [rtts_s])
    solution = api.solve(scenario, max_window_packets=TCP[0])
    assert throughput_bps == pytest.approx(solution.throughput_bps, rel=1e-10)


LINKS: list[Link] = [
    ([], [(8e6, 0.0)]),
    ([20.0], [(8e6, 1e-3), (16e6, 0.1)]),
    ([10.0, 20.0], [(8e6, 0.0), (16e6, 1e-4), (24e6, 0.3)]),
]
FLOWS = [[0.01], [0.045] * 4, [0.006, 0.02, 0.3]]


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_batch_has_a_row_per_link_and_a_column_per_set_of_flows(threads: int) -> None:
    found = batch(LINKS, FLOWS, threads)
    alone = [[batch([link], [flows])[0, 0] for flows in FLOWS] for link in LINKS]
    assert found.tolist() == alone


def test_full_link_carries_its_rate_without_channel_losses() -> None:
    # The windows of four flows fill 8 Mbit/s; drops limit them.
    assert batch(LINKS[:1], FLOWS)[0, 1] == pytest.approx(8e6, rel=0.01)
    # One flow with a window of 64 kB and an RTT of 1 s does not fill the link and has no losses.
    [[alone_bps]] = batch(LINKS[:1], [[1.0]])
    assert alone_bps == pytest.approx(65536 * 8 / (1 + 12_000 / 8e6), rel=1e-9)


def test_empty_batch_gives_an_empty_result() -> None:
    assert batch([], FLOWS).shape == (0, 3)


@pytest.mark.parametrize(
    ("links", "flows", "message"),
    [
        (
            [*LINKS, ([], [(8e6, 1.5)])],
            FLOWS,
            "link 3, flows 0: packet error rate of regime 1 = 1.5: must be between 0 and 1",
        ),
        (LINKS, [[0.01], []], "link 0, flows 1: no flows: give the base RTT of at least one flow"),
        (
            [([20.0], [(8e6, 0.0)])],
            FLOWS,
            "link 0, flows 0: 1 regimes with 1 thresholds: give one regime more than thresholds",
        ),
    ],
)
def test_unsolvable_scenario_is_reported(
    links: Sequence[Link], flows: Sequence[Sequence[float]], message: str
) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        batch(links, flows, 2)


@pytest.fixture
def interrupted_soon() -> Iterator[None]:
    before = signal.signal(signal.SIGPROF, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_PROF, 1.0)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0.0)
    signal.signal(signal.SIGPROF, before)


@pytest.mark.usefixtures("interrupted_soon")
def test_ctrl_c_ends_a_long_batch() -> None:
    many = [0.001 * (1 + flow) for flow in range(1000)]
    with pytest.raises(KeyboardInterrupt):
        batch(LINKS[1:] * 100, [many] * 1000)
