"""The scenarios: one cell (clamp-2008 Fig. 3, Tables 1 and 2), differing in what a `Case` names.

README.md lists every value that the paper leaves open; a `Variant` changes some of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

import airpath as ap
from airpath.reproduction.base import Effort
from airpath_papers.clamp.measures import FLOWS_MS

__all__ = [
    "AS_CHOSEN",
    "FAST",
    "HIGH",
    "LOW",
    "NEWRENO",
    "OF_CLAIMS",
    "SLOW",
    "Case",
    "Radio",
    "Saturated",
    "Variant",
    "build",
    "build_saturated",
    "cell_of",
    "half",
    "variant_of",
]


class Radio(NamedTuple):
    """One of the presets of the radio (§5.2, §5.4, §5.10).

    Parameters
    ----------
    bandwidth, cap : str
        W0 and C_max of Eq. 18.
    doppler : str
        f_d.
    attempts : int
        n, the attempts of a block.
    """

    bandwidth: str
    cap: str
    doppler: str
    attempts: int


HIGH: Final = ("4.3 MHz", "10 Mbit/s")
LOW: Final = ("620 kHz", "1.44 Mbit/s")
FAST: Final = ("60 Hz", 15)
SLOW: Final = ("0.6 Hz", 5)

USERS: Final = (0, 1, 2, 2)
"""The user of each flow: the last two end in one device (§5.4)."""

NEWRENO: Final[Mapping[str, Any]] = {
    "initial_window": "1 segment",
    "delayed_ack_segments": 1,
    "initial_rto": "3 s",
    "min_rto": "1 s",
    "limited_transmit": False,
    "timestamps": False,
    "receive_window": "6 MB",
}
"""What differs from the profile ``rfc``: README.md."""


class Case(NamedTuple):
    """The four flows in the cell.

    Parameters
    ----------
    fast : bool
        10 m/s (60 Hz), else 0.1 m/s (0.6 Hz).
    low_rate : bool
        1.44 Mbit/s (§5.10), else 10 Mbit/s.
    clamp : bool
        CLAMP at router and receivers, else New Reno alone.
    knob_bytes : int
        CLAMP: a. New Reno: the buffer of each queue.
    variant : str
        Names what a claim changes; empty for the choices of README.md.
    record : tuple of str
        Series to record.
    """

    fast: bool
    low_rate: bool
    clamp: bool
    knob_bytes: int
    variant: str = ""
    record: tuple[str, ...] = ()

    @property
    def radio(self) -> Radio:
        """The preset of the radio."""
        return Radio(*(LOW if self.low_rate else HIGH), *(FAST if self.fast else SLOW))


class Variant(NamedTuple):
    """What is changed of the choices of README.md: entries by the part that they go into.

    Parameters
    ----------
    about : str
        What it is, for people.
    fading : type
        Class of the SNR process.
    tcp, rate, link, snr, scheduler, queue, window : mapping
        Entries of the profile, of Eq. 18, of the cell, its SNR and scheduler, of CLAMP's queue and
        window.
    aqm : QueueDisc, optional
        In the place of CLAMP's queue or New Reno's buffer.
    cc : str
        The senders' congestion control; with ``clamp`` the receivers have no window of CLAMP's.
    """

    about: str
    fading: type[ap.snr.SnrProcess] = ap.snr.Jakes
    tcp: Mapping[str, Any] = {}
    rate: Mapping[str, Any] = {}
    link: Mapping[str, Any] = {}
    snr: Mapping[str, Any] = {}
    scheduler: Mapping[str, Any] = {}
    queue: Mapping[str, Any] = {}
    window: Mapping[str, Any] = {}
    aqm: ap.aqm.QueueDisc | None = None
    cc: str = "newreno"


AS_CHOSEN: Final = Variant("as chosen")

OF_CLAIMS: Final[Mapping[str, Variant]] = {
    "margin-from-0": Variant(
        "the margin does not fall below 0",
        link={"margin": ap.link.AdaptiveMargin(target_loss=1e-3, least=0.0)},
    ),
}
"""What a claim changes of the choices of README.md."""


def variant_of(case: Case) -> Variant:
    """Return what a case changes."""
    return OF_CLAIMS[case.variant] if case.variant else AS_CHOSEN


def half(effort: Effort) -> Effort:
    """Return half of the runs; of two, both, each measured for half as long."""
    if effort.replications > 2:
        return replace(effort, replications=effort.replications // 2)
    return replace(effort, duration_s=(effort.warmup_s + effort.duration_s) / 2)


class Saturated(NamedTuple):
    """Three users whose queues are never empty, in the paper's cell.

    Parameters
    ----------
    fast : bool
        10 m/s (60 Hz), else 0.1 m/s (0.6 Hz).
    """

    fast: bool


def build_saturated(case: Saturated, effort: Effort, variant: Variant = AS_CHOSEN) -> ap.Scenario:
    """Return the scenario of a case: datagrams at more than the cell can carry."""
    radio = Radio(*HIGH, *(FAST if case.fast else SLOW))
    return ap.Scenario(
        name="clamp saturated",
        duration=effort.duration_s,
        warmup=effort.warmup_s,
        bottleneck=ap.Bottleneck(
            aqm=ap.aqm.DropTail(limit="200 packets"), link=cell_of(radio, variant)
        ),
        flows=[ap.traffic.Cbr(user=user, rate="12 Mbit/s", base_rtt="10 ms") for user in range(3)],
    )


def build(case: Case, effort: Effort, variant: Variant = AS_CHOSEN) -> ap.Scenario:
    """Return the scenario of the four flows with the entries of a variant.

    Parameters
    ----------
    case : Case
        Which; what it says about a variant is not looked at.
    effort : Effort
        How long it is simulated.
    variant : Variant
        What is changed. Default: nothing.
    """
    same: dict[str, Any] = {"cc": variant.cc, "tcp": {**NEWRENO, **variant.tcp}}
    if case.clamp and variant.cc != "clamp":
        same["window"] = ap.window.Clamp(**variant.window)
    wires = {delay_ms: _wires(delay_ms) for delay_ms in FLOWS_MS}
    flows = [
        ap.traffic.Tcp(user=user, **wires[delay_ms], **same)
        for user, delay_ms in zip(USERS, FLOWS_MS, strict=True)
    ]
    return ap.Scenario(
        name=f"clamp {case.radio.cap} {case.radio.doppler}",
        duration=effort.duration_s,
        warmup=effort.warmup_s,
        bottleneck=ap.Bottleneck(aqm=_queue(case, variant), link=cell_of(case.radio, variant)),
        flows=flows,
        record=ap.Record(series=list(case.record)),
    )


def _wires(delay_ms: int) -> dict[str, Any]:
    """Return both wires of a flow: Table 1, and 1 ms from its device to the base station."""
    there = ap.Wire(rate="100 Mbit/s", delay=f"{delay_ms / 2:g} ms")
    return {"access": there, "return": ap.Wire(delay=f"{delay_ms / 2 + 1:g} ms")}


def cell_of(radio: Radio, variant: Variant) -> ap.link.Cell:
    """Return the cell of a preset with the entries of a variant."""
    link: dict[str, Any] = {
        "slot": "3 ms",
        "delay": "1 ms",
        "rate": ap.link.Shannon(**{"bandwidth": radio.bandwidth, "cap": radio.cap, **variant.rate}),
        "margin": ap.link.AdaptiveMargin(target_loss=1e-3),
        "attempts": radio.attempts,
        "scheduler": ap.scheduler.ProportionalFair(
            **{"time_constant": "100 ms", **variant.scheduler}
        ),
        "snr": variant.fading(**{"mean": "6.0206 dB", "doppler": radio.doppler, **variant.snr}),
    }
    return ap.link.Cell(**{**link, **variant.link})


def _queue(case: Case, variant: Variant) -> ap.aqm.QueueDisc:
    if variant.aqm is not None:
        return variant.aqm
    if not case.clamp:
        return ap.aqm.DropTail(limit=f"{case.knob_bytes} B")
    inner = ap.aqm.DropTail(limit="6 MB")
    return ap.aqm.Clamp(**{"a": f"{case.knob_bytes} B", "inner": inner, **variant.queue})
