"""How the measures of ``claims.toml`` are taken: weaker than the paper's claims.

Their item is `weaker`: it has nothing but these.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from airpath.reproduction.base import ItemResult
from airpath.reproduction.claims import (
    Claims,
    ClaimSpec,
    Finding,
    gathered,
    is_less,
    joined,
    known,
    means,
)
from airpath.reproduction.measures import delay_s, goodput_kbps, overflows
from airpath.reproduction.session import Session
from airpath_papers.sbd.claims.common import SWEPT, Cases, proposed, sweep
from airpath_papers.sbd.claims.runs import (
    changed,
    changed_lines,
    first_losses,
    jain_falls,
    starts,
    switched,
)
from airpath_papers.sbd.claims.settings import at_least_2_bdp, by_min_th, kept_goodput
from airpath_papers.sbd.data import DropTail, strengths
from airpath_papers.sbd.scenarios import Case, Use

__all__ = ["CLAIMS", "evaluate_weaker"]

CLAIMS: Final = Claims(Path(__file__).parent)


def evaluate_weaker(_session: Session, _out: Path | None) -> ItemResult:
    """Return the item of the measures."""
    return ItemResult("weaker", "what holds beside the paper's statements", [])


# --- T_r, minth and α --------------------------------------------------------------------------


def _up_to_chosen(spec: ClaimSpec) -> dict[int, list[Case]]:
    return {
        bearer: sweep(bearer, spec["t_r_ms"][str(bearer)], proposed(3, bearer).min_th)
        for bearer in SWEPT
    }


@CLAIMS.check("rising-t-r", _up_to_chosen)
def _rising_t_r(session: Session, spec: ClaimSpec, cases: Mapping[int, list[Case]]) -> Finding:
    def at(bearer: int, upto: list[Case]) -> Finding:
        goodputs, delays = means(session, upto, goodput_kbps), means(session, upto, delay_s)
        flat = min(after / max(goodputs[: n + 1]) for n, after in enumerate(goodputs))
        falls = all(after < before for before, after in pairwise(delays))
        return Finding(
            flat >= spec["flat"] and falls,
            [
                f"{bearer} kbit/s, minth {proposed(3, bearer).min_th}, T_r "
                f"{joined(spec['t_r_ms'][str(bearer)])} ms: delay {joined(delays, '.2f')} s, "
                f"goodput {goodputs[0]:.1f} to {goodputs[-1]:.1f} kbit/s, never below {flat:.1%} "
                "of what a smaller T_r gave"
            ],
            {"flat": flat, "delay_s": delays},
        )

    return gathered("bearer", cases, at)


@CLAIMS.check("kept-goodput", lambda _spec: by_min_th(50, 5000))
def _kept_goodput(session: Session, spec: ClaimSpec, cases: Mapping[int, Any]) -> Finding:
    def at(bearer: int, found: Mapping[int, list[Case]]) -> Finding:
        kept = kept_goodput(session, found)
        shares = [f"{share:.0%} with minth {min_th}" for min_th, share in kept.items()]
        return Finding(
            min(kept[at_least_2_bdp(bearer)], kept[30]) >= spec["kept"],
            [f"{bearer} kbit/s: lowest share of the largest goodput {joined(shares)}"],
            {f"minth={min_th}": share for min_th, share in kept.items()},
        )

    return gathered("bearer", cases, at)


def _with_alphas(spec: ClaimSpec) -> dict[int, dict[int, list[Case]]]:
    return {
        bearer: {
            alpha: sweep(bearer, strengths("sbd", 2), proposed(3, bearer).min_th, alpha)
            for alpha in spec["alphas"]
        }
        for bearer in SWEPT
    }


@CLAIMS.check("alpha-delay", _with_alphas)
def _alpha_delay(session: Session, spec: ClaimSpec, cases: Mapping[int, Any]) -> Finding:
    def lowest(row: list[Case], least_kbps: float) -> float | None:
        enough = [case for case in row if known(session, case, goodput_kbps).mean >= least_kbps]
        return min(means(session, enough, delay_s), default=None)

    def at(bearer: int, rows: Mapping[int, list[Case]]) -> Finding:
        most = max(max(means(session, row, goodput_kbps)) for row in rows.values())
        found = {alpha: lowest(row, spec["high"] * most) for alpha, row in rows.items()}
        best = min(delay for delay in found.values() if delay is not None)
        chosen = found[spec["chosen"]]
        named = [f"α = {a}: {f'{d:.2f} s' if d else 'no setting'}" for a, d in found.items()]
        return Finding(
            chosen is not None and chosen <= spec["near"] * best,
            [f"{bearer} kbit/s: {joined(named)}"],
            {f"alpha={alpha}": delay for alpha, delay in found.items()},
        )

    return gathered("bearer", cases, at)


# --- the start, sharing, reconfiguration -------------------------------------------------------

CLAIMS.check("first-losses", starts)(first_losses)


def _joined(spec: ClaimSpec) -> dict[int, Case]:
    joins_s, window_s = spec["joins_s"], spec["window_s"]
    use = Use(joins_s + window_s, newcomer_s=joins_s, replications=20, record=("delivered",))
    return {size: Case(384, 2, DropTail(size), use=use) for size in spec["sizes"]}


@CLAIMS.check("newcomer", _joined)
def _newcomer(session: Session, spec: ClaimSpec, cases: Mapping[int, Case]) -> Finding:
    times = (spec["joins_s"], spec["joins_s"] + spec["window_s"])
    return jain_falls(session, cases, spec["window_s"], times, step_by_step=True)


@CLAIMS.check("less-after-the-change", lambda _spec: switched())
def _less_after_the_change(session: Session, _spec: ClaimSpec, cases: Cases) -> Finding:
    found = changed(session, cases)
    holds = all(
        is_less(session, cases[f"{aqm} reconfigured"], cases["drop-tail"], overflows)
        and is_less(session, cases[f"{aqm} reconfigured"], cases[f"{aqm} as for 384"], delay_s)
        for aqm in ("SBD", "RED")
    )
    return Finding(holds, changed_lines(found), found)
