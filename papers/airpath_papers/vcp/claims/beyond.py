"""Hypotheses of ours, and the paper's opinion on ACKs: written before the first run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from airpath.reproduction.claims import ClaimSpec, Finding, gathered, joined, known
from airpath.reproduction.session import Session
from airpath_papers.vcp.burst_failures import law_of
from airpath_papers.vcp.claims.common import CLAIMS, delivered_means, lead
from airpath_papers.vcp.coding import RATES, SNRS_DB, best_by_law, best_of, rated
from airpath_papers.vcp.failures import failure
from airpath_papers.vcp.grids import LOSSY_DB, PROTECTION_DB, PROTOCOLS, cases, past_cases
from airpath_papers.vcp.lte import RECORDED
from airpath_papers.vcp.measures import delivered_packets, mean_queue
from airpath_papers.vcp.scenarios import Case
from airpath_papers.vcp.variants import BAD_SHARE, BURST_BITS, UNIFORM

Lines = Mapping[str, Sequence[Case]]


def _ratios(session: Session, over: Sequence[Case], under: Sequence[Case]) -> dict[float, float]:
    """Return what one delivers over the other by SNR, dB; infinite over nothing."""
    above, below = (delivered_means(session, each) for each in (over, under))
    return {
        case.snr_db: a / b if b else float("inf")
        for case, a, b in zip(over, above, below, strict=True)
    }


def _told(ratios: Mapping[float, float]) -> str:
    return joined([f"{snr:g} dB {ratio:.3f}" for snr, ratio in ratios.items()])


def _kept(ratios: Mapping[float, float]) -> dict[str, Any]:
    return {f"{snr:g}": ratio for snr, ratio in ratios.items()}


@CLAIMS.check(
    "protect-acks",
    lambda _spec: {
        "apart": cases("vcp", "2x2", 0.93, PROTECTION_DB, "acks-more"),
        "uniform": cases("vcp", "2x2", UNIFORM["acks-more"], PROTECTION_DB),
    },
)
def _protect(session: Session, _spec: ClaimSpec, lines: Lines) -> Finding:
    ratios = _ratios(session, lines["apart"], lines["uniform"])
    told = f"0.93 and 0.5 over a uniform {UNIFORM['acks-more']:.3f}: {_told(ratios)}"
    return Finding(all(ratio > 1 for ratio in ratios.values()), [told], _kept(ratios))


@CLAIMS.check(
    "ack-priority-explains",
    lambda _spec: {
        "vcp": past_cases("2x2", 0.93, "vcp"),
        "tcp-rem": past_cases("2x2", 0.93, "tcp-rem", "ack-priority"),
    },
)
def _explains(session: Session, spec: ClaimSpec, lines: Lines) -> Finding:
    ratios = _ratios(session, lines["vcp"], lines["tcp-rem"])
    told = f"VCP over TCP/REM, both with ACK priority: {_told(ratios)}"
    holds = all(abs(ratio - 1) <= spec["within"] for ratio in ratios.values())
    return Finding(holds, [told], _kept(ratios))


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
    ratios = _ratios(session, lines["ignores"], lines["tcp-rem"])
    told = f"VCP that ignores losses over TCP/REM: {_told(ratios)}"
    return Finding(all(r >= spec["share"] for r in ratios.values()), [told], _kept(ratios))


def _sack(spec: ClaimSpec) -> dict[str, list[Case]]:
    snrs = _below(spec["most"], LOSSY_DB, spec["least"])
    return {name: cases(name, "2x2", 1.0, snrs) for name in ("cubic-sack", "vcp")}


@CLAIMS.check("sack-beats-vcp", _sack)
def _sack_beats(session: Session, _spec: ClaimSpec, lines: Lines) -> Finding:
    ratios = _ratios(session, lines["cubic-sack"], lines["vcp"])
    told = f"CUBIC with SACK over VCP: {_told(ratios)}"
    return Finding(all(ratio > 1 for ratio in ratios.values()), [told], _kept(ratios))


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
