"""Scenarios of the paper's cell (clamp-2008 Fig. 3, Tables 1 and 2), by axes of ``sweeps.toml``.

README.md lists every value that the paper does not specify.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import airpath as ap
from airpath_papers.clamp.measures import FLOWS_MS

__all__ = [
    "FAST",
    "HIGH",
    "LOW",
    "NEWRENO",
    "NOTHING",
    "SLOW",
    "Entries",
    "Radio",
    "cell",
    "cell_of",
    "radio_of",
    "saturated",
]


class Radio(NamedTuple):
    """A preset of the radio (§5.2, §5.4, §5.10).

    Parameters
    ----------
    bandwidth, cap : str
        W0 and C_max of Eq. 18.
    doppler : str
        Doppler frequency f_d.
    attempts : int
        Number of attempts n of a block.
    """

    bandwidth: str
    cap: str
    doppler: str
    attempts: int


HIGH: Final = ("4.3 MHz", "10 Mbit/s")
LOW: Final = ("620 kHz", "1.44 Mbit/s")
FAST: Final = ("60 Hz", 15)
SLOW: Final = ("0.6 Hz", 5)

Entries = Mapping[str, Any]
NOTHING: Final[Entries] = MappingProxyType({})

USERS: Final = (0, 1, 2, 2)
"""User of each flow: the last two flows end in the same device (§5.4)."""

NEWRENO: Final[Mapping[str, Any]] = {
    "initial_window": "1 segment",
    "delayed_ack_segments": 1,
    "initial_rto": "3 s",
    "min_rto": "1 s",
    "limited_transmit": False,
    "timestamps": False,
    "receive_window": "6 MB",
}
"""Differences from the profile ``rfc``; README.md has the reasons."""


def cell(
    speed: str,
    protocol: str,
    low_rate: bool = False,
    knob_bytes: int = 0,
    *,
    fading: str = "jakes",
    tcp: Entries = NOTHING,
    rate: Entries = NOTHING,
    link: Entries = NOTHING,
    snr: Entries = NOTHING,
    scheduler: Entries = NOTHING,
    queue: Entries = NOTHING,
    window: Entries = NOTHING,
    aqm: Any = None,
    cc: str = "newreno",
) -> ap.Scenario:
    """Return the scenario of four flows in the cell (clamp-2008 Fig. 3, Tables 1 and 2).

    Parameters
    ----------
    speed : str
        ``fast``, 10 m/s (60 Hz), or ``slow``, 0.1 m/s (0.6 Hz).
    protocol : str
        ``CLAMP`` at router and receivers, or only ``New Reno``.
    low_rate : bool
        Whether the cell has 1.44 Mbit/s (§5.10) instead of 10 Mbit/s.
    knob_bytes : int
        CLAMP: parameter a, bytes. New Reno: buffer of each queue, bytes.
    fading : str
        Kind of the SNR process.
    tcp, rate, link, snr, scheduler, queue, window : mapping
        Further parameters of TCP, of Eq. 18, of the cell, its SNR and scheduler, and of CLAMP's
        queue and window.
    aqm : queue discipline, optional
        Queue discipline that replaces CLAMP's queue or New Reno's buffer.
    cc : str
        Congestion control of the senders. With ``clamp``, the receivers do not use CLAMP's window.
    """
    clamp, radio = protocol == "CLAMP", radio_of(speed, low_rate)
    same: dict[str, Any] = {"cc": cc, "tcp": {**NEWRENO, **tcp}}
    if clamp and cc != "clamp":
        same["window"] = ap.window.Clamp(**window)
    flows = [
        ap.traffic.Tcp(user=user, **_wires(delay_ms), **same)
        for user, delay_ms in zip(USERS, FLOWS_MS, strict=True)
    ]
    if aqm is None and clamp:
        inner = ap.aqm.DropTail(limit="6 MB")
        aqm = ap.aqm.Clamp(**{"a": f"{knob_bytes} B", "inner": inner, **queue})
    elif aqm is None:
        aqm = ap.aqm.DropTail(limit=f"{knob_bytes} B")
    return ap.Scenario(
        name=f"clamp {radio.cap} {radio.doppler}",
        duration="1 s",
        bottleneck=ap.Bottleneck(
            aqm=aqm,
            link=cell_of(radio, fading=fading, rate=rate, link=link, snr=snr, scheduler=scheduler),
        ),
        flows=flows,
    )


def saturated(speed: str, *, link: Entries = NOTHING) -> ap.Scenario:
    """Return a scenario of three users with always non-empty queues: datagrams above capacity."""
    return ap.Scenario(
        name="clamp saturated",
        duration="1 s",
        bottleneck=ap.Bottleneck(
            aqm=ap.aqm.DropTail(limit="200 packets"), link=cell_of(radio_of(speed), link=link)
        ),
        flows=[ap.traffic.Cbr(user=user, rate="12 Mbit/s", base_rtt="10 ms") for user in range(3)],
    )


def _wires(delay_ms: int) -> dict[str, Any]:
    """Return both wires of a flow: Table 1, plus 1 ms from the device to the base station."""
    there = ap.Wire(rate="100 Mbit/s", delay=f"{delay_ms / 2:g} ms")
    return {"access": there, "return": ap.Wire(delay=f"{delay_ms / 2 + 1:g} ms")}


def radio_of(speed: str, low_rate: bool = False) -> Radio:
    """Return a preset of the radio."""
    return Radio(*(LOW if low_rate else HIGH), *(FAST if speed == "fast" else SLOW))


def cell_of(
    radio: Radio,
    *,
    fading: str = "jakes",
    rate: Entries = NOTHING,
    link: Entries = NOTHING,
    snr: Entries = NOTHING,
    scheduler: Entries = NOTHING,
) -> ap.link.Cell:
    """Return the cell of a preset, with further parameters."""
    chosen: dict[str, Any] = {
        "slot": "3 ms",
        "delay": "1 ms",
        "rate": ap.link.Shannon(**{"bandwidth": radio.bandwidth, "cap": radio.cap, **rate}),
        "margin": ap.link.AdaptiveMargin(target_loss=1e-3),
        "attempts": radio.attempts,
        "scheduler": ap.scheduler.ProportionalFair(**{"time_constant": "100 ms", **scheduler}),
        "snr": {"kind": fading, "mean": "6.0206 dB", "doppler": radio.doppler, **snr},
    }
    return ap.link.Cell(**{**chosen, **link})
