"""Symbol errors, packet errors and codes (vcp-2008 §II, Figs. 1, 3 and 4, §IV's end)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import log1p
from typing import Any, Final

import numpy as np

from airpath.phy import ReedSolomon, symbol_error_rate
from airpath.reproduction.claims import ClaimSpec, Finding, gathered, joined
from airpath.reproduction.session import Session
from airpath_papers.vcp.claims.common import CLAIMS
from airpath_papers.vcp.failures import block_rate_of, failure, snr_of, threshold_db
from airpath_papers.vcp.grids import CODE_RATES, FIG3_DB, cases, steps
from airpath_papers.vcp.measures import simulated_per
from airpath_papers.vcp.scenarios import (
    ACK_BYTES,
    ANTENNAS,
    DATA_BYTES,
    P_BAD_TO_GOOD,
    P_GOOD_TO_BAD,
    Case,
    antennas_of,
)

__all__ = ["MODULATIONS", "SIZES", "ack_comparison", "little_helps"]

MODULATIONS: Final = {2: "bpsk", 4: "qpsk", 8: "8psk", 16: "16psk"}
SIZES: Final = (40, 250, 1040, 4000, 9000)
"""Packets, bytes."""
SNR_DB: Final = 6.0
"""Where code rates are sought, 2x2."""


@CLAIMS.check("order-of-antennas")
def _order(_session: Session, spec: ClaimSpec, _cells: Any) -> Finding:
    snrs = np.asarray(steps(spec["from_db"], 40.0, 0.5))

    def with_points(_m: int, modulation: str) -> Finding:
        found = [
            symbol_error_rate(snrs, modulation, tx=tx, rx=rx)
            for tx, rx in map(antennas_of, ANTENNAS)
        ]
        closest = min(float(np.min(worse / better)) for worse, better in pairwise(found))
        told = [f"{modulation}: neighbours differ by a factor of {closest:.3f} or more"]
        return Finding(closest > 1, told, {"least_factor": closest})

    return gathered("M", MODULATIONS, with_points)


# --- Figs. 3 and 4 -----------------------------------------------------------------------------


@CLAIMS.check(
    "saturation", lambda _spec: {each: cases("vcp", each, 1.0, FIG3_DB) for each in ANTENNAS}
)
def _saturation(session: Session, spec: ClaimSpec, lines: dict[str, list[Case]]) -> Finding:
    law = {each: [failure(each, 1.0, snr) for snr in FIG3_DB] for each in ANTENNAS}
    ordered = all(
        law[worse][n] >= law[better][n]
        for worse, better in pairwise(ANTENNAS)
        for n in range(len(FIG3_DB))
    )

    def with_antennas(antennas: str, line: list[Case]) -> Finding:
        found = [simulated_per(session, case) for case in line]
        sent = [each[0] for each in found if each is not None]
        ends = [(law[antennas][0], law[antennas][-1]), (sent[0], sent[-1])]
        holds = all(1 - low <= spec["within"] and high <= spec["within"] for low, high in ends)
        first = next(
            case.snr_db for case, each in zip(line, found, strict=True) if each is not None
        )
        told = (
            f"{antennas}: law {ends[0][0]:.4f} to {ends[0][1]:.2g}; simulated {ends[1][0]:.4f} "
            f"(from {first:g} dB on, below nothing is sent) to {ends[1][1]:.2g}"
        )
        values = {"law": ends[0], "simulated": ends[1], "sent_from_db": first}
        return Finding(holds, [told], values)

    found = gathered("antennas", lines, with_antennas)
    return found._replace(holds=found.holds and ordered)


def little_helps(antennas: Sequence[str], spec: ClaimSpec) -> Finding:
    """Compare the first step of the code with the second, of several antenna configurations."""

    def with_antennas(antennas: str, _same: str) -> Finding:
        none, some, more = (threshold_db(antennas, rate, spec["per"]) for rate in (1.0, 0.9, 0.7))
        times = (none - some) / (some - more)
        told = f"{antennas}: {none - some:.2f} dB, then {some - more:.2f} dB: {times:.2f} times"
        values = {"first_db": none - some, "then_db": some - more, "times": times}
        return Finding(times >= spec["times"], [told], values)

    return gathered("antennas", {each: each for each in antennas}, with_antennas)


@CLAIMS.check("little-helps")
def _little(_session: Session, spec: ClaimSpec, _cells: Any) -> Finding:
    found = little_helps(("1x1", "2x2"), spec)
    shares = {rate: DATA_BYTES / ReedSolomon(rate).on_air(DATA_BYTES) for rate in CODE_RATES[1:]}
    falls = all(abs(share - rate) < 1e-3 for rate, share in shares.items())
    told = f"data on the air: {joined(list(shares.values()), '.4f')} at {joined(list(shares))}"
    return Finding(found.holds and falls, [*found.measured, told], found.values)


# --- ACKs against data -------------------------------------------------------------------------


def ack_comparison(antennas: str, code_rate: float) -> list[tuple[float, float, float]]:
    """Return the SNRs, dB, at which either fails with 0.5, 0.1 or 0.01, with data's and ACK's."""
    snrs = {
        threshold_db(antennas, code_rate, least, size)
        for least in (0.5, 0.1, 0.01)
        for size in (DATA_BYTES, ACK_BYTES)
    }
    return [
        (snr, failure(antennas, code_rate, snr), failure(antennas, code_rate, snr, ACK_BYTES))
        for snr in sorted(snrs)
    ]


def _acks(code_rates: Sequence[float]) -> Finding:
    def with_code(code_rate: float, _same: float) -> Finding:
        easier = asked = 0
        apart = []
        for antennas in ANTENNAS:
            for least in (0.1, 0.01):
                data_db, ack_db = (
                    threshold_db(antennas, code_rate, least, size)
                    for size in (DATA_BYTES, ACK_BYTES)
                )
                apart.append(ack_db - data_db)
                for snr in (data_db, ack_db):
                    data, ack = (
                        failure(antennas, code_rate, snr, size) for size in (DATA_BYTES, ACK_BYTES)
                    )
                    easier += ack > data
                    asked += 1
        told = (
            f"r = {code_rate:g}: at {easier} of {asked} SNRs; the ACK's SNR is "
            f"{min(apart):+.2f} to {max(apart):+.2f} dB from data's"
        )
        return Finding(easier == asked, [told], {"easier": easier, "asked": asked})

    return gathered("code_rate", {rate: rate for rate in code_rates}, with_code)


@CLAIMS.check("acks-easier")
def _acks_easier(_session: Session, _spec: ClaimSpec, _cells: Any) -> Finding:
    return _acks((1.0, 0.93, 0.9, 0.8, 0.7))


@CLAIMS.check("acks-easier-with-fec")
def _acks_with_fec(_session: Session, _spec: ClaimSpec, _cells: Any) -> Finding:
    return _acks((0.93, 0.9, 0.8, 0.7))


# --- what needs more FEC -----------------------------------------------------------------------


@CLAIMS.check("larger-packets-parity")
def _parity(_session: Session, spec: ClaimSpec, _cells: Any) -> Finding:
    found = [block_rate_of("2x2", SNR_DB, size, spec["failure"])[1] for size in SIZES]
    told = f"{joined(found)} parity symbols for {joined(SIZES)} B"
    grows = all(low < high for low, high in pairwise(found))
    return Finding(grows, [told], dict(zip(map(str, SIZES), found, strict=True)))


@CLAIMS.check("larger-packets-rate")
def _rate(_session: Session, spec: ClaimSpec, _cells: Any) -> Finding:
    found = [block_rate_of("2x2", SNR_DB, size, spec["failure"])[0] for size in SIZES]
    told = f"code rates {joined(found, '.3f')} for {joined(SIZES)} B"
    falls = all(low > high for low, high in pairwise(found))
    return Finding(falls, [told], dict(zip(map(str, SIZES), found, strict=True)))


@CLAIMS.check("larger-packets-blocks")
def _blocks(_session: Session, spec: ClaimSpec, _cells: Any) -> Finding:
    sizes = (1500, 4000, 9000)

    def snr_for(size: int) -> float:
        return snr_of(spec["failure"], lambda snr: failure("2x2", 0.9, snr, size, 8, 255))

    found = [snr_for(size) for size in sizes]
    told = f"{joined(found, '.2f')} dB for {joined(sizes)} B"
    grows = all(low < high for low, high in pairwise(found))
    return Finding(grows, [told], dict(zip(map(str, sizes), found, strict=True)))


@CLAIMS.check("larger-symbols")
def _symbols(_session: Session, spec: ClaimSpec, _cells: Any) -> Finding:
    bits = (4, 8, 16)
    found = [block_rate_of("2x2", SNR_DB, DATA_BYTES, spec["failure"], m)[0] for m in bits]
    told = f"code rates {joined(found, '.3f')} with symbols of {joined(bits)} bits"
    falls = all(low > high for low, high in pairwise(found))
    return Finding(falls, [told], dict(zip(map(str, bits), found, strict=True)))


@CLAIMS.check("state-times")
def _state_times(_session: Session, spec: ClaimSpec, _cells: Any) -> Finding:
    def exposure(antennas: str, snr: float, leave: float, come_back: float) -> float:
        per = failure(antennas, 1.0, snr, p_good_to_bad=leave, p_bad_to_good=come_back)
        return -log1p(-per)

    def with_antennas(antennas: str, _same: str) -> Finding:
        snr = threshold_db(antennas, 1.0, spec["per"])
        base = exposure(antennas, snr, P_GOOD_TO_BAD, P_BAD_TO_GOOD)
        by = {
            "1 - γ halved": base / exposure(antennas, snr, P_GOOD_TO_BAD / 2, P_BAD_TO_GOOD),
            "1 - β doubled": base / exposure(antennas, snr, P_GOOD_TO_BAD, 2 * P_BAD_TO_GOOD),
            "3 dB": base / exposure(antennas, snr + 3, P_GOOD_TO_BAD, P_BAD_TO_GOOD),
        }
        shown = joined([f"{name} {value:.2f}" for name, value in by.items()])
        *times, better = by.values()
        holds = all(1 < each < better for each in times)
        return Finding(holds, [f"{antennas}, divided by: {shown}"], by)

    return gathered("antennas", {each: each for each in ANTENNAS}, with_antennas)
