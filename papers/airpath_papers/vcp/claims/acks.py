"""The paper's opinion on ACKs: written before the first run (vcp-2008 §V)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from airpath.reproduction.claims import ClaimSpec, Finding, joined
from airpath.reproduction.session import Session
from airpath_papers.vcp.claims.common import CLAIMS, delivered_means
from airpath_papers.vcp.grids import PROTECTION_DB, cases
from airpath_papers.vcp.scenarios import Case
from airpath_papers.vcp.variants import UNIFORM

__all__ = ["Lines", "kept_ratios", "listed_ratios", "ratios_of"]

Lines = Mapping[str, Sequence[Case]]


def ratios_of(session: Session, over: Sequence[Case], under: Sequence[Case]) -> dict[float, float]:
    """Return what one delivers over the other by SNR, dB; infinite over nothing."""
    above, below = (delivered_means(session, each) for each in (over, under))
    return {
        case.snr_db: a / b if b else float("inf")
        for case, a, b in zip(over, above, below, strict=True)
    }


def listed_ratios(ratios: Mapping[float, float]) -> str:
    """Return ratios by SNR, for people."""
    return joined([f"{snr:g} dB {ratio:.3f}" for snr, ratio in ratios.items()])


def kept_ratios(ratios: Mapping[float, float]) -> dict[str, Any]:
    """Return ratios by SNR, for programs."""
    return {f"{snr:g}": ratio for snr, ratio in ratios.items()}


@CLAIMS.check(
    "protect-acks",
    lambda _spec: {
        "apart": cases("vcp", "2x2", 0.93, PROTECTION_DB, "acks-more"),
        "uniform": cases("vcp", "2x2", UNIFORM["acks-more"], PROTECTION_DB),
    },
)
def _protect(session: Session, _spec: ClaimSpec, lines: Lines) -> Finding:
    ratios = ratios_of(session, lines["apart"], lines["uniform"])
    told = f"0.93 and 0.5 over a uniform {UNIFORM['acks-more']:.3f}: {listed_ratios(ratios)}"
    return Finding(all(ratio > 1 for ratio in ratios.values()), [told], kept_ratios(ratios))
