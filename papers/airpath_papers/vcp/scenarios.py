"""The scenarios: ten flows each way over a link between two radios (vcp-2008 §IV).

README.md lists every value that the paper leaves open; a `Variant` changes some of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import airpath as ap
from airpath.reproduction.base import Effort

__all__ = [
    "ACK_BYTES",
    "ANTENNAS",
    "AS_CHOSEN",
    "DATA_BYTES",
    "PAYLOAD_BYTES",
    "P_BAD_TO_GOOD",
    "P_GOOD_TO_BAD",
    "RATE_MBPS",
    "START",
    "TRANSPORTS",
    "Case",
    "Variant",
    "antennas_of",
    "build",
    "queue_of",
]

ANTENNAS: Final = ("1x1", "2x1", "1x2", "2x2")
"""Transmitters x receivers, in the paper's order."""

PAYLOAD_BYTES: Final = 1000
DATA_BYTES: Final = 1040
ACK_BYTES: Final = 40
RATE_MBPS: Final = 10
P_GOOD_TO_BAD: Final = 0.00125
"""1 - γ, per bit."""
P_BAD_TO_GOOD: Final = 0.125
"""1 - β, per bit."""
START: Final = ap.traffic.Uniform(uniform=["1 ms", "300 ms"])

SELECTIVE: Final[Mapping[str, Any]] = {
    "mss": "1000 B",
    "header": "40 B",
    "initial_window": "2 segments",
    "delayed_ack_segments": 1,
    "min_rto": "200 ms",
}
"""What differs from the profile ``rfc``, for transports that the profile ``ns2`` has not."""

TRANSPORTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "vcp": {"profile": "ns2"},
    "tcp-rem": {"cc": "reno", "profile": "ns2", "tcp": {"ecn": "on"}},
    "cubic": {"cc": "cubic", "tcp": {**SELECTIVE, "ecn": "on"}},
    "sack": {"cc": "reno", "tcp": {**SELECTIVE, "ecn": "on", "recovery": "sack"}},
    "cubic-sack": {"cc": "cubic", "tcp": {**SELECTIVE, "ecn": "on", "recovery": "sack"}},
    "dctcp": {"cc": "dctcp", "tcp": {**SELECTIVE, "recovery": "sack"}},
}
"""What the flows of each transport are, without the law of VCP."""


_STEP: Final[Mapping[str, Any]] = {
    "min_th": 20,
    "max_th": 21,
    "weight": 1.0,
    "gentle": False,
    "ecn": True,
    "hard_drop": False,
}
"""RED that marks every arrival above 20 packets: DCTCP's step (RFC 8257 §3.1)."""


class Variant(NamedTuple):
    """What is changed of the choices of README.md: entries by the part that they go into.

    Parameters
    ----------
    about : str
        What it is, for people.
    link, fec, queue, law, tcp, flows : mapping
        Entries of the link, its code, both queues, VCP's law, TCP's options and the flows.
    scale : int
        Factor of rates, flows and buffers.
    stretch : int
        Factor of the round trip and of buffers.
    priority : bool or None
        Whether ACKs go ahead of data; None as chosen: with VCP.
    buffer : int
        Of each queue, packets, before it is scaled.
    """

    about: str
    link: Mapping[str, Any] = {}
    fec: Mapping[str, Any] = {}
    queue: Mapping[str, Any] = {}
    law: Mapping[str, Any] = {}
    tcp: Mapping[str, Any] = {}
    flows: Mapping[str, Any] = {}
    scale: int = 1
    stretch: int = 1
    priority: bool | None = None
    buffer: int = 100


AS_CHOSEN: Final = Variant("as chosen")


class Case(NamedTuple):
    """Ten flows each way.

    Parameters
    ----------
    protocol : str
        A key of `TRANSPORTS`.
    antennas : str
        One of `ANTENNAS`.
    code_rate : float
        Of the Reed-Solomon code, in (0, 1]; 1: none.
    snr_db : float
        SNR_G, dB.
    variant : str
        Names what an item changes; empty for the choices of README.md.
    record : tuple of str
        Series to record.
    """

    protocol: str
    antennas: str
    code_rate: float
    snr_db: float
    variant: str = ""
    record: tuple[str, ...] = ()


def antennas_of(antennas: str) -> tuple[int, int]:
    """Return how many transmit and how many receive."""
    tx, rx = antennas.split("x")
    return int(tx), int(rx)


def queue_of(protocol: str, variant: Variant) -> ap.aqm.QueueDisc:
    """Return the queue of either direction."""
    limit = variant.buffer * variant.scale * variant.stretch
    inner: ap.aqm.QueueDisc
    if protocol == "vcp":
        inner = ap.aqm.Vcp(**{"limit": limit, **variant.queue})
    elif protocol == "dctcp":
        inner = ap.aqm.Red(limit=limit, **_STEP)
    else:
        inner = ap.aqm.Rem(**{"limit": f"{limit * DATA_BYTES} B", "ecn": True, **variant.queue})
    has_priority = protocol == "vcp" if variant.priority is None else variant.priority
    return ap.aqm.AckPriority(aqm=inner) if has_priority else inner


def _flows(case: Case, variant: Variant, direction: str) -> ap.traffic.Tcp:
    entries = {**TRANSPORTS[case.protocol], **variant.flows}
    if case.protocol == "vcp":
        entries["cc"] = ap.cc.Vcp(**variant.law)
    tcp = {**entries.pop("tcp", {}), **variant.tcp}
    side = 6.4 * variant.stretch
    fast = f"{2 * RATE_MBPS * variant.scale} Mbit/s"
    wire = ap.Wire(rate=fast, delay=f"{side:g} ms")
    wires = dict.fromkeys(("access", "egress", "ack_access", "return_wire"), wire)
    same: dict[str, Any] = {"start": START, "count": 10 * variant.scale, "direction": direction}
    return ap.traffic.Tcp(**{**same, **wires, **entries, "tcp": tcp})


def build(case: Case, effort: Effort, variant: Variant = AS_CHOSEN) -> ap.Scenario:
    """Return the scenario of a case with the entries of a variant.

    Parameters
    ----------
    case : Case
        Which; what it says about a variant is not looked at.
    effort : Effort
        How long it is simulated.
    variant : Variant
        What is changed. Default: nothing.
    """
    tx, rx = antennas_of(case.antennas)
    link: dict[str, Any] = {
        "rate": f"{RATE_MBPS * variant.scale} Mbit/s",
        "delay": f"{32 * variant.stretch} ms",
        "modulation": "bpsk",
        "tx": tx,
        "rx": rx,
        "snr_db": case.snr_db,
        "bad_snr_offset_db": -10.0,
        "p_good_to_bad": P_GOOD_TO_BAD,
        "p_bad_to_good": P_BAD_TO_GOOD,
    }
    if case.code_rate < 1 or variant.fec:
        code = {"kind": "reed-solomon", "code_rate": case.code_rate, "symbol_bits": 8}
        link["fec"] = {**code, **variant.fec}
    queue = queue_of(case.protocol, variant)
    return ap.Scenario(
        name=f"vcp {case.protocol} {case.antennas}",
        duration=effort.duration_s,
        warmup=effort.warmup_s,
        bottleneck=ap.Bottleneck(aqm=queue, link=ap.link.Mimo(**{**link, **variant.link})),
        ack_path=ap.ack_path.Reverse(aqm=queue),
        flows=[_flows(case, variant, direction) for direction in ("forward", "reverse")],
        record=ap.Record(series=list(case.record)),
    )
