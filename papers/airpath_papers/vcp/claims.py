"""Measures for the formulas in ``claims.toml``, and checks that are functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log, log1p, sqrt
from statistics import fmean, median
from typing import Final

import numpy as np

from airpath.phy import ReedSolomon, symbol_error_rate
from airpath.reproduction.claims import Claims, ClaimSpec, Finding, gathered, joined
from airpath.reproduction.formulas import Measure, of_point, of_replication, of_run
from airpath.reproduction.items import grouped
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint, Sweeps
from airpath_papers.paths import VCP
from airpath_papers.vcp import measures
from airpath_papers.vcp.failures import block_rate_of, failure, snr_of, threshold_db
from airpath_papers.vcp.scenarios import (
    ACK_BYTES,
    DATA_BYTES,
    P_BAD_TO_GOOD,
    P_GOOD_TO_BAD,
    PROTOCOLS,
    antennas_of,
    code_rates,
    path,
)

__all__ = ["CLAIMS", "MODULATIONS", "SIZES", "SWEEPS", "later_by"]

SWEEPS: Final = Sweeps(VCP, path)

# --- points of the channel model ---------------------------------------------------------------

MODULATIONS: Final = {2: "bpsk", 4: "qpsk", 8: "8psk", 16: "16psk"}
"""Modulations of Fig. 1, by M."""

SNR_DB: Final = 6.0
"""SNR of the search for code rates with 2x2 antennas, dB."""

SIZES: Final = {"data": DATA_BYTES, "ack": ACK_BYTES}


# --- measures ----------------------------------------------------------------------------------


def _per(session: Session, point: SweepPoint) -> float:
    found = measures.error_rate(session, point)
    return float("nan") if found is None else found.simulated


def _per_interval(session: Session, point: SweepPoint, end: int) -> float:
    """Return the lower (0) or the upper (1) end of the interval of the packet error rate."""
    found = measures.error_rate(session, point)
    assert found is not None
    return (found.simulated_low, found.simulated_high)[end]


def _law(_session: Session, point: SweepPoint) -> float:
    return failure(point.axes["antennas"], point.axes["code_rate"], point.axes["snr_db"])


def _symbol_error(_session: Session, point: SweepPoint) -> float:
    axes = point.axes
    tx, rx = antennas_of(axes["antennas"])
    return float(symbol_error_rate(axes["snr_db"], MODULATIONS[axes["M"]], tx=tx, rx=rx))


def _threshold_db(_session: Session, point: SweepPoint, least: float) -> float:
    return threshold_db(point.axes["antennas"], point.axes["code_rate"], least)


def _data_on_air(_session: Session, point: SweepPoint) -> float:
    return DATA_BYTES / ReedSolomon(point.axes["code_rate"]).on_air(DATA_BYTES)


def _fails(_session: Session, point: SweepPoint, packet: str, other: str, least: float) -> float:
    """Return the failure rate of `packet` at the SNR where that of `other` is `least`."""
    code = (point.axes["antennas"], point.axes["code_rate"])
    return failure(*code, threshold_db(*code, least, SIZES[other]), SIZES[packet])


def _block(_session: Session, point: SweepPoint, least: float) -> tuple[float, int]:
    """Return code rate and parity of one block with which packets fail with probability `least`."""
    axes = point.axes
    size, bits = axes.get("bytes", DATA_BYTES), axes.get("bits", 8)
    return block_rate_of("2x2", SNR_DB, size, least, bits)


def _block_snr_db(_session: Session, point: SweepPoint, least: float) -> float:
    size = point.axes["bytes"]
    return snr_of(least, lambda snr: failure("2x2", 0.9, snr, size, 8, 255))


def _exposure_fall(_session: Session, point: SweepPoint, change: str, per: float) -> float:
    """Return the factor by which a change reduces -ln(1 - PER), at the SNR with PER `per`."""
    antennas = point.axes["antennas"]
    snr = threshold_db(antennas, 1.0, per)

    def exposure(more_db: float, leave: float, come_back: float) -> float:
        at = (antennas, 1.0, snr + more_db)
        return -log1p(-failure(*at, p_good_to_bad=leave, p_bad_to_good=come_back))

    changed = {
        "1 - gamma halved": (0.0, P_GOOD_TO_BAD / 2, P_BAD_TO_GOOD),
        "1 - beta doubled": (0.0, P_GOOD_TO_BAD, 2 * P_BAD_TO_GOOD),
        "3 dB": (3.0, P_GOOD_TO_BAD, P_BAD_TO_GOOD),
    }
    return exposure(0.0, P_GOOD_TO_BAD, P_BAD_TO_GOOD) / exposure(*changed[change])


MEASURES: Final[Mapping[str, Measure]] = {
    "delivered": of_replication(measures.delivered_packets),
    "load_deviation": of_replication(measures.load_factor_deviation),
    "utilisation": of_replication(measures.utilisation),
    "queue": of_replication(measures.mean_queue),
    "drops": of_replication(measures.queue_drops),
    "life_span": of_run(measures.life_span_s),
    "per": of_point(_per, is_simulated=True),
    "per_interval": of_point(_per_interval, is_simulated=True),
    "law": of_point(_law),
    "symbol_error": of_point(_symbol_error),
    "threshold_db": of_point(_threshold_db),
    "data_on_air": of_point(_data_on_air),
    "fails": of_point(_fails),
    "code_rate": of_point(lambda *about: _block(*about)[0]),
    "parity": of_point(lambda *about: _block(*about)[1]),
    "block_snr_db": of_point(_block_snr_db),
    "exposure_fall": of_point(_exposure_fall),
}

CLAIMS: Final = Claims(VCP, SWEEPS, MEASURES)

# --- tests of distributions --------------------------------------------------------------------

Pairs = Mapping[float, Mapping[str, SweepPoint]]
"""Points by SNR, dB, and transport."""


def _pairs(sweep: str) -> Pairs:
    by_snr = grouped(SWEEPS.points(sweep), lambda point: point.place["snr_db"])
    return {snr: {p.place["protocol"]: p.cell for p in both} for snr, both in by_snr.items()}


def later_by(times: Sequence[float], others: Sequence[float]) -> float:
    """Return the largest excess of the distribution function of `others` over that of `times`."""
    places = np.unique(np.concatenate([times, others]))
    first, other = (
        np.searchsorted(np.sort(each), places, "right") / len(each) for each in (times, others)
    )
    return float(np.max(other - first))


def _is_later(
    session: Session, spec: ClaimSpec, snr: float, pair: Mapping[str, SweepPoint]
) -> Finding:
    """Compare the times to the first ACK with a one-sided Kolmogorov-Smirnov test."""
    vcp, tcp = (measures.first_acks_s(session, pair[name]) for name in PROTOCOLS)
    found = later_by(vcp, tcp)
    critical = sqrt(-log(spec["level"]) / 2 * (1 / len(vcp) + 1 / len(tcp)))
    line = (
        f"{snr:g} dB: medians {median(vcp):.3f} and {median(tcp):.3f} s, means {fmean(vcp):.3f} "
        f"and {fmean(tcp):.3f} s; one-sided difference {found:.3f}, critical {critical:.3f}"
    )
    return Finding(found > critical, [line], {"difference": found, "critical": critical})


def _delivered(session: Session, point: SweepPoint) -> float:
    return fmean(session.values(point, measures.delivered_packets))


@CLAIMS.check("slower-set-up", lambda _spec: _pairs("sessions"))
def _slower(session: Session, spec: ClaimSpec, cells: Pairs) -> Finding:
    def times(snr: float) -> float:
        vcp, tcp = (_delivered(session, cells[snr][name]) for name in PROTOCOLS)
        return tcp / vcp if vcp else 0.0

    widest = max(cells, key=times)
    return _is_later(session, spec, widest, cells[widest])


@CLAIMS.check("slower-set-up-where-acks-fail", lambda _spec: _pairs("set-ups"))
def _slower_set_up(session: Session, spec: ClaimSpec, cells: Pairs) -> Finding:
    return gathered("snr_db", cells, lambda snr, pair: _is_later(session, spec, snr, pair))


# --- splits of the bytes on the air ------------------------------------------------------------

_UNIFORM_ACK: Final = 44

Lines = Mapping[int, Sequence[SweepPoint]]
"""Points in the order of the SNRs, by bytes of an ACK on the air."""


def _splits(_spec: ClaimSpec) -> Lines:
    by_ack = grouped(SWEEPS.points("splits"), lambda point: point.cell.axes["split"])
    return {ack: [point.cell for point in line] for ack, line in by_ack.items()}


@CLAIMS.check("protect-acks-more", _splits)
def _protect_more(session: Session, spec: ClaimSpec, lines: Lines) -> Finding:
    found = {each: [_delivered(session, point) for point in line] for each, line in lines.items()}
    best = max(found, key=lambda each: sum(found[each]))
    snrs = [point.axes["snr_db"] for point in lines[best]]
    pairs = zip(snrs, found[best], found[_UNIFORM_ACK], strict=True)
    ratios = {snr: a / b if b else float("inf") for snr, a, b in pairs}
    data, ack = code_rates({"split": best})
    text = [
        f"best: {best} B for the ACK, code rates {data:.3f} for data and {ack:.3f} for ACKs",
        "over the uniform code: " + joined([f"{s:g} dB {r:.3f}" for s, r in ratios.items()]),
    ]
    holds = ack < data and all(ratio >= spec["least"] for ratio in ratios.values())
    return Finding(holds, text, {"best_ack_bytes": best, "ratios": list(ratios.values())})
