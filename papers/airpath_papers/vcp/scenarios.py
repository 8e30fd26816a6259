"""The scenarios: ten flows each way over a link between two radios (vcp-2008 §IV).

README.md lists every value that the paper leaves open; the axes of ``sweeps.toml`` are the
parameters of `path`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import airpath as ap

__all__ = [
    "ACK_BYTES",
    "ANTENNAS",
    "BAD_SHARE",
    "DATA_BYTES",
    "NAMES",
    "PAYLOAD_BYTES",
    "PROTOCOLS",
    "P_BAD_TO_GOOD",
    "P_GOOD_TO_BAD",
    "RATE_MBPS",
    "SPLIT_BYTES",
    "START",
    "antennas_of",
    "chain_of_bursts",
    "code_rates",
    "path",
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
BAD_SHARE: Final = P_GOOD_TO_BAD / (P_GOOD_TO_BAD + P_BAD_TO_GOOD)
"""Share of bits in the bad state."""
SPLIT_BYTES: Final = 1118 + 80
"""Bytes on the air of data at 0.93 and its ACK at 0.5, which splits divide otherwise."""
START: Final = ap.traffic.Uniform(uniform=["1 ms", "300 ms"])

PROTOCOLS: Final = ("vcp", "tcp-rem")
"""The paper's."""
NAMES: Final[Mapping[str, str]] = {
    "vcp": "VCP",
    "tcp-rem": "TCP/REM",
    "cubic": "CUBIC",
    "sack": "Reno + SACK",
    "cubic-sack": "CUBIC + SACK",
    "dctcp": "DCTCP",
}

_SELECTIVE: Final[Mapping[str, Any]] = {
    "mss": "1000 B",
    "header": "40 B",
    "initial_window": "2 segments",
    "delayed_ack_segments": 1,
    "min_rto": "200 ms",
}
"""Differences from the profile ``rfc``, for transports that the profile ``ns2`` does not have."""

_TRANSPORTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "vcp": {"profile": "ns2"},
    "tcp-rem": {"cc": "reno", "profile": "ns2", "tcp": {"ecn": "on"}},
    "cubic": {"cc": "cubic", "tcp": {**_SELECTIVE, "ecn": "on"}},
    "sack": {"cc": "reno", "tcp": {**_SELECTIVE, "ecn": "on", "recovery": "sack"}},
    "cubic-sack": {"cc": "cubic", "tcp": {**_SELECTIVE, "ecn": "on", "recovery": "sack"}},
    "dctcp": {"cc": "dctcp", "tcp": {**_SELECTIVE, "recovery": "sack"}},
}
"""Flows of each transport, without the parameters of VCP's window."""

_STEP: Final[Mapping[str, Any]] = {
    "min_th": 20,
    "max_th": 21,
    "weight": 1.0,
    "gentle": False,
    "ecn": True,
    "hard_drop": False,
}
"""RED that marks every arrival above 20 packets: DCTCP's step (RFC 8257 §3.1)."""

_UNLIMITED: Final = {"receive_window": "64 MB", "initial_ssthresh": "unlimited"}
_NOTHING: Final[Mapping[str, Any]] = {}


def antennas_of(antennas: str) -> tuple[int, int]:
    """Return the numbers of transmitters and receivers."""
    tx, rx = antennas.split("x")
    return int(tx), int(rx)


def code_rates(axes: Mapping[str, Any]) -> tuple[float, float]:
    """Return the code rates of data and of ACKs that the arguments of `path` name."""
    if split := axes.get("split", 0):
        return DATA_BYTES / (SPLIT_BYTES - split), ACK_BYTES / split
    rate = axes.get("code_rate", 1.0)
    return rate, axes.get("ack_code_rate") or rate


def chain_of_bursts(bits: int) -> dict[str, float]:
    """Return the probabilities of the chain, per bit, whose bursts have a mean length in bits."""
    leave = 1 / bits
    return {"p_good_to_bad": leave * BAD_SHARE / (1 - BAD_SHARE), "p_bad_to_good": leave}


def path(
    protocol: str,
    antennas: str,
    snr_db: float,
    code_rate: float = 1.0,
    *,
    ack_code_rate: float = 0.0,
    split: int = 0,
    burst_bits: int = 8,
    scale: int = 1,
    stretch: int = 1,
    unlimited: bool = False,
    error: int = 0,
    ack_priority: bool | None = None,
    ack_wires_behind: bool = False,
    queue: Mapping[str, Any] = _NOTHING,
    window: Mapping[str, Any] = _NOTHING,
    tcp: Mapping[str, Any] = _NOTHING,
    flow: Mapping[str, Any] = _NOTHING,
) -> ap.Scenario:
    """Return the scenario of a transport.

    Parameters
    ----------
    protocol : str
        A key of `NAMES`.
    antennas : str
        One of `ANTENNAS`.
    snr_db : float
        SNR_G, dB.
    code_rate : float
        Of the Reed-Solomon code, in (0, 1]; 1: none.
    ack_code_rate : float
        Code rate of ACKs. Default: that of data.
    split : int
        Bytes on the air of an ACK, of `SPLIT_BYTES`: decides both code rates.
    burst_bits : int
        Mean length of bursts of errors, bits; the share of bad bits stays.
    scale, stretch : int
        Factors of rates, flows and buffers; of the round trip and buffers.
    unlimited : bool
        Whether TCP's receive window and first ssthresh are unlimited; VCP's always are.
    error : int
        Relative error of the capacity that VCP's queue assumes, per cent.
    ack_priority : bool, optional
        Whether ACKs go ahead of data. Default: with VCP.
    ack_wires_behind : bool
        Whether both side links of ACKs are behind their queue.
    queue, window, tcp, flow : mapping
        Further entries of both queues, of VCP's window, of TCP's options and of the flows.
    """
    tx, rx = antennas_of(antennas)
    data, ack = code_rates({"code_rate": code_rate, "ack_code_rate": ack_code_rate, "split": split})
    link: dict[str, Any] = {
        "rate": f"{RATE_MBPS * scale} Mbit/s",
        "delay": f"{32 * stretch} ms",
        "modulation": "bpsk",
        "tx": tx,
        "rx": rx,
        "snr_db": snr_db,
        "bad_snr_offset_db": -10.0,
        **chain_of_bursts(burst_bits),
    }
    if data < 1 or ack < 1:
        link["fec"] = {"kind": "reed-solomon", "code_rate": data, "symbol_bits": 8}
    if ack != data:
        link["small"] = {"up_to": "128 B", "code_rate": ack}
    if error:
        queue = {"capacity": f"{10 + error / 10:g} Mbit/s", **queue}
    disc = _queue(protocol, 100 * scale * stretch, queue)
    if protocol == "vcp" if ack_priority is None else ack_priority:
        disc = ap.aqm.AckPriority(aqm=disc)
    entries = {**_TRANSPORTS[protocol], **_wires(scale, stretch, behind=ack_wires_behind)}
    if protocol == "vcp":
        entries["cc"] = ap.cc.Vcp(**window)
    options = {**entries.pop("tcp", {}), **(_UNLIMITED if unlimited and protocol != "vcp" else {})}
    same = {"start": START, "count": 10 * scale, **entries, "tcp": {**options, **tcp}, **flow}
    return ap.Scenario(
        name=f"vcp {protocol} {antennas}",
        duration="20 s",
        bottleneck=ap.Bottleneck(aqm=disc, link=ap.link.Mimo(**link)),
        ack_path=ap.ack_path.Reverse(aqm=disc),
        flows=[ap.traffic.Tcp(**{**same, "direction": each}) for each in ("forward", "reverse")],
    )


def _queue(protocol: str, limit: int, entries: Mapping[str, Any]) -> ap.aqm.QueueDisc:
    """Return the queue of either direction, packets."""
    if protocol == "vcp":
        return ap.aqm.Vcp(**{"limit": limit, **entries})
    if protocol == "dctcp":
        return ap.aqm.Red(limit=limit, **_STEP)
    return ap.aqm.Rem(**{"limit": f"{limit * DATA_BYTES} B", "ecn": True, **entries})


def _wires(scale: int, stretch: int, *, behind: bool) -> dict[str, ap.Wire]:
    """Return the four side links, those of ACKs in front of their queue and behind it."""
    rate = f"{2 * RATE_MBPS * scale} Mbit/s"
    wire = ap.Wire(rate=rate, delay=f"{6.4 * stretch:g} ms")
    wires = dict.fromkeys(("access", "egress", "ack_access", "return_wire"), wire)
    if behind:
        del wires["ack_access"]
        wires["return_wire"] = ap.Wire(rate=rate, delay=f"{12.8 * stretch:g} ms")
    return wires
