"""The cells of Figs. 3 and 4: the model's setting over the TDD link (wimax-2009 §3.2).

RTT_min of the model has the frames in it: the mean waits for a frame and the offsets from its start
are taken from the wired delays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import airpath as ap
from airpath.reproduction.base import Effort
from airpath_papers.wimax.analysis import (
    DEFAULTS,
    PIGGYBACK_MS,
    SEGMENT_BYTES,
    WINDOW_PACKETS,
    Analysed,
)
from airpath_papers.wimax.scenarios import CLOCK, download, large_queue

__all__ = [
    "CONTENTIONS_MS",
    "FRAMES_MS",
    "SWEEPS",
    "Validation",
    "build_validation",
    "cell_of",
    "on_top",
]

_DOWN_MS: Final = CLOCK.frame_ms / 2 + CLOCK.decoded_ms
_UP_MS: Final = CLOCK.frame_ms / 2 + CLOCK.frame_ms + CLOCK.received_ms
FRAMES_MS: Final = _DOWN_MS + _UP_MS
"""Of a round trip: a frame is waited for and decoded; the next map is waited for, which speaks for
the frame after its own, and the burst is received in that."""

CONTENTIONS_MS: Final = (10.0, 20.0, 30.0, 40.0, 50.0, 60.0)
"""T_ct of Fig. 3."""

BASE_RTTS_MS: Final = (50.0, 100.0, 150.0, 200.0, 250.0, 300.0)
LOSSES: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05)
SIZES_KB: Final = (64, 128, 256, 512, 1024, 2048, 4096)

SWEEPS: Final[Mapping[str, Sequence[Analysed]]] = {
    "contention_ms": [DEFAULTS._replace(contention_ms=value) for value in CONTENTIONS_MS],
    "base_rtt_ms": [DEFAULTS._replace(base_rtt_ms=value) for value in BASE_RTTS_MS],
    "loss": [DEFAULTS._replace(loss=value) for value in LOSSES],
    "size_kb": [DEFAULTS._replace(size_kb=value) for value in SIZES_KB],
}
"""The parameter sets by what is varied: Fig. 3, then Fig. 4."""

TCP: Final[Mapping[str, Any]] = {
    "mss": f"{SEGMENT_BYTES} B",
    "initial_window": "1 segments",
    "initial_ssthresh": f"{WINDOW_PACKETS * SEGMENT_BYTES} B",
    "receive_window": f"{WINDOW_PACKETS * SEGMENT_BYTES} B",
    "recovery": "sack",
    "delayed_ack_segments": 1,
    "min_rto": "1 s",
    "handshake": False,
}
"""What differs from the profile ``rfc``: README.md."""


class Validation(NamedTuple):
    """A parameter set that is simulated.

    Parameters
    ----------
    contention_ms, base_rtt_ms, loss, size_kb : float
        As `Analysed` has them.
    piggyback_ms : float
        What a piggyback request adds to the burst that carries it. Default 0: the frames alone make
        up T_pb, as T_pb is the whole delay that a piggyback request causes (Eqs. 4 and 5).
    record : tuple of str
        Series to record.
    """

    contention_ms: float
    base_rtt_ms: float
    loss: float
    size_kb: int
    piggyback_ms: float = 0.0
    record: tuple[str, ...] = ()


def cell_of(case: Analysed) -> Validation:
    """Return the cell of a parameter set."""
    return Validation(*case)


def on_top(case: Analysed) -> Validation:
    """Return the cell in which a piggyback request takes T_pb on top of the frames' delay."""
    return Validation(*case, piggyback_ms=PIGGYBACK_MS)


def build_validation(case: Validation, effort: Effort) -> ap.Scenario:
    """Return the scenario of a cell."""
    delay, piggyback = f"{case.contention_ms:g} ms", f"{case.piggyback_ms:g} ms"
    request = ap.request.RandomDelay(delay=delay, collision=0.0, per="queue", piggyback=piggyback)
    link: dict[str, Any] = {"request": request, "fragmentation": {"down": False, "up": True}}
    if case.loss:
        link["errors"] = ap.frame_errors.Independent(loss=case.loss)
    wired_ms = case.base_rtt_ms - FRAMES_MS
    return ap.Scenario(
        name="wimax model",
        duration=effort.duration_s,
        bottleneck=ap.Bottleneck(aqm=large_queue(), link=ap.link.OfdmaTdd(**link)),
        ack_path=ap.ack_path.Reverse(aqm=large_queue()),
        flows=[download(wired_ms, TCP, size=f"{case.size_kb} kB")],
        record=ap.Record(series=list(case.record)),
    )
