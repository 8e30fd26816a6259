"""The checks of ``claims.toml``: hypotheses, written before the first run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from airpath.reproduction.claims import Claims, ClaimSpec, PointSet, points_of
from airpath.reproduction.formulas import Measure, Point, of_point, of_replication
from airpath_papers.vcp.failures import failure, goodput_share
from airpath_papers.vcp.grids import LOSSY_DB, PROTOCOLS, cases, past_cases
from airpath_papers.vcp.measures import delivered_packets, mean_queue

from .burst_failures import law_of
from .coding import SNRS_DB, rated
from .lte import RECORDED
from .variants import BAD_SHARE, BURST_BITS

__all__ = ["CLAIMS"]


def _with_priority(_spec: ClaimSpec) -> list[Point]:
    tcp = past_cases("2x2", 0.93, "tcp-rem", "ack-priority")
    return points_of([*past_cases("2x2", 0.93, "vcp"), *tcp])


def _below(per: float, least: float = 0.0) -> list[float]:
    return [snr for snr in LOSSY_DB if least <= failure("2x2", 1.0, snr) < per]


def _ignoring(spec: ClaimSpec) -> list[Point]:
    snrs = _below(spec["per"])
    vcp = cases("vcp", "2x2", 1.0, snrs, "ignore-loss")
    return points_of([*vcp, *cases("tcp-rem", "2x2", 1.0, snrs)])


def _with_sack(spec: ClaimSpec) -> list[Point]:
    snrs = _below(spec["most"], spec["least"])
    return points_of(
        case for name in ("cubic-sack", "vcp") for case in cases(name, "2x2", 1.0, snrs)
    )


def _with_codes(_spec: ClaimSpec) -> list[Point]:
    return [
        Point({"snr_db": snr, "protocol": name, "code_rate": case.code_rate, "step": step}, case)
        for snr in SNRS_DB
        for name in PROTOCOLS
        for step, case in enumerate(rated(name, snr))
    ]


def _bursts(_spec: ClaimSpec) -> list[Point]:
    return [Point({"bits": bits}, bits) for bits in BURST_BITS]


def _recorded(_spec: ClaimSpec) -> list[Point]:
    return [Point({"capacity": name}, cell) for name, cell in RECORDED.items()]


POINTS: Final[Mapping[str, PointSet]] = {
    "priority": _with_priority,
    "ignoring": _ignoring,
    "sack": _with_sack,
    "codes": _with_codes,
    "bursts": _bursts,
    "recorded": _recorded,
}

MEASURES: Final[Mapping[str, Measure]] = {
    "delivered": of_replication(delivered_packets),
    "queue": of_replication(mean_queue),
    "law_share": of_point(lambda _session, case: goodput_share("2x2", case.code_rate, case.snr_db)),
    "law": of_point(lambda _session, bits: law_of(0.93, bits)),
    "bad_share": of_point(lambda _session, _bits: BAD_SHARE),
}

CLAIMS: Final = Claims(Path(__file__).parent, POINTS, MEASURES)
