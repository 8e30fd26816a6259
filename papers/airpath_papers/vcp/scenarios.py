"""Scenarios: ten flows in each direction over a link between two radios (vcp-2008 §IV).

README.md lists every value that the paper does not specify. The axes of ``sweeps.toml`` are the
parameters of `path`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import airpath as ap
from airpath.reproduction.files import read_toml
from airpath_papers.paths import VCP

__all__ = [
    "ACK_BYTES",
    "ANTENNAS",
    "BAD_SHARE",
    "BAD_SNR_OFFSET_DB",
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
"""Transition probability 1 - γ, per bit."""
P_BAD_TO_GOOD: Final = 0.125
"""Transition probability 1 - β, per bit."""
BAD_SNR_OFFSET_DB: Final = -10.0
"""Difference SNR_B - SNR_G, dB."""
BAD_SHARE: Final = P_GOOD_TO_BAD / (P_GOOD_TO_BAD + P_BAD_TO_GOOD)
"""Share of bits in the bad state."""
SPLIT_BYTES: Final = 1118 + 80
"""Bytes on the air of data at code rate 0.93 and its ACK at 0.5; splits redistribute them."""
START: Final = ap.traffic.Uniform(uniform=["1 ms", "300 ms"])

PROTOCOLS: Final = ("vcp", "tcp-rem")
"""Protocols of the paper."""
_TRANSPORTS: Final = read_toml(VCP, "transports.toml")
NAMES: Final[Mapping[str, str]] = {key: found["name"] for key, found in _TRANSPORTS.items()}

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
    """Return the transition probabilities, per bit, of a chain with a mean burst of `bits`."""
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
        A value of `ANTENNAS`.
    snr_db : float
        SNR_G, dB.
    code_rate : float
        Code rate of the Reed-Solomon code, in (0, 1]; 1: no code.
    ack_code_rate : float
        Code rate of ACKs. Default: the code rate of data.
    split : int
        Bytes of `SPLIT_BYTES` on the air for an ACK; determines both code rates.
    burst_bits : int
        Mean length of error bursts, bits; the share of bad bits does not change.
    scale, stretch : int
        Factors: `scale` of rates, flows and buffers; `stretch` of round-trip times and buffers.
    unlimited : bool
        Whether TCP's receive window and initial ssthresh are unlimited; VCP's always are.
    error : int
        Relative error of the capacity that VCP's queue assumes, per cent.
    ack_priority : bool, optional
        Whether ACKs have priority over data. Default: only with VCP.
    ack_wires_behind : bool
        Whether both side links of ACKs are behind their queue.
    queue, window, tcp, flow : mapping
        Further parameters of both queues, of VCP's window, of TCP and of the flows.
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
        "bad_snr_offset_db": BAD_SNR_OFFSET_DB,
        **chain_of_bursts(burst_bits),
    }
    if data < 1 or ack < 1:
        link["fec"] = {"kind": "reed-solomon", "code_rate": data, "symbol_bits": 8}
    if ack != data:
        link["small"] = {"up_to": "128 B", "code_rate": ack}
    if error:
        queue = {"capacity": f"{10 + error / 10:g} Mbit/s", **queue}
    limit = 100 * scale * stretch
    disc: dict[str, Any] = {"limit": limit, **_TRANSPORTS[protocol]["queue"]}
    if disc["kind"] == "rem":
        disc["limit"] = f"{limit * DATA_BYTES} B"
    disc.update(queue)
    if protocol == "vcp" if ack_priority is None else ack_priority:
        disc = {"kind": "ack-priority", "aqm": disc}
    entries = {**_TRANSPORTS[protocol]["flow"], **_wires(scale, stretch, behind=ack_wires_behind)}
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


def _wires(scale: int, stretch: int, *, behind: bool) -> dict[str, ap.Wire]:
    """Return the four side links; the side links of ACKs are in front of and behind their queue."""
    rate = f"{2 * RATE_MBPS * scale} Mbit/s"
    wire = ap.Wire(rate=rate, delay=f"{6.4 * stretch:g} ms")
    wires = dict.fromkeys(("access", "egress", "ack_access", "return_wire"), wire)
    if behind:
        del wires["ack_access"]
        wires["return_wire"] = ap.Wire(rate=rate, delay=f"{12.8 * stretch:g} ms")
    return wires
