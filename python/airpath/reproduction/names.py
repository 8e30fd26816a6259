"""Display names of congestion control algorithms and queue disciplines in studies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["CONTROLS", "DISCIPLINES"]

CONTROLS: Final[Mapping[str, str]] = {
    "reno": "Reno",
    "newreno": "Reno",
    "cubic": "CUBIC",
    "cubic-linux": "CUBIC of Linux",
    "cubic-ns3": "CUBIC of ns-3",
    "westwood": "Westwood+",
    "hybla": "Hybla",
    "scalable": "Scalable TCP",
    "htcp": "H-TCP",
    "bic": "BIC",
    "vegas": "Vegas",
    "veno": "Veno",
    "illinois": "Illinois",
    "yeah": "YeAH",
    "ledbat": "LEDBAT++",
    "copa": "Copa",
    "c2tcp": "C2TCP",
    "dctcp": "DCTCP",
    "prague": "Prague",
    "bbr": "BBR v3",
    "bbr1": "BBR v1",
    "clamp": "CLAMP",
    "vcp": "VCP",
}
"""Maps the kind of each congestion control algorithm to its display name."""

DISCIPLINES: Final[Mapping[str, str]] = {
    "droptail": "drop-tail",
    "gred": "GRED",
    "red": "RED",
    "ared": "ARED",
    "codel": "CoDel",
    "pie": "PIE",
    "fq-codel": "FQ-CoDel",
    "clamp": "CLAMP",
    "dualpi2": "DualPI2",
    "l4span": "L4Span",
    "sbd": "SBD",
    "rlc-red": "RLC-RED",
    "rem": "REM",
    "vcp": "VCP",
    "ack-priority": "ACK priority",
}
"""Maps the kind of each queue discipline to its display name."""
