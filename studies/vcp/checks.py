"""The checks of ``claims.toml``: hypotheses, written before the first run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from airpath.reproduction.claims import Claims, ClaimSpec, Finding, gathered, joined, known
from airpath.reproduction.session import Session
from airpath_papers.vcp.claims.acks import Lines, kept_ratios, listed_ratios, ratios_of
from airpath_papers.vcp.claims.common import lead
from airpath_papers.vcp.failures import failure
from airpath_papers.vcp.grids import LOSSY_DB, PROTOCOLS, cases, past_cases
from airpath_papers.vcp.measures import delivered_packets, mean_queue
from airpath_papers.vcp.scenarios import Case

from .burst_failures import law_of
from .coding import RATES, SNRS_DB, best_by_law, best_of, rated
from .lte import RECORDED
from .variants import BAD_SHARE, BURST_BITS

__all__ = ["CLAIMS"]

CLAIMS: Final = Claims(Path(__file__).parent)


@CLAIMS.check(
    "ack-priority-explains",
    lambda _spec: {
        "vcp": past_cases("2x2", 0.93, "vcp"),
        "tcp-rem": past_cases("2x2", 0.93, "tcp-rem", "ack-priority"),
    },
)
def _explains(session: Session, spec: ClaimSpec, lines: Lines) -> Finding:
    ratios = ratios_of(session, lines["vcp"], lines["tcp-rem"])
    told = f"VCP over TCP/REM, both with ACK priority: {listed_ratios(ratios)}"
    holds = all(abs(ratio - 1) <= spec["within"] for ratio in ratios.values())
    return Finding(holds, [told], kept_ratios(ratios))


def _below(per: float, snrs: Sequence[float], least: float = 0.0) -> list[float]:
    return [snr for snr in snrs if least <= failure("2x2", 1.0, snr) < per]


@CLAIMS.check(
    "law-starves",
    lambda spec: {
        "ignores": cases("vcp", "2x2", 1.0, _below(spec["per"], LOSSY_DB), "ignore-loss"),
        "tcp-rem": cases("tcp-rem", "2x2", 1.0, _below(spec["per"], LOSSY_DB)),
    },
)
def _starves(session: Session, spec: ClaimSpec, lines: Lines) -> Finding:
    ratios = ratios_of(session, lines["ignores"], lines["tcp-rem"])
    told = f"VCP that ignores losses over TCP/REM: {listed_ratios(ratios)}"
    return Finding(all(r >= spec["share"] for r in ratios.values()), [told], kept_ratios(ratios))


def _sack(spec: ClaimSpec) -> dict[str, list[Case]]:
    snrs = _below(spec["most"], LOSSY_DB, spec["least"])
    return {name: cases(name, "2x2", 1.0, snrs) for name in ("cubic-sack", "vcp")}


@CLAIMS.check("sack-beats-vcp", _sack)
def _sack_beats(session: Session, _spec: ClaimSpec, lines: Lines) -> Finding:
    ratios = ratios_of(session, lines["cubic-sack"], lines["vcp"])
    told = f"CUBIC with SACK over VCP: {listed_ratios(ratios)}"
    return Finding(all(ratio > 1 for ratio in ratios.values()), [told], kept_ratios(ratios))


@CLAIMS.check(
    "one-code-rate",
    lambda _spec: {f"{snr:g}": {name: rated(name, snr) for name in PROTOCOLS} for snr in SNRS_DB},
)
def _one_rate(session: Session, _spec: ClaimSpec, _cells: Any) -> Finding:
    def at(snr: float, _same: float) -> Finding:
        law = best_by_law(snr)
        found = {name: best_of(session, name, snr) for name in PROTOCOLS}
        stronger = {
            name: RATES.index(rate) - RATES.index(law)
            for name, rate in found.items()
            if rate is not None
        }
        shown = joined([f"{name} {rate}" for name, rate in found.items()])
        holds = all(each <= 1 for each in stronger.values())
        return Finding(holds, [f"{snr:g} dB: law {law:g}, {shown}"], {"law": law, **found})

    return gathered("snr_db", {snr: snr for snr in SNRS_DB}, at)


@CLAIMS.check("long-bursts")
def _long_bursts(_session: Session, spec: ClaimSpec, _cells: Any) -> Finding:
    found = {bits: law_of(0.93, bits) for bits in BURST_BITS}
    long = [found[bits] for bits in (8_000, 80_000)]
    holds = found[8] < spec["short"] and all(
        0.5 * BAD_SHARE <= each <= 3 * BAD_SHARE for each in long
    )
    told = joined([f"{bits:,} bits {value:.3g}" for bits, value in found.items()])
    values = {str(bits): value for bits, value in found.items()}
    return Finding(holds, [f"share of bad time {BAD_SHARE:.4f}; failures: {told}"], values)


@CLAIMS.check("measured-capacity", lambda _spec: RECORDED)
def _measured(session: Session, spec: ClaimSpec, cells: Mapping[str, Any]) -> Finding:
    queue = {name: known(session, case, mean_queue).mean for name, case in cells.items()}
    total = {name: known(session, case, delivered_packets).mean for name, case in cells.items()}
    share = queue["measured"] / queue["nominal"]
    more = lead(total["measured"], total["nominal"])
    told = (
        f"queue {queue['measured']:.1f} for {queue['nominal']:.1f} packets; delivered {more:+.1%}"
    )
    holds = share <= spec["share"] and 1 + more >= spec["least"]
    return Finding(holds, [told], {"queue_share": share, "delivered_more": more})
