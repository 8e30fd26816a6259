"""The claims of ``claims.toml``: the points and measures that their formulas name, and tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log, log1p, sqrt
from statistics import fmean, median
from typing import Final

import numpy as np

from airpath.phy import ReedSolomon, symbol_error_rate
from airpath.reproduction.claims import (
    Claims,
    ClaimSpec,
    Finding,
    PointSet,
    gathered,
    joined,
    points_of,
    same,
)
from airpath.reproduction.formulas import Measure, Point, of_point, of_replication, of_run
from airpath.reproduction.session import Session
from airpath_papers.paths import VCP
from airpath_papers.vcp import measures
from airpath_papers.vcp.failures import block_rate_of, failure, snr_of, threshold_db
from airpath_papers.vcp.grids import (
    FIG3_DB,
    FIG5_DB,
    FIG6_DB,
    LARGE,
    LIVES,
    MODULATIONS,
    PROTECTION_DB,
    PROTOCOLS,
    SET_UPS,
    SPLIT_DB,
    cases,
    past_cases,
    steps,
)
from airpath_papers.vcp.scenarios import (
    ACK_BYTES,
    ANTENNAS,
    DATA_BYTES,
    P_BAD_TO_GOOD,
    P_GOOD_TO_BAD,
    Case,
    antennas_of,
)
from airpath_papers.vcp.variants import CAPACITIES, SPLITS, UNIFORM, split_rate

__all__ = ["CLAIMS", "later_by"]

# --- points ------------------------------------------------------------------------------------

SNR_DB: Final = 6.0
"""Where code rates are sought, 2x2."""

SIZES: Final = {"data": DATA_BYTES, "ack": ACK_BYTES}

_CLEAN: Final = Case("vcp", "2x2", 1.0, 40.0)
"""Nothing is lost on the air."""


def _symbols(spec: ClaimSpec) -> list[Point]:
    return [
        Point({"M": m, "antennas": antennas, "snr_db": snr}, (modulation, antennas, snr))
        for m, modulation in MODULATIONS.items()
        for antennas in ANTENNAS
        for snr in steps(spec["from_db"], 40.0, 0.5)
    ]


def _with_codes(spec: ClaimSpec) -> list[Point]:
    return points_of(
        Case("vcp", antennas, rate, snr)
        for rate in (0.9, 0.8, 0.7)
        for antennas in ANTENNAS
        for snr in steps(spec["from_db"], spec["to_db"], 0.5)
    )


def _at_per(spec: ClaimSpec) -> list[Point]:
    return points_of(
        Case(name, antennas, 1.0, round(threshold_db(antennas, 1.0, spec["per"]), 2))
        for antennas in ("2x1", "2x2")
        for name in PROTOCOLS
    )


POINTS: Final[Mapping[str, PointSet]] = {
    "symbols": _symbols,
    "with-codes": _with_codes,
    "codes": same(
        points_of(
            Case("vcp", antennas, rate, 0.0)
            for antennas in ANTENNAS
            for rate in (1.0, 0.93, 0.9, 0.8, 0.7)
        )
    ),
    "packets": same(
        Point({"bytes": size}, (size, 8)) for size in (40, 250, 1040, 1500, 4000, 9000)
    ),
    "symbol-bits": same(Point({"bits": bits}, (DATA_BYTES, bits)) for bits in (4, 8, 16)),
    "fig3": same(p for each in ANTENNAS for p in points_of(cases("vcp", each, 1.0, FIG3_DB))),
    "fig5": same(
        point
        for antennas, snrs in FIG5_DB.items()
        for name in PROTOCOLS
        for point in points_of(cases(name, antennas, 1.0, snrs))
    ),
    "past": same(
        point
        for antennas, rate in FIG6_DB
        for name in PROTOCOLS
        for point in points_of(past_cases(antennas, rate, name), panel=f"{antennas} r={rate:g}")
    ),
    "at-per": _at_per,
    "links": same(
        point
        for link, lines in LARGE.items()
        for line in lines.values()
        for point in points_of(line, link=link)
    ),
    "protection": same(
        [
            *points_of(cases("vcp", "2x2", 0.93, PROTECTION_DB, "acks-more"), code="apart"),
            *points_of(cases("vcp", "2x2", UNIFORM["acks-more"], PROTECTION_DB), code="uniform"),
        ]
    ),
    "lengths": same(
        [
            *points_of(past_cases("2x2", 0.93, "vcp"), flows="long"),
            *points_of(past_cases("2x2", 0.93, "vcp", "short"), flows="short"),
        ]
    ),
    "capacities": same(
        [
            *points_of([_CLEAN], error=0),
            *(
                point
                for name in CAPACITIES
                for point in points_of(
                    [_CLEAN._replace(variant=name)], error=int(name.removeprefix("capacity"))
                )
            ),
        ]
    ),
    "bandwidths": same(points_of([_CLEAN, _CLEAN._replace(variant="capacity-measured")])),
    "lives": same(
        points_of(case for pair in LIVES["tear-down-3"].values() for case in pair.values())
    ),
}

# --- measures ----------------------------------------------------------------------------------


def _per(session: Session, case: Case) -> float:
    found = measures.simulated_per(session, case)
    return float("nan") if found is None else found[0]


def _per_interval(session: Session, case: Case, end: int) -> float:
    """Return the lower (0) or the upper (1) end of the interval of the packet error rate."""
    found = measures.simulated_per(session, case)
    assert found is not None
    return measures.share_interval(found[1], found[2], session.paper.confidence)[end]


def _symbol_error(_session: Session, cell: tuple[str, str, float]) -> float:
    modulation, antennas, snr = cell
    tx, rx = antennas_of(antennas)
    return float(symbol_error_rate(snr, modulation, tx=tx, rx=rx))


def _fails(_session: Session, case: Case, packet: str, other: str, least: float) -> float:
    """Return how often a packet fails at the SNR at which another one fails as often as `least`."""
    snr = threshold_db(case.antennas, case.code_rate, least, SIZES[other])
    return failure(case.antennas, case.code_rate, snr, SIZES[packet])


def _block_snr_db(_session: Session, cell: tuple[int, int], least: float) -> float:
    size, bits = cell
    return snr_of(least, lambda snr: failure("2x2", 0.9, snr, size, bits, 255))


def _exposure_fall(_session: Session, case: Case, change: str, per: float) -> float:
    """Return by what -ln(1 - PER) is divided by a change, where the PER is `per`."""
    snr = threshold_db(case.antennas, 1.0, per)

    def exposure(more_db: float, leave: float, come_back: float) -> float:
        at = (case.antennas, 1.0, snr + more_db)
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
    "life_span": of_run(lambda runs, run, case: measures.life_spans_s(runs, case)[run]),
    "per": of_point(_per, is_simulated=True),
    "per_interval": of_point(_per_interval, is_simulated=True),
    "law": of_point(lambda _session, case: failure(*case[1:4])),
    "symbol_error": of_point(_symbol_error),
    "threshold_db": of_point(
        lambda _session, case, least: threshold_db(case.antennas, case.code_rate, least)
    ),
    "data_on_air": of_point(
        lambda _session, case: DATA_BYTES / ReedSolomon(case.code_rate).on_air(DATA_BYTES)
    ),
    "fails": of_point(_fails),
    "code_rate": of_point(
        lambda _session, cell, least: block_rate_of("2x2", SNR_DB, cell[0], least, cell[1])[0]
    ),
    "parity": of_point(
        lambda _session, cell, least: block_rate_of("2x2", SNR_DB, cell[0], least, cell[1])[1]
    ),
    "block_snr_db": of_point(_block_snr_db),
    "exposure_fall": of_point(_exposure_fall),
}

CLAIMS: Final = Claims(VCP, POINTS, MEASURES)

# --- tests of distributions --------------------------------------------------------------------

Pair = Mapping[str, Case]
"""The cells of both transports."""


def later_by(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Return the largest difference of the distribution functions, theirs over ours."""
    places = np.unique(np.concatenate([ours, theirs]))
    first, other = (
        np.searchsorted(np.sort(each), places, "right") / len(each) for each in (ours, theirs)
    )
    return float(np.max(other - first))


def _is_later(session: Session, spec: ClaimSpec, snr: float, pair: Pair) -> Finding:
    """Compare the times to the first ACK: a one-sided test of Kolmogorov and Smirnov."""
    vcp, tcp = (measures.first_acks_s(session, pair[name]) for name in PROTOCOLS)
    found = later_by(vcp, tcp)
    critical = sqrt(-log(spec["level"]) / 2 * (1 / len(vcp) + 1 / len(tcp)))
    told = (
        f"{snr:g} dB: medians {median(vcp):.3f} and {median(tcp):.3f} s, means {fmean(vcp):.3f} "
        f"and {fmean(tcp):.3f} s; one-sided difference {found:.3f}, critical {critical:.3f}"
    )
    return Finding(found > critical, [told], {"difference": found, "critical": critical})


_SESSIONS: Final[Mapping[float, Pair]] = {
    snr: {name: Case(name, "2x2", 1.0, snr, "", ("seq_sent",)) for name in PROTOCOLS}
    for snr in (14.0, 16.0, 18.0, 20.0, 22.0)
}
"""Where TCP's lead may be widest."""


def _delivered(session: Session, case: Case) -> float:
    return fmean(measures.delivered_totals(session, case))


@CLAIMS.check("slower-set-up", lambda _spec: _SESSIONS)
def _slower(session: Session, spec: ClaimSpec, cells: Mapping[float, Pair]) -> Finding:
    def times(snr: float) -> float:
        vcp, tcp = (_delivered(session, cells[snr][name]) for name in PROTOCOLS)
        return tcp / vcp if vcp else 0.0

    widest = max(cells, key=times)
    return _is_later(session, spec, widest, cells[widest])


@CLAIMS.check("slower-set-up-where-acks-fail", lambda _spec: SET_UPS)
def _slower_set_up(session: Session, spec: ClaimSpec, cells: Mapping[float, Pair]) -> Finding:
    return gathered("snr_db", cells, lambda snr, pair: _is_later(session, spec, snr, pair))


# --- splits of the same bytes ------------------------------------------------------------------


def _splits(_spec: ClaimSpec) -> dict[int, list[Case]]:
    return {
        each: cases("vcp", "2x2", split_rate(each), SPLIT_DB, f"split-{each}") for each in SPLITS
    }


_UNIFORM_ACK: Final = 44


@CLAIMS.check("protect-acks-more", _splits)
def _protect_more(
    session: Session, spec: ClaimSpec, lines: Mapping[int, Sequence[Case]]
) -> Finding:
    found = {each: [_delivered(session, case) for case in line] for each, line in lines.items()}
    best = max(found, key=lambda each: sum(found[each]))
    pairs = zip(SPLIT_DB, found[best], found[_UNIFORM_ACK], strict=True)
    ratios = {snr: a / b if b else float("inf") for snr, a, b in pairs}
    told = [
        f"best: {best} B for the ACK, code rates {split_rate(best):.3f} for data and "
        f"{ACK_BYTES / best:.3f} for ACKs",
        "over the uniform code: " + joined([f"{s:g} dB {r:.3f}" for s, r in ratios.items()]),
    ]
    is_more = ACK_BYTES / best < split_rate(best)
    holds = is_more and all(ratio >= spec["least"] for ratio in ratios.values())
    return Finding(holds, told, {"best_ack_bytes": best, "ratios": list(ratios.values())})
