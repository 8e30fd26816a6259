"""The item ``claims``: ACKs against data, and links of other sizes (vcp-2008 §IV, §V)."""

from __future__ import annotations

from typing import Any, Final

from airpath.reproduction.base import Row, Table
from airpath.reproduction.items import item_of
from airpath.reproduction.session import Session
from airpath_papers.paths import VCP
from airpath_papers.vcp.claims import SIZES, SWEEPS
from airpath_papers.vcp.failures import threshold_db
from airpath_papers.vcp.measures import DELIVERED
from airpath_papers.vcp.scenarios import ANTENNAS, NAMES, PROTOCOLS

__all__ = ["ITEM"]

RATES: Final = (1.0, 0.93, 0.9, 0.8, 0.7)
FAILURES: Final = (0.5, 0.1, 0.01)


def _thresholds() -> tuple[list[Row], Table]:
    rows, lines = [], []
    for rate in RATES:
        for name, size in SIZES.items():
            texts = []
            for antennas in ANTENNAS:
                place: dict[str, Any] = {"antennas": antennas, "code_rate": rate, "packet": name}
                found = {least: threshold_db(antennas, rate, least, size) for least in FAILURES}
                rows += [
                    Row({**place, "failure": least}, "snr_of_failure", "dB", None, snr)
                    for least, snr in found.items()
                ]
                texts.append(" / ".join(f"{snr:.2f}" for snr in found.values()))
            lines.append([f"{rate:g}", name, *texts])
    title = "SNR_G, dB, at which data of 1040 B and an ACK of 40 B fail with 0.5 / 0.1 / 0.01"
    columns = [("", "r"), ("", "packet"), *(("", antennas) for antennas in ANTENNAS)]
    return rows, Table(title, columns, lines, ["By the law; one block for a packet."])


def _larger(session: Session) -> tuple[list[Row], Table]:
    rows: list[Row] = []
    lines = []
    found = [SWEEPS.points("links", protocol=name) for name in PROTOCOLS]
    for both in zip(*found, strict=True):
        for point in both:
            place = {name: point.place[name] for name in ("link", "protocol", "snr_db")}
            rows.append(DELIVERED.row(session, point.cell, place))
        texts = [DELIVERED.text(session, point.cell) for point in both]
        lines.append([both[0].place["link"], f"{both[0].place['snr_db']:g}", *texts])
    columns = [("", "link"), ("", "SNR_G, dB"), *(("delivered", NAMES[p]) for p in PROTOCOLS)]
    notes = ["2x2, r = 0.93. Unlimited: TCP's window and first ssthresh; VCP's always are."]
    return rows, Table("links of other sizes, past the threshold", columns, lines, notes)


def _found(session: Session, _title: str) -> tuple[list[Row], list[Table]]:
    (law, thresholds), (larger, table) = _thresholds(), _larger(session)
    return [*law, *larger], [thresholds, table]


ITEM: Final = item_of(VCP, "claims", SWEEPS.cells("links"), _found)
"""The item's cells, and what makes its result."""
