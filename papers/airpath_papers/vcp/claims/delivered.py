"""What VCP and TCP/REM deliver (vcp-2008 §IV, Figs. 5 and 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import stdev
from typing import Any, Final

from airpath.reproduction.claims import ClaimSpec, Finding, gathered, joined
from airpath.reproduction.session import Session
from airpath_papers.vcp.claims.common import CLAIMS, delivered_means, lead
from airpath_papers.vcp.failures import failure
from airpath_papers.vcp.grids import FIG5_DB, FIG6_DB, PROTOCOLS, cases, past_cases
from airpath_papers.vcp.measures import delivered_totals
from airpath_papers.vcp.scenarios import Case

__all__ = ["PAST", "Past", "mean_leads"]

Lines = Mapping[str, Sequence[Case]]
"""Cells by transport, in the same order."""


def _fig5(_spec: ClaimSpec) -> dict[str, Lines]:
    return {
        antennas: {name: cases(name, antennas, 1.0, snrs) for name in PROTOCOLS}
        for antennas, snrs in FIG5_DB.items()
    }


def _widest_span(snrs: Sequence[float], is_ahead: Sequence[bool]) -> float:
    """Return the longest stretch of neighbours, dB, at which something is so."""
    longest = 0.0
    began = None
    for snr, ahead in zip(snrs, is_ahead, strict=True):
        began = (snr if began is None else began) if ahead else None
        if began is not None:
            longest = max(longest, snr - began)
    return longest


@CLAIMS.check("tcp-ahead", _fig5)
def _tcp_ahead(session: Session, spec: ClaimSpec, panels: Mapping[str, Lines]) -> Finding:
    def with_antennas(antennas: str, lines: Lines) -> Finding:
        vcp, tcp = (delivered_means(session, lines[name]) for name in PROTOCOLS)
        snrs = [case.snr_db for case in lines["vcp"]]
        ahead = [b >= spec["times"] * a and b > 0 for a, b in zip(vcp, tcp, strict=True)]
        span = _widest_span(snrs, ahead)
        ratios = {snr: b / a for snr, a, b in zip(snrs, vcp, tcp, strict=True) if a > 0}
        at = max(ratios, key=ratios.__getitem__)
        told = (
            f"{antennas}: at least {spec['times']:g} times over {span:g} dB, "
            f"{ratios[at]:.2f} times at {at:g} dB"
        )
        holds = span >= spec["span_db"] and ratios[at] >= spec["widest"]
        return Finding(holds, [told], {"span_db": span, "widest": ratios[at], "at_db": at})

    return gathered("antennas", panels, with_antennas)


@CLAIMS.check("tcp-ahead-near-zero", _fig5)
def _near_zero(session: Session, spec: ClaimSpec, panels: Mapping[str, Lines]) -> Finding:
    def with_antennas(antennas: str, lines: Lines) -> Finding:
        vcp, tcp = (delivered_means(session, lines[name]) for name in PROTOCOLS)
        snrs = [case.snr_db for case in lines["vcp"]]
        ratios = {snr: b / a for snr, a, b in zip(snrs, vcp, tcp, strict=True) if a > 0}
        near = {
            snr: ratio for snr, ratio in ratios.items() if failure(antennas, 1.0, snr) < spec["per"]
        }
        level = next((snr for snr, ratio in ratios.items() if _stays_below_one(ratios, snr)), None)
        shown = joined([f"{snr:g} dB {ratio:.2f}" for snr, ratio in near.items()])
        told = f"{antennas}, TCP over VCP: {shown}; VCP is level from {level} dB on"
        holds = all(ratio >= spec["times"] for ratio in near.values())
        values = {"ratios": {f"{snr:g}": r for snr, r in near.items()}, "level_db": level}
        return Finding(holds, [told], values)

    return gathered("antennas", panels, with_antennas)


def _stays_below_one(ratios: Mapping[float, float], from_db: float) -> bool:
    return all(ratio <= 1 for snr, ratio in ratios.items() if snr >= from_db)


# --- Fig. 6 ------------------------------------------------------------------------------------

Past = Mapping[str, Mapping[str, Sequence[Case]]]

PAST: Final[Past] = {
    f"{antennas} r={rate:g}": {name: past_cases(antennas, rate, name) for name in PROTOCOLS}
    for antennas, rate in FIG6_DB
}
"""Cells past the threshold by panel and transport."""


def mean_leads(session: Session, spec: ClaimSpec, panels: Past) -> Finding:
    """Compare VCP's mean lead of each panel with the bounds `least` and `most`."""

    def with_panel(panel: str, lines: Lines) -> Finding:
        vcp, tcp = (delivered_means(session, lines[name]) for name in PROTOCOLS)
        leads = [lead(a, b) for a, b in zip(vcp, tcp, strict=True)]
        mean = sum(leads) / len(leads)
        snrs = joined([case.snr_db for case in lines["vcp"]], "g")
        told = (
            f"{panel}: {mean:+.1%} on the mean of {snrs} dB, {min(leads):+.1%} to {max(leads):+.1%}"
        )
        return Finding(
            spec["least"] <= mean <= spec["most"], [told], {"mean": mean, "leads": leads}
        )

    return gathered("panel", panels, with_panel)


@CLAIMS.check("vcp-ahead", lambda _spec: PAST)
def _vcp_ahead(session: Session, spec: ClaimSpec, panels: Past) -> Finding:
    return mean_leads(session, spec, panels)


@CLAIMS.check("robust", lambda _spec: PAST)
def _robust(session: Session, spec: ClaimSpec, panels: Past) -> Finding:
    def spread(case: Case) -> float:
        values = delivered_totals(session, case)
        return stdev(values) / (sum(values) / len(values))

    def with_panel(panel: str, lines: Lines) -> Finding:
        vcp, tcp = ([spread(case) for case in lines[name]] for name in PROTOCOLS)
        pairs = list(zip(vcp, tcp, strict=True))
        times = [b / a for a, b in pairs]
        holds = all(a <= spec["vcp"] and b >= spec["times"] * a for a, b in pairs)
        told = (
            f"{panel}: VCP {min(vcp):.2%} to {max(vcp):.2%}, TCP {min(tcp):.2%} to {max(tcp):.2%}, "
            f"{min(times):.1f} times at least"
        )
        values: dict[str, Any] = {"vcp": vcp, "tcp": tcp, "least_times": min(times)}
        return Finding(holds, [told], values)

    return gathered("panel", panels, with_panel)
