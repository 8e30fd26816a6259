"""Figures 2 and 3: packet error rates over the SNR; and the error rates of Table 2."""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from airpath.present import style as plotting
from airpath.reproduction.base import ItemResult
from airpath.reproduction.manifest import Evaluate
from airpath.reproduction.session import Session
from airpath.reproduction.tolerance import Tolerance
from airpath_papers.qawla.data import PACKET_BYTES, inputs, mcs_table
from airpath_papers.qawla.error_curves import counted_rows, counted_table, draw_curves
from airpath_papers.qawla.error_rates import Channel, ErrorRates, PrintedRate

__all__ = [
    "AWGN",
    "CHANNELS",
    "COMMON_ERRORS",
    "COMMON_LIMIT",
    "ITU_A",
    "PUBLISHED_BLOCKS",
    "RARE_LEVEL",
    "curve_item",
    "error_rate",
    "error_rates",
    "rates_of",
]

AWGN: Final = Channel("awgn", "AWGN", "802.16-ctc-awgn", (0, 22, 0.5), (2, 22), 12)
ITU_A: Final = Channel("itu-a", "ITU-A", "802.16-ctc-vehicular-a", (0, 40, 2), (14, 40), 26)
"""The two channels of §4, with the distributions of their SNRs (§6)."""

CHANNELS: Final = {channel.key: channel for channel in (AWGN, ITU_A)}
"""By the key that Table 6 uses."""

COMMON_ERRORS: Final = 200
"""Published errors from which on error rates are compared by their ratio."""

COMMON_LIMIT: Final = 0.15
"""Largest relative difference there."""

RARE_LEVEL: Final = 0.01
"""Level of the test of rarer ones."""

PUBLISHED_BLOCKS: Final = 10**7
"""FEC blocks that the paper decoded at each point (§4: at least; Table 2 shows that many)."""


def rates_of(session: Session) -> Mapping[str, ErrorRates]:
    """Return the error rates of both channels; in a resample of the session counted again."""

    def make() -> Mapping[str, ErrorRates]:
        counted = {key: ErrorRates.of(channel) for key, channel in CHANNELS.items()}
        if session.resample is None:
            return counted
        # Only random(), whose sequence Python promises to keep.
        uniform = random.Random(f"error rates {session.resample}").random
        return {key: rates.resampled(uniform) for key, rates in counted.items()}

    found = session.shared("error rates", make)
    assert found is not None, "claims are checked only when nothing was interrupted"
    return found


def error_rate(mcs: int, snr_db: int, published: float) -> PrintedRate:
    """Return a PER of Table 2 beside ours."""
    return PrintedRate.beside(
        ErrorRates.of(ITU_A),
        mcs,
        snr_db,
        published,
        blocks=PUBLISHED_BLOCKS,
        common_from=COMMON_ERRORS,
        ratio=Tolerance(f"{100 * COMMON_LIMIT:g} % (README)", relative=COMMON_LIMIT),
        level=RARE_LEVEL,
    )


@cache
def error_rates() -> tuple[PrintedRate, ...]:
    """Return every PER of Table 2 once, by SNR and MCS."""
    printed = {
        (case.snr_db, mcs): per
        for case in inputs().values()
        for mcs, per in zip(case.mcs, case.per, strict=True)
    }
    return tuple(error_rate(mcs, snr_db, per) for (snr_db, mcs), per in sorted(printed.items()))


def curve_item(key: str) -> Evaluate:
    """Return what evaluates Fig. 2 or 3."""
    channel = {"fig2": AWGN, "fig3": ITU_A}[key]
    title = f"Fig. {key[3:]}: packet error rate over the SNR, {channel.name} channel"

    def evaluate(session: Session, out: Path | None) -> ItemResult:
        rates = ErrorRates.of(channel)
        notes = [
            f"PER of {PACKET_BYTES}-byte packets, Eq. 23 with the counted share of FEC blocks; a "
            "curve ends with its first point without an error.",
            f"Error rates: {rates.command}",
        ]
        rows = counted_rows(channel, rates, list(mcs_table()))
        table = counted_table(title, channel, rates, list(mcs_table()), notes)
        figures = [] if out is None else _draw(key, title, channel, session, out)
        return ItemResult(key, title, rows, [table], figures)

    return evaluate


def _draw(key: str, title: str, channel: Channel, session: Session, out: Path) -> list[Path]:
    rates, names = ErrorRates.of(channel), {m: f"mcs{m}: {s.name}" for m, s in mcs_table().items()}
    subtitle = f"{PACKET_BYTES}-byte packets · bars: 99 % Wilson intervals · ▼: upper end of "
    subtitle += "the interval where no block failed"
    with plotting.style():
        figure = plotting.new_figure(8.6, 5.6)
        printed = error_rates() if channel is ITU_A else ()
        draw_curves(figure, channel, rates, names, printed, "paper, Table 2")
        plotting.heading(figure, title, subtitle)
        about = f"After {session.paper.citation} {rates.command}"
        return session.write(figure, out, f"qawla-{key}", title, about)
