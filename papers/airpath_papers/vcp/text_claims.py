"""The item ``claims``: ACKs against data, and links of other sizes (vcp-2008 §IV, §V)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from airpath.reproduction.base import Cell, ItemResult, Row, Table
from airpath.reproduction.manifest import titles
from airpath.reproduction.session import Session
from airpath_papers.paths import VCP
from airpath_papers.vcp.failures import threshold_db
from airpath_papers.vcp.grids import LARGE, PROTOCOLS
from airpath_papers.vcp.measures import DELIVERED
from airpath_papers.vcp.scenarios import ACK_BYTES, ANTENNAS, DATA_BYTES

__all__ = ["ITEM"]

RATES: Final = (1.0, 0.93, 0.9, 0.8, 0.7)
FAILURES: Final = (0.5, 0.1, 0.01)
SIZES: Final = {"data": DATA_BYTES, "ack": ACK_BYTES}

_CELLS: Final[list[Cell]] = [
    case for lines in LARGE.values() for line in lines.values() for case in line
]


def _thresholds() -> tuple[list[Row], Table]:
    rows, lines = [], []
    for rate in RATES:
        for name, size in SIZES.items():
            texts = []
            for antennas in ANTENNAS:
                found = [threshold_db(antennas, rate, least, size) for least in FAILURES]
                rows += [
                    Row(
                        {
                            "antennas": antennas,
                            "code_rate": rate,
                            "packet": name,
                            "failure": least,
                        },
                        "snr_of_failure",
                        "dB",
                        None,
                        snr,
                    )
                    for least, snr in zip(FAILURES, found, strict=True)
                ]
                texts.append(" / ".join(f"{snr:.2f}" for snr in found))
            lines.append([f"{rate:g}", name, *texts])
    title = "SNR_G, dB, at which data of 1040 B and an ACK of 40 B fail with 0.5 / 0.1 / 0.01"
    columns = [("", "r"), ("", "packet"), *(("", antennas) for antennas in ANTENNAS)]
    return rows, Table(title, columns, lines, ["By the law; one block for a packet."])


def _larger(session: Session) -> tuple[list[Row], Table]:
    rows: list[Row] = []
    lines = []
    for name, both in LARGE.items():
        for n, case in enumerate(both["vcp"]):
            found = {protocol: both[protocol][n] for protocol in PROTOCOLS}
            for protocol, each in found.items():
                place: dict[str, int | float | str] = {
                    "link": name,
                    "protocol": protocol,
                    "snr_db": case.snr_db,
                }
                rows.append(DELIVERED.row(session, each, place))
            texts = [DELIVERED.text(session, each) for each in found.values()]
            lines.append([name, f"{case.snr_db:g}", *texts])
    columns = [("", "link"), ("", "SNR_G, dB"), ("delivered", "VCP"), ("delivered", "TCP/REM")]
    notes = ["2x2, r = 0.93. Unlimited: TCP's window and first ssthresh; VCP's always are."]
    table = Table("links of other sizes, past the threshold", columns, lines, notes)
    return [row for row in rows if row.ours is not None], table


def _evaluate(session: Session, _out: Path | None) -> ItemResult:
    (law, thresholds), (larger, table) = _thresholds(), _larger(session)
    complete = session.complete(_CELLS)
    title = titles(VCP)["claims"]
    return ItemResult("claims", title, [*law, *larger], [thresholds, table], complete=complete)


ITEM: Final = (_CELLS, _evaluate)
"""The item's cells, and what makes its result."""
