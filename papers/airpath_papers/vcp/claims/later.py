"""Criteria that were written later: fairer readings of sentences that were asked before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean, median
from typing import Any, Final

from airpath.reproduction.claims import ClaimSpec, Finding, gathered, joined, known
from airpath.reproduction.session import Session
from airpath_papers.vcp.claims.channel import little_helps
from airpath_papers.vcp.claims.common import CLAIMS, delivered_means
from airpath_papers.vcp.claims.delivered import PAST, Past, mean_leads
from airpath_papers.vcp.claims.text import CLEAN, critical_difference, later_by
from airpath_papers.vcp.failures import failure, threshold_db
from airpath_papers.vcp.grids import LIFE_DB, PROTOCOLS, SET_UP_DB, SPLIT_DB, cases, steps
from airpath_papers.vcp.measures import (
    first_acks_s,
    life_spans_s,
    load_factor_deviation,
)
from airpath_papers.vcp.scenarios import ACK_BYTES, ANTENNAS, Case
from airpath_papers.vcp.variants import SPLITS, split_rate

__all__ = ["LIVES", "SET_UPS"]

Pair = Mapping[str, Case]
"""The cells of both transports."""


@CLAIMS.check("little-helps-others")
def _little_helps_others(_session: Session, spec: ClaimSpec, _cells: Any) -> Finding:
    return little_helps(("2x1", "1x2"), spec)


@CLAIMS.check("order-with-codes")
def _order_with_codes(_session: Session, spec: ClaimSpec, _cells: Any) -> Finding:
    snrs = steps(spec["from_db"], spec["to_db"], 0.5)

    def with_code(rate: float, _same: float) -> Finding:
        fails = [[failure(antennas, rate, snr) for snr in snrs] for antennas in ANTENNAS]
        least = [
            min(worse - better for worse, better in zip(*both, strict=True))
            for both in pairwise(fails)
        ]
        told = f"r = {rate:g}: neighbours differ by {joined(least, '.2g')} at least"
        return Finding(min(least) >= 0, [told], {"least_difference": least})

    return gathered("code_rate", {rate: rate for rate in (0.9, 0.8, 0.7)}, with_code)


def _at_per(spec: ClaimSpec) -> dict[str, Pair]:
    return {
        antennas: {
            name: Case(name, antennas, 1.0, round(threshold_db(antennas, 1.0, spec["per"]), 2))
            for name in PROTOCOLS
        }
        for antennas in ("2x1", "2x2")
    }


@CLAIMS.check("tcp-ahead-at-one-percent", _at_per)
def _at_one_percent(session: Session, spec: ClaimSpec, cells: Mapping[str, Pair]) -> Finding:
    def with_antennas(antennas: str, pair: Pair) -> Finding:
        vcp, tcp = delivered_means(session, [pair[name] for name in PROTOCOLS])
        times = tcp / vcp if vcp else float("inf")
        told = f"{antennas}, {pair['vcp'].snr_db:g} dB: {times:.2f} times, {tcp:.0f} and {vcp:.0f}"
        values = {"snr_db": pair["vcp"].snr_db, "times": times, "vcp": vcp, "tcp-rem": tcp}
        return Finding(times >= spec["times"], [told], values)

    return gathered("antennas", cells, with_antennas)


# --- sessions ----------------------------------------------------------------------------------


def _pairs(snrs_db: Sequence[float], variant: str) -> dict[float, Pair]:
    return {
        snr: {name: Case(name, "2x2", 1.0, snr, variant, ("seq_sent",)) for name in PROTOCOLS}
        for snr in snrs_db
    }


SET_UPS: Final = _pairs(SET_UP_DB, "")
LIVES: Final = {name: _pairs(LIFE_DB, name) for name in ("tear-down-3", "tear-down-5")}
"""Cells by variant, SNR and transport."""


@CLAIMS.check("slower-set-up-where-acks-fail", lambda _spec: SET_UPS)
def _slower_set_up(session: Session, spec: ClaimSpec, cells: Mapping[float, Pair]) -> Finding:
    def at(snr: float, pair: Pair) -> Finding:
        vcp, tcp = (first_acks_s(session, pair[name]) for name in PROTOCOLS)
        found = later_by(vcp, tcp)
        critical = critical_difference(spec["level"], len(vcp), len(tcp))
        fails = failure("2x2", 1.0, snr, ACK_BYTES)
        told = (
            f"{snr:g} dB, {fails:.2f} of the ACKs fail: medians {median(vcp):.2f} and "
            f"{median(tcp):.2f} s, means {fmean(vcp):.2f} and {fmean(tcp):.2f} s; one-sided "
            f"difference {found:.3f}, critical {critical:.3f}"
        )
        values = {"difference": found, "critical": critical, "fails": fails}
        return Finding(found > critical, [told], values)

    return gathered("snr_db", cells, at)


@CLAIMS.check("shorter-life-spans", lambda _spec: LIVES["tear-down-3"])
def _shorter_lives(session: Session, spec: ClaimSpec, cells: Mapping[float, Pair]) -> Finding:
    told, values, holds = [], {}, []
    for snr, pair in cells.items():
        vcp, tcp = delivered_means(session, [pair[name] for name in PROTOCOLS])
        lives = {name: fmean(life_spans_s(session, pair[name])) for name in PROTOCOLS}
        values[f"{snr:g}"] = {"times": tcp / vcp if vcp else None, "life_s": lives}
        if vcp and tcp >= spec["times"] * vcp:
            holds.append(lives["vcp"] <= spec["share"] * lives["tcp-rem"])
            told.append(
                f"{snr:g} dB, TCP {tcp / vcp:.2f} times: life spans {lives['vcp']:.2f} and "
                f"{lives['tcp-rem']:.2f} s"
            )
    return Finding(bool(holds) and all(holds), told or ["TCP is nowhere so far ahead"], values)


# --- with FEC ----------------------------------------------------------------------------------


@CLAIMS.check("vcp-ahead-by-6-to-10", lambda _spec: PAST)
def _ahead_by(session: Session, spec: ClaimSpec, panels: Past) -> Finding:
    return mean_leads(session, spec, panels)


def _splits(_spec: ClaimSpec) -> dict[int, list[Case]]:
    return {
        each: cases("vcp", "2x2", split_rate(each), SPLIT_DB, f"split-{each}") for each in SPLITS
    }


@CLAIMS.check("protect-acks-more", _splits)
def _protect_more(
    session: Session, spec: ClaimSpec, lines: Mapping[int, Sequence[Case]]
) -> Finding:
    found = {each: delivered_means(session, line) for each, line in lines.items()}
    best = max(found, key=lambda each: sum(found[each]))
    uniform = found[_UNIFORM_ACK]
    ratios = {
        snr: a / b if b else float("inf")
        for snr, a, b in zip(SPLIT_DB, found[best], uniform, strict=True)
    }
    is_more = ACK_BYTES / best < split_rate(best)
    told = [
        f"best: {best} B for the ACK, code rates {split_rate(best):.3f} for data and "
        f"{ACK_BYTES / best:.3f} for ACKs",
        "over the uniform code: " + joined([f"{s:g} dB {r:.3f}" for s, r in ratios.items()]),
    ]
    holds = is_more and all(ratio >= spec["least"] for ratio in ratios.values())
    return Finding(holds, told, {"best_ack_bytes": best, "ratios": list(ratios.values())})


_UNIFORM_ACK: Final = 44


# --- capacities --------------------------------------------------------------------------------

_BANDWIDTHS: Final = {"nominal": CLEAN, "measured": CLEAN._replace(variant="capacity-measured")}


@CLAIMS.check("measured-bandwidth", lambda _spec: _BANDWIDTHS)
def _measured_bandwidth(session: Session, spec: ClaimSpec, cells: Mapping[str, Case]) -> Finding:
    spread = {
        name: known(session, case, load_factor_deviation).mean for name, case in cells.items()
    }
    times = spread["measured"] / spread["nominal"]
    told = f"deviation of the load factor {spread['measured']:.3f}, nominal {spread['nominal']:.3f}"
    return Finding(times >= spec["times"], [told], {"times": times, **spread})
