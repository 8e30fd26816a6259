"""How the measures of ``statements.toml`` are taken: weaker than the paper's statements.

Their item is `weaker`: it has nothing but these.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from airpath.papers.kit.base import ItemResult
from airpath.papers.kit.measures import delay_s, goodput_kbps, overflows
from airpath.papers.kit.session import Session
from airpath.papers.kit.statements import (
    Finding,
    Said,
    Statements,
    gathered,
    is_less,
    joined,
    known,
    means,
)
from airpath.papers.sbd.data import DropTail, strengths
from airpath.papers.sbd.scenarios import Case, Use
from airpath.papers.sbd.statements.common import SWEPT, Cases, proposed, sweep
from airpath.papers.sbd.statements.runs import (
    changed,
    changed_lines,
    first_losses,
    jain_falls,
    starts,
    switched,
)
from airpath.papers.sbd.statements.settings import at_least_2_bdp, by_min_th, kept_goodput

__all__ = ["SAYS", "evaluate_weaker"]

SAYS: Final = Statements(Path(__file__).parent)


def evaluate_weaker(_session: Session, _out: Path | None) -> ItemResult:
    """Return the item of the measures."""
    return ItemResult("weaker", "what holds beside the paper's statements", [])


# --- T_r, minth and α --------------------------------------------------------------------------


def _up_to_chosen(said: Said) -> dict[int, list[Case]]:
    return {
        bearer: sweep(bearer, said["t_r_ms"][str(bearer)], proposed(3, bearer).min_th)
        for bearer in SWEPT
    }


@SAYS.check("rising-t-r", _up_to_chosen)
def _rising_t_r(session: Session, said: Said, cases: Mapping[int, list[Case]]) -> Finding:
    def at(bearer: int, upto: list[Case]) -> Finding:
        goodputs, delays = means(session, upto, goodput_kbps), means(session, upto, delay_s)
        flat = min(after / max(goodputs[: n + 1]) for n, after in enumerate(goodputs))
        falls = all(after < before for before, after in pairwise(delays))
        return Finding(
            flat >= said["flat"] and falls,
            [
                f"{bearer} kbit/s, minth {proposed(3, bearer).min_th}, T_r "
                f"{joined(said['t_r_ms'][str(bearer)])} ms: delay {joined(delays, '.2f')} s, "
                f"goodput {goodputs[0]:.1f} to {goodputs[-1]:.1f} kbit/s, never below {flat:.1%} "
                "of what a smaller T_r gave"
            ],
            {"flat": flat, "delay_s": delays},
        )

    return gathered("bearer", cases, at)


@SAYS.check("kept-goodput", lambda _said: by_min_th(50, 5000))
def _kept_goodput(session: Session, said: Said, cases: Mapping[int, Any]) -> Finding:
    def at(bearer: int, found: Mapping[int, list[Case]]) -> Finding:
        kept = kept_goodput(session, found)
        shares = [f"{share:.0%} with minth {min_th}" for min_th, share in kept.items()]
        return Finding(
            min(kept[at_least_2_bdp(bearer)], kept[30]) >= said["kept"],
            [f"{bearer} kbit/s: lowest share of the largest goodput {joined(shares)}"],
            {f"minth={min_th}": share for min_th, share in kept.items()},
        )

    return gathered("bearer", cases, at)


def _with_alphas(said: Said) -> dict[int, dict[int, list[Case]]]:
    return {
        bearer: {
            alpha: sweep(bearer, strengths("sbd", 2), proposed(3, bearer).min_th, alpha)
            for alpha in said["alphas"]
        }
        for bearer in SWEPT
    }


@SAYS.check("alpha-delay", _with_alphas)
def _alpha_delay(session: Session, said: Said, cases: Mapping[int, Any]) -> Finding:
    def lowest(row: list[Case], least_kbps: float) -> float | None:
        enough = [case for case in row if known(session, case, goodput_kbps).mean >= least_kbps]
        return min(means(session, enough, delay_s), default=None)

    def at(bearer: int, rows: Mapping[int, list[Case]]) -> Finding:
        most = max(max(means(session, row, goodput_kbps)) for row in rows.values())
        found = {alpha: lowest(row, said["high"] * most) for alpha, row in rows.items()}
        best = min(delay for delay in found.values() if delay is not None)
        chosen = found[said["chosen"]]
        named = [f"α = {a}: {f'{d:.2f} s' if d else 'no setting'}" for a, d in found.items()]
        return Finding(
            chosen is not None and chosen <= said["near"] * best,
            [f"{bearer} kbit/s: {joined(named)}"],
            {f"alpha={alpha}": delay for alpha, delay in found.items()},
        )

    return gathered("bearer", cases, at)


# --- the start, sharing, reconfiguration -------------------------------------------------------

SAYS.check("first-losses", starts)(first_losses)


def _joined(said: Said) -> dict[int, Case]:
    joins_s, window_s = said["joins_s"], said["window_s"]
    use = Use(joins_s + window_s, newcomer_s=joins_s, replications=20, record=("delivered",))
    return {size: Case(384, 2, DropTail(size), use=use) for size in said["sizes"]}


@SAYS.check("newcomer", _joined)
def _newcomer(session: Session, said: Said, cases: Mapping[int, Case]) -> Finding:
    times = (said["joins_s"], said["joins_s"] + said["window_s"])
    return jain_falls(session, cases, said["window_s"], times, step_by_step=True)


@SAYS.check("less-after-the-change", lambda _said: switched())
def _less_after_the_change(session: Session, _said: Said, cases: Cases) -> Finding:
    found = changed(session, cases)
    holds = all(
        is_less(session, cases[f"{aqm} reconfigured"], cases["drop-tail"], overflows)
        and is_less(session, cases[f"{aqm} reconfigured"], cases[f"{aqm} as for 384"], delay_s)
        for aqm in ("SBD", "RED")
    )
    return Finding(holds, changed_lines(found), found)
